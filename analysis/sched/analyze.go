package sched

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// AnalyzeOptions say what of a trace to look at. The zero value takes all.
type AnalyzeOptions struct {
	// Filter restricts what is counted; nil counts all. With one, the figures of
	// goroutines, waits and runs are those of the stays that it lets through, and
	// a goroutine counts that has one of them.
	Filter *Filter
	// Top is how many of the longest waits and runs are kept; 0 means 20.
	Top int
	// Compat is that of [SummaryOptions].
	Compat bool
	// Each, if set, takes every stay in a state that counts, in the order of
	// their ends; those that the end of the trace cuts off come last.
	Each func(r *exectrace.Reader, i *Interval)
	// Named names the goroutine of every stay, also of those before the first
	// event that does. It costs a pass of its own.
	Named bool
	// Stop, if set, is asked every 65,536 events whether to end here, for
	// example because there is no more memory. Then the analysis is of the
	// events so far, and its problems say so.
	Stop func() bool
}

// Analysis is what one pass over a trace has found. Names and stacks are those
// of its Reader.
type Analysis struct {
	Reader *exectrace.Reader
	Info   Info
	// Covers is the part of the trace's time that is counted: all of it, or what
	// the filter leaves.
	Covers timeline.Span
	// Picks says that a filter restricts more than times: what is counted of
	// goroutines, waits and runs is a part, and the rest is not.
	Picks bool

	Groups   []*Group // by the function that goroutines began with, most run time first
	Creators []*Group // by the go statement
	Latency  Latency
	Blocks   []*Block // where goroutines waited, longest first
	Parallel Parallel
	Runs     Runs
	Hogs     []*Hog // by function, the most delay first
	Tasks    []*TaskGroup
	Regions  []*RegionGroup
	GC       GCWork
	Left     []Left  // goroutines that had not ended, by where they were
	Wired    []Wired // goroutines with a thread of their own, by how often they were put on it
}

// Info says what the trace is.
type Info struct {
	Format      exectrace.Version
	Events      int64
	Generations int
	Goroutines  int64
	Procs       int // the largest GOMAXPROCS
	Threads     int
	Span        timeline.Span // in the trace's own time
	Bytes       int64
	Problems    []*exectrace.Problem
}

// Group is a set of goroutines that have something in common.
type Group struct {
	// Name is the function that they began with; Creator, for groups by go
	// statement, where it stands.
	Name    exectrace.NameID
	Creator stack.ID
	Count   int64 // goroutines
	Created int64 // of them in the trace
	Ended   int64
	Peak    int64 // most of them alive at one time
	Stats
	Run     Histogram // of single stretches of running
	Wait    Histogram // of single waits for a P
	Life    Histogram // of those that the trace has seen whole; none with a filter
	Each    Histogram // what each of those ran in all
	MaxExec time.Duration
	MaxG    exectrace.GoID // the goroutine that has run the longest

	census census
	late   *lateGroup
}

// Interval is one stay of a goroutine in one state.
type Interval struct {
	G          exectrace.GoID
	Name       exectrace.NameID // of its first function
	State      exectrace.State
	Reason     exectrace.NameID
	Start, End timeline.Time
	// P is what it ran on; NoProc unless State is Running.
	P exectrace.ProcID
	// Stack is where the goroutine was: for a runnable one, where it had
	// waited before.
	Stack stack.ID
	// By is who ended the stay: the goroutine that woke it up, and where that
	// was. NoGoroutine for the network poller, timers and others.
	By      exectrace.GoID
	ByStack stack.ID
}

// Len returns how long the stay was.
func (i *Interval) Len() time.Duration { return time.Duration(i.End - i.Start) }

// track is what is counted of the goroutine in a slot. There may be millions: what
// few have is behind a pointer.
type track struct {
	group     *Group
	creator   *Group
	lastWaker exectrace.GoID
	delay     time.Duration // of all that waited for a P before it began to run
	halted    time.Duration // for how long the world had been stopped then
	rare      *rareTrack
	system    bool
	counted   bool // as running, of the program's own
	queued    bool // as waiting for a P, of the program's own
	known     bool
}

// rareTrack is what most goroutines do not have.
type rareTrack struct {
	late        lateStays     // before its group was known
	assist      timeline.Time // begin of its mark assist
	assistRan   time.Duration // of it, before it last began to run
	assistStack stack.ID      // where it began
	stw         timeline.Time // begin of its stop-the-world
	stwStack    stack.ID
	stwKind     exectrace.NameID
}

// more returns what most goroutines do not have, for one that needs it now.
func (t *track) more() *rareTrack {
	if t.rare == nil {
		t.rare = &rareTrack{}
	}
	return t.rare
}

// analyzer makes one pass.
type analyzer struct {
	opts    AnalyzeOptions
	gs      *sweep.Goroutines
	out     *Analysis
	sum     *Summarizer
	lasts   lastLives // with Compat
	tracks  tracks
	groups  groups
	blocks  blockTable
	par     parallelism
	hogs    hogs
	gc      gcWatch
	user    userWork
	left    leftBehind
	forever []leftForever // that will be left, too
	window  window
	picked  *picked // with a filter: what it has let through
	names   lateNames
	wires   wires
	last    timeline.Time
	stay    Interval // that is being counted; here so that it is not allocated
}

// Analyze reads a whole trace.
func Analyze(t *exectrace.Trace, opts AnalyzeOptions) (*Analysis, error) {
	if opts.Top == 0 {
		opts.Top = usualTop
	}
	if opts.Filter != nil {
		if err := opts.Filter.Prepare(t); err != nil {
			return nil, err
		}
	}
	pass := sweep.New(t)
	a := newAnalyzer(pass.Goroutines(), opts)
	if opts.Named {
		var err error
		if a.names.began, err = namedLate(t); err != nil {
			return nil, err
		}
	} else if opts.Filter != nil {
		a.names.began = opts.Filter.began
	}
	pass.Join(a)
	if opts.Each == nil {
		pass.InBatches()
	}
	var stopped *exectrace.Problem
	if err := pass.Run(opts.Stop); errors.Is(err, sweep.ErrStopped) {
		stopped = &exectrace.Problem{Offset: -1, Text: fmt.Sprintf("stopped after %d events, %v into the trace", a.out.Info.Events, time.Duration(a.last-a.out.Info.Span.Start))}
	} else if err != nil {
		return nil, err
	}
	out := a.finish(t)
	if stopped != nil {
		out.Info.Problems = append(out.Info.Problems, stopped)
	}
	return out, nil
}

// Whole is the analysis of a whole trace, as [Analyze] makes it without options.
var Whole = sweep.Want[*Analysis]{Key: "analysis", Begin: func(p *sweep.Pass) (func() (*Analysis, error), error) {
	a := newAnalyzer(p.Goroutines(), AnalyzeOptions{Top: usualTop})
	p.Join(a)
	return func() (*Analysis, error) { return a.finish(p.Trace()), nil }, nil
}}

// usualTop is the default of [AnalyzeOptions.Top].
const usualTop = 20

func newAnalyzer(gs *sweep.Goroutines, opts AnalyzeOptions) *analyzer {
	a := &analyzer{
		opts: opts, gs: gs, out: &Analysis{Reader: gs.Reader()},
		left: leftBehind{},
	}
	a.tracks.gs, a.names.r = gs, gs.Reader()
	a.gc = gcWatch{tracks: &a.tracks, gs: gs, par: &a.par, top: opts.Top}
	a.user.init(a)
	sink := Sink{Goroutine: a.goroutine, Region: a.user.region, Task: a.user.task}
	if opts.Compat {
		a.lasts = lastLives{}
		sink.Goroutine = a.lasts.replace
	}
	a.sum = NewSummarizer(gs, sink, SummaryOptions{Compat: opts.Compat})
	if opts.Filter != nil {
		a.picked = &picked{
			filter: opts.Filter, r: gs.Reader(), names: &a.names, groups: &a.groups, left: a.left, window: &a.window,
			did: map[exectrace.GoID]*Stats{}, lives: map[*Group][]timeline.Span{}, forever: map[exectrace.GoID]*Goroutine{},
		}
		a.out.Picks = len(opts.Filter.Terms()) > 0
	}
	return a
}

const trackPage = 256

// tracks are those of all goroutines, by slot.
type tracks struct {
	pages []*[trackPage]track
	gs    *sweep.Goroutines
}

// at returns the track of a slot.
func (t *tracks) at(slot exectrace.Slot) *track {
	if uint(slot)/trackPage >= uint(len(t.pages)) {
		t.grow(slot)
	}
	return &t.pages[slot/trackPage][slot%trackPage]
}

// grow makes room for a slot.
func (t *tracks) grow(slot exectrace.Slot) {
	for len(t.pages) <= int(slot/trackPage) {
		t.pages = append(t.pages, new([trackPage]track))
	}
}

// waker returns the goroutine that causes e, if one does.
func (t *tracks) waker(e *exectrace.Event) *track {
	if e.GSlot == exectrace.NoSlot {
		return nil
	}
	return t.at(e.GSlot)
}

// each visits all goroutines that have been, in the order of their slots.
func (t *tracks) each(visit func(t *track, g *sweep.Goroutine)) {
	for n, page := range t.pages {
		for i := range page {
			visit(&page[i], t.gs.In(exectrace.Slot(n*trackPage+i)))
		}
	}
}

// eachRare visits those that have what most do not have.
func (t *tracks) eachRare(visit func(t *rareTrack, g *sweep.Goroutine)) {
	t.each(func(t *track, g *sweep.Goroutine) {
		if t.rare != nil {
			visit(t.rare, g)
		}
	})
}

// groups are the goroutines by the function that they began with, and by the go
// statement that made them.
type groups struct {
	byName []*Group // by the name's id; nil for those that begin no goroutine
	byGo   []*Group // by the stack's id
}

// of returns the group of a function.
func (s *groups) of(name exectrace.NameID) *Group {
	g := placeOf(&s.byName, name)
	if *g == nil {
		*g = &Group{Name: name}
	}
	return *g
}

// madeAt returns the group of a go statement.
func (s *groups) madeAt(at stack.ID) *Group {
	g := placeOf(&s.byGo, at)
	if *g == nil {
		*g = &Group{Creator: at}
	}
	return *g
}

// Kinds implements [sweep.Listener]: all events are counted.
func (a *analyzer) Kinds() sweep.Kinds { return sweep.Every }

// Event implements [sweep.Listener].
func (a *analyzer) Event(e *exectrace.Event) {
	a.out.Info.Events++
	if e.Kind == exectrace.KindSync && a.out.Info.Span.Start == 0 {
		a.out.Info.Span.Start, a.gc.begin = e.Time, e.Time
		a.window.whole = a.picked == nil && a.opts.Each == nil && !a.names.late()
		a.par.start(e.Time)
		a.openWindow(e.Time)
	}
	if e.Time >= a.window.edge {
		a.crossEdge(e.Time)
	}
	a.last = e.Time
	a.follow(e)
	a.sum.Event(e) // behind: it hands over goroutines that have ended, with what they did
}

// Warm implements [sweep.Warmer].
func (a *analyzer) Warm(events []exectrace.Event) (sum uint64) {
	for i := range events {
		slot, ok := sweep.Moves(&events[i])
		if !ok {
			continue
		}
		if page := uint(slot) / trackPage; page < uint(len(a.tracks.pages)) {
			t := &a.tracks.pages[page][slot%trackPage]
			sum += uint64(t.lastWaker)
			if t.known {
				sum++
			}
		}
		if g := a.sum.lives.awake(slot); g != nil {
			sum += uint64(g.created)
			if g.known {
				sum++
			}
		}
	}
	return sum
}

// follow moves what is counted along.
func (a *analyzer) follow(e *exectrace.Event) {
	switch e.Kind {
	case exectrace.KindGoTransition:
		if e.From != e.To {
			a.transition(e)
		}
	case exectrace.KindProcTransition:
		a.par.proc(e)
	case exectrace.KindMetric:
		if e.Name == exectrace.NameGOMAXPROCS {
			a.par.gomaxprocs(e)
		} else {
			a.gc.metric(e)
		}
	case exectrace.KindRangeBegin, exectrace.KindRangeActive, exectrace.KindRangeEnd:
		a.gc.ranges(e)
	case exectrace.KindSync:
		if e.Reset() {
			a.loseTracks(e.Time)
		}
	}
}

// transition closes the interval that the goroutine leaves and opens the next.
func (a *analyzer) transition(e *exectrace.Event) {
	t := a.tracks.at(e.SubjectSlot)
	g := a.gs.Is
	switch e.From {
	case exectrace.NotExist, exectrace.Undetermined:
		*t = track{known: true, lastWaker: exectrace.NoGoroutine}
		if e.From == exectrace.NotExist {
			t.creator = a.groups.madeAt(e.Stack)
			t.creator.Created += a.one()
		}
	}
	if t.group == nil && e.SubjectStack != 0 {
		a.identify(t, e)
	}
	if e.From != exectrace.NotExist && e.From != exectrace.Undetermined {
		a.leave(t, e)
	}
	switch e.To {
	case exectrace.Runnable:
		a.par.runnable(e.Time, t, +1)
	case exectrace.Running:
		a.par.running(e.Time, t, +1)
		if e.From == exectrace.Runnable {
			a.wires.started(e)
		}
		t.delay, t.halted = a.par.delayAt(e.Time), a.par.haltedAt(e.Time)
	case exectrace.NotExist:
		if t.group == nil {
			a.nameless(t, g)
		}
		t.group.census.ends()
		t.group.Ended += a.one()
		if t.creator != nil {
			t.creator.census.ends()
			t.creator.Ended += a.one()
		}
		t.known = false
	}
}

// identify finds the groups of a goroutine whose first function is known now.
func (a *analyzer) identify(t *track, e *exectrace.Event) {
	g := a.gs.Is
	t.system = IsSystem(a.out.Reader.Name(g.Name))
	group := a.groups.of(g.Name)
	t.group = group
	group.census.begins(g.Older)
	t.flushLate(group)
	a.out.Latency.name(g)
	if e.From == exectrace.NotExist {
		group.Created += a.one()
	}
	if c := t.creator; c != nil {
		c.Name = g.Name
		c.census.begins(false)
	}
}

// nameless puts a goroutine whose function no event has told into the group of
// those.
func (a *analyzer) nameless(t *track, g *sweep.Goroutine) {
	t.group = a.groups.of(exectrace.NameNone)
	t.flushLate(t.group)
	t.group.census.begins(g.Older)
	if t.creator != nil {
		t.creator.census.begins(false)
	}
}

// placeOf returns the place of an id in a list. Ids are dense: a map is slower.
func placeOf[I ~uint32, T any](list *[]*T, id I) **T {
	for int(id) >= len(*list) {
		*list = append(*list, nil)
	}
	return &(*list)[id]
}

// leave ends a stay for those that count it.
func (a *analyzer) leave(t *track, e *exectrace.Event) {
	was := &a.gs.Was
	switch was.State {
	case exectrace.Running:
		a.par.running(e.Time, t, -1)
		if r := t.rare; r != nil && r.assist != 0 {
			r.assistRan += e.Time.Sub(max(was.Since, r.assist))
		}
	case exectrace.Runnable:
		a.par.runnable(e.Time, t, -1)
	case exectrace.Waiting, exectrace.Syscall:
	default:
		return
	}
	if a.window.whole {
		stayedWhole(a, t, e)
	} else {
		a.count(stayOf(a, e), t, e)
	}
	if was.State == exectrace.Waiting {
		t.lastWaker = e.G
	}
}

// stayedWhole counts a whole stay. It is what [analyzer.stayed] does, without an interval for
// most.
//
// Note: to make one for each stay, and to look what of it to count, was a fifth of the
// instructions of an analysis.
func stayedWhole(a *analyzer, t *track, e *exectrace.Event) {
	was := &a.gs.Was
	d := time.Duration(e.Time - was.Since)
	switch was.State {
	case exectrace.Running:
		if a.out.Runs.add(a, d, t) {
			a.out.Runs.Longest = keepLongest(a.out.Runs.Longest, stayOf(a, e), a.opts.Top)
		}
		if d >= LongRun {
			a.hogs.add(stayOf(a, e), t, a.par.haltedAt(e.Time)-t.halted, waits{t.delay, a.par.delayAt(e.Time)})
		}
	case exectrace.Runnable:
		if a.out.Latency.add(a, d, t) {
			a.out.Latency.Worst = keepLongest(a.out.Latency.Worst, stayOf(a, e), a.opts.Top)
		}
	case exectrace.Waiting:
		k := a.blocks.get(was.Stack, was.Reason, was.State)
		if k.add(d, e.Stack, was.ID, a.tracks.waker(e)) {
			k.Worst = *stayOf(a, e)
		}
	case exectrace.Syscall:
		k := a.blocks.get(was.Stack, was.Reason, was.State)
		if k.add(d, 0, was.ID, nil) {
			k.Worst = *stayOf(a, e)
		}
	}
}

// stayOf is the stay that an event ends, valid until it is called again.
func stayOf(a *analyzer, e *exectrace.Event) *Interval {
	a.stay = ended(&a.gs.Was, e)
	a.stay.Name = a.gs.Is.Name
	return &a.stay
}

// count counts what the filter leaves of a stay that e ends.
func (a *analyzer) count(i *Interval, t *track, e *exectrace.Event) {
	if a.picked == nil {
		a.names.name(i)
		a.stayed(i, t, e)
		return
	}
	for n := range a.picked.pick(i, t, false, a.whole()) {
		a.stayed(&a.picked.pieces[n], t, e)
	}
}

// stayed counts a stay, or a part of one, that e ends.
func (a *analyzer) stayed(i *Interval, t *track, e *exectrace.Event) {
	if a.opts.Each != nil {
		a.opts.Each(a.out.Reader, i)
	}
	switch i.State {
	case exectrace.Running:
		if a.out.Runs.add(a, i.Len(), t) {
			a.out.Runs.Longest = keepLongest(a.out.Runs.Longest, i, a.opts.Top)
		}
		if i.Len() >= LongRun {
			a.hogs.add(i, t, a.par.haltedAt(e.Time)-t.halted, waits{t.delay, a.par.delayAt(e.Time)})
		}
	case exectrace.Runnable:
		if a.out.Latency.add(a, i.Len(), t) {
			a.out.Latency.Worst = keepLongest(a.out.Latency.Worst, i, a.opts.Top)
		}
	case exectrace.Waiting:
		if k := a.blocks.get(i.Stack, i.Reason, i.State); k.add(i.Len(), i.ByStack, i.G, a.tracks.waker(e)) {
			k.Worst = *i
		}
	case exectrace.Syscall:
		if k := a.blocks.get(i.Stack, i.Reason, i.State); k.add(i.Len(), 0, i.G, nil) {
			k.Worst = *i
		}
	}
}

// whole is the trace as far as it is read.
func (a *analyzer) whole() timeline.Span {
	return timeline.Span{Start: a.out.Info.Span.Start, End: a.last}
}

// goroutine takes a finished summary.
func (a *analyzer) goroutine(g *Goroutine) {
	a.out.Info.Goroutines++
	if a.picked != nil {
		a.picked.filtered(g)
		return
	}
	a.groups.of(g.Name).add(g)
	if g.Creator != 0 {
		a.groups.madeAt(g.Creator).add(g)
	}
	switch {
	case g.Ended == 0:
		a.left.found(leftKey{g.Name, g.Reason, g.State, g.Stack}, begun{g.ID, g.Creator, g.Origin}, g.Since, time.Duration(a.last-g.Since), a.whole())
	case g.State == exectrace.Waiting: // for ever: handed over as it begins to
		a.forever = append(a.forever, leftForever{leftKey{g.Name, g.Reason, g.State, g.Stack}, begun{g.ID, g.Creator, g.Origin}, g.Ended})
	default:
		a.groups.of(g.Name).Life.Add(g.Ended.Sub(g.Created))
		if g.Creator != 0 {
			a.groups.madeAt(g.Creator).Life.Add(g.Ended.Sub(g.Created))
		}
	}
}

// cutOff counts the stays that the end of the trace cuts off, or the end of all
// that is known.
func (a *analyzer) cutOff(at timeline.Time) {
	if a.picked == nil && a.opts.Each == nil {
		return
	}
	a.gs.Each(func(slot exectrace.Slot, g *sweep.Goroutine) {
		t := a.tracks.at(slot)
		if !t.known || g.Since >= at {
			return
		}
		i := lasting(g, at)
		if a.picked == nil {
			a.names.name(&i)
			a.opts.Each(a.out.Reader, &i)
			return
		}
		for n := range a.picked.pick(&i, t, true, a.whole()) {
			if a.opts.Each != nil {
				a.opts.Each(a.out.Reader, &a.picked.pieces[n])
			}
		}
	})
}

// lasting is the stay that a goroutine is in, up to an instant.
func lasting(g *sweep.Goroutine, at timeline.Time) Interval {
	i := Interval{G: g.ID, Name: g.Name, State: g.State, Reason: g.Reason, Start: g.Since, End: at, P: exectrace.NoProc, Stack: g.At(), By: exectrace.NoGoroutine}
	if g.State == exectrace.Running {
		i.P = g.P
	}
	return i
}

// loseTracks ends all that is known of goroutines, behind a loss.
func (a *analyzer) loseTracks(at timeline.Time) {
	a.cutOff(at)
	a.endCensus()
	a.tracks.pages = nil
	a.par.reset(at)
}

// add counts one goroutine.
func (g *Group) add(one *Goroutine) {
	g.Count++
	g.Exec += one.Exec
	g.SchedWait += one.SchedWait
	g.Syscall += one.Syscall
	g.SyscallBlock += one.SyscallBlock
	g.Total += one.Total
	for n, d := range one.Blocked.All() {
		g.Blocked.add(n, d)
	}
	for n, d := range one.Ranges.All() {
		g.Ranges.add(n, d)
	}
	if one.Exec > g.MaxExec {
		g.MaxExec, g.MaxG = one.Exec, one.ID
	}
	if one.Ended != 0 {
		g.Each.Add(one.Exec)
	}
}

// finish puts the results in order.
func (a *analyzer) finish(t *exectrace.Trace) *Analysis {
	a.closeWindow()
	a.cutOff(a.last)
	a.endCensus()
	a.sum.Finish()
	for _, id := range slices.Sorted(maps.Keys(a.lasts)) {
		a.goroutine(a.lasts[id])
	}
	if a.picked != nil {
		a.picked.forgotten(a.last)
	}
	for _, l := range a.forever {
		a.left.found(l.leftKey, l.begun, l.since, time.Duration(a.last-l.since), a.whole())
	}
	out := a.out
	addUp(a)
	i := &out.Info
	i.Format, i.Bytes, i.Generations = t.Version, t.Size(), len(t.Generations())
	i.Span.End = a.last
	i.Threads = a.out.Reader.Threads()
	i.Problems = a.out.Reader.Problems()
	i.Procs = out.Parallel.Procs
	for _, g := range a.groups.byName {
		if g != nil && g.Count > 0 {
			out.Groups = append(out.Groups, g)
		}
	}
	for _, g := range a.groups.byGo {
		if g != nil && g.Count > 0 {
			out.Creators = append(out.Creators, g)
		}
	}
	byExec := func(x, y *Group) int {
		return cmp.Or(cmp.Compare(y.Exec, x.Exec), cmp.Compare(y.Count, x.Count), cmp.Compare(x.Name, y.Name), cmp.Compare(x.Creator, y.Creator))
	}
	slices.SortFunc(out.Groups, byExec)
	slices.SortFunc(out.Creators, byExec)
	out.Blocks = a.blocks.sorted()
	out.Hogs = a.hogs.sorted()
	out.Wired = a.wired()
	out.Tasks, out.Regions = a.user.finish()
	for _, l := range a.left {
		out.Left = append(out.Left, *l)
	}
	slices.SortFunc(out.Left, func(x, y Left) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(y.Longest, x.Longest), cmp.Compare(x.Stack, y.Stack), cmp.Compare(x.Name, y.Name))
	})
	return out
}
