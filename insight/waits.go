package insight

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"loupe/exectrace"
	"loupe/recording"
	"loupe/sched"
	"loupe/stack"
	"loupe/unit"
)

// waits are the stacks at which goroutines of the program waited for each
// other, as one file of the recording has them. A block profile, a mutex
// profile and an execution trace all know them, and each has something that
// the others have not.
type waits struct {
	in    *Input
	entry recording.Entry
	what  string // "block profile"
	// length is the time that they are of; 0 where it is not known.
	length time.Duration
	// unlocks tells that the stacks are those that let others wait, and end
	// in an Unlock.
	unlocks bool
	all     []wait
}

// wait is how long goroutines waited at one stack, the leaf first.
type wait struct {
	frames []stack.Frame
	time   time.Duration
	count  int64
	// io tells that they waited for the network or a system call.
	io bool
}

// blocked returns the waits of the recording: those of its block profile, or
// else those of its execution trace.
func (in *Input) blocked() (*waits, error) {
	w, err := in.blockProfile(recording.Block, "block profile")
	if err == nil && len(w.all) > 0 {
		return w, nil
	}
	if len(in.Session.Manifest().Of(recording.ExecTrace)) == 0 {
		return w, err
	}
	return in.tracedWaits()
}

// blockProfile reads the waits of a block or mutex profile. What recorded the
// program is left out.
func (in *Input) blockProfile(kind recording.Kind, what string) (*waits, error) {
	p, entry, err := in.Session.Profile(kind)
	if err != nil {
		return &waits{}, err
	}
	delay, err := p.Index("delay")
	if err != nil {
		return &waits{}, fmt.Errorf("%s: %w", entry.Path, err)
	}
	count, err := p.Index("contentions")
	if err != nil {
		return &waits{}, fmt.Errorf("%s: %w", entry.Path, err)
	}
	w := &waits{in: in, entry: entry, what: what, length: p.Duration, unlocks: kind == recording.Mutex}
	if phase, ok := in.Session.Manifest().PhaseNamed(entry.Phase); ok && w.length == 0 {
		w.length = phase.Span.Len()
	}
	for i, id := range p.StackIDs {
		if frames := framesOf(p.Stacks, id); !recorders(frames) {
			w.all = append(w.all, wait{frames: frames, time: time.Duration(p.Values[delay][i]), count: p.Values[count][i]})
		}
	}
	if len(p.StackIDs) == 0 && entry.Source != "agent" {
		return w, fmt.Errorf("%s is empty: either nobody waited, or the program does not ask for it (runtime.SetBlockProfileRate, SetMutexProfileFraction); record with -phases trace", entry.Path)
	}
	return w, nil
}

// tracedWaits reads the waits of the execution trace. It has the network and
// system calls too, where a block profile has nothing.
func (in *Input) tracedWaits() (*waits, error) {
	t := in.trace()
	if t.err != nil {
		return &waits{}, t.err
	}
	if t.length() < minTrace {
		return &waits{}, fmt.Errorf("the trace is of %s, %s are needed", unit.Duration(t.length()), unit.Duration(minTrace))
	}
	w := &waits{in: in, entry: t.entry, what: "execution trace", length: t.length()}
	among := []exectrace.NameID{exectrace.NameSync, exectrace.NameCond, exectrace.NameSelect, exectrace.NameChanSend, exectrace.NameChanReceive, exectrace.NameNetwork}
	for _, b := range t.blocks(func(b *sched.Block) bool { return b.State == exectrace.Syscall || slices.Contains(among, b.Reason) }) {
		if b.Reason == exectrace.NameSync && (!t.calls(b.Stack, "") || exectrace.IsCollectorWait(t.Reader.Stacks(), b.Stack, b.Reason)) {
			continue // the runtime's own
		}
		io := b.State == exectrace.Syscall || b.Reason == exectrace.NameNetwork
		w.all = append(w.all, wait{frames: framesOf(t.Reader.Stacks(), b.Stack), time: b.Wait.Sum, count: b.Wait.Count, io: io})
	}
	return w, nil
}

// framesOf returns a stack, the leaf first.
func framesOf(t *stack.Table, id stack.ID) []stack.Frame {
	var frames []stack.Frame
	for _, f := range t.Frames(id) {
		frames = append(frames, t.Frame(f))
	}
	return frames
}

// evidenceStack is a stack for a finding.
func evidenceStack(frames []stack.Frame) []Frame {
	var out []Frame
	for _, f := range frames {
		out = append(out, Frame{Function: f.Func, File: f.File, Line: f.Line})
	}
	return out
}

// recorders tells whether a goroutine belongs to what records the program.
func recorders(frames []stack.Frame) bool {
	if len(frames) == 0 {
		return true
	}
	root := frames[len(frames)-1].Func
	return strings.HasPrefix(root, "main.loupe") || strings.HasPrefix(root, "runtime.loupe") || stack.Package(root) == "runtime/trace"
}

// total is what all waited together, the network and system calls left out.
func (w *waits) total() (sum time.Duration) {
	for _, x := range w.all {
		if !x.io {
			sum += x.time
		}
	}
	return sum
}

// mean is how many goroutines waited at a time; 0 where the length is not
// known.
func (w *waits) mean(waited time.Duration) float64 {
	if w.length <= 0 {
		return 0
	}
	return float64(waited) / float64(w.length)
}

// of says what the waits are of: ", in 2.00 s".
func (w *waits) of() string {
	if w.length <= 0 {
		return ""
	}
	return ", in " + unit.Duration(w.length)
}

// evidence is what a frame of a stack shows.
func (w *waits) evidence(at stack.Frame, frames []stack.Frame, format string, args ...any) Evidence {
	source, _ := w.in.lineInLoop(at)
	e := Evidence{Text: fmt.Sprintf(format, args...), Path: w.entry.Path, Phase: w.entry.Phase,
		File: at.File, Line: at.Line, Function: at.Func, Source: strings.TrimSpace(source)}
	e.Stack = evidenceStack(frames)
	if p, ok := w.in.Session.Manifest().PhaseNamed(w.entry.Phase); ok {
		e.Span = span(p.Span)
	}
	return e
}

// lockSite is a line of the program that locks a mutex, or lets it go.
type lockSite struct {
	at     stack.Frame
	frames []stack.Frame // of the longest wait
	time   time.Duration
	count  int64
}

// lockSites are the lines of the program at which goroutines waited for a
// mutex, the longest time first; of a mutex profile, those that let it go.
func (w *waits) lockSites() []*lockSite {
	type key struct {
		function, file string
		line           int
	}
	isUser := w.in.Session.Scope().IsUser
	by, longest := map[key]*lockSite{}, map[*lockSite]time.Duration{}
	var sites []*lockSite
	for _, x := range w.all {
		at, ok := lockedBy(x.frames, w.unlocks)
		if !ok || !isUser(at) {
			continue
		}
		k := key{at.Func, at.File, at.Line}
		s := by[k]
		if s == nil {
			s = &lockSite{at: at}
			by[k], sites = s, append(sites, s)
		}
		if s.frames == nil || x.time > longest[s] {
			s.frames, longest[s] = x.frames, x.time
		}
		s.time += x.time
		s.count += x.count
	}
	slices.SortStableFunc(sites, func(a, b *lockSite) int { return cmp.Compare(b.time, a.time) })
	return sites
}

// lockedBy returns the frame that calls Lock or RLock of a mutex, or with
// unlock one that lets it go. A mutex that package sync has within something
// else, such as a WaitGroup or a Once, is not the caller's.
func lockedBy(frames []stack.Frame, unlock bool) (stack.Frame, bool) {
	for i := 0; i+1 < len(frames); i++ {
		pkg := stack.Package(frames[i].Func)
		if pkg != "sync" && pkg != "internal/sync" {
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
		if next := stack.Package(frames[i+1].Func); locks && next != "sync" && next != "internal/sync" {
			return frames[i+1], true
		}
	}
	return stack.Frame{}, false
}

// ioPackages are those whose functions wait for the world outside: the kernel,
// the network, another program.
var ioPackages = []string{"net", "net/http", "internal/poll", "os", "os/exec", "syscall", "crypto/tls", "database/sql",
	"net/rpc", "net/smtp", "golang.org/x/net/http2", "google.golang.org/grpc"}

// waitsForIO tells whether a stack waits for the world outside in what its
// frame n has called. Who waits there for a mutex waits for somebody in here.
func (x *wait) waitsForIO(n int) bool {
	called := x.frames[:n]
	if _, lock := lockedBy(x.frames[:n+1], false); lock {
		return false
	}
	return x.io || slices.ContainsFunc(called, func(f stack.Frame) bool { return slices.Contains(ioPackages, stack.Package(f.Func)) })
}

// goroutines are the stacks of a goroutine profile as waits of no length, or
// nil without a readable one.
func (in *Input) goroutines() *waits {
	p, entry, err := in.Session.Profile(recording.Goroutine)
	if err != nil {
		return nil
	}
	index, err := p.Index("goroutine")
	if err != nil {
		return nil
	}
	w := &waits{in: in, entry: entry, what: "goroutine profile"}
	for i, id := range p.StackIDs {
		if frames := framesOf(p.Stacks, id); !recorders(frames) {
			w.all = append(w.all, wait{frames: frames, count: p.Values[index][i]})
		}
	}
	return w
}
