package web

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// maxVars is how many of a program's own variables are shown: each has a lane.
const maxVars = 12

// own tells whether a series of /debug/vars is a variable of the program: memstats and
// cmdline are package expvar's, what begins with a slash is runtime/metrics, and the
// others are loupe's words for figures that have lanes already.
func own(name string) bool {
	return !strings.HasPrefix(name, "/") && !strings.HasPrefix(name, "memstats.") && !strings.HasPrefix(name, "prometheus.") &&
		name != "goroutines"
}

// inBytes is how variables are called that count bytes.
var inBytes = regexp.MustCompile(`(?i)(^|[._-])bytes?($|[._-])|Bytes`)

// varsLanes are the variables that the program publishes with package expvar, a lane
// for each that ever has a number, in the order of their names. There is none where the
// program has no variables of its own.
func varsLanes(v *laneView) (all []*lane) {
	sets := v.sets()
	var names []string
	for _, set := range sets {
		for _, name := range set.Names() {
			if own(name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for _, name := range names {
		l := &lane{Key: "var:" + name, Title: name, Unit: "count", Shape: "lines", Source: "expvar: a variable of the program"}
		if inBytes.MatchString(name) {
			l.Unit = "bytes"
		}
		l.with(v, "var", name, gauge(sets, name), false)
		switch {
		case len(l.Lines) == 0:
		case len(all) == maxVars:
			last := all[len(all)-1]
			last.Note = fmt.Sprintf("The program has %d variables; these are the first %d by name.", len(names), maxVars)
			return all
		default:
			all = append(all, l)
		}
	}
	return all
}
