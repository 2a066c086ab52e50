package account

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
	"time"

	"loupe/value/stack"
	"loupe/value/timeline"
)

// Call is a call of something outside of the program that units make themselves, one after
// another: what they wait for by one way through the user's code.
type Call struct {
	// Kind is one for which [Kind.Outside] holds.
	Kind Kind
	// Path are the frames of the user's code, the one nearest to the call first; what
	// recursion adds is left out. Stack is that of the one that took longest.
	Path  []stack.Frame
	Stack stack.ID
	// Statement is its part in a query that package database/sql prepares by itself.
	Statement Statement
	// Count is how often it was made: an answer that comes in many pieces is one call.
	// Time is how long the units waited for it together, Units how many of them made it,
	// and Most how often one did.
	Count int64
	Time  time.Duration
	Units int64
	Most  int64
	// Slope is by how much a unit takes longer for each call more, by least squares over
	// all units of the group; Fit is the part of the variance of their lengths that it
	// explains (R²). Both are 0 where all make the same number of calls.
	Slope time.Duration
	Fit   float64
	// Delayed is how many of the waits took as long as a delayed acknowledgement on
	// Linux, 38 to 46 ms, and DelayedTime how long these took together. Pieces is how
	// many writes to the connection went before the waits.
	Delayed     int64
	DelayedTime time.Duration
	Pieces      int64
	// Least is the shortest wait for the begin of an answer.
	Least time.Duration
}

// Outside tells whether what is waited for is outside of the program: a peer, a file or
// another program.
func (k Kind) Outside() bool {
	return k >= Dial && k <= Send || k == File || k == Child
}

// pathID names a way through the user's code.
type pathID uint32

// outView is what a stack tells of the call that it is in.
type outView struct {
	known bool
	path  pathID
	asks  asking
	// statement is the part of a query that it is in.
	statement Statement
	// writes tells that it writes to a connection, which is not that of the unit's client.
	writes bool
	// connects tells that it is the call that makes a connection.
	connects bool
}

// asking is when a wait at a stack is a call of its own.
type asking uint8

const (
	never   asking = iota // it goes on with one
	always                // each is one
	written               // the first one is after something was written
)

// callKey names a call.
type callKey struct {
	path      pathID
	kind      Kind
	statement Statement
}

// called is a call of one unit.
type called struct {
	key     callKey
	stack   stack.ID // of the longest
	n       int64
	d       timeline.Time
	delayed int64
	late    timeline.Time // of delayed
	pieces  int64
	least   timeline.Time // of those that are a call; 0 is none
	longest timeline.Time // of those
	// from and to are the begin of the first wait and the end of the last one of a unit.
	from, to timeline.Time
}

// maxCalls is how many different calls of one unit are told apart.
const maxCalls = 64

// The bounds of what looks like a delayed acknowledgement: 40 ms in Linux (TCP_DELACK_MIN)
// and what the clock and the scheduler add.
const (
	delayedFrom = timeline.Time(38 * time.Millisecond)
	delayedTo   = timeline.Time(46 * time.Millisecond)
)

// Functions that tell calls from what goes on with one.
var (
	// roundTrips are those that send a request and wait for the begin of its answer.
	roundTrips = []string{"net/http.(*persistConn).roundTrip", "net/http.(*http2ClientConn).", "net/http/internal/http2.(*ClientConn).", "golang.org/x/net/http2.(*ClientConn).", "google.golang.org/grpc.(*ClientConn).Invoke", "google.golang.org/grpc.invoke"}
	// fileCalls ask for a file by its name, or that it reaches the disk: reading on in it is no call.
	fileCalls = systemCalls("Open", "Creat", "Stat", "Lstat", "Fstatat", "Access", "Faccessat", "Readlink", "Unlink", "Rename", "Mkdir", "Rmdir", "Link", "Symlink",
		"Truncate", "Fsync", "Fdatasync", "Sync", "Msync")
	// fileTransfers are the rest of what a program asks of files, where it is plain that they are files.
	fileTransfers = systemCalls("Fstat", "Ftruncate", "Fallocate", "Pread", "Pwrite", "ReadDirent", "Getdents", "CopyFileRange")
	// processEnds are the waits for the end of a process.
	processEnds = []string{"internal/syscall/unix.Waitid", "syscall.Wait4", "syscall.wait4"}
	// noChild are those that are no end of a process which the program runs: the look for it that goes before, the tries of package os, once in a run, of
	// what the system can do, and the end of a fork whose program could not be started.
	noChild = []string{"os.(*Process).blockUntilWaitable", "os.checkPidfd", "os.checkClonePidfd", "syscall.os_checkClonePidfd", "syscall.forkExec"}
	writers = []string{"internal/poll.(*FD).Write", "internal/poll.(*FD).writeMsg", "internal/poll.(*FD).WriteMsg", "internal/poll.(*FD).Writev"}
)

// systemCalls are the beginnings of the names of the functions that make system calls, also for
// those who make them without package os: bbolt calls syscall.Fdatasync.
func systemCalls(names ...string) (prefixes []string) {
	for _, name := range names {
		inner := strings.ToLower(name[:1]) + name[1:]
		for _, from := range []string{"syscall.", "golang.org/x/sys/unix.", "internal/syscall/unix."} {
			prefixes = append(prefixes, from+name, from+inner)
		}
	}
	return prefixes
}

// out returns what a stack tells of calls.
func (w *words) out(id stack.ID) *outView {
	if int(id) >= len(w.outs) {
		w.outs = grown(w.outs, int(id))
	}
	v := &w.outs[id]
	if !v.known {
		frames := w.view(id)
		*v = outView{known: true, path: w.path(id), asks: askingOf(frames), statement: StatementOf(frames.frames)}
		v.connects = frames.has("syscall.connect", "syscall.Connect", "internal/poll.(*FD).ConnectEx")
		v.writes = frames.has(writers...) && frames.has("net.(*") && !frames.has(ownClients...)
	}
	return v
}

// askingOf tells when a wait at a stack is a call, whatever its kind.
func askingOf(v stackView) asking {
	switch {
	case v.has(processes...):
		if v.has(processEnds...) && !v.has(noChild...) {
			return always
		}
		return never
	case v.has(roundTrips...), v.has(dialers...), v.has(resolvers...):
		return always
	case v.has("net/http.(*bodyEOFSignal).", "net/http.(*http2clientStream)", "net/http.(*http2transportResponseBody)", "net/http.http2transportResponseBody"):
		return never
	case v.has("net.(*", "crypto/tls."):
		return written
	case v.has(fileCalls...):
		return always
	case v.has("os.", "internal/poll."), v.has(fileTransfers...):
		return never
	case slices.ContainsFunc(v.frames, func(f stack.Frame) bool {
		return strings.HasSuffix(f.Func, ").Read") || strings.HasSuffix(f.Func, ").RecvMsg") || strings.HasSuffix(f.Func, ").Recv")
	}):
		return never
	}
	return always
}

// path finds the way to a stack through the user's code; without any, it is the line that
// says most.
func (w *words) path(id stack.ID) pathID {
	table := w.r.Stacks()
	var frames []stack.FrameID
	seen := map[string]bool{}
	for _, f := range table.Frames(id) {
		if frame := table.Frame(f); w.scope.IsUser(frame) && !seen[frame.Func] {
			seen[frame.Func] = true
			frames = append(frames, f)
		}
	}
	if len(frames) == 0 {
		frames = append(frames, table.InternFrame(w.sites[w.site(id)].Frame))
	}
	var name []byte
	for _, f := range frames {
		name = binary.LittleEndian.AppendUint32(name, uint32(f))
	}
	p, ok := w.byPath[string(name)]
	if !ok {
		p = pathID(len(w.paths))
		w.paths = append(w.paths, frames)
		w.byPath[string(name)] = p
	}
	return p
}

// outside counts a wait of a goroutine's units up to an instant, if it is one for what is
// outside; d is the part of it that is. sent tells that it ended because a request was
// sent: the next one is for the answer, and goes on with the call.
func (f *follower) outside(t *track, kind Kind, id stack.ID, d, at timeline.Time, sent bool) {
	if t.units == nil || !kind.Outside() || at <= t.history.end() {
		return
	}
	v := f.w.out(id)
	c := called{key: callKey{v.path, kind, v.statement}, stack: id, d: d, pieces: int64(t.sent), from: t.history.end(), to: at}
	goesOn := t.asked == v.path+1 && !sent
	if t.asked = 0; sent {
		t.asked = v.path + 1
	}
	switch {
	case goesOn:
	case v.asks == always, v.asks == written && t.sent > 0:
		c.n, c.least, c.longest = 1, d, d
	}
	if kind == Answer && d >= delayedFrom && d < delayedTo {
		c.delayed, c.late = 1, d
	}
	t.sent = 0
	for u := t.units; u != nil; u = u.next {
		u.called(c)
	}
}

// outsideOf counts the parts of a wait that goroutines of libraries have passed outside, as
// one call of the kind that took longest. by is the stack of who ended it.
func (f *follower) outsideOf(t *track, where, by stack.ID, at timeline.Time) {
	if t.units == nil {
		return
	}
	var all, most timeline.Time
	kind := None
	for _, c := range f.cut {
		k := &f.w.keys[c.key]
		if c.d <= 0 || k.cause != None || !k.kind.Outside() {
			continue
		}
		if all += c.d; c.d > most {
			kind, most = k.kind, c.d
		}
	}
	if kind == None && f.w.waits[where].asks {
		kind = Answer // it was there before anybody had a P to look
	}
	f.outside(t, kind, where, all, at, f.w.sends(by))
}

// wrote notes that a goroutine has written to a connection, if it has.
func (f *follower) wrote(t *track, id stack.ID) {
	if id != 0 && f.w.out(id).writes {
		t.sent++
		t.trying.n = 0
	}
}

// called adds a wait to the calls of a unit.
func (u *open) called(c called) {
	for i := range u.calls {
		if x := &u.calls[i]; x.key == c.key {
			x.seen(c)
			x.n += c.n
			x.d += c.d
			x.delayed += c.delayed
			x.late += c.late
			x.pieces += c.pieces
			x.least = shorter(x.least, c.least)
			x.to = c.to
			return
		}
	}
	if len(u.calls) < maxCalls {
		u.calls = append(u.calls, c)
	}
}

// seen keeps the stack of the one that took longest: at one line a write may come before the
// sync that takes the time.
func (c *called) seen(other called) {
	if other.longest > c.longest {
		c.stack, c.longest = other.stack, other.longest
	}
}

// shorter is the shorter of two times, of which 0 is none.
func shorter(a, b timeline.Time) timeline.Time {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// callTally is a call in the units of a group.
type callTally struct {
	called
	units, most int64
	squares     float64 // of how often a unit makes it
	products    float64 // of that with how long it takes
}

// takeCalls adds the calls of a unit of a length.
func (g *gathered) takeCalls(u *open, d timeline.Time) {
	g.squares += float64(d) * float64(d)
	for _, c := range u.calls {
		t := g.calls[c.key]
		if t == nil {
			if g.calls == nil {
				g.calls = map[callKey]*callTally{}
			}
			t = &callTally{called: called{key: c.key, stack: c.stack}}
			g.calls[c.key] = t
		}
		t.seen(c)
		t.n += c.n
		t.d += c.d
		t.delayed += c.delayed
		t.late += c.late
		t.pieces += c.pieces
		t.least = shorter(t.least, c.least)
		t.units++
		t.most = max(t.most, c.n)
		t.squares += float64(c.n) * float64(c.n)
		t.products += float64(c.n) * float64(d)
	}
}

// callsOf puts the calls of a group in words, those first that take longest.
func (g *gathered) callsOf(w *words) (all []Call) {
	n := float64(g.wall.Count)
	wall := float64(g.wall.Sum) / n
	spread := g.squares/n - wall*wall
	for _, t := range g.calls {
		c := Call{Kind: t.key.kind, Stack: t.stack, Statement: t.key.statement, Count: t.n, Time: time.Duration(t.d), Units: t.units, Most: t.most,
			Delayed: t.delayed, DelayedTime: time.Duration(t.late), Pieces: t.pieces, Least: time.Duration(t.least)}
		c.Path = w.framesOf(t.key.path)
		mean := float64(t.n) / n
		if within := t.squares/n - mean*mean; within > 1e-9 && spread > 0 {
			both := t.products/n - mean*wall
			c.Slope, c.Fit = time.Duration(both/within), both*both/(within*spread)
		}
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b Call) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Kind, b.Kind), comparePaths(a.Path, b.Path), cmp.Compare(a.Statement, b.Statement))
	})
	return all
}

// framesOf are the frames of a way through the user's code.
func (w *words) framesOf(p pathID) (frames []stack.Frame) {
	for _, f := range w.paths[p] {
		frames = append(frames, w.r.Stacks().Frame(f))
	}
	return frames
}

// comparePaths puts ways through the code in a fixed order.
func comparePaths(a, b []stack.Frame) int {
	return slices.CompareFunc(a, b, func(x, y stack.Frame) int {
		return compareSites(Site{Frame: x}, Site{Frame: y})
	})
}
