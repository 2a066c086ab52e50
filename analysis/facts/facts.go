// Package facts answers questions about a recording, whichever of its files can
// tell: who waits for whom and where, what was allocated and what is kept of it,
// what the collector did, which settings were in force. A fact says where it comes
// from, how good it is and of what time it is.
//
// A rule asks a [Question] and not a file, so that what a lock costs is known from an
// execution trace, a mutex profile, a block profile or a look at the goroutines,
// each as far as it goes. What would have to be recorded for an answer is in the same
// table as what can give one.
//
// The package says what is and not whether it is good, which is insight's work,
// nor whether it differs from another recording, which is compare's.
package facts

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"loupe/analysis/gc"
	"loupe/analysis/sched"
	"loupe/format/loadlog"
	"loupe/format/metrics"
	"loupe/recording"
	"loupe/session"
	"loupe/value/timeline"
	"loupe/value/unit"
)

// Round is what one bare phase showed.
type Round struct {
	Phase recording.Phase
	// Duration is how long the work took: of the load where there is one,
	// of the process where it ended by itself, else of the phase.
	Duration time.Duration
	// Load is nil without a load, GC and Sched without the runtime's lines.
	Load  *loadlog.Summary
	GC    *gc.Summary
	Sched *sched.Summary
	// CPU is the CPU time of the recorded process; 0 when unknown. Where it has ended by itself, the children
	// that it has waited for are in it.
	CPU time.Duration
	// Family is the CPU time of the other processes of the run, beyond CPU; FamilyRSS the largest resident
	// memory of them together, in bytes. Both are 0 where there are none, or they are unknown.
	Family    time.Duration
	FamilyRSS int64
	// Waited is what of CPU is known to be of other processes of the run.
	Waited time.Duration
	// AllocRate is how many bytes a second the program allocated, by
	// runtime/metrics; NaN when unknown.
	AllocRate float64
	// Counts are what the runtime has counted of the work.
	Counts Counts
	// Collections is how many there were; NaN when unknown. It comes from
	// gctrace, or without it from the metrics.
	Collections float64
	// MaxRSS is in bytes; 0 when unknown.
	MaxRSS int64
	// Goroutines is the largest number of them that a sample has seen; 0 when unknown.
	Goroutines int64
	// HeapPeak is the largest heap that a sample of the metrics has seen, in bytes, garbage included; 0 when unknown. A collection may have
	// found a larger one, or none may have come late enough.
	HeapPeak float64
	// Ended tells that the program ended by itself within the phase.
	Ended bool
	// Damage says which entries could not be read, and what the round is
	// shown without.
	Damage []string
}

// Requests returns the number of answered requests, 0 without a load.
func (r *Round) Requests() int64 {
	if r.Load == nil {
		return 0
	}
	return int64(r.Load.Responses)
}

// Facts are what one recording tells, or a part of its time: the figures of its
// rounds, and the answers to questions, each found at the first call.
type Facts struct {
	Title    string
	Manifest *recording.Manifest
	Rounds   []Round
	// Part tells that the rounds and the trace are of a part of the time alone.
	Part bool
	// Trace analyses the execution trace at the first call, Noise measures what else
	// the machine did.
	Trace func() *Trace
	Noise func() *Noise
	// Units are where the time of requests and other units of work goes.
	Units func() *Units

	session *session.Session
	samples func() (*Weights, error)
	// waits read the waits of each of waitFiles at the first call.
	waits []func() (*AllWaits, error)
}

// Gather reads the figures of a recording, once for all who ask. An entry that is absent
// leaves its figures out; so does one that is damaged, which [Round.Damage] tells of.
func Gather(s *session.Session) *Facts {
	f, err := session.Computed(s, "facts", func(s *session.Session) (*Facts, error) { return gather(s), nil })
	if err != nil {
		return gather(s) // for nobody, who waits no more
	}
	return f
}

func gather(s *session.Session) *Facts {
	f := about(s, timeline.Span{}, nil)
	for _, p := range s.BarePhases() {
		f.Rounds = append(f.Rounds, *gatherRound(s, f.Manifest, p))
	}
	return f
}

// about makes facts without rounds.
func about(s *session.Session, part timeline.Span, stop func() bool) *Facts {
	m := s.Manifest()
	f := &Facts{Title: m.Title, Manifest: m, session: s}
	f.Trace = sync.OnceValue(func() *Trace { return trace(s, part, stop) })
	f.Units = sync.OnceValue(func() *Units { return units(s, f.Trace(), part, stop) })
	f.Noise = sync.OnceValue(func() *Noise { return noise(f) })
	f.samples = sync.OnceValues(func() (*Weights, error) { return tracedSamples(f) })
	for _, kind := range waitFiles {
		f.waits = append(f.waits, sync.OnceValues(func() (*AllWaits, error) { return readWaits(f, kind) }))
	}
	return f
}

// GatherIn is [Gather] for a part of the time: of each bare phase what lies in
// the span. Where most of the span lies in phases with a profiler, the rounds are
// those of all phases, and the cost of the profilers is in the figures. What is
// less than a tenth of it is left out: a sliver of a phase is no round.
//
// The execution trace is not read on when stop says to end; stop may be nil.
func GatherIn(s *session.Session, span timeline.Span, stop func() bool) *Facts {
	f := about(s, span, stop)
	f.Part = true
	m := f.Manifest
	var bare, all time.Duration
	var phases []recording.Phase
	for _, p := range m.Phases {
		d := p.Span.Overlap(span)
		if d == 0 || p.Error != "" {
			continue
		}
		phases = append(phases, p)
		all += d
		if p.Profiler == "" {
			bare += d
		}
	}
	for _, p := range phases {
		if (p.Profiler == "" || bare < all/2) && p.Span.Overlap(span) >= all/10 {
			f.Rounds = append(f.Rounds, *partOfRound(s, m, p, span))
		}
	}
	return f
}

// partOfRound is a round restricted to a span.
func partOfRound(s *session.Session, m *recording.Manifest, p recording.Phase, span timeline.Span) *Round {
	part := timeline.Span{Start: max(span.Start, p.Span.Start), End: min(span.End, p.Span.End)}
	if part == p.Span {
		return gatherRound(s, m, p)
	}
	r := &Round{Phase: p, Duration: part.Len(), AllocRate: math.NaN(), Counts: uncounted(), Collections: math.NaN()}
	r.Phase.Span = part
	if l, _ := s.Load(p.Name); l != nil {
		clock := s.OnAxis(l, p.Name).Clock
		load := timeline.Span{Start: clock.At(0), End: clock.At(int64(l.Elapsed))}
		if load.Overlap(part) > 0 {
			part = timeline.Span{Start: max(part.Start, load.Start), End: min(part.End, load.End)}
			r.Load = l.Within(timeline.Span{Start: timeline.Time(part.Start.Sub(load.Start)), End: timeline.Time(part.End.Sub(load.Start))}).Summary()
			r.Duration = part.Len()
		}
	}
	if p.Run >= 0 && p.Run < len(m.Target.Runs) {
		run := m.Target.Runs[p.Run]
		r.CPU, r.MaxRSS = used(s, cmp.Or(run.Server, run.PID), part)
	}
	r.Family, r.FamilyRSS = familyIn(s, part)
	r.gatherRuntime(s, m, part)
	return r.ofRequests()
}

// ofRequests leaves out what is not that of the requests, where other processes have answered them.
func (r *Round) ofRequests() *Round {
	if r.Phase.Elsewhere {
		return &Round{Phase: r.Phase, Load: r.Load, Duration: r.Duration, Damage: r.Damage, AllocRate: math.NaN(), Counts: uncounted(), Collections: math.NaN()}
	}
	return r
}

// OwnCPU is the CPU time that the process of a phase used itself, without its children, by the samples of the system. It is 0
// where these do not tell. The phase has that of the children as well if its process ended by itself: only then has it waited
// for them all.
func OwnCPU(s *session.Session, p recording.Phase) time.Duration {
	user, system := OwnTimes(s, p)
	return user + system
}

// OwnTimes is that CPU time, in the program and in the kernel. A process that the run began had used nothing when that began.
func OwnTimes(s *session.Session, p recording.Phase) (user, system time.Duration) {
	runs := s.Manifest().Target.Runs
	if p.Run < 0 || p.Run >= len(runs) {
		return 0, 0
	}
	run := runs[p.Run]
	begun := timeline.Time(-1)
	if started := run.Span.Len() > 0; started && (run.Server == 0 || run.Server == run.PID) { // of a process that was there before, the run has no span
		begun = run.Span.Start
	}
	user, system, _ = usedBy(s, cmp.Or(run.Server, run.PID), p.Span, begun)
	return user, system
}

// ChildrenCPU is the CPU time of the other processes of the run during a phase, by the samples of the system.
func ChildrenCPU(s *session.Session, p recording.Phase) time.Duration {
	cpu, _ := familyIn(s, p.Span)
	return cpu
}

// used is the CPU time of a process in a span, by the samples of the system. The memory is the largest of a sample.
func used(s *session.Session, pid int, span timeline.Span) (cpu time.Duration, rss int64) {
	user, system, rss := usedBy(s, pid, span, -1)
	return user + system, rss
}

// usedBy is that time in the program and in the kernel: between two samples the process is taken to have used the CPU evenly. begun is when
// it began, having used nothing; -1 is not known.
func usedBy(s *session.Session, pid int, span timeline.Span, begun timeline.Time) (user, system time.Duration, rss int64) {
	samples, err := s.OS()
	if err != nil || pid == 0 {
		return 0, 0, 0
	}
	var inUser, inSystem float64
	var before *metrics.OSSample
	if begun >= 0 {
		before = &metrics.OSSample{At: begun}
	}
	covered := time.Duration(0)
	for i := range samples {
		o := &samples[i]
		if o.PID != pid || before != nil && (o.User+o.System < before.User+before.System || o.At < before.At) {
			continue // of another process, or of one that has ended, which shows nothing any more
		}
		if span.Contains(o.At) {
			rss = max(rss, o.RSS)
		}
		if before != nil {
			between := timeline.Span{Start: before.At, End: o.At}
			if d := between.Overlap(span); d > 0 {
				part := float64(d) / float64(between.Len())
				inUser += float64(o.User-before.User) * part
				inSystem += float64(o.System-before.System) * part
				covered += d
			}
		}
		before = o
	}
	if covered < span.Len()*4/5 {
		return 0, 0, rss // hardly anything is known of it
	}
	whole := float64(span.Len()) / float64(covered)
	return time.Duration(max(0, inUser) * whole), time.Duration(max(0, inSystem) * whole), rss
}

func gatherRound(s *session.Session, m *recording.Manifest, p recording.Phase) *Round {
	r := &Round{Phase: p, Duration: p.Span.Len(), CPU: p.User + p.System, MaxRSS: p.MaxRSS, AllocRate: math.NaN(), Counts: uncounted(), Collections: math.NaN()}
	if p.Run >= 0 && p.Run < len(m.Target.Runs) {
		run := m.Target.Runs[p.Run]
		if run.Exit != "" && !run.Stopped && run.Span.End <= p.Span.End+endSlack {
			r.Ended = true
			r.Duration = run.Span.Len()
			r.CPU = run.User + run.System
			r.MaxRSS = max(r.MaxRSS, run.MaxRSS)
		}
	}
	if r.Family, r.FamilyRSS = familyIn(s, p.Span); r.Ended {
		r.Family, r.Waited = 0, min(r.Family, r.CPU) // in CPU, as far as it was waited for
	}
	work := r.gatherLoad(s, m)
	r.gatherRuntime(s, m, work)
	return r.ofRequests()
}

// gatherLoad reads the requests and returns when there was work: from the first
// of them to the last, or without a load all the time.
func (r *Round) gatherLoad(s *session.Session, m *recording.Manifest) timeline.Span {
	work := r.Phase.Span
	l, err := s.Load(r.Phase.Name)
	damaged := err != nil && !errors.Is(err, session.ErrNone)
	if l == nil {
		if damaged {
			r.damaged(err, "is shown without its requests")
		}
		return work
	}
	r.Load = l.Summary()
	r.Duration = l.Elapsed
	for _, c := range m.Clocks {
		if c.Path == loadPath(m, r.Phase.Name) {
			work.Start = c.Offset
			work.End = work.Start.Add(l.Elapsed)
		}
	}
	if damaged {
		r.CPU, r.Family = 0, 0 // known for all requests together, not for those that are left
		r.damaged(err, "is shown up to the end of its first %s requests, without its CPU time", unit.Count(int64(l.Len())))
	}
	return work
}

// gatherRuntime reads what the runtime told of its collector, its scheduler and
// its memory during the work.
func (r *Round) gatherRuntime(s *session.Session, m *recording.Manifest, work timeline.Span) {
	log, err := s.Runtime(r.Phase.Run)
	switch {
	case err == nil:
		from, to := log.Window(work)
		if r.Ended && r.Load == nil {
			to = math.MaxInt64 // nothing came later, and the clocks are good to some ms
		}
		// A runtime that prints its scheduler's state would also print its
		// collections. What prints neither need not even be Go.
		speaks := len(log.Samples) > 0 || !asked(m, "schedtrace")
		if len(log.Cycles) > 0 || asked(m, "gctrace") && speaks {
			opt := gc.Options{Duration: r.Duration, Requests: r.Requests(), Unrecognised: log.Torn, Doubtful: log.Stats.Doubtful, Names: log.Names, Others: log.Others, Ends: log.Ends != nil}
			if alone(m) {
				// Nobody has seen the program begin: from the first collection to the
				// last, as loupe gc has it.
				opt.Duration = 0
			}
			r.GC = gc.Analyse(gc.Window(log.Cycles, from, to), opt)
			if d := r.GC.Derived.DurationMS; alone(m) && d.Known() {
				r.Duration = time.Duration(float64(d) * 1e6)
			}
		}
		if len(log.Samples) > 0 {
			r.Sched = sched.Analyse(sched.Window(log.Samples, from, to), sched.Options{Unrecognised: log.Torn, Names: log.Names, Others: log.OtherSamples, Ends: log.Ends != nil})
		}
	case !errors.Is(err, session.ErrNone):
		r.damaged(err, "is shown without its collections and its scheduler")
	}
	if set, err := s.Metrics(r.Phase.Run); err == nil {
		of := workedIn(set, r.Phase.Span, work, r.Load != nil)
		if r.Load != nil && len(r.Damage) > 0 {
			of = worked{between: work} // the samples at the ends are of all requests, not of those that are left
		}
		r.AllocRate, r.Collections = allocRate(set, of), collections(set, of.between)
		r.Counts = counted(set, of, r.Ended && r.Load == nil)
		if n := set.Series("/sched/goroutines:goroutines").In(of.between).Values; len(n) > 0 {
			r.Goroutines = int64(slices.Max(n))
		}
		if size, _, _ := HeapSeries(set, of.between); len(size.Values) > 0 {
			r.HeapPeak = slices.Max(size.Values)
		}
		if r.GC != nil && len(log.Cycles) == 0 && everCollected(set) {
			r.GC = nil // the lines went elsewhere: a program may close its standard error
		}
	}
	if r.GC != nil {
		r.Collections = float64(r.GC.Derived.Collections)
	}
	for _, text := range r.Damage {
		if r.GC != nil {
			r.GC.Notes = append(r.GC.Notes, gc.Note{ID: gc.NoteDamaged, Text: text})
		}
		if r.Sched != nil {
			r.Sched.Notes = append(r.Sched.Notes, sched.Note{ID: sched.NoteDamaged, Text: text})
		}
	}
}

// alone tells that nothing was recorded: a log that stands alone.
func alone(m *recording.Manifest) bool { return m.Target.Kind == "files" }

// damaged notes what could not be read, and how the round is shown for it.
func (r *Round) damaged(err error, format string, args ...any) {
	r.Damage = append(r.Damage, fmt.Sprintf("%v: phase %s %s", err, r.Phase.Name, fmt.Sprintf(format, args...)))
}

// endSlack is how much later than the phase the end of the process may have
// been noticed.
const endSlack = 200e6

// asked tells whether the program ran with a GODEBUG setting switched on, so
// that silence means that nothing happened.
func asked(m *recording.Manifest, setting string) bool {
	for _, env := range m.Target.Env {
		values, ok := strings.CutPrefix(env, "GODEBUG=")
		if !ok {
			continue
		}
		for _, kv := range strings.Split(values, ",") {
			if key, value, _ := strings.Cut(kv, "="); key == setting {
				return value != "0"
			}
		}
	}
	return false
}

func loadPath(m *recording.Manifest, phase string) string {
	for _, e := range m.Of(recording.Load) {
		if e.Phase == phase {
			return e.Path
		}
	}
	return ""
}
