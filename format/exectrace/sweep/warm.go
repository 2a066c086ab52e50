package sweep

import "loupe/format/exectrace"

// Warmer is a listener with a table of goroutines by slot. Before a few events are
// handed out, Warm loads what they will touch, all at once: where there are so many
// goroutines that the tables fit no cache, each event would wait for memory several times,
// once for each table, and the processor cannot look so far ahead by itself.
type Warmer interface {
	Listener
	// Warm reads something of each cache line that the events will need, changes nothing,
	// and returns what it has read, in whatever way, so that it is read indeed.
	Warm(events []exectrace.Event) uint64
}

const (
	// warmLen is how many events are prepared at once: as many lines as a processor asks
	// for at the same time.
	warmLen = 16
	// manyPages is from how many pages of goroutines on it pays.
	manyPages = 32
)

// warmers are the listeners of a pass that have something to prepare.
type warmers struct {
	list []Warmer
	read uint64 // what they have read, so that it is
}

// warm prepares events for the table of goroutines and the listeners, where there are many
// goroutines.
func (s *warmers) warm(t *Goroutines, events []exectrace.Event) {
	if t == nil || len(t.pages) < manyPages {
		return
	}
	sum := warmed(t, events)
	for _, w := range s.list {
		sum += w.Warm(events)
	}
	s.read += sum
}

// warmed is [Warmer.Warm] of the table.
func warmed(t *Goroutines, events []exectrace.Event) (sum uint64) {
	for i := range events {
		if slot, ok := Moves(&events[i]); ok && uint(slot)/goPage < uint(len(t.pages)) {
			g := &t.pages[slot/goPage][slot%goPage]
			sum += uint64(g.ID) + uint64(g.State)
		}
	}
	return sum
}

// Moves returns the slot of a goroutine that goes from one state to another with an event.
func Moves(e *exectrace.Event) (exectrace.Slot, bool) {
	return e.SubjectSlot, e.Kind == exectrace.KindGoTransition && e.SubjectSlot != exectrace.NoSlot
}
