package facts

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/format/profile"
	"loupe/recording"
	"loupe/session"
	"loupe/value/stack"
	"loupe/value/timeline"
	"loupe/value/unit"
)

// Precision is how good a figure is.
type Precision string

// The precisions.
const (
	// Measured is what was noted each time, as in a trace.
	Measured Precision = "measured"
	// Sampled is an estimate from some of all: the runtime chooses them.
	Sampled Precision = "sampled"
	// Glimpsed is what one look has seen.
	Glimpsed Precision = "one look"
)

// Provenance says where a fact comes from, how good it is and of what time.
type Provenance struct {
	// Entry is the file that tells it, and What what that is: "block profile".
	Entry recording.Entry
	What  string
	// Time is what it is of on the recording's axis; it is empty of a file that
	// stands alone.
	Time timeline.Span
	// Length is how long that is; 0 where nothing tells, as of a profile that holds
	// all since the program began.
	Length    time.Duration
	Precision Precision
}

// Of says what a sum is of: ", in 2.00 s"; nothing where that is not known.
func (p *Provenance) Of() string {
	if p.Length <= 0 {
		return ""
	}
	return ", in " + unit.Duration(p.Length)
}

// Mean is how many goroutines waited at a time; 0 where the length is not known.
func (p *Provenance) Mean(waited time.Duration) float64 {
	if p.Length <= 0 {
		return 0
	}
	return float64(waited) / float64(p.Length)
}

// Reason is what a goroutine waits for.
type Reason string

// The reasons.
const (
	ForLock    Reason = "lock"
	ForSend    Reason = "send"
	ForReceive Reason = "receive"
	ForSelect  Reason = "select"
	ForCond    Reason = "cond"
	ForGroup   Reason = "wait group"
	ForOutside Reason = "outside" // the network, a file, a system call, the clock
	ForOther   Reason = ""        // it may not wait at all
)

// AllWaits are the places at which goroutines of the program waited, as one file of the
// recording has them. A block profile, a mutex profile, an execution trace and a look
// at the goroutines all know some, and each has something that the others have not.
type AllWaits struct {
	Provenance
	// Unlocks tells that the stacks are of those who let others wait, and end in an
	// Unlock: a mutex profile.
	Unlocks bool
	All     []Wait

	scope stack.Scope
	trace *Trace // of a trace
}

// Wait is how long goroutines waited at one stack, the leaf first.
type Wait struct {
	Frames []stack.Frame
	For    Reason
	// Time is 0 in one look, and Count is then how many are there.
	Time  time.Duration
	Count int64
	// Open is how many of them had not ended when the trace did: their time is that up
	// to its end. It is 0 in a profile, which has only waits that have ended, and in a
	// look.
	Open int64
	// Before is how many of these had come there before the trace began: they waited all of it.
	Before int64
	// Block is what a trace knows besides; nil elsewhere.
	Block *sched.Block
}

// waitFiles are the files that know waits, by kind.
var waitFiles = []recording.Kind{recording.ExecTrace, recording.Block, recording.Mutex, recording.Goroutine}

// WaitsOf returns the waits of all files of these kinds that could be read, in this
// order. [recording.Goroutine] stands for every look at the goroutines. The error is
// why one of the others could not, or [session.ErrNone].
func (f *Facts) WaitsOf(kinds ...recording.Kind) (all []*AllWaits, err error) {
	for _, kind := range kinds {
		w, werr := f.waits[slices.Index(waitFiles, kind)]()
		switch {
		case werr == nil:
			all = append(all, w)
		case err == nil || errors.Is(err, session.ErrNone):
			err = werr
		}
	}
	return all, err
}

// readWaits reads the waits of one kind of file.
func readWaits(f *Facts, kind recording.Kind) (*AllWaits, error) {
	if f.Part && kind != recording.ExecTrace {
		return nil, fmt.Errorf("a profile covers its whole time, not a part: %w", session.ErrNone)
	}
	switch kind {
	case recording.ExecTrace:
		return tracedWaits(f)
	case recording.Goroutine:
		return glimpse(f)
	}
	return profiledWaits(f, kind)
}

// profiledWaits reads the waits of a block or mutex profile. What recorded the
// program is left out.
func profiledWaits(f *Facts, kind recording.Kind) (*AllWaits, error) {
	p, entry, err := f.session.Profile(kind)
	if err != nil {
		return nil, err
	}
	delay, err := p.Index("delay")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", entry.Path, err)
	}
	count, err := p.Index("contentions")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", entry.Path, err)
	}
	w := &AllWaits{Provenance: f.provenance(entry, p.Duration), Unlocks: kind == recording.Mutex, scope: f.session.Scope()}
	w.What, w.Precision = "block profile", Sampled
	if w.Unlocks {
		w.What = "mutex profile"
	}
	for i, id := range p.StackIDs {
		if frames := Frames(p.Stacks, id); !recorders(frames) {
			w.All = append(w.All, Wait{Frames: frames, For: reason(frames), Time: time.Duration(p.Values[delay][i]), Count: p.Values[count][i]})
		}
	}
	if len(p.StackIDs) == 0 && entry.Source != "agent" {
		return nil, fmt.Errorf("%s is empty: nothing waited, or everything that did is still waiting (a wait counts when it ends: in a mutex profile at Unlock, in a block profile when the goroutine continues), or the program does not enable it (runtime.SetBlockProfileRate, SetMutexProfileFraction); record with -phases trace", entry.Path)
	}
	return w, nil
}

// provenance begins that of a profile: of its own length, else of its phase.
func (f *Facts) provenance(entry recording.Entry, length time.Duration) Provenance {
	from := Provenance{Entry: entry, Length: length}
	if phase, ok := f.Manifest.PhaseNamed(entry.Phase); ok {
		from.Time = phase.Span
		if from.Length == 0 {
			from.Length = phase.Span.Len()
		}
	}
	return from
}

// tracedWaits reads the waits of the execution trace. It has the network and system
// calls too, and the waits that have not ended, where a block profile has nothing.
func tracedWaits(f *Facts) (*AllWaits, error) {
	if len(f.Manifest.Of(recording.ExecTrace)) == 0 {
		return nil, fmt.Errorf("no execution trace: %w", session.ErrNone)
	}
	t := f.Trace()
	if t.Err != nil {
		return nil, t.Err
	}
	if err := t.TooShort(); err != nil {
		return nil, err
	}
	w := &AllWaits{scope: t.Scope, trace: t, Provenance: Provenance{
		Entry: t.Entry, What: "execution trace", Length: t.Length(), Precision: Measured,
		Time: timeline.Span{Start: t.Clock.At(int64(t.Covers.Start)), End: t.Clock.At(int64(t.Covers.End))},
	}}
	ended := t.OwnBlocks(func(b *sched.Block) bool { return true })
	for i, b := range append(ended, openWaits(t)...) {
		x, ok := tracedWait(t, b)
		if !ok {
			continue
		}
		if i >= len(ended) {
			x.Open = x.Count
		}
		w.All = append(w.All, x)
	}
	w.All = append(w.All, sendersBefore(t)...)
	return w, nil
}

// sendersBefore are the waits of goroutines that were waiting to send when the trace began and
// when it ended. No event of the trace says what they wait for, but their stacks do. Of other
// reasons they are left out: who waits to receive all the time has nothing to do.
func sendersBefore(t *Trace) (all []Wait) {
	for i := range t.Left {
		l := &t.Left[i]
		if !t.Own(l.Name) || l.State != exectrace.Waiting || l.Reason != exectrace.NameNone || l.Stack == 0 || l.Created > 0 {
			continue
		}
		frames := t.Frames(l.Stack)
		if reason(frames) != ForSend || recorders(frames) {
			continue
		}
		b := l.Block(t.Covers.End)
		b.Wait, b.Worst.Start = sched.Histogram{}, t.Covers.Start
		for range l.Count {
			b.Wait.Add(t.Length())
		}
		all = append(all, Wait{Frames: frames, For: ForSend, Time: b.Wait.Sum, Count: l.Count, Open: l.Count, Before: l.Count, Block: b})
	}
	return all
}

// openWaits are the waits of the program's goroutines that had not ended when the trace
// did, by place.
func openWaits(t *Trace) (own []*sched.Block) {
	for i := range t.Left {
		if l := &t.Left[i]; t.Own(l.Name) && (l.State == exectrace.Waiting || l.State == exectrace.Syscall) {
			own = append(own, l.Block(t.Covers.End))
		}
	}
	return own
}

// tracedWait is a place at which goroutines waited, as a trace has it; ok is false
// where they did for nothing that counts.
func tracedWait(t *Trace, b *sched.Block) (x Wait, ok bool) {
	why, known := tracedReasons[b.Reason]
	switch {
	case collects(t, b):
		return x, false
	case b.State == exectrace.Syscall:
		why = ForOutside
	case !known:
		return x, false
	}
	frames := t.Frames(b.Stack)
	if b.Reason == exectrace.NameSync && !callsMutex(frames) {
		why = ForGroup
	}
	return Wait{Frames: frames, For: why, Time: b.Wait.Sum, Count: b.Wait.Count, Block: b}, true
}

// tracedReasons are the reasons that a trace names.
var tracedReasons = map[exectrace.NameID]Reason{
	exectrace.NameSync: ForLock, exectrace.NameCond: ForCond, exectrace.NameSelect: ForSelect,
	exectrace.NameChanSend: ForSend, exectrace.NameChanReceive: ForReceive, exectrace.NameNetwork: ForOutside,
}

// glimpse is what one look at the goroutines saw: a goroutine profile, or the last
// dump.
func glimpse(f *Facts) (*AllWaits, error) {
	p, entry, err := f.session.Profile(recording.Goroutine)
	what := "goroutine profile"
	if errors.Is(err, session.ErrNone) {
		dumps, derr := f.session.Stacks()
		for i := len(dumps) - 1; i >= 0 && errors.Is(err, session.ErrNone); i-- {
			if d := dumps[i]; len(d.Dumps) > 0 && d.Entry.Kind != session.CoreFile {
				p, err = d.LastProfile()
				entry, what = d.Entry, "dump of the goroutines"
			}
		}
		if p == nil && derr != nil && len(f.Manifest.Of(recording.Stacks)) > 0 {
			err = derr
		}
	}
	if err != nil {
		return nil, err
	}
	index, err := p.Index("goroutine")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", entry.Path, err)
	}
	w := &AllWaits{Provenance: f.provenance(entry, 0), scope: f.session.Scope()}
	w.What, w.Length, w.Precision = what, 0, Glimpsed
	for i, id := range p.StackIDs {
		if frames := Frames(p.Stacks, id); !recorders(frames) {
			var labels []profile.Label
			if p.LabelSets != nil {
				labels = p.Labels(p.LabelSets[i])
			}
			w.All = append(w.All, Wait{Frames: frames, For: parkedFor(frames, labels), Count: p.Values[index][i]})
		}
	}
	return w, nil
}

// parkedFor tells what a goroutine waited for when it was looked at, if it did. A dump
// names the state, and leaves frames of the runtime out; a profile has them.
func parkedFor(frames []stack.Frame, labels []profile.Label) Reason {
	for _, l := range labels {
		if l.Key != "state" {
			continue
		}
		state, _, _ := strings.Cut(l.Str, " (")
		if state == "semacquire" { // before Go 1.20
			return reason(frames)
		}
		return states[state]
	}
	leaf := frames[0].Func
	if strings.HasPrefix(leaf, "runtime.gopark") || strings.Contains(leaf, ".runtime_") || leaf == "time.Sleep" {
		return reason(frames)
	}
	return ForOther
}

// states are the reasons by the names of states in a dump.
var states = map[string]Reason{
	"chan send": ForSend, "chan receive": ForReceive, "select": ForSelect, "sync.Cond.Wait": ForCond, "sync.WaitGroup.Wait": ForGroup,
	"sync.Mutex.Lock": ForLock, "sync.RWMutex.Lock": ForLock, "sync.RWMutex.RLock": ForLock,
	"IO wait": ForOutside, "syscall": ForOutside, "sleep": ForOutside,
}

// reason reads from the leaf of a stack what it waits for.
func reason(frames []stack.Frame) Reason {
	if callsMutex(frames) {
		return ForLock
	}
	for _, f := range frames {
		switch f.Func {
		case "runtime.chansend1", "runtime.chansend":
			return ForSend
		case "runtime.chanrecv1", "runtime.chanrecv2", "runtime.chanrecv":
			return ForReceive
		case "runtime.selectgo":
			return ForSelect
		case "sync.(*Cond).Wait":
			return ForCond
		case "sync.(*WaitGroup).Wait":
			return ForGroup
		case "internal/poll.runtime_pollWait", "time.Sleep":
			return ForOutside
		}
		if pkg := stack.Package(f.Func); !stack.IsRuntime(pkg) && pkg != "sync" && pkg != "internal/sync" && pkg != "internal/poll" {
			break
		}
	}
	return ForOther
}

// recorders tells whether a goroutine belongs to what records the program.
func recorders(frames []stack.Frame) bool {
	if len(frames) == 0 {
		return true
	}
	root := frames[len(frames)-1].Func
	return stack.IsAgent(root) || stack.Package(root) == "runtime/trace"
}

// Total is what all waited together whose waits have ended, the world outside left
// out. Of those that have not most are of who has nothing to do.
func (w *AllWaits) Total() (sum time.Duration) {
	for _, x := range w.All {
		if x.For != ForOutside && x.Open == 0 {
			sum += x.Time
		}
	}
	return sum
}

// callsSync tells whether a stack has a function of package sync. What the runtime
// waits for itself has none.
func callsSync(frames []stack.Frame) bool {
	return slices.ContainsFunc(frames, func(f stack.Frame) bool { return inSync(stack.Package(f.Func)) })
}

// callsMutex tells whether a stack ends in package sync with a mutex.
func callsMutex(frames []stack.Frame) bool {
	return slices.ContainsFunc(frames, func(f stack.Frame) bool {
		return inSync(stack.Package(f.Func)) && strings.Contains(f.Func, "Mutex).")
	})
}

func inSync(pkg string) bool { return pkg == "sync" || pkg == "internal/sync" }

// Place is a line of the program at which goroutines wait for one reason.
type Place struct {
	At     stack.Frame
	Frames []stack.Frame // of the longest wait
	Time   time.Duration
	Count  int64
	Open   int64 // of Count, those that had not ended when the trace did
	Before int64 // of Open, those that had begun before the trace did
	// Shared tells of a lock that several may hold it: RLock.
	Shared bool
	// Caller is, of a lock, the frame that locks it or lets it go; it is empty where
	// package sync has the mutex within something else, such as a Once. Own tells
	// that it is the user's.
	Caller stack.Frame
	Own    bool
	// Dist, Worst and By are what a trace knows besides: how long each wait took, the
	// longest of them, and where they were ended, the most frequent first.
	Dist  sched.Histogram
	Worst sched.Interval
	By    []sched.Waker

	longest time.Duration
}

// Site is the frame of a wait that says most to the user, see [Trace.Site].
func (w *AllWaits) Site(x *Wait) stack.Frame { return SiteOf(w.scope, withoutCreator(x.Frames)) }

// Places are the lines at which goroutines waited for a reason, the longest time
// first, in one look the most goroutines. A line is the user's that is nearest to the
// leaf, where there is one, since a lock of a library is met there.
func (w *AllWaits) Places(why Reason) []*Place {
	type key struct {
		function, file string
		line           int
		own            bool
	}
	by := map[key]*Place{}
	var all []*Place
	for i := range w.All {
		x := &w.All[i]
		if x.For != why {
			continue
		}
		at := SiteOf(w.scope, withoutCreator(x.Frames))
		caller, locks := LockedBy(x.Frames, w.Unlocks)
		own := locks && w.scope.IsUser(caller)
		if own || locks && stack.Package(at.Func) == "sync" {
			at = caller
		}
		k := key{at.Func, at.File, at.Line, own}
		p := by[k]
		if p == nil {
			p = &Place{At: at, Caller: caller, Own: own}
			by[k], all = p, append(all, p)
		}
		p.add(x)
	}
	for _, p := range all {
		slices.SortStableFunc(p.By, func(a, b sched.Waker) int { return cmp.Compare(b.Count, a.Count) })
	}
	slices.SortStableFunc(all, func(a, b *Place) int { return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(b.Count, a.Count)) })
	return all
}

// add counts a wait.
func (p *Place) add(x *Wait) {
	if p.Frames == nil || x.Time > p.longest {
		p.Frames, p.longest = x.Frames, x.Time
	}
	p.Time += x.Time
	p.Count += x.Count
	p.Open += x.Open
	p.Before += x.Before
	p.Shared = p.Shared || slices.ContainsFunc(x.Frames, func(f stack.Frame) bool {
		return inSync(stack.Package(f.Func)) && strings.HasSuffix(f.Func, ").RLock")
	})
	if x.Block == nil {
		return
	}
	if p.Dist.Count == 0 || x.Block.Worst.Len() > p.Worst.Len() {
		p.Worst = x.Block.Worst
	}
	p.Dist.Merge(&x.Block.Wait)
	p.By = append(p.By, x.Block.Wakers...)
}

// withoutCreator leaves out where a goroutine was started, which a dump has below its
// stack.
func withoutCreator(frames []stack.Frame) []stack.Frame {
	if n := len(frames); n > 1 && strings.HasPrefix(frames[n-1].Func, "created by ") {
		return frames[:n-1]
	}
	return frames
}

// LockedBy returns the frame that calls Lock or RLock of a mutex, or with unlock one
// that lets it go. A mutex that package sync has within something else, such as a
// WaitGroup or a Once, is not the caller's.
func LockedBy(frames []stack.Frame, unlock bool) (stack.Frame, bool) {
	for i := 0; i+1 < len(frames); i++ {
		pkg := stack.Package(frames[i].Func)
		if !inSync(pkg) {
			if !stack.IsRuntime(pkg) {
				return stack.Frame{}, false
			}
			continue
		}
		method := frames[i].Func[strings.LastIndexByte(frames[i].Func, '.')+1:]
		locks := strings.Contains(frames[i].Func, "Mutex).")
		if unlock {
			locks = locks && strings.HasSuffix(method, "nlock")
		} else {
			locks = locks && (method == "Lock" || method == "RLock")
		}
		if locks && !inSync(stack.Package(frames[i+1].Func)) {
			return frames[i+1], true
		}
	}
	return stack.Frame{}, false
}

// differ is by how much the shares of a place in two files differ before that is told.
const differ = 3

// Differs says that another file tells another thing of a place: that its part of all
// that is waited for the reason is far more, or far less. It is empty where the two
// agree, and where the other knows too little. A place is known by its function, since
// a mutex profile has another line of it.
func Differs(w, other *AllWaits, p *Place, why Reason) string {
	if w == other || other.Precision == Glimpsed || w.Precision == Glimpsed {
		return ""
	}
	part := func(w *AllWaits) (share float64, count int64, top *Place) {
		all, here := time.Duration(0), time.Duration(0)
		for _, q := range w.Places(why) {
			if top == nil {
				top = q
			}
			all += q.Time
			count += q.Count
			if q.At.Func == p.At.Func {
				here += q.Time
			}
		}
		return float64(here) / float64(max(1, all)), count, top
	}
	a, _, _ := part(w)
	b, count, top := part(other)
	if count < differ*differ || a < differ*b && b < differ*a {
		return ""
	}
	return fmt.Sprintf("the %s has %s of the waits of this kind there and the %s %s, with most at %s:%d: they cover different times, or one of them has not seen all",
		w.What, unit.Percent(a), other.What, unit.Percent(b), path.Base(strings.ReplaceAll(top.At.File, "\\", "/")), top.At.Line)
}
