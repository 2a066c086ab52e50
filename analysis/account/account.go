// Package account divides the wall time of units of work among what they did and
// waited for, line by line of the user's code and without remainder.
//
// A unit is a served HTTP or gRPC request, a user task, a benchmark or a test, a turn of
// a loop over a queue or an accepted connection, or the run of main, or of a goroutine that the program has started. A [Builder] finds units in the events of an execution trace, in one
// pass: it follows the goroutine of each, and where that one waits for another
// goroutine, what the other one did meanwhile (the critical path, see
// golang/go#57175). [Account] has them by kind, with typical and slow ones apart.
//
// What each goroutine did lately is kept in bounded memory: the last stretches one by
// one, the older ones added up. So no trace is too long, and a wait that is much
// longer than the memory of who ended it is divided in proportion.
//
// The package says where time went and not whether that is good, which is insight's
// work.
package account

import (
	"slices"
	"time"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// Unit is what kind of work a unit is.
type Unit uint8

// The units, from what says most of what a user feels to what says least.
const (
	// Request is a served HTTP or gRPC request: on the goroutine of a connection from
	// the end of the wait for it to the end of the response, else the life of the
	// goroutine that serves a stream.
	Request Unit = iota
	// Task is a user task (runtime/trace.NewTask).
	Task
	// Benchmark is the run of a benchmark function, Test that of a test.
	Benchmark
	Test
	// Exchange is what comes by an accepted connection of a server without HTTP, and what is
	// done for it, up to the wait for more. Job is the same of a goroutine that loops over a
	// channel or a queue.
	Exchange
	Job
	// Main is the main goroutine, as far as the trace has it.
	Main
	// Worker is a goroutine that the user's code has started, as far as the trace has it.
	// See [Builder.beginWorker].
	Worker
	units
)

var unitNames = [units]string{"request", "task", "benchmark", "test", "exchange", "job", "main", "worker"}

// many tells whether there may be very many: what a program does again and again.
func (u Unit) many() bool { return u == Request || u == Task || u == Exchange || u == Job }

// String returns the name of one: "request".
func (u Unit) String() string {
	if u < units {
		return unitNames[u]
	}
	return "unit"
}

// Site is a line of code.
type Site struct {
	// Frame is the one of the user's code nearest to the leaf, else of a dependency,
	// else the first outside of the runtime; its Func is empty where there is none.
	Frame stack.Frame
	// Stack is one of those that have it.
	Stack stack.ID
	// User tells that the line is not of the standard library.
	User bool
	// Holder is, of what is done under a lock by way of other functions, the one that lets the lock go: Stack leads through it.
	Holder string
}

// Row is a part of the time of units: one kind of thing at one line, and, of a wait
// that another goroutine ended, what that one did meanwhile.
type Row struct {
	Kind Kind
	Site Site
	// Cause is what the time passed with in the goroutine that was waited for; its
	// Kind is None where nobody was, or where it is no code of the user.
	Cause Cause
	// By is, of a wait for a lock, what the goroutine that held it did, where that waited for another one itself: Cause is what that other one
	// did. In a queue, it is not who ended the wait, which may have waited just as long, but the one before them all. Its Kind is None where the
	// holder did it by itself.
	By Cause
	// What names a stop of the world: "GC mark termination".
	What string
	// Time is how long it took together, Count how often it began, Units in how many
	// units it was.
	Time  time.Duration
	Count int64
	Units int64
	// Queued is the part of Time in which whoever was waited for worked for other units.
	Queued time.Duration
	// Before is the part of Time in which whoever was waited for had been waiting since before the trace, which has no
	// stack of that: it is counted at the line of the later waits of the same goroutine.
	Before time.Duration
}

// Cause is what another goroutine did at a line.
type Cause struct {
	Kind Kind
	Site Site
}

// Part is some units of a group, added up.
type Part struct {
	Units int64
	// Wall is how long they took together: the sum of the rows.
	Wall time.Duration
	// Rows are the parts of their time, the largest first.
	Rows []Row
}

// Share is a duration as a share of the part's time.
func (p *Part) Share(d time.Duration) float64 { return float64(d) / float64(max(1, p.Wall)) }

// Of adds up the rows of a kind.
func (p *Part) Of(k Kind) (d time.Duration) {
	for i := range p.Rows {
		if p.Rows[i].Kind == k {
			d += p.Rows[i].Time
		}
	}
	return d
}

// Group is all units of one kind and name.
type Group struct {
	Unit Unit
	// Name is the function that handles the request, or runs; the type of the task.
	// It is empty where no stack within the units has code of the user.
	Name string
	// Seen is how long all of them took, Wall how long those did whose time is divided:
	// all of them, but for [Options.Sample]. What follows is of these.
	Seen, Wall sched.Histogram
	// All are all of them, Typical the middle half by time, and Slow those beyond the
	// 99th percentile, or of few units the slowest handful.
	All, Typical, Slow Part
	// Slowest are single ones, the slowest first.
	Slowest []*One
	// Asked tells of requests that, by their number, are those that the program sends
	// itself: what it asks, such as a stand-in for another service, is in the same process.
	Asked bool
	// Calls are those of what is outside of the program, the longest together first.
	Calls []Call
	// Fans are goroutines that they start and wait for, those first of which the last one
	// costs most.
	Fans []Fan
	// Stampedes are calls that several make at once, in bursts.
	Stampedes []Stampede
	// Before is the part of the time of main in a wait that was under way when the trace began, of which the trace has
	// no stack: it is counted at the line at which the later waits of the kind are, see [open.older].
	Before time.Duration
	// Samples is how many CPU samples hit the units; with at least [MinSamples], the
	// running time is divided by them.
	Samples int64
}

// One is a single unit.
type One struct {
	// ID counts units in the order of their ends, from 1, without workers, which are left out where others say more.
	// For one trace it is always the same.
	ID   int64
	Unit Unit
	Name string
	// G is the goroutine that it began on.
	G    exectrace.GoID
	Span timeline.Span
	Part Part
	// Steps is what it did in order, only of the one that [Options] ask for. Truncated
	// tells that there was more.
	Steps     []Step
	Truncated bool
}

// Step is a stretch of a unit.
type Step struct {
	At  timeline.Time // when it began
	Row Row           // Time is its length
}

// Account is where the time of all units of a trace went.
type Account struct {
	Reader *exectrace.Reader
	Span   timeline.Span
	// Groups are those of requests, the heaviest first, then those of tasks, and so on.
	Groups []*Group
	// One is the unit that was asked for; nil where the trace has none with this id.
	One *One
	// Cut is how many requests and tasks the begin or the end of the trace has cut off:
	// they are in no group.
	Cut int64
	// Others is how many units had too many names to be told apart, or came between the
	// stretches of a sample alone.
	Others int64
	// Undivided is how many units were counted and not divided, see [Options.Sample].
	Undivided int64
	// Gates are where units wait for others that have a slot, a worker or a connection.
	Gates []Gate
	// Tries are connections that fail again and again, also of goroutines without units.
	Tries []Tries
	// Peers are the connections of clients, by the code that waits for answers over them.
	Peers []Peers
	wall  *wallTable
}

// Best are the groups of the first kind of units that there are: a program that serves
// is judged by its requests.
func (a *Account) Best() []*Group {
	for i, g := range a.Groups {
		if g.Unit != a.Groups[0].Unit {
			return a.Groups[:i]
		}
	}
	return a.Groups
}

// Divided are the groups that are worth a division line by line, at most n of a kind: the best ones and, where those
// are requests that the program sends itself, main and its workers.
func (a *Account) Divided(n int) []*Group {
	best := a.Best()
	shown := best[:min(n, len(best))]
	if slices.ContainsFunc(best, func(g *Group) bool { return !g.Asked }) {
		return shown
	}
	if at := slices.IndexFunc(a.Groups[len(best):], func(g *Group) bool { return g.Unit >= Main }); at >= 0 {
		own := a.Groups[len(best)+at:]
		return slices.Concat(shown, own[:min(n, len(own))])
	}
	return shown
}

// Options say what to look at. The zero value is everything.
type Options struct {
	// Scope tells the user's code from that of others.
	Scope stack.Scope
	// Serves tells of a function that the source starts goroutines with it for accepted
	// connections; nil knows of none.
	Serves func(function string) bool
	// Filter picks units by their times and lengths; nil is all.
	Filter *sched.Filter
	// ID is a unit whose steps are wanted.
	ID int64
	// Wall wants a profile, see [Account.Wall].
	Wall bool
	// Sample lets of more than 20,000 requests and tasks, at least 2,000 of them requests
	// where there are any, only one in ten be divided, in stretches that are spread over the
	// trace: by far most of the work is that. It has no effect together with Filter, ID and
	// Wall. All units are counted, with the same ids.
	Sample bool
}

// Whole is the account of a whole trace, by a sample where it has very many units. serves is
// that of [Options].
func Whole(scope stack.Scope, serves func(function string) bool) sweep.Want[*Account] {
	return sweep.Want[*Account]{Key: "account", Begin: func(p *sweep.Pass) (func() (*Account, error), error) {
		b := NewBuilder(p.Goroutines(), Options{Scope: scope, Serves: serves, Sample: true})
		p.Join(b)
		return func() (*Account, error) { return b.Finish(), nil }, nil
	}}
}

// Of reads a trace and makes the account of it. It is [sweep.ErrStopped] when stop,
// unless it is nil, has said so.
func Of(t *exectrace.Trace, o Options, stop func() bool) (*Account, error) {
	if o.Filter != nil {
		span, err := t.Span()
		if err != nil {
			return nil, err
		}
		o.Filter.Begin(span.Start)
	}
	pass := sweep.New(t)
	b := NewBuilder(pass.Goroutines(), o)
	pass.Join(b)
	if err := pass.Run(stop); err != nil {
		return nil, err
	}
	return b.Finish(), nil
}
