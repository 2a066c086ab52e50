package insight

import (
	"fmt"

	"loupe/analysis/facts"
)

var cp12 = &Rule{
	ID: "CP12", Title: "Reading the clock (time.Now) uses much of the CPU",
	About: "time.Now costs about 40 ns where the kernel provides a vDSO clock, and a system call of up to a microsecond where it does not: in " +
		"some virtual machines, and with the clock sources hpet and acpi_pm.",
	Asks: []facts.Question{facts.CPU},
	Params: []Param{
		{"share", 0.03, "share of CPU time", "research, CP12; the lower bound of the interval counts"},
		{"warn", 0.10, "share of CPU time", "chosen"},
		g0,
	},
	Check: check(&look{of: facts.CPU, sample: "samples", limit: "share", warn: "warn", set: "clock", skip: []string{"startup"},
		what: "went into reading the clock", tell: func(h *hit, f *Finding) {
			f.Advice = "Read the clock once per request or batch and pass the time on; check a deadline only every hundredth item; measure one call in many."
			if by := libraryOf(h.lines[0]); by != "" {
				f.Advice = fmt.Sprintf("It is package %s that reads the clock for this line: call it less often (one deadline or one message for several), or have a cheaper clock.", by)
			}
			f.Doubts = append(f.Doubts, "on a machine with another clock source the share differs: see /sys/devices/system/clocksource/clocksource0/current_clocksource; tsc and kvm-clock are cheap")
		}}),
}
