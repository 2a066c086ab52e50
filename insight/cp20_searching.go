package insight

import (
	"cmp"
	"slices"
	"strings"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

var cp20 = &Rule{
	ID: "CP20", Title: "Searching from begin to end takes much of the CPU",
	About: "The CPU time of what looks at one element, byte or file after the other until it finds something: Index and Contains of packages slices, strings and bytes, with the " +
		"program's own comparisons; and loops of the program that compare one after the other, in another loop. One search is cheap; one for each item makes the time grow with the product of both.",
	Asks: []facts.Question{facts.CPU},
	Params: []Param{
		{"share", 0.10, "share of CPU time", "chosen; the lower bound of the interval counts"},
		{"warn", 0.25, "share of CPU time", "chosen"},
		{"samples", 30, "samples", "chosen: as for CP19"},
	},
	Check: func(r *Rule, in *Input) []Finding {
		found := searchesInLibrary(r, in)
		if hand := searchesByHand(r, in); len(hand) > 0 {
			return append(hand, slices.DeleteFunc(found, func(f Finding) bool { return f.State != Found })...)
		}
		return found
	},
}

// lookUp is what to do about searches for one of many.
const lookUp = "Look it up in place of searching: a map by what is compared, or a sorted slice and slices.BinarySearch; build it once, before the loop."

// fewDoubt is what speaks against a map.
const fewDoubt = "some ten elements are searched faster than a map is asked"

var searchesInLibrary = check(&look{of: facts.CPU, sample: "samples", limit: "share", warn: "warn", set: "search", skip: []string{"startup"}, below: true, direct: true, through: []string{"slices", "strings", "bytes"},
	what: "went into searching from begin to end", tell: tellSearch})

func tellSearch(h *hit, f *Finding) {
	line := h.lines[0]
	if p := stack.Package(line.Callee); p != "strings" && p != "bytes" {
		f.Advice = lookUp
		f.Doubts = append(f.Doubts, fewDoubt)
		return
	}
	const many = "Of many terms in one text look for all at once (strings.NewReplacer, one regular expression, an index of words); of whole words or keys make a map, once, before the loop."
	switch h.in.code.parse(line.Caller.File).needleAt(line.Caller.Line) {
	case needleOfLoop:
		f.Advice = many
		f.Doubts = append(f.Doubts, fewDoubt)
	case needleFixed:
		f.Advice = "One term is looked for in one text after the other, which reads all of it: look in less (a field that is cut out, an index), keep what was found where the same text is searched again, or stop sooner."
		f.Doubts = append(f.Doubts, "by its source the line looks for the same term in every turn: where each text comes once, reading it is the work")
		f.Severity = Info
	default:
		f.Advice = many + " One term in text after text is found no sooner by either: look in less of it, or keep what was found."
		f.Doubts = append(f.Doubts, fewDoubt)
	}
}

// handSearch is a loop of the program that searches, and the samples in it.
type handSearch struct {
	at      stack.Frame // its heaviest line
	most    int64
	samples int64
	lines   map[stack.Frame]int64
}

// callersInLoop is how many callers of a search are asked for a loop: a share of the CPU is
// asked for besides.
const callersInLoop = 4

// searchesByHand finds loops of the program that search, by the lines that the CPU samples
// end in.
func searchesByHand(r *Rule, in *Input) (found []Finding) {
	w, err := in.Facts.Weights(facts.CPU, "samples")
	if err != nil {
		return nil
	}
	v := in.view(w.Profile)
	type line struct {
		at     stack.Frame
		looped bool // one of its callers is in a loop
	}
	lines, total := map[line]int64{}, int64(0)
	for id, n := range w.Profile.Samples(w.Index) {
		total += n
		frames := v.t.Frames(id)
		at := nextUser(v, frames, 0)
		if at < 0 {
			continue
		}
		x := line{at: v.t.Frame(frames[at])}
		for i, n := at+1, 0; n < callersInLoop && !x.looped; i, n = i+1, n+1 {
			if i = nextUser(v, frames, i); i < 0 {
				break
			}
			x.looped = len(loopsAround(in.code, v.t.Frame(frames[i]))) > 0
		}
		lines[x] += n
	}
	if float64(total) < r.param("samples") {
		return nil
	}
	type loopKey struct {
		function string
		first    int
	}
	all := map[loopKey]*handSearch{}
	for x, n := range lines {
		first, ok := searchByHand(in.code, x.at, x.looped)
		if !ok {
			continue
		}
		key := loopKey{x.at.Func, first}
		if all[key] == nil {
			all[key] = &handSearch{lines: map[stack.Frame]int64{}}
		}
		all[key].add(x.at, n)
	}
	for _, s := range all {
		share := stats.Wilson(float64(s.samples), float64(total), compare.Confidence)
		if share.Low < r.param("share") {
			continue
		}
		f := r.answer(Found, "%s of the CPU time goes into a loop%s that compares one after the other until it finds one, again and again", unit.Percent(share.Estimate), atFrame(s.at))
		f.Impact = &Impact{share.Estimate, "share of CPU time", share.Low, share.High}
		f.Severity, f.Score = Info, score(share.Estimate, r.param("share"), 0.6)
		if share.Low >= r.param("warn") {
			f.Severity = Warning
		}
		f.Evidence = []Evidence{in.lineAt(w.Entry, s.at, "%d of %d samples", s.samples, total)}
		f.Advice = lookUp + " The time grows with the product of both loops: with twice as much of each it takes four times as long."
		f.Verify = "Record again with the same input: the CPU time of this loop should vanish."
		f.Doubts = []string{fewDoubt}
		for at := range s.lines {
			f.costs = append(f.costs, cost{file: at.File, line: at.Line})
		}
		f.saves = true
		found = append(found, f)
	}
	slices.SortFunc(found, func(a, b Finding) int { return cmp.Or(b.Score-a.Score, strings.Compare(a.Summary, b.Summary)) })
	return found[:min(len(found), 3)]
}

func (s *handSearch) add(at stack.Frame, n int64) {
	s.samples += n
	s.lines[at] += n
	if m := s.lines[at]; m > s.most || m == s.most && at.Line < s.at.Line {
		s.at, s.most = at, m
	}
}
