package facts

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"loupe/analysis/gc"
	"loupe/session"
	"loupe/value/stats"
)

// Replay follows the collections of a round, with all that its recording tells
// beside them: the settings, the CPU time, the memory that is not heap.
func (r *Round) Replay(s *session.Session) (*gc.Replay, error) {
	base, _ := r.settings(s)
	return gc.NewReplay(r.GC, gc.ReplayOptions{CPU: r.CPU, Base: base, Overhead: r.overhead(s)})
}

// MostCollections is the round with the most collections that a log has lines
// of: the one that tells most of the collector. nil when none has any.
func MostCollections(rounds []Round) (best *Round) {
	for i := range rounds {
		r := &rounds[i]
		if r.GC != nil && len(r.GC.Cycles) > 0 && (best == nil || len(r.GC.Cycles) > len(best.GC.Cycles)) {
			best = r
		}
	}
	return best
}

// AdviceOptions adds to what an advice is for what a recording knows: its cgroup's limit,
// unless there is another, and how much memory the Go runtime did not know of.
func AdviceOptions(f *Facts, opt gc.AdviceOptions) gc.AdviceOptions {
	if limit := MemoryLimit(f); opt.Container == 0 && limit > 0 {
		opt.Container, opt.From = limit, "the recorded cgroup"
	}
	if m, _, ok := ResidentIn(f); ok {
		opt.Outside = max(0, m.Anon-m.Go)
	}
	return opt
}

// Settings are those of the runtime as they were in force.
type Settings struct {
	// Collector has GOGC and the limit of memory; it is nil where they cannot be told.
	// From says who tells: runtime/metrics, or the environment.
	Collector *gc.Settings
	From      string
	// Procs is how many Ps there were in the end, ProcsFrom who tells. It is 0 where
	// nobody does.
	Procs     int
	ProcsFrom string
	// Differ says that another source tells another number of Ps; empty otherwise.
	Differ string
}

// Settings are those of a round; nil stands for the round that tells most.
func (f *Facts) Settings(r *Round) (in Settings) {
	for i := range f.Rounds {
		if r == nil && f.Rounds[i].GC != nil && len(f.Rounds[i].GC.Cycles) > 0 {
			r = &f.Rounds[i]
		}
	}
	if r == nil && len(f.Rounds) > 0 {
		r = &f.Rounds[0]
	}
	tell := func(n int, from string) {
		switch {
		case n <= 0:
		case in.Procs == 0:
			in.Procs, in.ProcsFrom = n, from
		case in.Procs != n && in.Differ == "":
			in.Differ = fmt.Sprintf("%s reports %d Ps, %s reports %d: GOMAXPROCS was changed, or differs between the phases", in.ProcsFrom, in.Procs, from, n)
		}
	}
	if r != nil {
		in.Collector, in.From = r.settings(f.session)
		if r.GC != nil && len(r.GC.Cycles) > 0 {
			tell(r.GC.Cycles[len(r.GC.Cycles)-1].Procs, "gctrace")
		}
		if r.Sched != nil {
			tell(r.Sched.Derived.GOMAXPROCS, "schedtrace")
		}
		if set, err := f.session.Metrics(r.Phase.Run); err == nil {
			if v := set.Series("/sched/gomaxprocs:threads").Values; len(v) > 0 {
				tell(int(v[len(v)-1]), "runtime/metrics")
			}
		}
	}
	if in.Procs == 0 {
		tell(f.Manifest.Host.CPUs, "the number of CPUs")
	}
	return in
}

// settings are those of the collector that the runtime itself tells, or those of the
// environment; nil when they cannot be told. from says who tells.
func (r *Round) settings(s *session.Session) (out *gc.Settings, from string) {
	if set, err := s.Metrics(r.Phase.Run); err == nil {
		gogc, limit := set.Series("/gc/gogc:percent"), set.Series("/gc/gomemlimit:bytes")
		if n, m := len(gogc.Values), len(limit.Values); n > 0 && m > 0 {
			out = &gc.Settings{GOGC: gc.GOGCOff}
			if v := gogc.Values[n-1]; v >= 0 && v <= math.MaxInt32 {
				out.GOGC = int(v)
			}
			// MaxInt64 is none.
			if v := limit.Values[m-1]; v > 0 && v < math.MaxInt64/2 {
				out.Limit = int64(v)
			}
			return out, "runtime/metrics"
		}
	}
	asked := gc.Settings{GOGC: 100}
	for _, kv := range s.Manifest().Target.Env {
		if !strings.HasPrefix(kv, "GOGC=") && !strings.HasPrefix(kv, "GOMEMLIMIT=") {
			continue
		}
		var err error
		if asked, err = gc.ParseSettings(kv, asked); err != nil {
			return nil, ""
		}
	}
	return &asked, "the environment"
}

// overhead is the memory beside objects by runtime/metrics; zero when they do
// not tell of it.
func (r *Round) overhead(s *session.Session) gc.Overhead {
	set, err := s.Metrics(r.Phase.Run)
	if err != nil {
		return gc.Overhead{}
	}
	class := func(name string) []float64 {
		return set.Series("/memory/classes/" + name + ":bytes").In(r.Phase.Span).Values
	}
	total, released, free := class("total"), class("heap/released"), class("heap/free")
	objects, unused := class("heap/objects"), class("heap/unused")
	n := min(len(total), len(released), len(free), len(objects), len(unused))
	var fixed, share []float64
	for i := range n {
		if objects[i] > 0 {
			fixed = append(fixed, total[i]-released[i]-free[i]-objects[i]-unused[i])
			share = append(share, unused[i]/objects[i])
		}
	}
	if len(fixed) < 3 {
		return gc.Overhead{}
	}
	slices.Sort(fixed)
	slices.Sort(share)
	// After a sweep much is unused for a while and filled again: the lower
	// quarter is what remains when the heap is near its goal.
	return gc.Overhead{Fixed: max(0, stats.Quantile(fixed, 0.5)), Share: max(0, stats.Quantile(share, 0.25)), Measured: true}
}
