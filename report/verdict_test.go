package report

import (
	"testing"

	"loupe/insight"
)

// TestVerdict: a report begins with a cause. What depends on when threads ran, as all of it does
// on a busy machine, is named first only where it is serious.
func TestVerdict(t *testing.T) {
	pause := insight.Finding{Rule: "GC01", State: insight.Found, Title: "Long stop-the-world pause", Severity: insight.Info,
		Evidence: []insight.Evidence{{File: "/go/src/runtime/mgc.go", Line: 1912, Function: "runtime.gcBgMarkWorker"}}}
	hot := insight.Finding{Rule: "CP01", State: insight.Found, Title: "Hot function", Severity: insight.Info,
		Evidence: []insight.Evidence{{File: "main.go", Line: 7, Function: "main.run"}}}
	most := hot
	most.Impact = &insight.Impact{Value: 0.86, Unit: "share of CPU samples"}
	waits := hot
	waits.Impact = &insight.Impact{Value: 0.94, Unit: "share of the time of requests"}
	part := hot
	part.Impact = &insight.Impact{Value: 0.43, Unit: "share of CPU samples"}
	grave := pause
	grave.Severity = insight.Warning
	for want, all := range map[string][]insight.Finding{
		"Nothing serious was found. Hot function, at main.go:7 in main.run. 1 further remark.":                                                                              {pause, hot},
		"Nothing serious was found. Hot function, at main.go:7 in main.run.":                                                                                                {hot},
		"No rule names a fault, but one place takes 86.0% of the CPU time. Hot function, at main.go:7 in main.run.":                                                         {most},
		"No rule names a fault, but one place takes 94.0% of the time of requests. Hot function, at main.go:7 in main.run.":                                                 {waits},
		"No rule names a fault, but 91.3% of the CPU time goes through shell.(*Shell).feed at shell/shell.go:58. Hot function, at main.go:7 in main.run. 1 further remark.": {part, part},
		"Nothing serious was found: what stands out depends on when threads ran.":                                                                                           {pause},
		"Long stop-the-world pause, at /go/src/runtime/mgc.go:1912 in runtime.gcBgMarkWorker. One other cause matters less.":                                                {grave, hot},
	} {
		r := &Recording{Findings: all}
		for i := range all {
			c := insight.Card{Finding: i}
			if i == 1 && all[i].Impact == part.Impact {
				c.Through = &insight.Through{Share: 0.913, At: insight.Evidence{File: "/src/shell/shell.go", Short: "shell/shell.go", Line: 58, Function: "example.org/x/shell.(*Shell).feed"}}
			}
			r.Cards = append(r.Cards, c)
		}
		if got := r.verdict(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
