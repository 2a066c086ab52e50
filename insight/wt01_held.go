package insight

import (
	"fmt"
	"time"

	"loupe/value/unit"
)

// heldFor is the part of a wait in which what the finding names first held: of the pause of another goroutine that of the
// waits which it ended, since the same line may wait for other things as well; else all of it.
func heldFor(w *waiting, reason string) time.Duration {
	if !w.ofAnother(reason) && (w.limit == nil || reason == w.kind) || w.gang != nil || len(w.causes) == 0 {
		return w.time
	}
	first, sum := w.causes[0].Cause, time.Duration(0)
	for _, row := range w.causes {
		if row.Cause.Kind.Key() == first.Kind.Key() && row.Cause.Site.Frame == first.Site.Frame {
			sum += row.Time
		}
	}
	return min(sum, w.time)
}

// heldText says how much of the time of n units that is, where it is not nearly all.
func heldText(w *waiting, reason string, n time.Duration) string {
	held := heldFor(w, reason)
	if float64(held) >= allButLittle*float64(w.time) || w.group.Unit.String() == "worker" { // whose waits may go on when the trace ends
		return ""
	}
	return fmt.Sprintf(", %s of them for that", unit.Duration(held/n))
}
