package facts

import (
	"errors"

	"loupe/analysis/sched"
	"loupe/format/exectrace/sweep"
)

// Turns are what goroutines were woken for.
type Turns = sched.Turns

// Turn is one place where goroutines wait.
type Turn = sched.TurnLine

// The ways to wake a goroutine that may have nothing to do.
const (
	ByBroadcast = sched.Broadcast
	ByTick      = sched.Tick
	ByYield     = sched.Yield
)

// TurnsIn reads the turns that goroutines got for nothing from the whole execution trace;
// the error is why there are none.
func TurnsIn(f *Facts) (*Turns, error) {
	if t := f.Trace(); t.Err != nil {
		return nil, t.Err
	}
	if f.Part {
		return nil, errors.New("turns are counted over the whole trace")
	}
	desk, err := f.session.Sweep()
	if err != nil {
		return nil, err
	}
	return sweep.Get(f.session.Context(), desk, nil, sched.WholeTurns, Wants(f.session)...)
}
