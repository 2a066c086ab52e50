package plan

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"loupe/value/unit"
)

// Arrival says how requests are spread around the rate of a plan.
type Arrival uint8

// The arrivals.
const (
	// Uniform requests come at equal distances.
	Uniform Arrival = iota
	// Poisson requests come independently of each other, as those of many
	// users do: sometimes close together, sometimes far apart.
	Poisson
)

// String returns the name of the arrival.
func (a Arrival) String() string {
	if a == Poisson {
		return "poisson"
	}
	return "uniform"
}

// Options bound a plan and say how its requests arrive.
type Options struct {
	// Requests is how many there are at most; 0 is no bound.
	Requests int64
	// Duration is until when requests are due at most; 0 is no bound.
	Duration time.Duration
	Arrival  Arrival
	// Seed makes Poisson arrivals the same again, whatever the number of
	// threads.
	Seed uint64
}

// Paced is a plan that follows a rate. [Constant] and [Stages] make it.
type Paced struct {
	shape   shape
	options Options
	name    string
	peak    float64
	// end is until when turns are due, in seconds; count how many of
	// uniform turns there are.
	end   float64
	count int64
}

// maxRate is the highest rate of a plan; turns are whole nanoseconds.
const maxRate = 1e9

// Constant returns the plan of so many requests a second.
func Constant(rate float64, o Options) (*Paced, error) {
	if !(rate > 0) || rate > maxRate {
		return nil, fmt.Errorf("cannot plan %v requests a second: want more than 0 and at most a thousand million", rate)
	}
	return paced(flat(rate), rate, unit.Number(rate)+"/s", o), nil
}

// Stages returns the plan that goes from rate to rate. Before the first stage
// the rate is 0, so that {30s, 1000} rises for half a minute; a start at full
// rate is a stage without length before it.
func Stages(stages []Stage, o Options) (*Paced, error) {
	if len(stages) == 0 {
		return nil, errors.New("cannot plan stages: there are none (want a form like 30s:1k,1m:1k,30s:0)")
	}
	var length time.Duration
	var peak float64
	low := math.Inf(1)
	for i, g := range stages {
		if !(g.Rate >= 0) || g.Rate > maxRate {
			return nil, fmt.Errorf("cannot plan %v requests a second in stage %d: want 0 to a thousand million", g.Rate, i+1)
		}
		if g.Length < 0 || g.Length > math.MaxInt64-length {
			return nil, fmt.Errorf("cannot plan stage %d of %v: too long or negative", i+1, g.Length)
		}
		length += g.Length
		peak, low = max(peak, g.Rate), min(low, g.Rate)
	}
	s := newShape(stages)
	if due, _ := s.whole(); due == 0 {
		return nil, errors.New("cannot plan stages: there is no request in any of them (want a rate and a length)")
	}
	return paced(s, peak, describe(s, length), o), nil
}

// describe says in words what stages do: "0 to 5,000/s to 0 in 3 stages, 2m0s".
func describe(s shape, length time.Duration) string {
	first, last := s.segments[0], s.segments[len(s.segments)-1]
	peak := first.from
	for _, g := range s.segments {
		peak = max(peak, g.from, g.to)
	}
	text := unit.Number(first.from)
	if first.from != peak {
		text += " to " + unit.Number(peak)
	}
	text += "/s"
	if last.to != peak {
		text += " to " + unit.Number(last.to) + "/s"
	}
	if n := len(s.segments); n > 1 {
		text += fmt.Sprintf(" in %d stages", n)
	}
	return text + ", " + length.String()
}

func paced(s shape, peak float64, name string, o Options) *Paced {
	p := &Paced{shape: s, options: o, peak: peak, name: name}
	if o.Arrival == Poisson {
		p.name += ", Poisson arrivals"
	}
	_, p.end = s.whole()
	if o.Duration > 0 {
		p.end = min(p.end, o.Duration.Seconds())
	}
	due := math.Inf(1)
	if !math.IsInf(p.end, 1) {
		due = s.until(p.end)
	}
	// Turn n is due when the integral reaches n, so that there are as many
	// as whole numbers below it. What rounding added is taken off.
	p.count = math.MaxInt64
	if due < 1<<62 {
		p.count = int64(math.Ceil(due - 1e-9*max(1, due)))
	}
	if o.Requests > 0 {
		p.count = min(p.count, o.Requests)
	}
	return p
}

// String describes the plan in a few words.
func (p *Paced) String() string { return p.name }

// Peak returns the highest rate, in requests a second.
func (p *Paced) Peak() float64 { return p.peak }

// Length returns until when turns are due, or 0 when the plan has no end. A
// plan that is bounded by Requests alone ends with the last of them, here that
// of uniform arrivals.
func (p *Paced) Length() time.Duration {
	end := p.end
	if p.options.Requests > 0 && p.count > 0 {
		c := cursor{shape: &p.shape}
		end = min(end, c.at(float64(p.count-1)))
	}
	if math.IsInf(end, 1) || end > math.MaxInt64/1e9 {
		return 0
	}
	return time.Duration(math.Round(end * 1e9))
}

// Count returns how many turns there are, for Poisson arrivals on average, or
// 0 when the plan has no end.
func (p *Paced) Count() int64 {
	if p.count == math.MaxInt64 {
		return 0
	}
	return p.count
}

// Part returns the turns of thread i: every of-th turn of the plan.
func (p *Paced) Part(i, of int) Turns {
	if p.options.Arrival == Poisson {
		t := &poissonTurns{plan: p, cursor: cursor{shape: &p.shape}, step: of, skip: i + 1, left: p.options.Requests, bounded: p.options.Requests > 0}
		t.random.Seed(p.options.Seed, 0x9e3779b97f4a7c15)
		t.rng = rand.New(&t.random)
		return t
	}
	return &uniformTurns{plan: p, cursor: cursor{shape: &p.shape}, n: int64(i), step: int64(of)}
}

// uniformTurns are turns at equal steps of the integral.
type uniformTurns struct {
	plan    *Paced
	cursor  cursor
	n, step int64
	last    time.Duration
}

// Next returns the next turn.
func (t *uniformTurns) Next() (Turn, bool) {
	if t.n >= t.plan.count {
		return Turn{}, false
	}
	due, ok := instant(t.cursor.at(float64(t.n)), t.last)
	if !ok {
		return Turn{}, false
	}
	t.last = due
	t.n += t.step
	return Turn{Due: due, Target: AnyTarget}, true
}

// poissonTurns are turns whose distances in the integral are exponential:
// stretched by the rate, that is a Poisson process of the rate. Every thread
// draws all turns and takes its own, so that the plan is the same with any
// number of threads; a draw takes some nanoseconds.
type poissonTurns struct {
	plan       *Paced
	cursor     cursor
	random     rand.PCG
	rng        *rand.Rand
	y          float64
	skip, step int // the turn to take next is skip draws away
	bounded    bool
	left       int64 // draws, if bounded
	last       time.Duration
}

// Next returns the next turn.
func (t *poissonTurns) Next() (Turn, bool) {
	if t.bounded {
		if t.left -= int64(t.skip); t.left < 0 {
			t.left = 0
			return Turn{}, false
		}
	}
	for range t.skip {
		t.y += t.rng.ExpFloat64()
	}
	t.skip = t.step
	if due, _ := t.plan.shape.whole(); t.y >= due {
		return t.end()
	}
	at := t.cursor.at(t.y)
	due, ok := instant(at, t.last)
	if at >= t.plan.end || !ok {
		return t.end()
	}
	t.last = due
	return Turn{Due: due, Target: AnyTarget}, true
}

// end makes every later call say that there are no more.
func (t *poissonTurns) end() (Turn, bool) {
	t.bounded, t.left = true, 0
	return Turn{}, false
}

// instant makes whole nanoseconds of seconds, never before the turn before.
func instant(seconds float64, last time.Duration) (time.Duration, bool) {
	if seconds > math.MaxInt64/1e9 {
		return 0, false
	}
	return max(time.Duration(math.Round(seconds*1e9)), last), true
}
