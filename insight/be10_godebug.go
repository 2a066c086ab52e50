package insight

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/recording"
	"loupe/value/unit"
)

var be10 = &Rule{
	ID: "BE10", Title: "A GODEBUG debugging setting was on and costs time",
	About: "GODEBUG has settings that help to find faults in the runtime or print what it does. They often stay in a unit file or a Dockerfile long after they were " +
		"needed. What loupe run sets itself (gctrace=1, schedtrace=1000) is not counted.",
	Asks: []facts.Question{facts.Built},
	Params: []Param{
		{"stop", 1e-3, "s", "chosen: ten times what the runtime aims at for a stop"},
		{"lines", 100, "lines a second", "chosen: each takes some microseconds, and a lock"},
	},
	Check: checkGODEBUG,
}

// leftover is a setting of GODEBUG that costs: always, or where cost finds what.
type leftover struct {
	key, does string
	severity  Severity
	cost      func(r *Rule, in *Input, value int) (seen string)
}

var leftovers = []leftover{
	{"sbrk", "replaces the allocator with one that frees nothing, and turns the collector off", Warning, nil},
	{"efence", "gives each object its own pages and never reuses them", Warning, nil},
	{"gccheckmark", "marks the heap a second time with the program stopped, to check the first", Warning, anyCollections},
	{"gcstoptheworld", "stops the program for the whole of each collection", Warning, anyCollections},
	{"checkfinalizers", "runs the collector repeatedly to look for faulty finalizers", Warning, nil},
	{"clobberfree", "overwrites each object that the collector frees", Warning, anyCollections},
	{"asyncpreemptoff", "lets loops without calls run on while the runtime waits for them to stop", Warning, lateStops},
	{"schedtrace", "prints the state of the scheduler", Info, schedLines},
	{"gctrace", "prints a line for each collection", Info, gcLines},
	{"tracefpunwindoff", "makes each stack of an execution trace many times more expensive", Info, whileTraced},
}

// anyCollections tells how many there were.
func anyCollections(_ *Rule, in *Input, _ int) string {
	if n := in.Facts.Collector().Collections; n > 0 {
		return unit.Plural(n, "collection") + " ran"
	}
	return ""
}

// lateStops tells how long the longest stop of the world took.
func lateStops(r *Rule, in *Input, _ int) string {
	longest := time.Duration(0)
	for _, p := range pauses(in.Facts.Rounds) {
		longest = max(longest, time.Duration(p.ms*1e6))
	}
	if t := in.Facts.Trace(); t.Err == nil {
		_, stopping := t.ForCollector()
		longest = max(longest, time.Duration(stopping.Max))
	}
	if longest.Seconds() < r.param("stop") {
		return ""
	}
	return "the longest stop-the-world pause took " + unit.Duration(longest)
}

// schedLines tells how often the scheduler's state was printed.
func schedLines(r *Rule, in *Input, every int) string {
	return linesPerSecond(r, func(round *facts.Round) float64 {
		if round.Sched == nil || every <= 0 {
			return 0
		}
		return float64(time.Second/time.Millisecond) / float64(every)
	}, in)
}

// gcLines tells how often a collection was printed.
func gcLines(r *Rule, in *Input, _ int) string {
	return linesPerSecond(r, func(round *facts.Round) float64 { return round.Collections / max(1e-9, round.Duration.Seconds()) }, in)
}

// linesPerSecond tells of the round with the most lines a second.
func linesPerSecond(r *Rule, rate func(*facts.Round) float64, in *Input) string {
	most := 0.0
	for i := range in.Facts.Rounds {
		most = max(most, rate(&in.Facts.Rounds[i]))
	}
	if most < r.param("lines") {
		return ""
	}
	return unit.Number(most) + " lines a second"
}

func whileTraced(_ *Rule, in *Input, _ int) string {
	if len(in.Session.Manifest().Of(recording.ExecTrace)) == 0 {
		return ""
	}
	return "an execution trace was taken"
}

func checkGODEBUG(r *Rule, in *Input) []Finding {
	if _, err := facts.BuildOf(in.Facts); err != nil {
		return []Finding{r.answer(TooLittle, "%v", err)}
	}
	set := in.Facts.Debugs()
	if len(set) == 0 {
		return []Finding{r.answer(Fine, "GODEBUG has no setting of the user's")}
	}
	var found, named []string
	f := r.answer(Found, "")
	for _, d := range set {
		value, err := strconv.Atoi(d.Value)
		i := slices.IndexFunc(leftovers, func(l leftover) bool { return l.key == d.Key })
		if i < 0 || err == nil && value <= 0 {
			continue
		}
		l := &leftovers[i]
		text := fmt.Sprintf("%s=%s %s", d.Key, d.Value, l.does)
		if l.cost != nil {
			seen := l.cost(r, in, value)
			if seen == "" {
				continue
			}
			text += ": " + seen
		}
		found, named = append(found, text), append(named, d.Key)
		f.Evidence = append(f.Evidence, Evidence{Text: "GODEBUG has " + d.Key + "=" + d.Value})
		if l.severity.AtLeast(f.Severity) {
			f.Severity = l.severity
		}
	}
	if len(found) == 0 {
		return []Finding{r.answer(Fine, "GODEBUG has %s, which cost next to nothing here", debugText(set))}
	}
	f.Summary, f.Score = strings.Join(found, "; "), map[Severity]int{Info: 25, Warning: 60}[f.Severity]
	f.Advice = "Take " + strings.Join(named, " and ") + " from GODEBUG: in the service's environment, its unit file or image."
	f.Verify = "Record again: the report's head lists GODEBUG as the program saw it."
	return []Finding{f}
}

// debugText prints settings of GODEBUG.
func debugText(set []facts.Debug) string {
	var all []string
	for _, d := range set {
		all = append(all, d.Key+"="+d.Value)
	}
	return strings.Join(all, ",")
}
