package insight

import (
	"fmt"
	"slices"

	"loupe/value/stack"
	"loupe/value/unit"
)

// heldByStuck tells of memory that goroutines have allocated which never finish (SC10) that they hold it: what a goroutine has in its variables, or
// hands to what it waits in, is in use for as long as the goroutine is there.
func heldByStuck(in *Input, at stack.Frame, frames []stack.Frame) (h holding, ok bool) {
	own := userFrames(in.code, at, frames)
	places, _ := stuckPlaces(sc10, in, proved, becomingMore, staying)
	for _, s := range places {
		i := slices.IndexFunc(own, func(f stack.Frame) bool { return f.Func == s.at.Func && f.File == s.at.File })
		if s.at.File == "" || i < 0 {
			continue
		}
		where := fmt.Sprintf("%s:%d", baseName(s.at.File), s.at.Line)
		h.says = fmt.Sprintf("%s in %s, which allocate it, never finish (SC10) and wait at %s: what they have in their variables stays in use", goroutinesOf(s), stack.Short(s.at.Func), where)
		h.advice = fmt.Sprintf("The goroutines that wait at %s hold it: see SC10 first. When they end, what they have allocated is released with them.", where)
		h.shows = []Evidence{in.code.shownAt(s.at.File, s.at.Line, "the goroutines that hold it wait here")}
		return h, true
	}
	return h, false
}

// goroutinesOf says how many never finish: "6,000 goroutines".
func goroutinesOf(s stuck) string { return unit.Plural(int64(s.count), "goroutine") }
