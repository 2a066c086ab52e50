package insight

import (
	"fmt"
	"slices"
	"strings"
)

// cause is a rule whose finding explains what others see: while it stands, theirs are its
// symptoms, and their advice would lead away from it.
type cause struct {
	rule     string
	symptoms []string
	why      string
	when     func(*Finding) bool // nil: always
}

// causes are those of the build, of the runtime's settings, of what the program asks of the
// runtime, and of locks.
// The first that explains a symptom has it.
var causes = []cause{
	{"BE03", []string{"AL01", "AL02", "AL03", "AL04", "AL05", "AL07", "AL11", "CP01", "CP02", "CP03", "CP05", "CP06", "CP07", "CP08", "CP12", "CP14", "CP16", "CP17", "CP19", "CP20", "GC01", "GC02", "GC03", "GC04", "GC05", "SC01", "SC06", "SC07", "SC14"},
		"the build, not the code, may be the cause here", nil},
	{"GC11", []string{"GC01", "GC03", "GC05", "GC13", "LK08", "SC07"}, "each goroutine that waits to begin has a stack, and each collection scans all of them", func(f *Finding) bool { return f.crowd }},
	{"SC08", []string{"GC01", "GC02", "SC01", "SC06", "SC07", "SC14"}, "threads that the quota stops are late for everything", nil},
	{"SC09", []string{"SC01", "SC05", "SC06", "SC07", "SC14"}, "there are too many or too few Ps", nil},
	{"GC17", []string{"CP05", "CP16", "SC01", "SC06", "SC07", "SC14", "SC15", "GC01", "GC02"}, "each stop takes the P away from every goroutine, and then all want one at once", nil},
	{"GC12", []string{"GC01", "GC02", "GC03", "GC04", "GC05", "GC13", "CP05", "SC01", "SC06", "SC07", "SC14", "LD02"}, "each forced collection stops the program, marks the whole heap and makes its caller wait", nil},
	{"GC07", []string{"GC03", "GC04", "GC05", "GC06", "GC13", "AL01", "LD02"}, "the memory limit, not the allocation rate, triggers the collections", nil},
	{"GC13", []string{"GC03", "GC05", "GC06", "AL01"}, "each collection marks every object of a large heap of small ones, whatever else is allocated", nil},
	{"LK02", []string{"SC01"}, "the lock lets only one through at a time", nil},
	{"LK01", []string{"SC01"}, "the lock lets only one through at a time", nil},
	{"GC18", []string{"GC03", "GC04", "GC05", "GC06", "GC13", "AL01", "LD02"}, "the collections follow from GOGC first", nil},
}

// explains tells whether one of the causes explains what another rule sees.
func explains(rule, symptom string) bool {
	return slices.ContainsFunc(causes, func(c cause) bool { return c.rule == rule && slices.Contains(c.symptoms, symptom) })
}

// underCause makes symptoms of the findings that another one explains: they keep their
// figures and their evidence, are no more than an [Info], and point at the cause in place
// of advice of their own.
func underCause(all []Finding) {
	for _, c := range causes {
		i := slices.IndexFunc(all, func(f Finding) bool {
			return f.Rule == c.rule && f.State == Found && f.Severity.AtLeast(Warning) && (c.when == nil || c.when(&f))
		})
		if i < 0 {
			continue
		}
		for k := range all {
			f := &all[k]
			if f.State != Found || !slices.Contains(c.symptoms, f.Rule) || strings.HasPrefix(f.Advice, "See ") {
				continue
			}
			f.Severity = Info
			f.Advice = fmt.Sprintf("See %s first: %s. A new recording will show what is left of this once that is fixed.", c.rule, c.why)
		}
	}
}
