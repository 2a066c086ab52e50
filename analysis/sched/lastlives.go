package sched

import (
	"slices"

	"loupe/format/exectrace"
)

// lastLives are goroutines by their ids, of which the last with an id is kept. A thread of C
// that calls Go has a goroutine whose id the next such thread has again: two lives, of
// which go tool trace knows the second alone (internal/trace/summary.go of Go 1.26
// begins the summary of an id anew).
type lastLives map[exectrace.GoID]*Goroutine

// replace keeps a goroutine, which is lent, in the place of another with its id.
func (l lastLives) replace(g *Goroutine) {
	kept := *g
	kept.Blocked.more = slices.Clone(g.Blocked.more)
	l[g.ID] = &kept
}
