package compare

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"loupe/analysis/overlap"
	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/format/loadlog"
	"loupe/recording"
	"loupe/session"
	"loupe/value/timeline"
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
	over := NewOverlay(s)
	bare := false
	for _, p := range s.Manifest().Phases {
		if traced := over.trace.Phase == p.Name && over.trace.Path != ""; !traced && (bare || !p.Bare() || p.Error != "") {
			continue
		} else if slow := over.Slow(p.Name, timeline.Span{}); slow != nil {
			out = append(out, *slow)
			bare = bare || !traced
		}
	}
	return out
}

// Overlay lays the requests of any phase of a recording over what is known of the
// program, as a whole or in a part of the time. It reads the execution trace once.
// Several goroutines may use it.
type Overlay struct {
	s     *session.Session
	trace recording.Entry // the one that the session reads; zero without

	mu      sync.Mutex
	grounds map[string]*ground
}

// NewOverlay makes an overlay of a recording.
func NewOverlay(s *session.Session) *Overlay {
	o := &Overlay{s: s, grounds: map[string]*ground{}}
	o.trace, _ = s.Manifest().Main(recording.ExecTrace)
	return o
}

// ground is what the requests of a phase are laid over, on one clock.
type ground struct {
	slow Slow // without its table
	// at maps the log's own time onto the clock.
	at       timeline.Clock
	requests *overlap.Requests
	kinds    []overlap.Kind
	window   timeline.Span
	served   func() map[uint32]exectrace.GoID // nil when no trace tells
}

// ground returns that of a phase; nil when there are no requests, or nothing is
// known of the program while they were sent. The caller holds o.mu.
func (o *Overlay) ground(phase string) *ground {
	g, known := o.grounds[phase]
	if !known {
		g = o.lay(phase)
		o.grounds[phase] = g
	}
	return g
}

func (o *Overlay) lay(phase string) *ground {
	p, ok := o.s.Manifest().PhaseNamed(phase)
	l, err := o.s.Load(phase)
	if !ok || l == nil || err != nil && !errors.Is(err, session.ErrNone) && l.Len() == 0 {
		return nil
	}
	var g *ground
	if o.trace.Path != "" && o.trace.Phase == phase {
		g = o.traced(l, p)
	} else if g = o.logged(l, p); g == nil {
		g = o.paused(l, p)
	}
	if g != nil {
		g.slow.Phase, g.slow.Of = phase, l
	}
	return g
}

// Slow returns what the slowest requests of a phase met, of those that lie in a
// span of the axis, all for an empty one; nil when nothing is known of the
// program.
func (o *Overlay) Slow(phase string, within timeline.Span) *Slow {
	o.mu.Lock()
	defer o.mu.Unlock()
	g := o.ground(phase)
	if g == nil {
		return nil
	}
	out := g.slow
	if out.Why != "" {
		return &out
	}
	w := g.window
	if within.Len() > 0 {
		from, to := before(out.Axis, within.Start), before(out.Axis, within.End)
		w = timeline.Span{Start: max(w.Start, from), End: min(w.End, to)}
	}
	if w.Len() > 0 {
		out.Table = overlap.Join(g.requests, g.kinds, overlap.Options{Window: w})
	}
	if out.Table == nil {
		out.Why = fmt.Sprintf("fewer than %d answered requests lie within it", overlap.MinRequests)
	}
	return &out
}

// before returns which of its own times a clock maps to t.
func before(c timeline.Clock, t timeline.Time) timeline.Time {
	own := t - c.Offset
	if c.Drift != 0 {
		own = timeline.Time(float64(own) / (1 + c.Drift))
	}
	return own
}

// Encounter is something that one request met.
type Encounter struct {
	Key  string        `json:"kind"`
	Name string        `json:"name"`
	Own  bool          `json:"own,omitempty"` // of the goroutine that served it
	Time time.Duration `json:"time_ns"`
	// At is the first stretch of it, on the axis; empty for a part of the
	// request itself.
	At timeline.Span `json:"at"`
}

// Served is one request in the program.
type Served struct {
	// Span is when it was due or sent until it was answered, on the axis.
	Span timeline.Span `json:"span"`
	// Goroutine served it; 0 when that is not known.
	Goroutine exectrace.GoID `json:"goroutine,omitempty"`
	Met       []Encounter    `json:"met"`
}

// Follow says of requests of a phase, on the log's own time, which goroutine
// served each and what it met. Without anything that tells of the program it has
// their spans alone.
func (o *Overlay) Follow(phase string, all []loadlog.Request) []Served {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := make([]Served, len(all))
	g := o.ground(phase)
	if g == nil || g.slow.Why != "" {
		if l, _ := o.s.Load(phase); l != nil {
			at := o.s.OnAxis(l, phase)
			for i := range all {
				out[i].Span = at.Clock.Span(all[i].Span())
			}
		}
		return out
	}
	axis := g.slow.Axis
	r := &overlap.Requests{Due: g.requests.Due}
	var served map[uint32]exectrace.GoID
	if g.served != nil {
		served = g.served()
	}
	for i := range all {
		q := &all[i]
		span := g.at.Span(q.Span())
		r.Start, r.End, r.Conn = append(r.Start, span.Start), append(r.End, span.End), append(r.Conn, q.Conn)
		r.Late, r.Dial = append(r.Late, q.Late), append(r.Dial, q.Dial)
		out[i].Span = axis.Span(span)
		if span.End < g.window.Start || span.Start > g.window.End {
			continue // nothing is known of that time
		}
		out[i].Goroutine = served[q.Conn]
		for k := range g.kinds {
			kind := &g.kinds[k]
			d, first, met := kind.Met(r, i)
			if !met || d == 0 {
				continue
			}
			e := Encounter{Key: kind.Key, Name: kind.Name, Own: kind.Set == nil, Time: d}
			if first.Len() > 0 {
				e.At = axis.Span(first)
			}
			out[i].Met = append(out[i].Met, e)
		}
	}
	return out
}

// traced joins with the execution trace of the phase.
func (o *Overlay) traced(l *loadlog.Log, p recording.Phase) *ground {
	g := &ground{slow: Slow{Source: "execution trace"}}
	out := &g.slow
	desk, err := o.s.Sweep()
	out.Path = o.trace.Path
	if err != nil {
		out.Why = err.Error()
		return g
	}
	join, err := o.s.OnTrace(l, p.Name)
	if err != nil {
		out.Why = err.Error()
		return g
	}
	out.Clock, out.Error = join.How, join.Error
	if out.Axis, err = o.s.TraceClock(); err != nil {
		out.Axis = timeline.Clock{}
	}
	found, err := sweep.Get(o.s.Context(), desk, nil, overlap.Whole)
	if err != nil {
		out.Why = err.Error()
		return g
	}
	g.at, g.requests, g.window = join.Clock, overlap.Of(l, join.Clock), found.Span
	g.kinds = found.Kinds(g.requests, join.Error)
	g.served = sync.OnceValue(func() map[uint32]exectrace.GoID { return found.Goroutines(g.requests, join.Error) })
	return g
}

// logged joins with the lines of gctrace; nil when there are none.
func (o *Overlay) logged(l *loadlog.Log, p recording.Phase) *ground {
	log, err := o.s.Runtime(p.Run)
	if err != nil || len(log.Cycles) == 0 {
		return nil
	}
	join := o.s.OnAxis(l, p.Name)
	// The runtime prints whole milliseconds, cut off: half of one is the mean.
	const cut = time.Millisecond / 2
	g := &ground{slow: Slow{Source: "gctrace", Clock: join.How, Error: join.Error + log.Clock.Error + cut}}
	for _, e := range o.s.Manifest().Of(recording.Stderr) {
		if e.Run == p.Run {
			g.slow.Path = e.Path
		}
	}
	var cycles []overlap.Cycle
	for i := range log.Cycles {
		c := &log.Cycles[i]
		cycles = append(cycles, overlap.Cycle{At: log.Clock.At(int64(c.At + cut)), STW1: c.STW1, Mark: c.Mark, STW2: c.STW2})
	}
	g.at, g.requests, g.window = join.Clock, overlap.Of(l, join.Clock), loadSpan(l, join)
	g.kinds = overlap.Cycles(cycles, g.slow.Error)
	return g
}

// loadSpan is the time of the load on the clock of a join.
func loadSpan(l *loadlog.Log, join session.Join) timeline.Span {
	start := join.At(0)
	return timeline.Span{Start: start, End: start.Add(l.Elapsed)}
}

// paused joins with the pauses that /debug/vars or the text of a heap profile
// tell of; nil when there are none. Their dates are of the program's machine.
func (o *Overlay) paused(l *loadlog.Log, p recording.Phase) *ground {
	pauses, path, err := o.s.Pauses(p.Run)
	if err != nil || len(pauses) == 0 {
		return nil
	}
	join := o.s.OnAxis(l, p.Name)
	g := &ground{slow: Slow{Source: "memory statistics", Clock: "dates", Error: join.Error + session.DateError, Path: path}}
	w := loadSpan(l, join)
	if pauses[0].Start > w.Start { // older ones were overwritten
		w.Start = pauses[0].Start
	}
	g.at, g.requests, g.window = join.Clock, overlap.Of(l, join.Clock), w
	g.kinds = overlap.Pauses(pauses, g.slow.Error)
	return g
}
