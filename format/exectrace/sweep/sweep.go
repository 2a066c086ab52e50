// Package sweep reads an execution trace once for many.
//
// A [Pass] reads the events of a trace in order and hands each to the listeners
// that asked for its kind. A [Desk] belongs to a trace that several pages or
// commands ask about: what they want to know is found out in as few passes as
// possible, and kept.
//
// The package decides who sees which event and when reading ends. What events
// mean is up to the listeners.
package sweep

import (
	"errors"
	"slices"

	"loupe/format/exectrace"
)

// Kinds is a set of kinds of events.
type Kinds uint32

// Every is all kinds.
const Every = ^Kinds(0)

// Of most goroutines most listeners want every transition. Who does not ask for the kind
// can have some of them.
const (
	// Begun are those that begin the life of a goroutine, or are the first that is told of
	// one that is older.
	Begun Kinds = 1 << begunBit
	// Followed are all others of the goroutines that somebody follows, see
	// [Goroutines.Follow].
	Followed Kinds = 1 << followedBit

	begunBit, followedBit = maxKinds - 2, maxKinds - 1
)

// Of returns the set of some kinds.
func Of(kinds ...exectrace.Kind) (set Kinds) {
	for _, k := range kinds {
		set |= 1 << k
	}
	return set
}

// maxKinds is more than there are kinds, with those that stand for some events of one.
const maxKinds = 32

// Listener takes events. All listeners of a pass see the same event one after
// the other, in the order in which they joined; those that have some transitions of
// goroutines alone after those that have all.
type Listener interface {
	// Kinds returns the events that it needs; the fewer, the cheaper the pass.
	// The first and the last event of a trace are synchronisations.
	Kinds() Kinds
	// Event takes one, which is valid during the call.
	Event(e *exectrace.Event)
}

// On returns a listener that hands events of some kinds to a function.
func On(kinds Kinds, event func(e *exectrace.Event)) Listener { return &on{kinds, event} }

type on struct {
	kinds Kinds
	event func(e *exectrace.Event)
}

func (l *on) Kinds() Kinds             { return l.kinds }
func (l *on) Event(e *exectrace.Event) { l.event(e) }

// ErrStopped is returned by those who were told to stop.
var ErrStopped = errors.New("the reading of the trace was ended")

// Pass is one reading of a trace. It can be stopped and goes on from there.
type Pass struct {
	t       *exectrace.Trace
	r       *exectrace.Reader
	all     []Listener
	by      [maxKinds][]Listener
	some    bool        // somebody wants some transitions of goroutines alone
	gs      *Goroutines // nil as long as nobody has asked for it
	warmers warmers
	batches bool                // see [Pass.InBatches]
	ahead   bool                // see [Pass.Ahead]
	rest    [][]exectrace.Event // that were read ahead when the pass was stopped
	ended   bool
	checked int64 // events at the last look at stop
	progress
}

// New returns a pass over a whole trace.
func New(t *exectrace.Trace) *Pass { return From(t, 0) }

// From returns a pass that begins at a generation, see [exectrace.Trace.ReaderAt].
func From(t *exectrace.Trace, generation int) *Pass {
	p := &Pass{t: t, r: t.ReaderAt(generation)}
	if all := t.Generations(); generation < len(all) {
		p.generations = all[generation:]
	}
	return p
}

// Trace returns the trace that is read.
func (p *Pass) Trace() *exectrace.Trace { return p.t }

// Reader returns the reader whose names and stacks the events have. Only the
// pass itself may go on with it.
func (p *Pass) Reader() *exectrace.Reader { return p.r }

// Goroutines returns the table of goroutines and Ps, which the pass keeps from now on.
func (p *Pass) Goroutines() *Goroutines {
	if p.gs == nil {
		p.gs = NewGoroutines(p.r)
	}
	return p.gs
}

// Events returns how many events have been read.
func (p *Pass) Events() int64 { return p.events }

// Join adds a listener, which sees all events from now on.
func (p *Pass) Join(l Listener) {
	p.all = append(p.all, l)
	if w, ok := l.(Warmer); ok {
		p.warmers.list = append(p.warmers.list, w)
	}
	set := l.Kinds()
	if set&Of(exectrace.KindGoTransition) != 0 {
		set &^= Begun | Followed // it has them
	}
	if set&(Begun|Followed) != 0 {
		p.some = true
		p.Goroutines()
	}
	for k := range p.by {
		if set&(1<<k) != 0 {
			p.by[k] = append(p.by[k], l)
		}
	}
}

// Leave ends the part of a listener, which must be comparable, during
// [Listener.Event] or between runs. When the last one has left, the pass is over.
func (p *Pass) Leave(l Listener) {
	is := func(other Listener) bool { return other == l }
	without := func(list []Listener) []Listener {
		// A new list: the old one may be in use right now.
		if slices.ContainsFunc(list, is) {
			return slices.DeleteFunc(slices.Clone(list), is)
		}
		return list
	}
	p.all = without(p.all)
	p.warmers.list = slices.DeleteFunc(slices.Clone(p.warmers.list), func(w Warmer) bool { return is(w) })
	for k := range p.by {
		p.by[k] = without(p.by[k])
	}
	p.ended = p.ended || len(p.all) == 0
}

// End ends the pass for everybody.
func (p *Pass) End() { p.ended = true }

// checkEvery is how often a pass asks whether to stop.
const checkEvery = 1 << 16

// Run reads on until the trace ends or all have left. Every 65,536 events it
// asks stop, which may be nil, whether to return [ErrStopped]; the next Run goes
// on from there. All other errors are those of the reader.
func (p *Pass) Run(stop func() bool) error {
	if p.ended {
		return nil
	}
	switch {
	case p.ahead || len(p.rest) > 0:
		return p.runAhead(stop)
	case p.batches:
		return runBatches(p, stop)
	}
	for p.r.Next() {
		if over, err := p.event(p.r.Event(), stop); over {
			return err
		}
	}
	return p.r.Err()
}

// event hands an event to the listeners, and says whether to read no further now.
func (p *Pass) event(e *exectrace.Event, stop func() bool) (over bool, err error) {
	p.events++
	if e.Kind == exectrace.KindSync {
		p.sync()
	}
	if p.gs != nil {
		p.gs.Event(e)
	}
	for _, l := range p.by[e.Kind%maxKinds] {
		l.Event(e)
	}
	if p.some && e.Kind == exectrace.KindGoTransition && (e.From <= exectrace.NotExist || p.gs.follow.has(e.SubjectSlot)) {
		p.few(e)
	}
	if p.ended {
		return true, nil
	}
	if p.events-p.checked >= checkEvery {
		p.checked = p.events
		if stop != nil && stop() {
			return true, ErrStopped
		}
	}
	return false, nil
}

// few hands a transition to those who want few of them.
func (p *Pass) few(e *exectrace.Event) {
	of := p.by[followedBit]
	switch {
	case e.From == e.To:
		return
	case e.From <= exectrace.NotExist:
		p.gs.follow.drop(e.SubjectSlot)
		of = p.by[begunBit]
	}
	for _, l := range of {
		l.Event(e)
	}
}

// progress estimates how much of a trace is read: its generations say how many
// bytes they have, but a reader not where in them it is.
type progress struct {
	generations []exectrace.GenerationInfo
	begun       int
	bytes       int64 // of the generations before
	events      int64
	before      int64 // events of the generations before
}

// sync says that another generation begins.
func (p *progress) sync() {
	if p.begun > 0 && p.begun <= len(p.generations) {
		p.bytes += p.generations[p.begun-1].Bytes
		p.before = p.events
	}
	p.begun++
}

// Done returns how much of the trace has been read, from 0 to 0.99.
func (p *progress) Done() float64 {
	total := int64(1)
	for _, g := range p.generations {
		total += g.Bytes
	}
	if p.begun == 0 || p.begun > len(p.generations) {
		return 0
	}
	each := 6.0 // bytes of an event
	if p.before > 0 {
		each = float64(p.bytes) / float64(p.before)
	}
	within := min(each*float64(p.events-p.before), float64(p.generations[p.begun-1].Bytes))
	return min(0.99, (float64(p.bytes)+within)/float64(total))
}
