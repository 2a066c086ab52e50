package insight

import (
	"cmp"
	"fmt"
	"go/types"
	"maps"
	"slices"
	"strings"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

// takenReading is such a thing with the samples in what goes through it.
type takenReading struct {
	takenWhole
	samples int64
	lines   map[stack.Frame]int64 // that hand it on
	to      map[string]int64      // the functions that go through it
}

// takenAgain finds what grows and is handed on as a whole in each turn of a loop, by the CPU samples.
func takenAgain(r *Rule, in *Input) (found []Finding) {
	w, err := in.Facts.Weights(facts.CPU, "samples")
	if err != nil || float64(w.Total()) < r.param("samples") || len(in.Session.Manifest().Of(recording.Source)) == 0 {
		return nil
	}
	v := in.view(w.Profile)
	s := &takenStacks{takenScan: newTakenScan(newDerivations(in.code)), v: v, known: map[string]*takenWhole{}, all: map[types.Object]*takenReading{}}
	for id, n := range w.Profile.Samples(w.Index) {
		s.add(id, n)
	}
	for _, x := range s.all {
		share := stats.Wilson(float64(x.samples), float64(w.Total()), compare.Confidence)
		if share.Low >= r.param("share") {
			found = append(found, x.finding(r, in, w, share))
		}
	}
	slices.SortFunc(found, func(a, b Finding) int { return cmp.Or(b.Score-a.Score, strings.Compare(a.Summary, b.Summary)) })
	return found[:min(len(found), 2)]
}

// takenStacks goes through the stacks.
type takenStacks struct {
	takenScan
	v     *view
	known map[string]*takenWhole
	all   map[types.Object]*takenReading
}

// add asks of each function of the program on a stack, the innermost first, whether it hands on something
// that grows.
func (s *takenStacks) add(id stack.ID, n int64) {
	frames := s.v.t.Frames(id)
	for i := nextUser(s.v, frames, 1); i >= 0; i = nextUser(s.v, frames, i+1) {
		w := s.ask(frames[i-1:])
		if w == nil {
			continue
		}
		x := s.all[w.of]
		if x == nil {
			x = &takenReading{takenWhole: *w, lines: map[stack.Frame]int64{}, to: map[string]int64{}}
			s.all[w.of] = x
		}
		x.samples += n
		x.copies, x.lists = x.copies || w.copies, x.lists || w.lists
		x.lines[lineOnly(s.v.t.Frame(frames[i]))] += n
		x.to[w.to] += n
		return
	}
}

// ask looks at the second of some frames, which calls the first.
func (s *takenStacks) ask(frames []stack.FrameID) *takenWhole {
	callee := s.v.t.Frame(frames[0])
	key := fmt.Sprint(callee.Func, frames[1:])
	if w, ok := s.known[key]; ok {
		return w
	}
	s.known[key] = nil
	in, ok := s.at(s.v.t.Frame(frames[1]))
	if !ok || in.lit != nil {
		return nil
	}
	w, from, call, ok := s.handed(in, s.v.t.Frame(frames[1]), callee, s.v.origins[frames[0]] != stack.User)
	if !ok {
		return nil
	}
	way, user := make([]stack.Frame, len(frames)-1), make([]bool, len(frames)-1)
	for i, id := range frames[1:] {
		way[i], user[i] = s.v.t.Frame(id), s.v.origins[id] == stack.User
	}
	if w, ok := s.outward(w, from, call, way, user); ok {
		s.known[key] = &w
	}
	return s.known[key]
}

// copiedOver is the part of all allocated bytes that goes into the copies.
func (x *takenReading) copiedOver(in *Input) float64 {
	w, err := in.Facts.Weights(facts.Allocations, "alloc_space")
	if err != nil {
		return 0
	}
	own := map[string]bool{}
	for at := range x.lines {
		own[at.Func] = true
	}
	v, all, copied := in.view(w.Profile), int64(0), int64(0)
	for id, n := range w.Profile.Samples(w.Index) {
		frames := v.t.Frames(id)
		all += n
		if i := nextUser(v, frames, 0); i > 0 && own[v.t.Frame(frames[i]).Func] && slices.Contains([]string{"strings.Join", "bytes.Join"}, v.t.Frame(frames[i-1]).Func) {
			copied += n
		}
	}
	return float64(copied) / float64(max(all, 1))
}

// oftenCopied is the part of all allocated bytes from which on each byte of a list was copied several
// times: what the list has was allocated as well.
const oftenCopied = 0.8

// finding says what grows, what goes through it, and what empties it.
func (x *takenReading) finding(r *Rule, in *Input, w *facts.Weights, share stats.Interval) Finding {
	lines := slices.SortedFunc(maps.Keys(x.lines), func(a, b stack.Frame) int {
		return cmp.Or(cmp.Compare(x.lines[b], x.lines[a]), cmp.Compare(a.Line, b.Line))
	})
	to := slices.SortedFunc(maps.Keys(x.to), func(a, b string) int {
		return cmp.Or(cmp.Compare(x.to[b], x.to[a]), strings.Compare(a, b))
	})
	does := "goes"
	if len(to) > 1 {
		to = to[:2]
		does = "go"
	}
	until := ""
	if x.empties.line > 0 {
		until = ", until it is emptied at " + x.empties.text()
	}
	f := r.answer(Found, "quadratic time: %s %s through all of %s again in each turn of the loop at %s, and each turn adds to it (%s)%s: %s of the CPU time%s", andList(to), does, x.name, x.loop.text(), x.grows.text(), until, unit.Percent(share.Estimate), atFrame(lines[0]))
	f.Title = "Quadratic: all that was read so far is read again each time"
	f.Impact = &Impact{share.Estimate, "share of CPU time", share.Low, share.High}
	f.Severity, f.Score = Info, score(share.Estimate, r.param("share"), 0.6)
	copied := 0.0
	if x.lists {
		copied = x.copiedOver(in)
	}
	sure := x.empties.line == 0 || copied >= oftenCopied
	if share.Low >= r.param("warn") && sure {
		f.Severity = Warning
	}
	f.Evidence = []Evidence{in.lineAt(w.Entry, lines[0], "%d of %d samples", x.lines[lines[0]], w.Total())}
	for _, at := range lines[1:min(len(lines), 3)] {
		f.Evidence = append(f.Evidence, in.lineAt(w.Entry, at, "%d of %d samples", x.lines[at], w.Total()))
	}
	f.Evidence = append(f.Evidence, in.code.shownAt(x.grows.file, x.grows.line, "%s grows here", x.name))
	if copied >= oftenCopied {
		f.Evidence[0].Text += ", and " + unit.Percent(copied) + " of all allocated bytes are copies of what was there already"
	}
	f.Advice = "Process only what is new: keep the state that has been reached (of the scanner, the parser, the sum) and go on with what the turn adds; or find out cheaply whether it is complete (a length, a terminator at the end of what is new), and go through all of it once then."
	f.Verify = "Record again with the same input: the CPU time of this line should vanish. Twice the input should then take twice as long, not four times."
	f.Doubts = []string{"if the loop ends after a turn or two, as when everything comes in one read, little is read again"}
	switch {
	case x.empties.line > 0 && sure:
		f.Doubts = []string{"if each turn needs a result that depends on all of it, that result has to be kept up to date instead"}
	case x.empties.line > 0:
		f.Doubts = []string{"if it is emptied after every few turns, little is read again"}
	}
	for _, at := range lines {
		f.costs = append(f.costs, cost{file: at.File, line: at.Line})
	}
	f.saves, f.grows = sure, true
	return f
}

// otherThan leaves out findings about lines that others are about.
func otherThan(all, found []Finding) []Finding {
	return slices.DeleteFunc(found, func(f Finding) bool {
		return slices.ContainsFunc(all, func(o Finding) bool {
			return slices.ContainsFunc(f.costs, func(c cost) bool { return slices.Contains(o.costs, c) })
		})
	})
}
