package compare

import (
	"errors"
	"fmt"
	"time"

	"loupe/loadlog"
	"loupe/overlap"
	"loupe/recording"
	"loupe/session"
	"loupe/timeline"
)

// Slow is what the requests of one phase met, the slowest in comparison with
// all.
type Slow struct {
	Phase string `json:"phase"`
	// Source says what told of it: "execution trace", "gctrace", or "memory
	// statistics".
	Source string `json:"source"`
	// Clock says how the clocks were joined, Error how far requests may be off.
	Clock string        `json:"clock"`
	Error time.Duration `json:"clock_error_ns"`
	// Table is nil when there is none; Why says why.
	*overlap.Table
	Why string `json:"why,omitempty"`
	// Of and Path are the log, and the entry with what the requests met.
	Of   *loadlog.Log `json:"-"`
	Path string       `json:"path"`
	// Axis maps the clock of the table onto the recording's axis.
	Axis timeline.Clock `json:"-"`
}

// SlowRequests lays requests over what is known of the program while they were
// sent: over the execution trace in the phase that took it, and over gctrace in
// the first bare phase under load, or without that over the pauses in the samples
// of /debug/vars.
func SlowRequests(s *session.Session) (out []Slow) {
	trace, hasTrace := lastOf(s.Manifest(), recording.ExecTrace)
	bare := false
	for _, p := range s.Manifest().Phases {
		l, err := s.Load(p.Name)
		if l == nil || err != nil && !errors.Is(err, session.ErrNone) && l.Len() == 0 {
			continue
		}
		var slow *Slow
		switch {
		case hasTrace && trace.Phase == p.Name:
			slow = slowTraced(s, l, p)
		case p.Bare() && p.Error == "" && !bare:
			if slow = slowLogged(s, l, p); slow == nil {
				slow = slowPaused(s, l, p)
			}
			bare = slow != nil
		}
		if slow != nil {
			slow.Phase, slow.Of = p.Name, l
			if slow.Table == nil && slow.Why == "" {
				slow.Why = fmt.Sprintf("fewer than %d answered requests lie within it", overlap.MinRequests)
			}
			out = append(out, *slow)
		}
	}
	return out
}

// lastOf returns the entry of a kind that a session reads.
func lastOf(m *recording.Manifest, kind recording.Kind) (recording.Entry, bool) {
	all := m.Of(kind)
	if len(all) == 0 {
		return recording.Entry{}, false
	}
	return all[len(all)-1], true
}

// slowTraced joins with the execution trace of the phase.
func slowTraced(s *session.Session, l *loadlog.Log, p recording.Phase) *Slow {
	out := &Slow{Source: "execution trace"}
	trace, entry, err := s.Trace()
	out.Path = entry.Path
	if err != nil {
		out.Why = err.Error()
		return out
	}
	join, err := s.OnTrace(l, p.Name)
	if err != nil {
		out.Why = err.Error()
		return out
	}
	out.Clock, out.Error = join.How, join.Error
	if out.Axis, err = s.TraceClock(); err != nil {
		out.Axis = timeline.Clock{}
	}
	found, err := overlap.Trace(trace)
	if err != nil {
		out.Why = err.Error()
		return out
	}
	r := overlap.Of(l, join.Clock)
	out.Table = overlap.Join(r, found.Kinds(r, join.Error), overlap.Options{Window: found.Span})
	return out
}

// slowLogged joins with the lines of gctrace; nil when there are none.
func slowLogged(s *session.Session, l *loadlog.Log, p recording.Phase) *Slow {
	log, err := s.Runtime(p.Run)
	if err != nil || len(log.Cycles) == 0 {
		return nil
	}
	join := s.OnAxis(l, p.Name)
	// The runtime prints whole milliseconds, cut off: half of one is the mean.
	const cut = time.Millisecond / 2
	out := &Slow{Source: "gctrace", Clock: join.How, Error: join.Error + log.Clock.Error + cut}
	for _, e := range s.Manifest().Of(recording.Stderr) {
		if e.Run == p.Run {
			out.Path = e.Path
		}
	}
	var cycles []overlap.Cycle
	for i := range log.Cycles {
		c := &log.Cycles[i]
		cycles = append(cycles, overlap.Cycle{At: log.Clock.At(int64(c.At + cut)), STW1: c.STW1, Mark: c.Mark, STW2: c.STW2})
	}
	out.Table = overlap.Join(overlap.Of(l, join.Clock), overlap.Cycles(cycles, out.Error), overlap.Options{Window: loadSpan(l, join)})
	return out
}

// loadSpan is the time of the load on the clock of a join.
func loadSpan(l *loadlog.Log, join session.Join) timeline.Span {
	start := join.At(0)
	return timeline.Span{Start: start, End: start.Add(l.Elapsed)}
}

// slowPaused joins with the pauses that /debug/vars or the text of a heap
// profile tell of; nil when there are none. Their dates are of the program's
// machine.
func slowPaused(s *session.Session, l *loadlog.Log, p recording.Phase) *Slow {
	pauses, path, err := s.Pauses(p.Run)
	if err != nil || len(pauses) == 0 {
		return nil
	}
	join := s.OnAxis(l, p.Name)
	out := &Slow{Source: "memory statistics", Clock: "dates", Error: join.Error + session.DateError, Path: path}
	w := loadSpan(l, join)
	if pauses[0].Start > w.Start { // older ones were overwritten
		w.Start = pauses[0].Start
	}
	out.Table = overlap.Join(overlap.Of(l, join.Clock), overlap.Pauses(pauses, out.Error), overlap.Options{Window: w})
	return out
}
