package insight

import (
	"fmt"
	"slices"

	"loupe/value/unit"
)

// mostFurther is how many other lines with the same kind of calls are named: chosen.
const mostFurther = 2

// tellFurther names further lines of a unit that make many calls of the same kind, one after another, in a loop, beside those which the finding is about: the fault is
// there, too.
func tellFurther(r *Rule, in *Input, t *traced, told *outward, ways []callWay, calls []*outward, f *Finding) {
	at, looped := in.loopLine(told.path)
	if !looped {
		return
	}
	named := 0
	for _, x := range calls {
		line, is := in.loopLine(x.path)
		isTold := func(w callWay) bool { return slices.Equal(w.path, x.path) }
		if !is || x.kind != told.kind || slices.Equal(x.path, told.path) || slices.ContainsFunc(ways, isTold) || x.path[0] == told.path[0] || !x.isMany(r) {
			continue
		}
		_, asks := askingAround(in.code, x.path)
		_, chained := chainedAround(in.code, x.path, innerOf(t.Frames(x.stack), x.path))
		if frames := t.Frames(x.stack); asks || chained || x.kind == "file_call" && syncs(frames) != syncs(t.Frames(told.stack)) {
			continue
		}
		called := ""
		if line != x.path[0] {
			called = fmt.Sprintf(", called%s", atFrame(line))
		}
		where := "another loop does so"
		if sameLoop(in.code, line, at) {
			where = "the loop does so at another line"
		}
		f.Summary += fmt.Sprintf("; "+where+", too: %s times%s%s, %s of its time", timesOf(x.each()), atFrame(x.path[0]), called, unit.Percent(x.share()))
		f.Evidence = append(f.Evidence, t.seenAt(t.Frames(x.stack), line, "here, too: %s times%s", timesOf(x.each()), inEach(x.group)))
		if named++; named == mostFurther {
			return
		}
	}
}
