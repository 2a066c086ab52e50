package plan

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"time"

	"loupe/value/unit"
)

// Recorded is a plan of recorded times. [Replay] makes it.
type Recorded struct {
	turns []Turn
	peak  float64
}

// Replay returns the plan of a list of turns, in any order; of those that are
// due at the same time the first in the list comes first. Requests and Duration
// of the options bound it, the rest of them does not apply.
func Replay(turns []Turn, o Options) (*Recorded, error) {
	if len(turns) == 0 {
		return nil, errors.New("cannot replay a list without requests")
	}
	p := &Recorded{turns: slices.Clone(turns)}
	for i, t := range turns {
		if t.Due < 0 {
			return nil, fmt.Errorf("cannot replay request %d of the list: it is due %v before the start", i+1, -t.Due)
		}
	}
	slices.SortStableFunc(p.turns, func(a, b Turn) int {
		switch {
		case a.Due < b.Due:
			return -1
		case a.Due > b.Due:
			return 1
		}
		return 0
	})
	if o.Duration > 0 {
		n := sort.Search(len(p.turns), func(i int) bool { return p.turns[i].Due >= o.Duration })
		p.turns = p.turns[:n]
	}
	if o.Requests > 0 && int64(len(p.turns)) > o.Requests {
		p.turns = p.turns[:o.Requests]
	}
	if len(p.turns) == 0 {
		return nil, fmt.Errorf("cannot replay the list: its first request is due after %v", o.Duration)
	}
	p.peak = busiest(p.turns)
	return p, nil
}

// busiest returns how many turns there are in the busiest second.
func busiest(turns []Turn) float64 {
	most, first := 0, 0
	for i, t := range turns {
		for t.Due-turns[first].Due >= time.Second {
			first++
		}
		most = max(most, i-first+1)
	}
	return float64(most)
}

// String describes the plan in a few words.
func (p *Recorded) String() string {
	return fmt.Sprintf("%s requests at recorded times, %s", unit.Count(int64(len(p.turns))), p.Length().Round(time.Millisecond))
}

// Peak returns how many requests there are in the busiest second.
func (p *Recorded) Peak() float64 { return p.peak }

// Length returns when the last turn is due.
func (p *Recorded) Length() time.Duration { return p.turns[len(p.turns)-1].Due }

// Count returns how many turns there are.
func (p *Recorded) Count() int64 { return int64(len(p.turns)) }

// Part returns the turns of thread i: every of-th turn of the plan.
func (p *Recorded) Part(i, of int) Turns { return &recordedTurns{turns: p.turns, i: i, step: of} }

type recordedTurns struct {
	turns   []Turn
	i, step int
}

// Next returns the next turn.
func (t *recordedTurns) Next() (Turn, bool) {
	if t.i >= len(t.turns) {
		return Turn{}, false
	}
	turn := t.turns[t.i]
	t.i += t.step
	return turn, true
}
