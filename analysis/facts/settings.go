package compare

import (
	"math"
	"slices"
	"strings"

	"loupe/gc"
	"loupe/session"
	"loupe/stats"
)

// Replay follows the collections of a round, with all that its recording tells
// beside them: the settings, the CPU time, the memory that is not heap.
func (r *Round) Replay(s *session.Session) (*gc.Replay, error) {
	return gc.NewReplay(r.GC, gc.ReplayOptions{CPU: r.CPU, Base: r.Settings(s), Overhead: r.overhead(s)})
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

// Settings are those that the runtime itself tells, or those of the environment;
// nil when they cannot be told.
func (r *Round) Settings(s *session.Session) *gc.Settings {
	if set, err := s.Metrics(r.Phase.Run); err == nil {
		gogc, limit := set.Series("/gc/gogc:percent"), set.Series("/gc/gomemlimit:bytes")
		if n, m := len(gogc.Values), len(limit.Values); n > 0 && m > 0 {
			out := &gc.Settings{GOGC: gc.GOGCOff}
			if v := gogc.Values[n-1]; v >= 0 && v <= math.MaxInt32 {
				out.GOGC = int(v)
			}
			// MaxInt64 is none.
			if v := limit.Values[m-1]; v > 0 && v < math.MaxInt64/2 {
				out.Limit = int64(v)
			}
			return out
		}
	}
	out := gc.Settings{GOGC: 100}
	for _, kv := range s.Manifest().Target.Env {
		if !strings.HasPrefix(kv, "GOGC=") && !strings.HasPrefix(kv, "GOMEMLIMIT=") {
			continue
		}
		var err error
		if out, err = gc.ParseSettings(kv, out); err != nil {
			return nil
		}
	}
	return &out
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
