package insight

import (
	"fmt"
	"strings"
	"time"

	"loupe/value/unit"
)

// heldFor is the part of a wait in which what the finding names first held: of the pause of another goroutine that of the
// waits which it ended, since the same line may wait for other things as well; else all of it.
func heldFor(w *waiting, reason string) time.Duration {
	if !w.ofAnother(reason) && (w.limit == nil || reason == w.kind) || w.gang != nil || len(w.causes) == 0 {
		return w.time
	}
	return ofFirstCause(w)
}

// ofFirstCause is the part of a wait in which the other goroutine did what the finding names.
func ofFirstCause(w *waiting) time.Duration {
	first, sum := w.causes[0].Cause, time.Duration(0)
	for _, row := range w.causes {
		if row.Cause.Kind.Key() == first.Kind.Key() && row.Cause.Site.Frame == first.Site.Frame {
			sum += row.Time
		}
	}
	return min(sum, w.time)
}

// partSaid is from what part of a wait on it is said that it is known in another way than the rest, or not at all: chosen.
const partSaid = 0.1

// withoutReason is the part of a wait of which the trace does not show what the other goroutine did, where the finding names what that did in the
// rest: who ended it had been waiting since before the trace, and longer than later on, or for several things.
func withoutReason(w *waiting) (sum time.Duration) {
	if len(w.causes) == 0 || w.gang != nil || w.servers != nil || w.limit != nil || w.kind == "stop_the_world" || w.queues() {
		return 0
	}
	for _, row := range w.rows {
		if row.Cause.Kind.Key() == "none" {
			sum += row.Time
		}
	}
	if float64(sum) < partSaid*float64(w.time) {
		return 0
	}
	return sum
}

// heldText says of how much of the time of n units that is known, where it is not nearly all: why, which is what is known of it, is
// then said of that part, and not of the whole wait.
func heldText(w *waiting, reason string, n time.Duration, why string) (whole, part string) {
	held := heldFor(w, reason)
	if withoutReason(w) > 0 {
		held = min(held, ofFirstCause(w))
	}
	if why == "" || float64(held) >= allButLittle*float64(w.time) {
		return why, ""
	}
	seen := ""
	if w.group.Unit.String() == "worker" { // whose waits may go on when the trace ends
		seen = ", as far as the waits end within the trace"
	}
	return "", fmt.Sprintf("; during %s of that, %s of its time%s,%s", unit.Duration(held/n), unit.Percent(w.group.All.Share(held)), seen, strings.TrimPrefix(strings.TrimPrefix(why, ", while"), ","))
}

// beforeOf is how much of a wait is for a goroutine that has been waiting since before the trace.
func beforeOf(w *waiting) (sum time.Duration) {
	for _, row := range w.rows {
		sum += row.Before
	}
	return sum
}

// tellBefore says of the waits for a goroutine that had been waiting when the trace began how that is known, and of what part of
// a wait nothing is.
func tellBefore(w *waiting, f *Finding) {
	if sum := withoutReason(w); sum > 0 && w.group.Unit.String() != "worker" { // of which the summary says so
		f.Doubts = append(f.Doubts, fmt.Sprintf("of %s of the wait%s the trace does not show what the goroutine that ends it did: it may have been waiting for something else since before the trace", unit.Duration(sum/unitCount(w.group)), inEach(w.group)))
	}
	if sum := beforeOf(w); float64(sum) >= partSaid*float64(w.time) && sum > 0 {
		f.Doubts = append(f.Doubts, fmt.Sprintf("the goroutine that ends the wait was already waiting when the trace began, which has no stack of that: %s of the wait%s is counted at the line of its later waits", unit.Duration(sum/unitCount(w.group)), inEach(w.group)))
	}
}
