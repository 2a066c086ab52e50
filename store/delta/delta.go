// Package delta makes of cumulative profiles what has happened from one to the next. Go's
// allocs, mutex and block profiles count from the start of the process; whoever wants to
// know what happened at noon needs differences, by target and stack.
//
// What a profile says of the moment (memory in use, goroutines) and what covers its own
// time (CPU) passes through as it is. Nothing is read here and nothing written: profiles
// in, profiles out.
//
// Note: net/http/pprof makes differences itself with ?seconds=N. Of heap profiles they
// are wrong: it takes the difference of the memory in use as well (golang/go#67942).
package delta

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"loupe/format/profile"
)

// Engine has the last values of each target. The zero Engine is ready for use, and any
// number of goroutines may share it.
type Engine struct {
	// MaxStacks is how many stacks are kept of one kind of profile of one target: 200,000
	// when it is 0. A profile with more is an error.
	MaxStacks int
	// MaxTotal is how many are kept of all together: 5,000,000 when it is 0, of some dozens of
	// bytes each. The targets that have been silent for longest are forgotten for others.
	MaxTotal int

	mu    sync.Mutex
	last  map[source]*target
	total int
	clock uint64
}

// Process tells one run of a program from the next. What is not known is zero.
type Process struct {
	Start time.Time // when it was started
	Build string    // its build id or version
}

// Reading is one profile that was taken of a target.
type Reading struct {
	Target  string // such as host:port
	Kind    string // such as allocs; kinds of one target are apart
	Process Process
	Profile *profile.Profile
	At      time.Time // when it was taken, by the clock of the one who took it
}

// Outcome says what a delta is.
type Outcome uint8

// The outcomes.
const (
	Passed   Outcome = iota // nothing in the profile is cumulative: it is as it was
	First                   // nothing to compare with: only states are in the profile
	Since                   // what has happened since the reading before
	Restart                 // the process has begun anew: all that has happened in it
	Outdated                // taken before the one that was read last: there is no profile
)

// Delta is what comes of a reading.
type Delta struct {
	Outcome Outcome
	// Profile has the cumulative types as differences and all others as they were; its
	// Duration is the time from From. It is nil when there is no sample.
	Profile *profile.Profile
	From    time.Time // since when; zero when that is not known
	Fallen  int       // how many stacks had less than before in the same process; they count as 0
}

// source is a kind of profile of a target.
type source struct{ target, kind string }

// target is the last reading of a source.
type target struct {
	process Process
	at      time.Time
	types   string
	values  table // the greatest so far of each cumulative type
	used    uint64
}

// errTooMany is that of a profile with too many stacks.
var errTooMany = errors.New("the profile has too many stacks")

// IsCumulative says whether a type counts from the start of the process in the profiles
// of Go's runtime: allocations, and contentions with their delays.
func IsCumulative(t profile.ValueType) bool {
	switch t.Type {
	case "alloc_objects", "alloc_space", "contentions", "delay":
		return true
	}
	return false
}

// Add takes a reading in. A profile that has a duration covers a time of its own, and so
// is a difference already.
//
// A process is another one when its build or its start (by more than a second) differs.
// Where its start is not known to be the very same, one stack with less than before tells
// it as well: nothing cumulative falls. A stack that is missing has not fallen, and is
// remembered.
func (e *Engine) Add(r Reading) (Delta, error) {
	p := r.Profile
	columns := cumulative(p)
	if len(columns) == 0 || p.Duration > 0 {
		return Delta{Outcome: Passed, Profile: p}, nil
	}
	now, err := e.sum(p, columns)
	if err != nil {
		return Delta{}, fmt.Errorf("cannot compare profile %s of %s: %w", r.Kind, r.Target, err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	id := source{r.Target, r.Kind}
	last := e.last[id]
	if last != nil && !last.at.Before(r.At) && !another(last.process, r.Process) {
		return Delta{Outcome: Outdated}, nil
	}
	d := Delta{Outcome: First}
	base := &table{}
	switch {
	case last == nil || last.types != types(p, columns):
	case begun(last, r.Process, now):
		d.Outcome, d.From = Restart, last.at
		if r.Process.Start.After(d.From) {
			d.From = r.Process.Start
		}
	default:
		d.Outcome, d.From = Since, last.at
		base = &last.values
	}
	if d.Outcome == First {
		d.Profile = now.profile(p, columns, nil)
	} else {
		d.Fallen = now.subtract(base)
		d.Profile = now.profile(p, columns, now.diff)
	}
	if d.Profile != nil && !d.From.IsZero() {
		d.Profile.Duration = r.At.Sub(d.From)
	}
	e.keep(id, &target{process: r.Process, at: r.At, types: types(p, columns)}, now, base)
	return d, nil
}

// cumulative returns the columns that are.
func cumulative(p *profile.Profile) (columns []int) {
	for i, t := range p.SampleTypes {
		if IsCumulative(t) {
			columns = append(columns, i)
		}
	}
	return columns
}

// types names the cumulative types: with others, values cannot be compared.
func types(p *profile.Profile, columns []int) (s string) {
	for _, c := range columns {
		s += p.SampleTypes[c].String() + " "
	}
	return s
}

// another tells whether two processes are known to be different ones.
func another(a, b Process) bool {
	if a.Build != "" && b.Build != "" && a.Build != b.Build {
		return true
	}
	if a.Start.IsZero() || b.Start.IsZero() {
		return false
	}
	return a.Start.Sub(b.Start).Abs() > time.Second
}

// begun tells whether the process has begun anew since the last reading.
func begun(last *target, p Process, now *sums) bool {
	if another(last.process, p) {
		return true
	}
	if !p.Start.IsZero() && p.Start.Equal(last.process.Start) {
		return false
	}
	for i, k := range now.keys {
		for c, v := range last.values.find(k) {
			if now.of(i)[c] < v {
				return true
			}
		}
	}
	return false
}

// keep remembers a reading: its own values, and of the same process those of the stacks
// that are missing in it, as long as there is room.
func (e *Engine) keep(id source, t *target, now *sums, before *table) {
	if e.last == nil {
		e.last = map[source]*target{}
	}
	t.values = now.table
	for i, k := range before.keys {
		if len(t.values.keys) >= e.maxStacks() {
			break
		}
		if at, fresh := t.values.add(k); fresh {
			copy(t.values.of(at), before.of(i))
		}
	}
	if old := e.last[id]; old != nil {
		e.total -= len(old.values.keys)
	}
	e.clock++
	t.used = e.clock
	e.last[id] = t
	e.total += len(t.values.keys)
	for e.total > e.maxTotal() && len(e.last) > 1 {
		e.forgetOldest()
	}
}

// forgetOldest drops what has not been read for longest.
func (e *Engine) forgetOldest() {
	var oldest source
	at := e.clock + 1
	for id, t := range e.last {
		if t.used < at {
			oldest, at = id, t.used
		}
	}
	e.total -= len(e.last[oldest].values.keys)
	delete(e.last, oldest)
}

// Forget drops all that is known of a target, which is gone.
func (e *Engine) Forget(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for id, t := range e.last {
		if id.target == name {
			e.total -= len(t.values.keys)
			delete(e.last, id)
		}
	}
}

func (e *Engine) maxStacks() int {
	if e.MaxStacks == 0 {
		return 200_000
	}
	return e.MaxStacks
}

func (e *Engine) maxTotal() int {
	if e.MaxTotal == 0 {
		return 5_000_000
	}
	return e.MaxTotal
}
