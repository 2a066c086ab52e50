package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"loupe/analysis/sched"
	"loupe/analysis/tiles"
	"loupe/format/dump"
	"loupe/format/exectrace"
	"loupe/format/profile"
	"loupe/recording"
	"loupe/report"
	"loupe/session"
	"loupe/value/stack"
	"loupe/value/timeline"
	"loupe/value/unit"
)

// shot is what goroutines did at one instant, wherever that is known from: a
// dump, a goroutine profile or a trace. All have the form of a dump, so that
// they are grouped, filtered and compared by the same code as on the command
// line.
type shot struct {
	shotItem
	file *dump.File
	keep func(g int) bool // chooses the goroutines of the shot
	// ages are how long goroutines are in their states, nil where only the
	// minutes of the file are known, and negative where nothing is.
	ages  []time.Duration
	notes []string

	explain func() *report.Explained // once; nil where nothing says more
	mu      sync.Mutex               // of what explain returns
}

// shotItem says what a shot is.
type shotItem struct {
	// ID is "dump-0-2", "profile-0" or "trace-12000000", at the end an instant of
	// the axis.
	ID string `json:"id"`
	// Kind is "dump", "core", "profile" or "trace".
	Kind string `json:"kind"`
	// Name is the file, Title what it says of itself.
	Name  string `json:"name"`
	Title string `json:"title"`
	// At is where it lies on the axis, -1 where that is not known.
	At timeline.Time `json:"at"`
	// Goroutines is how many there are, -1 while nobody has counted.
	Goroutines int64 `json:"goroutines"`
}

// shotsOf lists what there is: dumps first, for whoever has one wants to see it.
func shotsOf(ctx context.Context, s *subject, q *query) (list []shotItem, err error) {
	in, err := s.session(ctx)
	if err != nil {
		return nil, err
	}
	listings, err := in.Stacks()
	if err != nil && !errors.Is(err, session.ErrNone) && len(listings) == 0 {
		return nil, err
	}
	dumped := map[string]bool{}
	for _, e := range in.Manifest().Of(session.CoreFile) {
		dumped[e.Path] = true // also one whose goroutines cannot be read
	}
	for i, l := range listings {
		dumped[l.Entry.Path] = true
		kind := "dump"
		if l.Entry.Kind == session.CoreFile {
			kind = "core"
		}
		if len(l.Dumps) == 0 {
			list = append(list, shotItem{fmt.Sprintf("dump-%d-0", i), "dump", l.Entry.Path, unit.Plural(int64(len(l.Races)), "data race"), -1, 0})
		}
		for n, d := range l.Dumps {
			title := d.Kind.String()
			if line, _, _ := strings.Cut(d.Message, "\n"); strings.HasPrefix(line, title) {
				title = line
			} else if line != "" && d.Kind != dump.Profile {
				title += ": " + line
			}
			var count int64
			for g := d.First; g < d.End; g++ {
				count += l.Count(g)
			}
			list = append(list, shotItem{fmt.Sprintf("dump-%d-%d", i, n), kind, l.Entry.Path, title, -1, count})
		}
	}
	axis, err := s.axis(ctx)
	if err != nil {
		return nil, err
	}
	if e, ok := in.Manifest().Main(recording.ExecTrace); ok {
		span, err := q.span(axis)
		if err != nil {
			return nil, err
		}
		name := e.Path
		if covers, err := spanOfTrace(ctx, s); err == nil {
			span.Start, span.End = max(span.Start, covers.Start), min(span.End, covers.End)
		}
		if span.End < span.Start {
			span.Start = span.End // the range is behind the trace
		}
		for _, at := range []timeline.Time{span.Start, span.End} {
			list = append(list, shotItem{fmt.Sprintf("trace-%d", at), "trace", name, "the trace at " + unit.Duration(time.Duration(at)), at, -1})
		}
	}
	for _, kind := range []recording.Kind{recording.Goroutine, recording.GoroutineLeak} {
		for i, e := range in.Manifest().Of(kind) {
			if dumped[e.Path] {
				continue
			}
			title := "goroutine profile"
			if kind == recording.GoroutineLeak {
				title = "goroutine leak profile"
			}
			list = append(list, shotItem{fmt.Sprintf("%s-%d", strings.TrimPrefix(string(kind), "pprof."), i), "profile", e.Path, title, e.Span.End, -1})
		}
	}
	if len(list) == 0 {
		return nil, nothing("this source tells nothing of goroutines. Open a dump (kill -QUIT PID makes a Go program print one; a server with net/http/pprof has /debug/pprof/goroutine?debug=2), or record: loupe run -phases bare,trace,goroutine ./cmd/server")
	}
	return list, nil
}

// spanOfTrace is where the trace lies on the axis.
func spanOfTrace(ctx context.Context, s *subject) (timeline.Span, error) {
	t, err := s.traced(ctx)
	if err != nil {
		return timeline.Span{}, err
	}
	return t.On(t.Span()), nil
}

// shotOf makes the shot that an id names.
func shotOf(ctx context.Context, s *subject, item shotItem) (*shot, error) {
	o, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	return onceFew(ctx, s, "shot", item.ID, func(ctx context.Context) (*shot, error) {
		kind, rest, _ := strings.Cut(item.ID, "-")
		switch kind {
		case "dump":
			return dumpShot(o, item, rest)
		case "trace":
			return traceShotOf(ctx, s, o.Session, item)
		}
		n, err := strconv.Atoi(rest)
		all := o.Session.Manifest().Of(recording.Kind("pprof." + kind))
		if err != nil || n < 0 || n >= len(all) {
			return nil, nothing("there is no shot %q", item.ID)
		}
		p, err := o.Session.ProfileAt(all[n].Path)
		if err != nil {
			return nil, err
		}
		return profileShot(item, p), nil
	})
}

// dumpShot is one dump of a file.
func dumpShot(o *Opened, item shotItem, rest string) (*shot, error) {
	listings, err := o.Session.Stacks()
	if len(listings) == 0 {
		return nil, err
	}
	var file, n int
	if _, err := fmt.Sscanf(rest, "%d-%d", &file, &n); err != nil || file < 0 || file >= len(listings) || n < 0 || n >= max(1, len(listings[file].Dumps)) {
		return nil, nothing("there is no dump %q", item.ID)
	}
	f, entry := listings[file].File, listings[file].Entry.Path
	if len(f.Dumps) == 0 { // races alone
		return &shot{shotItem: item, file: f, keep: func(int) bool { return false }}, nil
	}
	x := &shot{shotItem: item, file: f, keep: f.InDump(n)}
	if o.Explain != nil {
		x.explain = sync.OnceValue(func() *report.Explained { return o.Explain(entry, f) })
	}
	if f.Cut {
		x.notes = append(x.notes, "The text ends in the midst of a goroutine.")
	}
	if f.CutByGo() {
		x.notes = append(x.notes, "Go has cut this dump off at 64 MiB: there were more goroutines.")
	}
	if f.Unrecognised > 0 {
		x.notes = append(x.notes, fmt.Sprintf("%s lines inside of dumps were not understood; the first is line %d.", unit.Count(f.Unrecognised), f.Odd[0].Number))
	}
	if c := o.Cores[entry]; c != nil {
		x.notes = append(x.notes, coreDoubts(c)...)
		if c.File.Clock == 0 {
			x.notes = append(x.notes, "The core does not say what time it was: goroutines have waited for at least as long as shown.")
		}
		return x, nil
	}
	if x.explain != nil {
		if e := x.explain(); e != nil {
			if text := report.FitText(e); text != "" {
				x.notes = append(x.notes, text)
			}
		}
	}
	x.notes = append(x.notes, "Go prints how long a goroutine has waited in whole minutes, and nothing below one.")
	return x, nil
}

// profileShot makes a shot of a goroutine profile.
func profileShot(item shotItem, p *profile.Profile) *shot {
	f := &dump.File{Stacks: p.Stacks}
	states := map[string]dump.StateID{}
	value := max(0, slices.IndexFunc(p.SampleTypes, func(t profile.ValueType) bool { return strings.HasPrefix(t.Type, "goroutine") }))
	leaked := slices.ContainsFunc(p.SampleTypes, func(t profile.ValueType) bool { return t.Type == "goroutineleak" })
	for i, id := range p.StackIDs {
		name := parked(p.Stacks, id)
		state, ok := states[name]
		if !ok {
			state = dump.StateID(len(f.States))
			states[name] = state
			f.States = append(f.States, dump.State{Name: name, Leaked: leaked})
		}
		f.Counts = append(f.Counts, p.Values[value][i])
		appendGoroutine(f, 0, id, state, 0)
	}
	f.Dumps = []dump.Dump{{Kind: dump.Profile, End: f.Len()}}
	return &shot{shotItem: item, file: f, keep: f.InDump(0), ages: slices.Repeat([]time.Duration{-1}, f.Len()), notes: []string{
		"A profile does not say what goroutines wait for, who made them and since when: the state is told from the function that parks them. A dump says more: /debug/pprof/goroutine?debug=2."}}
}

// appendGoroutine adds one to the columns of a file.
func appendGoroutine(f *dump.File, id uint64, at stack.ID, state dump.StateID, creator uint64) {
	f.IDs, f.StackIDs, f.StateIDs = append(f.IDs, id), append(f.StackIDs, at), append(f.StateIDs, state)
	f.Waits, f.Creators, f.Objects, f.Flags = append(f.Waits, 0), append(f.Creators, creator), append(f.Objects, 0), append(f.Flags, 0)
}

// parked tells from a stack what its goroutine waits for.
func parked(t *stack.Table, id stack.ID) string {
	frames := t.Frames(id)
	if state := dump.Parked(t, frames); state != "" {
		return state
	}
	if len(frames) > 0 && t.Frame(frames[0]).Func == "runtime.gopark" {
		return "waiting"
	}
	return "running or runnable"
}

// traceShotOf makes a shot of an instant of the trace.
func traceShotOf(ctx context.Context, s *subject, in *session.Session, item shotItem) (*shot, error) {
	clock, err := in.TraceClock()
	if err != nil {
		return nil, err
	}
	own := timeline.Time(clock.Own(item.At))
	r, all, err := livingAt(ctx, s, in, own)
	if err != nil {
		return nil, err
	}
	b := &shotBuilder{r: r, file: &dump.File{Stacks: &stack.Table{}}, states: map[string]dump.StateID{}, stacks: map[shotStack]stack.ID{}}
	x := &shot{shotItem: item, file: b.file}
	system, older := 0, 0
	for i := range all {
		l := &all[i]
		if sched.IsSystem(r.Name(l.Name)) {
			system++
			continue
		}
		if l.Older {
			older++
		}
		b.add(l)
		x.ages = append(x.ages, max(0, own.Sub(l.Since)))
	}
	b.file.Dumps = []dump.Dump{{Kind: dump.Goroutines, End: b.file.Len()}}
	x.keep = b.file.InDump(0)
	if system > 0 {
		x.notes = append(x.notes, unit.Count(int64(system))+" goroutines of the runtime are left out.")
	}
	if older > 0 {
		x.notes = append(x.notes, unit.Count(int64(older))+" have been in their state since before the trace began: they are older than it says here, and the trace may not tell what made them.")
	}
	return x, nil
}

// livingAt returns what goroutines did at an instant of the trace.
func livingAt(ctx context.Context, s *subject, in *session.Session, at timeline.Time) (*exectrace.Reader, []sched.Living, error) {
	const job = "following the goroutines of the trace"
	whole, err := in.TraceSpan()
	if err != nil {
		return nil, nil, err
	}
	// The end of a timeline is rounded down, and stands for that of the trace.
	if at.Add(2*tiles.Grain) >= whole.End {
		m, err := swept(ctx, s, job, sched.LastMoment)
		if err != nil {
			return nil, nil, err
		}
		return m.Reader, m.Living, nil
	}
	t, _, err := in.Trace()
	if err != nil {
		return nil, nil, err
	}
	tell := s.job(job)
	defer tell(1)
	r, all, err := sched.Moments(t, []timeline.Time{at}, func() bool { return ctx.Err() != nil })
	if err != nil || len(all) == 0 {
		return nil, nil, cmp.Or(err, ctx.Err())
	}
	return r, all[0], nil
}

// shotStack is what makes the stack of a goroutine in a shot of a trace.
type shotStack struct {
	at, creator stack.ID
	name        exectrace.NameID
}

// shotBuilder makes the columns of a shot of a trace.
type shotBuilder struct {
	r      *exectrace.Reader
	file   *dump.File
	states map[string]dump.StateID
	stacks map[shotStack]stack.ID
}

func (b *shotBuilder) add(l *sched.Living) {
	name := strings.ToLower(l.State.String())
	if l.State == exectrace.Waiting && l.Reason != exectrace.NameNone {
		name = b.r.WaitReason(l.Reason, l.Stack)
	}
	state, ok := b.states[name]
	if !ok {
		state = dump.StateID(len(b.file.States))
		b.states[name] = state
		b.file.States = append(b.file.States, dump.State{Name: name})
	}
	k := shotStack{l.Stack, l.Creator, l.Name}
	id, ok := b.stacks[k]
	if !ok {
		id = b.stack(k)
		b.stacks[k] = id
	}
	parent := uint64(0)
	if l.Parent != exectrace.NoGoroutine {
		parent = uint64(l.Parent)
	}
	appendGoroutine(b.file, uint64(l.ID), id, state, parent)
}

// stack puts a stack together as a dump has it: the go statement is its root.
func (b *shotBuilder) stack(k shotStack) stack.ID {
	from, to := b.r.Stacks(), b.file.Stacks
	var frames []stack.FrameID
	for _, f := range from.Frames(k.at) {
		frames = append(frames, to.InternFrame(from.Frame(f)))
	}
	if len(frames) == 0 && k.name != exectrace.NameNone { // it runs: all that is known is where it began
		frames = append(frames, to.InternFrame(stack.Frame{Func: b.r.Name(k.name)}))
	}
	if made := from.Frames(k.creator); len(made) > 0 {
		f := from.Frame(made[0])
		f.System, f.Func = f.Func, dump.CreatedBy+f.Func
		frames = append(frames, to.InternFrame(f))
	}
	return to.Intern(frames)
}

// entry is the function that a goroutine began with.
func entryOf(f *dump.File, id stack.ID) string {
	name := ""
	for _, frame := range f.Stacks.Frames(id) {
		r := f.Stacks.Frame(frame)
		if strings.HasPrefix(r.Func, dump.CreatedBy) {
			break
		}
		name = r.Func
	}
	return name
}

// madeAt is the go statement that made a goroutine: its function, and the place.
func madeAt(f *dump.File, id stack.ID) (function, at string) {
	frames := f.Stacks.Frames(id)
	if len(frames) == 0 {
		return "", ""
	}
	r := f.Stacks.Frame(frames[len(frames)-1])
	name, ok := strings.CutPrefix(r.Func, dump.CreatedBy)
	if !ok {
		return "", ""
	}
	at = stack.Short(name)
	if r.File != "" {
		at += " " + path.Base(strings.ReplaceAll(r.File, `\`, "/")) + ":" + strconv.Itoa(r.Line)
	}
	return name, at
}

// age is how long a goroutine is in its state.
func (x *shot) age(g int) time.Duration {
	if x.ages == nil {
		return time.Duration(x.file.Waits[g]) * time.Minute
	}
	return x.ages[g]
}
