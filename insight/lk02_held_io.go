package insight

import (
	"fmt"
	"slices"
	"time"

	"loupe/recording"
	"loupe/stack"
	"loupe/unit"
)

var lk02 = &Rule{
	ID: "LK02", Title: "A lock is held while its holder waits for input or output",
	About: "Goroutines wait for a mutex whose holder waits for the network, a file or another program: they all become as slow as that, also those that " +
		"want nothing of it. The block or mutex profile, or the execution trace, has the waits and the line of Lock; the source says what comes between that line and " +
		"Unlock; and the stacks of the same function say which of these lines wait for the world outside.",
	Needs:   []recording.Kind{recording.Block},
	Instead: []recording.Kind{recording.Mutex, recording.ExecTrace, recording.Goroutine},
	Params: []Param{
		{"waiting", 0.1, "goroutines in the mean", "chosen: a tenth of what makes LK01 a warning where ten Ps are at work"},
		{"warning", 1, "goroutines in the mean", "chosen: there is always one that waits"},
		{"waits", 10, "waits", "chosen: fewer are of a moment, such as the filling of a cache"},
		{"ratio", 3, "waiting goroutines for each that holds the lock", "research; measured 39 in a stampede, in one of five looks at the goroutines"},
	},
	Check: checkHeldIO,
}

// stampede is a lock that is held across input or output.
type stampede struct {
	site  *lockSite
	held  held
	known bool // whether the source says what is held
	// io are the lines under the lock that wait, the longest first.
	io []ioLine
	// waiting and holding are goroutines in one look at them.
	waiting, holding int64
	dump             *waits
}

// ioLine is a line that waits for the world outside.
type ioLine struct {
	at    stack.Frame
	what  string // the function that waits: "http.(*persistConn).roundTrip"
	from  *waits // nil where only the source has it
	stack []stack.Frame
	time  time.Duration
	count int64
}

func checkHeldIO(r *Rule, in *Input) []Finding {
	w, dump, err := in.lockWaits()
	if err != nil {
		return []Finding{r.answer(TooLittle, "%v", err)}
	}
	sites := w.lockSites()
	if len(sites) == 0 {
		if w == dump {
			return []Finding{r.answer(TooLittle, "nobody waited for a mutex when the goroutines were looked at, once: record -phases block or trace")}
		}
		return []Finding{r.answer(Fine, "no goroutine waited for a mutex of the program%s", w.of())}
	}
	var found []Finding
	few := int64(0)
	for _, site := range sites {
		s := in.stampede(w, dump, site)
		if len(s.io) == 0 {
			continue
		}
		seen := float64(site.count) >= r.param("waits") && (w.length == 0 || w.mean(site.time) >= r.param("waiting"))
		crowd := s.holding > 0 && float64(s.waiting) >= r.param("ratio")*float64(s.holding)
		switch {
		case w != dump && seen, crowd:
			found = append(found, r.stampede(in, w, s))
		case float64(site.count) < r.param("waits"):
			few = max(few, site.count)
		}
	}
	if len(found) > 0 {
		return found[:min(3, len(found))]
	}
	if few > 0 && w != dump {
		return []Finding{r.short("a lock is held across input or output, but only %s for it, %g are needed: put more load on it", waited(few), r.param("waits"))}
	}
	if w == dump {
		return []Finding{r.answer(TooLittle, "no lock is held across input or output in one look at the goroutines: record -phases block or trace")}
	}
	return []Finding{r.answer(Fine, "the lock at %s, for which goroutines waited most (%s%s), is not seen to be held across input or output", place(sites[0].at), unit.Duration(sites[0].time), w.of())}
}

// waited says how often somebody waited.
func waited(n int64) string {
	if n == 1 {
		return "1 goroutine waited"
	}
	return unit.Count(n) + " goroutines waited"
}

// lockWaits returns the best there is of who waited for locks, and the
// goroutine profile, if any. The first may be the same as the second.
func (in *Input) lockWaits() (w, dump *waits, err error) {
	dump = in.goroutines()
	m := in.Session.Manifest()
	if len(m.Of(recording.Block)) > 0 || len(m.Of(recording.ExecTrace)) > 0 {
		if w, err = in.blocked(); err == nil {
			return w, dump, nil
		}
	}
	if len(m.Of(recording.Mutex)) > 0 {
		w, merr := in.blockProfile(recording.Mutex, "mutex profile")
		if merr == nil {
			return w, dump, nil
		}
		err = merr
	}
	if dump != nil {
		return dump, dump, nil
	}
	if err == nil {
		_, _, err = in.Session.Profile(recording.Goroutine)
	}
	return &waits{in: in}, nil, err
}

// stampede looks for input and output under the lock of a site.
func (in *Input) stampede(w, dump *waits, site *lockSite) *stampede {
	s := &stampede{site: site, dump: dump}
	if w.unlocks {
		// The line is that of Unlock, or where a deferred one runs.
		parts := in.heldIn(site.at)
		i := slices.IndexFunc(parts, func(h held) bool { return h.until == site.at.Line || h.deferred && h.has(site.at.Line) })
		if s.known = i >= 0; s.known {
			s.held = parts[i]
		}
	} else {
		s.held, s.known = in.heldAt(site.at)
	}
	sources := []*waits{w}
	if dump != nil && dump != w {
		sources = append(sources, dump)
	}
	if t, err := in.tracedWaits(); err == nil && w.what != t.what {
		sources = append(sources, t)
	}
	for _, from := range sources {
		s.look(from, w.unlocks)
	}
	slices.SortStableFunc(s.io, func(a, b ioLine) int { return int(min(max(b.time-a.time, -1), 1)) })
	if len(s.io) == 0 && s.known {
		for _, c := range s.held.io {
			s.io = append(s.io, ioLine{at: stack.Frame{Func: site.at.Func, File: site.at.File, Line: c.line}, what: c.name})
		}
	}
	return s
}

// look finds the stacks that are under the lock and wait, and counts who waits
// for it and who holds it.
func (s *stampede) look(from *waits, unlocks bool) {
	for _, x := range from.all {
		if at, ok := lockedBy(x.frames, false); ok && at.Func == s.site.at.Func && s.locksAt(at, unlocks) {
			if from == s.dump {
				s.waiting += x.count
			}
			continue
		}
		for n, f := range x.frames {
			if f.Func != s.site.at.Func || f.File != s.site.at.File || !s.under(f.Line, unlocks) || !x.waitsForIO(n) {
				continue
			}
			if from == s.dump {
				s.holding += x.count
			}
			s.add(from, x, n)
			break
		}
	}
}

// locksAt tells whether a frame stands at the line that takes the lock.
func (s *stampede) locksAt(at stack.Frame, unlocks bool) bool {
	if unlocks {
		return s.known && at.Line == s.held.from
	}
	return at.Line == s.site.at.Line
}

// under tells whether a line is under the lock. Without the source every line
// after that of Lock may be.
func (s *stampede) under(line int, unlocks bool) bool {
	if s.known {
		return s.held.has(line)
	}
	return !unlocks && line > s.site.at.Line
}

// add counts a wait for the world outside at the n-th frame.
func (s *stampede) add(from *waits, x wait, n int) {
	i := slices.IndexFunc(s.io, func(l ioLine) bool { return l.at.Line == x.frames[n].Line })
	if i < 0 {
		i = len(s.io)
		s.io = append(s.io, ioLine{at: x.frames[n], from: from, stack: x.frames, what: outside(x.frames[:n])})
	}
	if s.io[i].from == from {
		s.io[i].time += x.time
		s.io[i].count += x.count
	}
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

// stampede makes the finding.
func (r *Rule) stampede(in *Input, w *waits, s *stampede) Finding {
	first := s.io[0]
	lock := "the lock at " + place(s.site.at)
	if s.known {
		lock = fmt.Sprintf("%s at %s:%d", s.held.lock, baseName(s.site.at.File), s.held.from)
	}
	verb := "waits in"
	if first.from == nil {
		verb = "calls"
	}
	who := fmt.Sprintf("goroutines waited %s for %s%s (%s)", unit.Duration(s.site.time), lock, w.of(), plural(s.site.count, "wait"))
	if w == s.dump {
		who = fmt.Sprintf("%s for %s", waited(s.waiting), lock)
	}
	if s.holding > 0 && w != s.dump {
		who += fmt.Sprintf("; in one look %d waited for %d", s.waiting, s.holding)
	}
	f := r.answer(Found, "%s, while who holds it %s %s at %s:%d", who, verb, first.what, baseName(first.at.File), first.at.Line)
	f.Severity = Info
	mean := w.mean(s.site.time)
	if w == s.dump || mean == 0 && s.holding > 0 {
		mean = float64(s.waiting) / float64(max(1, s.holding))
		f.Impact = exactly(mean, "waiting goroutines for each that holds the lock")
	} else if mean > 0 {
		f.Impact = exactly(mean, "goroutines that wait, in the mean")
	} else {
		mean = s.site.time.Seconds()
		f.Impact = exactly(mean, "seconds waited")
	}
	f.Score = score(mean, r.param("warning"), 10*r.param("warning"))
	if mean >= r.param("warning") && first.from != nil {
		f.Severity = Warning
	}
	f.Evidence = []Evidence{w.evidence(s.site.at, s.site.frames, "here they wait for the lock")}
	if w.unlocks {
		f.Evidence[0].Text = "here it is let go"
	}
	for _, l := range s.io[:min(3, len(s.io))] {
		f.Evidence = append(f.Evidence, s.shows(w, l))
	}
	f.Advice = "Do what waits without the lock: look, let go, fetch, lock again and store. Where several want the same thing, let the first one fetch it and the others wait for that thing alone (golang.org/x/sync/singleflight, or a channel in the entry)."
	f.Verify = "Record again under the same load: this line should be gone from loupe pprof -top -cum of the block profile, and the high percentiles of the latency should fall."
	f.Doubts = append(in.doubts(), "the lock may be there so that one at a time does it, as with writes to one file")
	if !s.known {
		f.Doubts = append(f.Doubts, "without its source it is not known whether the lock is let go before")
	}
	if first.from == nil {
		f.Doubts = append(f.Doubts, "the call stands in the source; no stack shows that it waited")
	}
	return f
}

// shows is the evidence of a line that waits.
func (s *stampede) shows(w *waits, l ioLine) Evidence {
	switch {
	case l.from == nil:
		return w.evidence(l.at, nil, "under the lock: calls %s", l.what)
	case l.from == s.dump:
		return l.from.evidence(l.at, l.stack, "under the lock: %s in %s", plural(l.count, "goroutine"), l.what)
	}
	return l.from.evidence(l.at, l.stack, "under the lock: waits %s in %s, as the %s has it", unit.Duration(l.time), l.what, l.from.what)
}
