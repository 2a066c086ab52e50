package insight

import (
	"fmt"
	"slices"
	"strings"

	"loupe/value/unit"
)

// Leak is one thing of which there is more and more, as one of the rules has
// found it.
type Leak struct {
	Rule string `json:"rule"`
	// What it is: "heap", "goroutines", "open files".
	What string `json:"what"`
	// Much is how much it is, or how fast it becomes more, with its interval.
	Much string `json:"much"`
	// File and Line are where it comes from; empty where no rule knows.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	// Proved tells that Go itself has shown that it never goes on.
	Proved bool `json:"proved"`
}

// leakRules are the rules that find leaks, and what of.
var leakRules = map[string]string{"GC08": "heap", "SC10": "goroutines", "SC11": "goroutines", "LD07": "open files"}

// Leaks puts side by side what all rules have found of leaks: the heap, the
// goroutines and the files are most often one and the same, and the first that is
// proved or steepest says where to begin. The verdict is one sentence, "" without
// a leak.
func Leaks(all []Finding) (verdict string, leaks []Leak) {
	for _, f := range all {
		what, ok := leakRules[f.Rule]
		if !ok || f.State != Found || f.Impact == nil {
			continue
		}
		l := Leak{Rule: f.Rule, What: what, Much: unit.Number(f.Impact.Value) + " " + f.Impact.Unit}
		if f.Impact.Low < f.Impact.High {
			l.Much += fmt.Sprintf(" [%s, %s]", unit.Number(f.Impact.Low), unit.Number(f.Impact.High))
		}
		for _, e := range f.Evidence {
			if l.File == "" {
				l.File, l.Line = shortOf(e), e.Line
			}
			l.Proved = l.Proved || strings.HasSuffix(e.Text, bySearch)
		}
		leaks = append(leaks, l)
	}
	slices.SortStableFunc(leaks, func(a, b Leak) int {
		switch {
		case a.Proved == b.Proved:
			return 0
		case a.Proved:
			return -1
		}
		return 1
	})
	if len(leaks) == 0 {
		return "", nil
	}
	var grows []string
	for _, l := range leaks {
		if !slices.Contains(grows, l.What) {
			grows = append(grows, l.What)
		}
	}
	verdict = "Still growing: " + strings.Join(grows, " and ") + ". It is a leak unless the growth stops at a bound."
	if leaks[0].Proved {
		verdict = "A leak, proved by Go. Still growing: " + strings.Join(grows, " and ") + ". What the leaked goroutines refer to stays in memory with them; start there."
	}
	return verdict, leaks
}

func shortOf(e Evidence) string {
	if e.Short != "" {
		return e.Short
	}
	return e.File
}
