package insight

import (
	"fmt"

	"loupe/analysis/sched"
	"loupe/value/stack"
	"loupe/value/unit"
)

// The go statement of goroutines that never finish may stand in a function that many call, of which one forgets to end them:
// the line to change is that of the caller.

// leakCaller is the line that calls the function with the go statement of goroutines that are left.
type leakCaller struct {
	starts, at stack.Frame
	stack      stack.ID // of the go statement, called from there
	count      int64
	all        bool // of them that started in the trace
}

// leakCalledFrom finds the caller of most of the goroutines of a place that started in the trace.
func leakCalledFrom(t *traced, l *sched.Left) (c leakCaller, ok bool) {
	counts := map[stack.Frame]int64{}
	for _, m := range l.Makers {
		for _, id := range []stack.ID{m.Creator, m.Origin} {
			starts, at := startsAndCaller(t, id)
			if starts.Func == "" {
				continue
			}
			if at.Func == "" {
				break
			}
			if counts[at] += m.Count; counts[at] > c.count {
				c.starts, c.at, c.stack, c.count = starts, at, id, counts[at]
			}
			break
		}
	}
	c.all = c.count == l.Created
	return c, float64(c.count) > halfOfAll*float64(l.Created)
}

// startsAndCaller are the line of the program at which goroutines are started, and that which calls its function.
func startsAndCaller(t *traced, id stack.ID) (starts, at stack.Frame) {
	if id == 0 {
		return starts, at
	}
	for _, f := range t.Frames(id) {
		f = lineOnly(f)
		switch {
		case !t.Scope.IsUser(f):
		case starts.Func == "":
			starts = f
		case f.Func != starts.Func:
			return starts, f
		}
	}
	return starts, at
}

// tell says it in the sentence of a finding, and beside the line that is shown first.
func (c leakCaller) tell(f *Finding) {
	of := "all of them"
	if !c.all {
		of = unit.Count(c.count) + " of them"
	}
	f.Summary += fmt.Sprintf("; %s starts them, called from %s for %s", place(c.starts), place(c.at), of)
	if len(f.Evidence) > 0 {
		f.Evidence[0].Text += fmt.Sprintf("; %s of those that started in the trace come from %s", unit.Count(c.count), fileLine(c.at.File, c.at.Line))
	}
}
