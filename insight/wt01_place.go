package insight

import (
	"fmt"
	"time"

	"loupe/value/unit"
)

// countPlace has a wait that is named by a pause of another goroutine count what that pause takes of it: while the rest
// passes that goroutine does something else.
func countPlace(w *waiting, in *Input, f *Finding) {
	if len(w.causes) == 0 || w.gang != nil || !w.ofAnother(w.reason()) {
		return
	}
	cause := &w.causes[0]
	if cause.Cause.Site.Frame.Func == "" || float64(cause.Time) >= allButLittle*float64(w.time) {
		return
	}
	n := time.Duration(max(1, w.group.Wall.Count))
	f.Impact = exactly(ofAll(in, w.group, w.group.All.Share(cause.Time)), "share of the "+timeOfUnits(w.group))
	f.Summary += fmt.Sprintf("; %s of it is at %s:%d", unit.Duration(cause.Time/n), baseName(cause.Cause.Site.Frame.File), cause.Cause.Site.Frame.Line)
}
