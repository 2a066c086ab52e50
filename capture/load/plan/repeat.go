package plan

import (
	"fmt"
	"time"
)

// Repeated is a plan that begins again when it is over. [Repeat] makes it.
type Repeated struct {
	plan  Plan
	every time.Duration
}

// Repeat returns p again and again, a round each so often; turns of p that are
// due later than that are left out.
func Repeat(p Plan, every time.Duration) (*Repeated, error) {
	if every <= 0 {
		return nil, fmt.Errorf("cannot repeat a plan every %v", every)
	}
	if first, ok := p.Part(0, 1).Next(); !ok || first.Due >= every {
		return nil, fmt.Errorf("cannot repeat a plan without a request in its first %v", every)
	}
	return &Repeated{plan: p, every: every}, nil
}

// String describes the plan in a few words.
func (p *Repeated) String() string { return fmt.Sprintf("%s, again every %v", p.plan, p.every) }

// Peak returns the highest rate, in requests a second.
func (p *Repeated) Peak() float64 { return p.plan.Peak() }

// Part returns the turns of thread i: its part of every round.
func (p *Repeated) Part(i, of int) Turns {
	return &repeatedTurns{plan: p, i: i, of: of, turns: p.plan.Part(i, of)}
}

type repeatedTurns struct {
	plan  *Repeated
	i, of int
	turns Turns
	round time.Duration // when it began
	idle  int           // rounds without a turn
}

// Next returns the next turn. A new round allocates, its turns do not.
func (t *repeatedTurns) Next() (Turn, bool) {
	const hopeless = 2 // a thread may have no part in a plan of few turns
	for t.idle < hopeless {
		turn, ok := t.turns.Next()
		if ok && turn.Due < t.plan.every {
			t.idle = 0
			turn.Due += t.round
			return turn, true
		}
		if t.round > 1<<62-t.plan.every {
			break
		}
		t.idle++
		t.round += t.plan.every
		t.turns = t.plan.plan.Part(t.i, t.of)
	}
	return Turn{}, false
}
