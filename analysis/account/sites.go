package account

import (
	"cmp"
	"slices"
	"strings"

	"loupe/format/exectrace"
	"loupe/value/stack"
)

// siteID names a line; 0 is no line.
type siteID uint32

// inHandler is the line of a run from the begin of a handler to its end: somewhere in it.
const inHandler siteID = 1

// key is one kind of row: what [Row] says without its figures.
type key struct {
	kind, cause Kind
	site, at    siteID // at is where the cause is
	what        exectrace.NameID
	by          Kind // see [Row.By]
	byAt        siteID
}

// keyID names a key; 0 is none.
type keyID uint32

// words are the lines and keys of a trace, found once for each stack.
type words struct {
	r     *exectrace.Reader
	scope stack.Scope

	sites   []Site
	users   []bool   // by site: see [words.user]
	siteOf  []siteID // by stack; plus one
	byFrame map[stack.FrameID]siteID
	holds   map[held]siteID
	ways    map[siteID][]stack.ID // the stacks of each site

	keys   []key
	byKey  map[key]keyID
	recent [1 << 12]keyID
	// plain are the keys of what nobody else has a part in, by stack.
	plain  [plainKeys][]keyID
	waits  []waitView // by stack
	rows   rowIndex
	reads  map[stack.ID]bool // see [words.answers]
	writes map[stack.ID]bool // see [words.sends]
	outs   []outView         // by stack
	// events are where units wait for what others do, and not for them to be done: see
	// [follower.gatesOf].
	events map[gateKey]bool
	// paths are ways through the user's code, the frame nearest to the leaf first.
	paths  [][]stack.FrameID
	byPath map[string]pathID
	// befores are waits since before the trace, by the sites that stand for them.
	befores map[siteID]*beforehand
	// lets are, of lines at which a lock is let go, those that stand for the time behind that: see [afterLock].
	lets map[siteID]siteID
	past map[siteID]string // of lets, the functions that let the lock go
}

// The states that have one key for each stack.
const (
	plainRunning = iota
	plainAssist
	plainReady
	plainLetGo // it waits for a P when it has let a lock go: see [letsGo]
	plainCall
	plainKeys
)

// waitView is the kind of waits for a reason at a stack.
type waitView struct {
	reason exectrace.NameID
	kind   Kind
	key    keyID
	known  bool
	pool   bool // it may be a wait for a connection that another request has
	asks   bool // it is the wait of a client of net/http for an answer
	limit  bool // a timer that ends it is the time limit of a call
}

// held asks how a site is reached within the function that holds a lock, as long as so many ways to it
// are known.
type held struct {
	site siteID
	fn   string
	ways int
}

// mostWays is how many ways to a line are remembered.
const mostWays = 32

func newWords(r *exectrace.Reader, scope stack.Scope) *words {
	return &words{r: r, scope: scope, sites: []Site{{}, {Frame: stack.Frame{Func: "net/http.serverHandler.ServeHTTP"}}}, users: make([]bool, 2), siteOf: []siteID{1}, byFrame: map[stack.FrameID]siteID{}, holds: map[held]siteID{}, ways: map[siteID][]stack.ID{}, reads: map[stack.ID]bool{}, writes: map[stack.ID]bool{}, byPath: map[string]pathID{}, events: map[gateKey]bool{}, befores: map[siteID]*beforehand{}, lets: map[siteID]siteID{}, past: map[siteID]string{},
		keys: make([]key, 1), byKey: map[key]keyID{}}
}

// grown makes a slice long enough for an index.
func grown[T any](s []T, i int) []T {
	if i < len(s) {
		return s
	}
	return append(s, make([]T, max(i+1-len(s), len(s)))...)
}

// site returns the line of a stack.
func (w *words) site(id stack.ID) siteID {
	if uint(id) < uint(len(w.siteOf)) && w.siteOf[id] > 0 {
		return w.siteOf[id] - 1
	}
	return w.newSite(id)
}

// newSite finds the line of a stack that comes for the first time.
func (w *words) newSite(id stack.ID) siteID {
	w.siteOf = grown(w.siteOf, int(id))
	s := w.findSite(id)
	if w.siteOf[id] = s + 1; len(w.ways[s]) < mostWays {
		w.ways[s] = append(w.ways[s], id)
	}
	return s
}

func (w *words) findSite(id stack.ID) siteID {
	table := w.r.Stacks()
	best, rank := stack.FrameID(0), stack.Native
	found := false
	frames := table.Frames(id)
	for i, f := range frames {
		if frame := table.Frame(f); rank < stack.Dependency && stack.IsAgentFrame(frame) {
			best, found = f, true // whoever it interrupts has no part in it
			break
		}
		if origin := w.scope.Of(table.Frame(f)); origin > rank || !found {
			best, rank, found = f, max(origin, rank), true
		}
		if rank == stack.User {
			break
		}
		if i > 0 && rank < stack.Dependency && table.Frame(f).Func == connServe {
			best = frames[max(0, w.dispatched(frames[:i]))] // what the server itself does says more than how
		}
	}
	if !found {
		return 0
	}
	s, ok := w.byFrame[best]
	if !ok {
		s = siteID(len(w.sites))
		w.sites = append(w.sites, Site{Frame: table.Frame(best), Stack: id, User: rank >= stack.Dependency})
		w.users = append(w.users, rank >= stack.Dependency)
		w.byFrame[best] = s
	}
	return s
}

// dispatched is [dispatched] by the numbers of frames.
func (w *words) dispatched(ids []stack.FrameID) int {
	frames := make([]stack.Frame, len(ids))
	for i, f := range ids {
		frames[i] = w.r.Stacks().Frame(f)
	}
	if n := dispatched(frames); n >= 0 {
		return n
	}
	return len(ids) - 1
}

// recorded tells of a line that it is of what records the program: its time is no part of what the program does.
func recorded(s Site) bool { return stack.IsAgentFrame(s.Frame) }

// user tells whether a line is not of the standard library.
func (w *words) user(s siteID) bool { return w.users[s] }

// id returns the number of a key.
func (w *words) id(k key) keyID {
	slot := &w.recent[(uint32(k.site)*0x9e3779b1^uint32(k.at)*0x85ebca6b^uint32(k.kind)*0xc2b2ae35^uint32(k.cause)*0x27d4eb2f)>>20]
	if *slot > 0 && w.keys[*slot] == k {
		return *slot
	}
	n, ok := w.byKey[k]
	if !ok {
		n = keyID(len(w.keys))
		w.keys = append(w.keys, k)
		w.byKey[k] = n
	}
	*slot = n
	return n
}

// at returns the key of a state in which a goroutine is at a stack by itself.
func (w *words) at(state int, id stack.ID) keyID {
	if list := w.plain[state]; int(id) < len(list) && list[id] > 0 {
		return list[id]
	}
	k := key{site: w.site(id)}
	switch state {
	case plainRunning:
		if k.kind = Running; w.view(id).has("syscall.forkExec") {
			k.kind = Child // no event tells of the call that makes it
		}
	case plainAssist:
		k.kind = Assist
	case plainReady:
		k.kind = Ready
	case plainLetGo:
		k.kind = Ready
		if letsGo(w, id) {
			k.site = afterLock(w, k.site, id)
		}
	case plainCall:
		k.kind = callKind(w.view(id))
	}
	w.plain[state] = grown(w.plain[state], int(id))
	w.plain[state][id] = w.id(k)
	return w.plain[state][id]
}

// wait returns the kind of a wait, and its key without a cause.
func (w *words) wait(reason exectrace.NameID, id stack.ID) (Kind, keyID) {
	if int(id) >= len(w.waits) {
		w.waits = grown(w.waits, int(id))
	}
	v := &w.waits[id]
	if !v.known || v.reason != reason {
		frames := w.view(id)
		kind := waitKind(w.r, reason, id, frames)
		*v = waitView{reason, kind, w.id(key{kind: kind, site: w.site(id)}), true, kind == Channel && frames.has(takers...), kind == Channel && frames.has("net/http.(*persistConn).roundTrip") && !frames.has("net/http.(*persistConn).mapRoundTripError"), kind == Channel && limited(frames)}
	}
	return v.kind, v.key
}

// timed is the kind of a wait at a stack that a timer has ended; [words.wait] has seen it. Who waits
// for a connection of a pool, and for no longer than some time, waits for that.
func (w *words) timed(id stack.ID, kind Kind) Kind {
	switch {
	case w.waits[id].limit:
		return Limit
	case kind == Pool:
		return Pool
	}
	return Timer
}

// idle tells whether a server waits for something to do: what happened before has nothing
// to do with what it does then.
func (w *words) idle(id keyID) bool {
	k := w.keys[id]
	return k.kind == Idle || (k.kind == Client || k.kind == Accept) && !w.user(k.site)
}

// waitsAt tells whether a key is of a wait of a kind at a line.
func (w *words) waitsAt(id keyID, kind Kind, site siteID) bool {
	k := w.keys[id]
	return k.kind == kind && k.site == site
}

// waited tells whether the goroutine that has ended a wait for a lock has waited at the same line in the time that
// was cut: from then on, until it let the lock go, it held it, whatever it did.
func (w *words) waited(cut []amount, site siteID) bool {
	return slices.ContainsFunc(cut, func(c amount) bool { return c.key&isOwn == 0 && w.waitsAt(c.key, Lock, site) })
}

func (w *words) view(id stack.ID) stackView {
	table := w.r.Stacks()
	var v stackView
	for _, f := range table.Frames(id) {
		v.frames = append(v.frames, table.Frame(f))
	}
	return v
}

// answers tells whether a stack is of the goroutine of net/http that reads answers.
func (w *words) answers(id stack.ID) bool {
	is, known := w.reads[id]
	if !known {
		is = w.view(id).has("net/http.(*persistConn).readLoop")
		w.reads[id] = is
	}
	return is
}

// sends tells whether a stack is of a goroutine of net/http that sends a request. It ends a
// wait of who asks, too, but that one goes on to wait for the answer.
func (w *words) sends(id stack.ID) bool {
	is, known := w.writes[id]
	if !known {
		v := w.view(id)
		is = v.has("net/http.(*persistConn).writeLoop", "net/http.(*http2clientStream).", "net/http/internal/http2.(*clientStream).", "golang.org/x/net/http2.(*clientStream).") &&
			!v.has("net/http.(*http2clientConnReadLoop).", "net/http/internal/http2.(*clientConnReadLoop).", "golang.org/x/net/http2.(*clientConnReadLoop).")
		w.writes[id] = is
	}
	return is
}

// locker is the function that lets a lock go at a stack, without its closures: the first
// outside of package sync and the runtime that does more than that, by its name.
func (w *words) locker(id stack.ID) (name string) {
	table := w.r.Stacks()
	for _, f := range table.Frames(id) {
		frame := table.Frame(f).Func
		if pkg := stack.Package(frame); pkg == "sync" || pkg == "internal/sync" || stack.IsRuntime(pkg) {
			continue
		}
		if outer := enclosing(frame); name == "" || outer == name {
			name = outer
		} else if unlocks(name) {
			name = outer
		} else {
			break
		}
	}
	return name
}

// unlocks tells of a function, by its name, that it is there to let a lock go: a method
// that wraps or promotes that of a mutex.
func unlocks(name string) bool {
	return strings.Contains(strings.ToLower(name[strings.LastIndexByte(name, '.')+1:]), "unlock")
}

// enclosing is the function that a closure is written in, or that a deferred call was
// wrapped for; else the function itself.
func enclosing(name string) string {
	after := strings.LastIndexByte(name, '/') + 1
	for _, mark := range []string{".func", ".deferwrap", ".gowrap", "-fm", "-range"} {
		if i := strings.Index(name[after:], mark); i > 0 {
			name = name[:after+i]
		}
	}
	return name
}

// through is the line of a goroutine that let a lock go in a function, at a stack, as reached
// through that function: the line itself, or one that knows its way; 0 where the function does not lead there. A line
// of a helper that several call, as one that asks a peer, is first seen by another way perhaps: then only the ways of
// goroutines of the same kind count, and all of these have to lead through the function.
func (w *words) through(s siteID, fn string, ended stack.ID) siteID {
	if s == 0 || fn == "" {
		return 0
	}
	leads := func(id stack.ID) bool {
		return slices.ContainsFunc(w.view(id).frames, func(f stack.Frame) bool { return enclosing(f.Func) == fn })
	}
	q := held{s, fn, len(w.ways[s])}
	to, known := w.holds[q]
	if known {
		return to
	}
	way := w.sites[s].Stack
	if !leads(way) {
		way = 0
		for _, id := range w.ways[s] {
			if w.root(id) != w.root(ended) {
				continue
			}
			if !leads(id) {
				way = 0
				break
			}
			way = cmp.Or(way, id)
		}
	}
	switch {
	case way == 0:
	case enclosing(w.sites[s].Frame.Func) == fn:
		to = s
	default:
		to = w.led(s, fn, way)
	}
	w.holds[q] = to
	return to
}

// led is a line as reached through the function that holds a lock.
func (w *words) led(s siteID, fn string, way stack.ID) siteID {
	q := held{s, fn, -1}
	if _, ok := w.holds[q]; !ok {
		at := w.sites[s]
		at.Stack, at.Holder = way, fn
		w.holds[q] = siteID(len(w.sites))
		w.sites, w.users = append(w.sites, at), append(w.users, w.users[s])
	}
	return w.holds[q]
}

// root is the function that the goroutine of a stack began with.
func (w *words) root(id stack.ID) string {
	frames := w.r.Stacks().Frames(id)
	if len(frames) == 0 {
		return ""
	}
	return w.r.Stacks().Frame(frames[len(frames)-1]).Func
}

// row is a key in words.
func (w *words) row(id keyID) Row {
	k := w.keys[id]
	out := Row{Kind: k.kind, Site: w.sites[k.site], Cause: Cause{Kind: k.cause, Site: w.sites[k.at]}, By: Cause{Kind: k.by, Site: w.sites[k.byAt]}}
	if k.what != exectrace.NameNone {
		out.What = exectrace.StopReason(w.r.Name(k.what))
	}
	return out
}
