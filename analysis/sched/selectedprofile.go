package sched

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/format/profile"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// ProfileQuery says which profile of a trace is wanted, and of what part.
type ProfileQuery struct {
	Kind ProfileKind
	// Filter decides what counts; nil is everything.
	Filter *Filter
	// Compat counts as go tool trace does, where that is wrong.
	Compat bool
}

// profileCounts is what each profile counts of the stays that a filter lets through; nil
// where it is not made of stays.
var profileCounts = [profileKinds]func(i *Interval, reason string) bool{
	ProfileNet:     func(i *Interval, reason string) bool { return i.State == exectrace.Waiting && reason == "network" },
	ProfileSync:    func(i *Interval, reason string) bool { return i.State == exectrace.Waiting && isSyncReason(reason) },
	ProfileSyscall: func(i *Interval, _ string) bool { return i.State == exectrace.Syscall },
	ProfileSched:   func(i *Interval, _ string) bool { return i.State == exectrace.Runnable },
	ProfileOffCPU:  func(i *Interval, _ string) bool { return i.State != exectrace.Running },
}

var profileAbout = [profileKinds]string{
	ProfileNet: "waiting for the network", ProfileSync: "waiting for channels, selects and locks", ProfileSyscall: "in system calls",
	ProfileSched: "waiting for a P", ProfileOffCPU: "not running", ProfileCPU: "samples of the CPU profiler", ProfileRunning: "running, by where each run ended",
}

// ProfileKindNamed finds a kind of profile by its name.
func ProfileKindNamed(name string) (ProfileKind, error) {
	if name == "off-cpu" {
		return ProfileOffCPU, nil
	}
	if i := slices.Index(profileNames[:], name); i >= 0 {
		return ProfileKind(i), nil
	}
	return 0, fmt.Errorf("-kind %q: known are net, sync, syscall, sched, off-cpu, cpu, running, wall", name)
}

// About says what time a profile is of.
func (k ProfileKind) About() string {
	if k == ProfileWall {
		return "in units of work, running or waiting"
	}
	return profileAbout[k]
}

// onlyTimes tells whether a filter restricts the times alone.
func (q ProfileQuery) onlyTimes() bool {
	if q.Filter == nil {
		return true
	}
	_, only := q.Filter.Times(0)
	return only
}

// Check refuses what cannot be counted.
func (q ProfileQuery) Check() error {
	switch {
	case q.onlyTimes():
		return nil
	case profileCounts[q.Kind] == nil:
		return fmt.Errorf("-filter: -kind %s cannot be filtered", q.Kind)
	case q.Compat:
		return errors.New("-compat counts as go tool trace does, which has no filter: it works only with -from and -to")
	}
	return nil
}

// Of makes the profile of a trace.
func (q ProfileQuery) Of(t *exectrace.Trace) (*StateProfile, error) {
	switch {
	case q.onlyTimes():
		return wholeProfile(t, q.Filter, q.Compat, q.Kind)
	case q.Kind == ProfileSched:
		return wakerProfile(t, q.Filter, profileCounts[q.Kind])
	}
	return filteredProfile(t, q.Filter, profileCounts[q.Kind])
}

// wholeProfile reads one of a trace's profiles, restricted to times at most.
func wholeProfile(t *exectrace.Trace, times *Filter, compat bool, kind ProfileKind) (*StateProfile, error) {
	opts := StateProfileOptions{Compat: compat}
	if times != nil {
		span, err := t.Span()
		if err != nil {
			return nil, err
		}
		opts.Span, _ = times.Times(span.Start)
	}
	pass := sweep.New(t)
	p := NewStateProfiler(pass.Goroutines(), opts)
	pass.Join(p)
	if err := pass.Run(nil); err != nil {
		return nil, err
	}
	p.Finish()
	return p.Profile(kind), nil
}

// filteredProfile adds up by stack the stays that the filter lets through.
func filteredProfile(t *exectrace.Trace, f *Filter, counts func(*Interval, string) bool) (*StateProfile, error) {
	at := map[stack.ID]int{}
	p := &StateProfile{}
	_, err := Analyze(t, AnalyzeOptions{Filter: f, Top: 1, Each: func(r *exectrace.Reader, i *Interval) {
		if !counts(i, r.WaitReason(i.Reason, i.Stack)) {
			return
		}
		p.Stacks = r.Stacks()
		n, ok := at[i.Stack]
		if !ok {
			n = len(p.IDs)
			at[i.Stack] = n
			p.IDs, p.Counts, p.Nanos = append(p.IDs, i.Stack), append(p.Counts, 0), append(p.Nanos, 0)
		}
		p.Counts[n]++
		p.Nanos[n] += int64(i.Len())
	}})
	return p, err
}

// wakerProfile adds up the waits for a P that the filter lets through by the
// stack of whoever has created the goroutine or woken it up, as the profile of
// the whole trace does. The filter knows where the goroutine itself was; so
// this takes another reading.
func wakerProfile(t *exectrace.Trace, f *Filter, counts func(*Interval, string) bool) (*StateProfile, error) {
	waits := map[exectrace.GoID][]timeline.Span{}
	_, err := Analyze(t, AnalyzeOptions{Filter: f, Top: 1, Each: func(r *exectrace.Reader, i *Interval) {
		if counts(i, r.WaitReason(i.Reason, i.Stack)) {
			waits[i.G] = append(waits[i.G], timeline.Span{Start: i.Start, End: i.End})
		}
	}})
	if err != nil {
		return nil, err
	}
	pass := sweep.New(t)
	by := map[stack.ID]*Spent{}
	gs := pass.Goroutines()
	leave := func(was *sweep.Goroutine, at timeline.Time) {
		g, id, d, n := was.ID, was.By, time.Duration(0), 0
		for all := waits[g]; n < len(all) && all[n].End <= at; n++ {
			d += all[n].Len()
		}
		if waits[g] = waits[g][n:]; was.State != exectrace.Runnable || d == 0 {
			return
		}
		if by[id] == nil {
			by[id] = &Spent{}
		}
		by[id].Count++
		by[id].Time += d
	}
	pass.Join(sweep.On(sweep.Of(exectrace.KindGoTransition), func(e *exectrace.Event) {
		if e.From > exectrace.NotExist && e.From != e.To {
			leave(&gs.Was, e.Time)
		}
	}))
	if err := pass.Run(nil); err != nil {
		return nil, err
	}
	gs.Each(func(_ exectrace.Slot, g *sweep.Goroutine) { leave(g, math.MaxInt64) }) // until the trace ends
	p := &StateProfile{Kind: ProfileSched, Stacks: pass.Reader().Stacks()}
	for _, id := range slices.Sorted(maps.Keys(by)) {
		p.IDs, p.Counts, p.Nanos = append(p.IDs, id), append(p.Counts, by[id].Count), append(p.Nanos, int64(by[id].Time))
	}
	return p, nil
}

// Profile gives the profile the sample types of go tool trace -pprof.
func (p *StateProfile) Profile() *profile.Profile {
	out := &profile.Profile{
		SampleTypes: []profile.ValueType{{Type: "contentions", Unit: "count"}, {Type: "delay", Unit: "nanoseconds"}},
		PeriodType:  profile.ValueType{Type: "trace", Unit: "count"},
		Period:      1, Stacks: p.Stacks, StackIDs: p.IDs, Values: [][]int64{p.Counts, p.Nanos},
	}
	if p.Nanos == nil {
		out.SampleTypes, out.Values = []profile.ValueType{{Type: "samples", Unit: "count"}}, [][]int64{p.Counts}
	}
	return out
}
