package insight

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/unit"
)

var lk02 = &Rule{
	ID: "LK02", Title: "Lock held during I/O",
	About: "Goroutines wait for a mutex whose holder waits for the network, a file or another program: they all become that slow, even those that do not " +
		"need the result. The execution trace follows the waits of requests to what the holder did. Otherwise the block or mutex profile, or the trace, gives the waits and the line of Lock; the source shows what comes between that line and Unlock; and the stacks of the same function show which of these lines do I/O.",
	Asks: []facts.Question{facts.Locks},
	Params: []Param{
		{"waiting", 0.1, "goroutines on average", "chosen: a tenth of what makes LK01 a warning with ten busy Ps"},
		{"warning", 1, "goroutines on average", "chosen: there is always one that waits"},
		{"waits", 10, "waits", "chosen: fewer are a momentary effect, such as a cache filling up"},
		{"share", 0.2, "share of the time of requests or tasks", "chosen: the wait while the holder waits; twice as much is a warning"},
		unitsParam,
		groupParam,
		{"ratio", 3, "waiting goroutines per lock holder", "research; measured 39 in a stampede, in one of five goroutine snapshots"},
	},
	Check: checkHeldIO,
}

// stampede is a lock that is held across input or output.
type stampede struct {
	site  *facts.Place
	held  held
	known bool // whether the source says what is held
	// others is what is held where other lines take the lock, and a trace shows that those who wait are let go there.
	others []heldThere
	// io are the lines under the lock that wait, the longest first.
	io []ioLine
	// waiting and holding are goroutines in one look at them.
	waiting, holding int64
	dump             *facts.AllWaits
}

// ioLine is a line that waits for the world outside.
type ioLine struct {
	at    stack.Frame
	what  string          // the function that waits: "http.(*persistConn).roundTrip"
	from  *facts.AllWaits // nil where only the source has it
	stack []stack.Frame
	time  time.Duration
	count int64
	// answers is how long the call waits at a channel meanwhile, for what another goroutine brings, as an answer on a connection of many; by is the
	// function of the program that does.
	answers time.Duration
	by      stack.Frame
	// wrote is the part of the time in calls that write something.
	wrote   time.Duration
	writing []stack.Frame // one of them
}

// writes tells whether the line mostly writes something, to a file or a connection.
func (l *ioLine) writes(c *code) bool {
	if l.from == nil {
		return strings.HasPrefix(lastName(l.what), "Write")
	}
	return 2*l.wrote >= l.time && writesKept(c, l.writing)
}

func checkHeldIO(r *Rule, in *Input) []Finding {
	if found := heldInUnits(r, in); len(found) > 0 {
		return found
	}
	all, dump, err := lockWaits(in)
	if len(all) == 0 {
		return []Finding{r.answer(TooLittle, "%v", err)}
	}
	var other *Finding
	for _, w := range all {
		sites := ownLocks(w)
		if len(sites) == 0 {
			continue
		}
		found, otherwise := heldAcross(r, in, w, dump, sites)
		if len(found) > 0 {
			return found[:min(3, len(found))]
		}
		if other == nil {
			other = &otherwise
		}
	}
	w := all[max(0, slices.IndexFunc(all, func(w *facts.AllWaits) bool { return len(w.All) > 0 }))]
	switch {
	case other != nil:
		return []Finding{*other}
	case w == dump:
		return []Finding{r.answer(TooLittle, "no goroutine was waiting for a mutex in the one goroutine snapshot: record -phases block or trace")}
	}
	return []Finding{r.answer(Fine, "no goroutine waited for a mutex of the program%s%s", w.Of(), unended(w))}
}

// heldIOAt is what LK02 finds about the lock that a line takes or lets go; ok is false where it finds nothing.
func heldIOAt(in *Input, lock stack.Frame) (f Finding, ok bool) {
	all := checkHeldIO(lk02, in)
	i := slices.IndexFunc(all, func(f Finding) bool {
		return f.State == Found && slices.ContainsFunc(f.Evidence, func(e Evidence) bool { return e.File == lock.File && e.Line == lock.Line })
	})
	if i < 0 {
		return f, false
	}
	return all[i], true
}

// heldAcross looks for locks of one file that are held across input or output;
// otherwise is what the rule says where there are none.
func heldAcross(r *Rule, in *Input, w, dump *facts.AllWaits, sites []*facts.Place) (found []Finding, otherwise Finding) {
	few, waited := int64(0), (*facts.Place)(nil)
	for _, site := range sites {
		s := findStampede(in, w, dump, site)
		seen := float64(site.Count) >= r.param("waits") && (w.Length == 0 || w.Mean(site.Time) >= r.param("waiting"))
		if len(s.io) == 0 {
			if seen && waited == nil {
				waited = site
			}
			continue
		}
		crowd := s.holding > 0 && float64(s.waiting) >= r.param("ratio")*float64(s.holding)
		switch {
		case w != dump && seen, crowd:
			found = append(found, stampedeFinding(r, in, w, s))
		case float64(site.Count) < r.param("waits"):
			few = max(few, site.Count)
		}
	}
	switch {
	case len(found) > 0:
	case few > 0 && w != dump:
		otherwise = r.short("a lock is held during I/O, but only %s for it; %g are needed: apply more load", unit.Plural(few, "goroutine")+" waited", r.param("waits"))
	case w == dump:
		otherwise = r.answer(TooLittle, "no lock is held during I/O in one goroutine snapshot: record -phases block or trace")
	case waited != nil && dump == nil && !in.hasTrace():
		otherwise = r.answer(TooLittle, "goroutines waited %s for the lock at %s%s, and a %s does not show whether its holder waits for the network, a file or the clock: record -phases trace, or goroutine while they wait", unit.Duration(waited.Time), place(waited.At), w.Of(), w.What)
	case underLockAt(in, sites[0].At) != nil:
		l := underLockAt(in, sites[0].At)
		otherwise = r.answer(Fine, "while goroutines waited for the lock at %s (%s%s), its holder was %s%s: %s of the time of %s", place(sites[0].At), unit.Duration(sites[0].Time), w.Of(),
			l.does.Cause.Kind.Clause(), atPlace(l.does.Cause.Site), unit.Percent(l.group.All.Share(l.time)), pluralOf(l.group))
	case waitsWhoLetsGo(in, sites[0].At).Func != "":
		otherwise = r.answer(TooLittle, "goroutines waited %s for the lock at %s%s; %s, which lets it go, also waits for I/O, and the source does not show whether it holds the lock then", unit.Duration(sites[0].Time), place(sites[0].At), w.Of(), place(waitsWhoLetsGo(in, sites[0].At)))
	default:
		otherwise = r.answer(Fine, "the lock at %s, for which goroutines waited most (%s%s), was not seen held during I/O%s", place(sites[0].At), unit.Duration(sites[0].Time), w.Of(), unended(w))
	}
	return found, otherwise
}

// hasTrace tells whether there is a trace that shows waits.
func (in *Input) hasTrace() bool {
	t, _ := in.Facts.WaitsOf(recording.ExecTrace)
	return len(t) > 0
}

// lockWaits returns all that is known of who waited for locks, the best first, and a
// look at the goroutines, if any, which is then the last of them.
func lockWaits(in *Input) (all []*facts.AllWaits, dump *facts.AllWaits, err error) {
	all, err = in.Facts.WaitsOf(recording.Block, recording.ExecTrace, recording.Mutex)
	if looks, _ := in.Facts.WaitsOf(recording.Goroutine); len(looks) > 0 {
		dump = looks[0]
		all = append(all, dump)
	}
	return all, dump, err
}

// ownLocks are the lines of the program that lock a mutex, or let it go.
func ownLocks(w *facts.AllWaits) []*facts.Place {
	return slices.DeleteFunc(w.Places(facts.ForLock), func(p *facts.Place) bool { return !p.Own })
}

// findStampede looks for input and output under the lock of a site.
func findStampede(in *Input, w, dump *facts.AllWaits, site *facts.Place) *stampede {
	s := &stampede{site: site, dump: dump}
	if w.Unlocks {
		s.held, s.known = in.code.heldUntil(site.At)
	} else {
		s.held, s.known = in.code.heldAt(site.At)
	}
	s.others = heldElsewhere(in.code, site.At, letters(in, site.At))
	sources := []*facts.AllWaits{w}
	if dump != nil && dump != w {
		sources = append(sources, dump)
	}
	if t, _ := in.Facts.WaitsOf(recording.ExecTrace); len(t) > 0 && t[0] != w {
		sources = append(sources, t...)
	}
	for _, from := range sources {
		s.look(from, w.Unlocks)
	}
	for _, from := range sources {
		s.lookAnswers(from, w.Unlocks)
	}
	slices.SortStableFunc(s.io, func(a, b ioLine) int { return int(min(max(b.time-a.time, -1), 1)) })
	if len(s.io) == 0 && s.known {
		for _, c := range s.held.io {
			s.io = append(s.io, ioLine{at: stack.Frame{Func: site.At.Func, File: site.At.File, Line: c.line}, what: c.name})
		}
	}
	return s
}

// look finds the stacks that are under the lock and wait, and counts who waits
// for it and who holds it.
func (s *stampede) look(from *facts.AllWaits, unlocks bool) {
	for i := range from.All {
		x := &from.All[i]
		if at, ok := facts.LockedBy(x.Frames, false); ok && at.Func == s.site.At.Func && s.locksAt(at, unlocks) {
			if from == s.dump {
				s.waiting += x.Count
			}
			continue
		}
		for n, f := range x.Frames {
			if !s.underIt(f, unlocks) || !waitsForIO(x, n) {
				continue
			}
			if from == s.dump {
				s.holding += x.Count
			}
			s.add(from, x, n)
			break
		}
	}
}

// lookAnswers adds to lines that do input or output how long what they call waits at a channel, as who shares a connection with others waits for his
// answer.
func (s *stampede) lookAnswers(from *facts.AllWaits, unlocks bool) {
	for i := range from.All {
		x := &from.All[i]
		if x.For != facts.ForReceive && x.For != facts.ForSelect {
			continue
		}
		for n, f := range x.Frames {
			if !s.underIt(f, unlocks) {
				continue
			}
			k := slices.IndexFunc(s.io, func(l ioLine) bool { return l.at.Line == f.Line && l.from == from })
			if k >= 0 && n > 0 {
				s.io[k].answers += x.Time
				s.io[k].by = x.Frames[n-1]
			}
			break
		}
	}
	for k := range s.io {
		if l := &s.io[k]; l.from == from && l.answers > l.time {
			l.time, l.what = l.time+l.answers, stack.Short(l.by.Func)
		}
	}
}

// locksAt tells whether a frame stands at the line that takes the lock.
func (s *stampede) locksAt(at stack.Frame, unlocks bool) bool {
	if unlocks {
		return s.known && at.Line == s.held.from
	}
	return at.Line == s.site.At.Line
}

// under tells whether a line is under the lock. Without the source every line
// after that of Lock may be.
func (s *stampede) under(line int, unlocks bool) bool {
	if s.known {
		return s.held.has(line)
	}
	return !unlocks && line > s.site.At.Line
}

// add counts a wait for the world outside at the n-th frame.
func (s *stampede) add(from *facts.AllWaits, x *facts.Wait, n int) {
	i := slices.IndexFunc(s.io, func(l ioLine) bool { return l.at.Line == x.Frames[n].Line })
	if i < 0 {
		i = len(s.io)
		s.io = append(s.io, ioLine{at: x.Frames[n], from: from, stack: x.Frames, what: outside(x.Frames[:n])})
	}
	if s.io[i].from == from {
		s.io[i].time += x.Time
		s.io[i].count += x.Count
		if putsOut(x.Frames[:n]) {
			s.io[i].wrote, s.io[i].writing = s.io[i].wrote+x.Time, x.Frames
		}
	}
}

// ioPackages are those whose functions wait for the world outside: the kernel,
// the network, another program.
var ioPackages = []string{"net", "net/http", "internal/poll", "os", "os/exec", "syscall", "crypto/tls", "database/sql",
	"net/rpc", "net/smtp", "golang.org/x/net/http2", "google.golang.org/grpc"}

// waitsForIO tells whether a stack waits for the world outside in what its
// frame n has called. Who waits there for a mutex waits for somebody in here.
func waitsForIO(x *facts.Wait, n int) bool {
	called := x.Frames[:n]
	if _, lock := facts.LockedBy(x.Frames[:n+1], false); lock {
		return false
	}
	return x.For == facts.ForOutside && x.Block != nil || slices.ContainsFunc(called, func(f stack.Frame) bool { return slices.Contains(ioPackages, stack.Package(f.Func)) })
}

// outside names what is called to wait: the outermost function of a package
// that does input and output.
func outside(called []stack.Frame) string {
	for i := len(called) - 1; i >= 0; i-- {
		if slices.Contains(ioPackages, stack.Package(called[i].Func)) {
			return stack.Short(called[i].Func)
		}
	}
	return "a system call"
}

// stampedeFinding makes the finding.
func stampedeFinding(r *Rule, in *Input, w *facts.AllWaits, s *stampede) Finding {
	first := s.io[0]
	lock := "the lock at " + place(s.site.At)
	if s.known {
		lock = fmt.Sprintf("%s at %s:%d", s.held.lock, baseName(s.site.At.File), s.held.from)
	}
	verb := "waits in"
	if first.from == nil {
		verb = "calls"
	}
	who := fmt.Sprintf("goroutines waited %s for %s%s (%s)", unit.Duration(s.site.Time), lock, w.Of(), unit.Plural(s.site.Count, "wait"))
	if w == s.dump {
		who = fmt.Sprintf("%s for %s", unit.Plural(s.waiting, "goroutine")+" waited", lock)
	}
	if w != s.dump {
		who += s.inSnapshot()
	}
	does := fmt.Sprintf("%s %s at %s:%d", verb, first.what, baseName(first.at.File), first.at.Line)
	var writer *pendingWriter
	if first.from != nil {
		writer = pendingAt(in, s.site.At, first.stack)
	}
	elsewhere := writer == nil && s.holdsElsewhere(first)
	switch {
	case writer != nil:
		who += "; " + writer.says(does)
	case elsewhere:
		who = fmt.Sprintf("%s holds the lock that others wait for, and meanwhile %s: %s", stack.Short(first.at.Func), does, who)
	default:
		who += ", while its holder " + does
	}
	f := r.answer(Found, "%s", who)
	f.Severity = Info
	mean := w.Mean(s.site.Time)
	if w == s.dump || mean == 0 && s.holding > 0 {
		mean = float64(s.waiting) / float64(max(1, s.holding))
		f.Impact = exactly(mean, "waiting goroutines per lock holder")
	} else if mean > 0 {
		f.Impact = exactly(mean, "goroutines waiting, on average")
	} else {
		mean = s.site.Time.Seconds()
		f.Impact = exactly(mean, "seconds waited")
	}
	f.Score = score(mean, r.param("warning"), 10*r.param("warning"))
	if mean >= r.param("warning") && first.from != nil {
		f.Severity = Warning
	}
	if part, ok := s.explained(w, mean); ok && part < leastExplained {
		f.Severity = Info
		f.Summary += fmt.Sprintf("; these calls explain about %s of the waits: the holder does something else for the rest", unit.Percent(part))
	}
	if g, share := workersWait(in, s.site.At); w != s.dump && share >= r.param("share") {
		f.Impact = exactly(share, "share of the "+timeOfUnits(g))
		f.Summary += fmt.Sprintf("; that is %s of the time of %s", unit.Percent(share), pluralOf(g))
	}
	f.Evidence = []Evidence{in.fileAt(w.Entry, s.site.At, s.site.Frames, "waiting for the lock here")}
	if w.Unlocks {
		f.Evidence[0].Text = "unlocked here"
	}
	f.Evidence[0].waits = true
	for _, l := range s.io[:min(3, len(s.io))] {
		f.Evidence = append(f.Evidence, s.shows(in, w, l))
	}
	if elsewhere { // its code is what has to change
		f.Evidence[0], f.Evidence[1] = f.Evidence[1], f.Evidence[0]
	}
	f.Verify = "Record again under the same load: this line should be gone from loupe pprof -top -cum of the block profile, and the high percentiles of the latency should fall."
	f.Doubts = append(in.doubts(), "the lock may be there to serialise this on purpose, as with writes to one file")
	holder := first.stack
	if len(holder) == 0 {
		holder = []stack.Frame{first.at}
	}
	more := callsOutside(in)
	for _, l := range s.io {
		more = append(more, l.stack)
	}
	if f.Advice = purposeOf(in.code, s.site.Frames, holder).advice(doingCall); first.writes(in.code) {
		f.Advice = keepsOrder
	}
	p := protectedBy(in.code, s.site.Frames, holder, more...)
	if alone := commitsAlone(in.code, holder); alone != nil && first.from != nil {
		f.Advice = alone.advice()
		p.tellCommits(&f)
	} else if p != nil {
		p.tell(&f)
	}
	if writer != nil {
		writer.tell(in, "does I/O", &f)
	}
	if !s.known {
		f.Doubts = append(f.Doubts, "without the source it is not known whether the lock is released before that")
	}
	if first.from == nil {
		f.Doubts = append(f.Doubts, "the call is in the source; no stack shows that it waited")
	}
	return f
}

// holdsElsewhere tells of a line that does I/O under the lock that it stands in another function than those that wait for it.
func (s *stampede) holdsElsewhere(l ioLine) bool {
	return l.at.Func != "" && l.at.Func != s.site.At.Func && slices.ContainsFunc(s.others, func(o heldThere) bool { return o.file == l.at.File && o.has(l.at.Line) }) &&
		!slices.ContainsFunc(s.site.Frames, func(f stack.Frame) bool { return f.Func == l.at.Func })
}

// inSnapshot is how many goroutines wait at the line of the lock in a look at them, and how many hold such a lock, as a clause. A look does not tell which one
// each has: a line may take that of one of many things, and it does where more than one hold theirs and keep others out.
func (s *stampede) inSnapshot() string {
	shared := s.held.isShared() || slices.ContainsFunc(s.others, func(o heldThere) bool { return o.isShared() })
	switch {
	case s.holding == 0 || s.waiting == 0:
		return ""
	case !s.known:
		return fmt.Sprintf("; in one snapshot %d waited there, and %d had gone on behind that line", s.waiting, s.holding)
	case s.holding > 1 && !shared:
		return fmt.Sprintf("; in one snapshot %d waited there, and %d each held such a lock: there are several, and each wait is for one of them", s.waiting, s.holding)
	}
	return fmt.Sprintf("; in one snapshot %d waited there, and %d held such a lock", s.waiting, s.holding)
}

// leastExplained is the part of the waits for a lock that what its holder waits for has to explain. Chosen.
const leastExplained = 0.25

// explained is about which part of the waits for the lock passes while its holder waits: each of its waits keeps as many waiting as there are on average. It is
// false where the lengths of what has seen these are not known.
func (s *stampede) explained(w *facts.AllWaits, waiting float64) (part float64, ok bool) {
	for _, l := range s.io {
		if l.from == nil || l.from == s.dump || w == s.dump || l.from.Mean(l.time) <= 0 {
			return 0, false
		}
		part += l.from.Mean(l.time)
	}
	if waiting <= 0 {
		return 0, false
	}
	return min(1, part*max(1, waiting)/waiting), true
}

// workersWait is the part of the time of those who do the work of a tool that they wait for the lock of a line, of the group that does so most.
func workersWait(in *Input, at stack.Frame) (most facts.UnitGroup, share float64) {
	u := in.Facts.Units()
	if u.Err != nil {
		return nil, 0
	}
	for _, g := range u.Workers {
		sum := time.Duration(0)
		for i := range g.All.Rows {
			if row := &g.All.Rows[i]; row.Kind.Key() == "lock" && row.Site.Frame.File == at.File && row.Site.Frame.Line == at.Line {
				sum += row.Time
			}
		}
		if s := g.All.Share(sum); s > share {
			most, share = g, s
		}
	}
	return most, share
}

// shows is the evidence of a line that waits.
func (s *stampede) shows(in *Input, w *facts.AllWaits, l ioLine) Evidence {
	switch {
	case l.from == nil:
		return in.fileAt(w.Entry, l.at, nil, "under the lock: calls %s", l.what)
	case l.from == s.dump:
		return in.fileAt(l.from.Entry, l.at, l.stack, "under the lock: %s in %s", unit.Plural(l.count, "goroutine"), l.what)
	}
	return in.fileAt(l.from.Entry, l.at, l.stack, "under the lock: waits %s in %s, according to the %s", unit.Duration(l.time), l.what, l.from.What)
}
