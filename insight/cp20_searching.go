package insight

import (
	"cmp"
	"fmt"
	"go/types"
	"slices"
	"strings"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

var cp20 = &Rule{
	ID: "CP20", Title: "Linear search uses much of the CPU",
	About: "The CPU time of code that looks at one element, byte or file after another until it finds something: Index and Contains of packages slices, strings and bytes, with " +
		"the program's own comparisons; the same functions of some other modules, such as samber/lo; the program's own linear searches inside another loop or a request; and what reads a growing part of one text or slice, or all of a growing buffer, again from its start each time. " +
		"One search is cheap; one per item makes the time grow with the product of both, or with the square of one.",
	Asks: []facts.Question{facts.CPU},
	Params: []Param{
		{"share", 0.10, "share of CPU time", "chosen; the lower bound of the interval counts"},
		{"warn", 0.25, "share of CPU time", "chosen"},
		{"samples", 30, "samples", "chosen: as for CP19"},
	},
	Check: func(r *Rule, in *Input) []Finding {
		found := searchesInLibrary(r, in)
		byHand, keyed := searchesByHand(r, in), keyLoops(r, in)
		byHand = slices.DeleteFunc(byHand, func(f Finding) bool { return coveredBy(in, f, keyed) })
		byHand = otherThan(slices.DeleteFunc(slices.Clone(keyed), func(f Finding) bool { return f.Title != layersTitle }), byHand)
		own := append(rereadsFromStart(r, in), byHand...)
		own = append(own, otherThan(own, keyed)...)
		own = append(own, otherThan(own, takenAgain(r, in))...)
		own = append(own, otherThan(own, scansByCounts(r, in))...)
		own = append(own, otherThan(own, searchesInModules(r, in))...)
		if len(own) == 0 {
			return found
		}
		return append(own, slices.DeleteFunc(found, func(f Finding) bool {
			return f.State != Found || slices.ContainsFunc(own, func(o Finding) bool { return firstLine(&o) == firstLine(&f) })
		})...)
	},
}

// lookUp is what to do about searches for one of many.
const lookUp = "Look it up instead of searching: a map keyed by what is compared, or a sorted slice and slices.BinarySearch; build it once, before the loop."

// firstDoubt is what an index has to keep, where several elements may match.
const firstDoubt = "if several can match, the loop takes the first one in the list: the index has to give the same one"

// changesDoubt is what a map has to follow.
const changesDoubt = "if the elements, or what is compared of them, change between the searches, the map has to change with them"

// fewDoubt is what speaks against a map.
const fewDoubt = "ten elements or so are searched faster than a map lookup"

var searchesInLibrary = check(&look{of: facts.CPU, sample: "samples", limit: "share", warn: "warn", set: "search", skip: []string{"startup"}, below: true, direct: true, through: []string{"slices", "strings", "bytes"},
	what: "went into linear searches", tell: tellSearch})

func tellSearch(h *hit, f *Finding) {
	line := h.lines[0]
	if p := stack.Package(line.Callee); p != "strings" && p != "bytes" {
		by, same := matchesIn(h.in.code, line.Caller, line.Callee)
		f.Advice = lookUpBy(by)
		f.grows = true
		if several(by) {
			f.Doubts = append(f.Doubts, firstDoubt)
		}
		f.Doubts = append(f.Doubts, changesDoubt, fewDoubt)
		if by == matchRules {
			asRules(f)
			return
		}
		if name, few := searchesFew(h); few > 0 {
			adviseSearch(f, handLoop{kind: searchFew, name: name, few: few}, true)
			f.saves, f.grows = false, false
			return
		}
		if by == matchEqual || by == matchFold || by == matchGroup {
			same.tell(f)
		}
		if !f.grows {
			return
		}
		tellGrows(h.in.code, line.Caller, f)
		tellChanges(h.in.code, line.Caller, f)
		tellOrder(h.in.code, line.Caller, f)
		return
	}
	const many = "Search one text for all terms at once, by an automaton that knows all of them (Aho-Corasick); where whole words or keys are meant, split the text into these and look each up in a map that is built once, before the loop. One regular expression of all terms is no such automaton: it can take several times as long as the separate searches."
	switch h.in.code.parse(line.Caller.File).needleAt(line.Caller.Line) {
	case needleOfLoop:
		f.Advice = many
		f.Doubts = append(f.Doubts, fewDoubt)
	case needleFixed:
		f.Advice = "One term is searched for in one text after another, which reads all of it: search less (one field, an index), cache the result if the same text is searched again, or stop sooner."
		f.Doubts = append(f.Doubts, "according to the source, the line searches for the same term in every iteration: if each text comes only once, reading it is the work")
		f.Severity = Info
	default:
		f.Advice = many + " Neither helps to find one term in text after text: search less of it, or cache the result."
		f.Doubts = append(f.Doubts, fewDoubt)
	}
}

// searchesFew tells whether all lines search in a slice that is a literal of a few elements by
// the source: the name of the first, and how many it has at most.
func searchesFew(h *hit) (name string, few int) {
	for _, line := range h.lines {
		size := 0
		for _, call := range h.in.code.lineCalls(line.Caller) {
			if !strings.HasPrefix(types.ExprString(call.Fun), "slices.") || len(call.Args) == 0 {
				continue
			}
			if size = literalSize(h.in.code, h.in.code.scopeAt(line.Caller), call.Args[0]); name == "" {
				name = types.ExprString(call.Args[0])
			}
		}
		if size == 0 || size > fewElements {
			return "", 0
		}
		few = max(few, size)
	}
	return name, few
}

// handSearch is a loop of the program that searches, and the samples in it.
type handSearch struct {
	loop    handLoop
	at      stack.Frame // its heaviest line
	most    int64
	samples int64
	lines   map[stack.Frame]int64
	looped  bool // it is in another loop, not only in what a server calls
	// turns are the lines of callers in the loops that repeat it, and direct those of them that call its function.
	turns  map[stack.Frame]int64
	direct map[stack.Frame]bool
}

// searchesByHand finds loops of the program that search, by the lines that the CPU samples
// end in.
func searchesByHand(r *Rule, in *Input) (found []Finding) {
	w, err := in.Facts.Weights(facts.CPU, "samples")
	if err != nil {
		return nil
	}
	total := w.Total()
	if float64(total) < r.param("samples") {
		return nil
	}
	type loopKey struct {
		function string
		first    int
	}
	all := map[loopKey]*handSearch{}
	for x, n := range searchLines(in, w) {
		key := loopKey{x.at.Func, x.loop.first}
		if all[key] == nil {
			all[key] = &handSearch{loop: x.loop, lines: map[stack.Frame]int64{}, turns: map[stack.Frame]int64{}, direct: map[stack.Frame]bool{}}
		}
		all[key].add(x.at, n)
		if x.turn.Line > 0 {
			all[key].turns[x.turn] += n
			all[key].direct[x.turn] = x.direct
		}
		all[key].looped = all[key].looped || x.looped
	}
	for _, s := range all {
		share := stats.Wilson(float64(s.samples), float64(total), compare.Confidence)
		if share.Low < r.param("share") {
			continue
		}
		does := "searches linearly for a match"
		if s.loop.kind == searchFirst {
			does = "goes through all of " + s.loop.name + " to find the one that comes first, and removes it"
		} else if s.loop.kind == searchLeast {
			does = "goes through all of " + s.loop.name + " to find the one that comes first"
		}
		does += ", over and over"
		switch s.loop.kind {
		case searchPairs:
			does = pairsDo(s.loop)
		case searchOwners:
			does = fmt.Sprintf("looks for a match in %s of each element of %s, over and over", s.loop.name, s.loop.owners.name)
		}
		f := r.answer(Found, "%s of the CPU time goes into a loop%s that %s", unit.Percent(share.Estimate), atFrame(s.at), does)
		f.Impact = &Impact{share.Estimate, "share of CPU time", share.Low, share.High}
		f.Severity, f.Score = Info, score(share.Estimate, r.param("share"), 0.6)
		if share.Low >= r.param("warn") {
			f.Severity = Warning
		}
		f.Evidence = []Evidence{in.lineAt(w.Entry, s.at, "%d of %d samples", s.samples, total)}
		f.Verify = "Record again with the same input: the CPU time of this loop should vanish."
		if at := s.loop.owners.at; s.loop.kind == searchOwners {
			f.Evidence = append(f.Evidence, in.lineAt(w.Entry, at, "for each search, this loop goes through all of %s", s.loop.owners.name))
		}
		if adviseSearch(&f, s.loop, s.looped); f.saves && s.loop.kind != searchPairs && s.loop.kind != searchOwners {
			tellGrows(in.code, s.at, &f)
			if s.loop.kind == searchMany {
				tellChanges(in.code, s.at, &f)
			}
		}
		if s.loop.kind == searchMany {
			tellOrder(in.code, s.at, &f)
		}
		s.tellTurn(in, w, &f)
		if s.loop.kind == searchMany {
			tellShort(in, s.at, &f)
		}
		for at := range s.lines {
			f.costs = append(f.costs, cost{file: at.File, line: at.Line})
		}
		found = append(found, f)
	}
	slices.SortFunc(found, func(a, b Finding) int { return cmp.Or(b.Score-a.Score, strings.Compare(a.Summary, b.Summary)) })
	return found[:min(len(found), 3)]
}

// adviseSearch says what to do about a loop that searches, by what it goes through. Where a map
// gains nothing for certain, or nobody can tell, it is an info.
func adviseSearch(f *Finding, l handLoop, looped bool) {
	if !slices.Contains([]handKind{searchMany, searchFirst, searchPairs, searchOwners}, l.kind) {
		f.Severity = Info
		f.Verify = "Record again with the same input: the CPU time of this loop should be less."
	}
	switch l.kind {
	case searchFew:
		f.Advice = fmt.Sprintf("According to the source %s has %d elements, so a map gains nothing there: search less often if the same thing is searched for repeatedly, or use a switch if the elements are known.", l.name, l.few)
	case searchFront:
		f.Advice = "What was found moves to the front, so the time depends on how often the same element is requested: count how far the searches go, and use a map (with a list, if order matters) if that is far."
		f.Doubts = []string{"if the requested element is usually first, a map gains nothing"}
	case searchFirst:
		f.Advice = "Keep the elements in the order in which they are removed, beside the map if there is one: a list to whose end each new or used one moves (container/list), a heap (container/heap), or a ring; or remove many at once. " +
			"The cost of one removal grows with the number of elements."
		f.saves, f.grows = true, true
	case searchLeast:
		f.Advice = "If there are many of them, keep them in a heap (container/heap): then finding the next one takes a few steps instead of one for each element."
		f.Doubts = []string{"ten elements or so are compared faster than a heap is kept in order"}
	case searchPairs:
		advisePairs(f, l)
	case searchOwners:
		adviseOwners(f, l)
	case searchEach:
		f.Advice = "Another list is searched in each turn of the loop, so building a map of one costs more than searching it once. A map gains only if the lists are long and each is searched again before it changes: then keep it beside the list."
		f.Doubts = []string{fewDoubt}
	case searchTable:
		f.Advice = "The search starts at a position computed from the key, as in a hash table: check how far it goes. If that is more than a few steps, make the table larger, use a better hash, or use a map."
		f.Doubts = []string{"if it ends after a step or two, the time is that of very many searches: do fewer of them"}
	default:
		f.Advice = lookUpBy(l.by)
		if looped {
			f.Advice += " The time grows with the product of both loops: twice as many of each take four times as long."
		} else {
			f.Advice = strings.Replace(f.Advice, "before the loop", "before the requests come", 1) + " Each call goes through the list from its start: twice as many elements take twice as long."
		}
		f.Doubts = []string{changesDoubt, fewDoubt}
		if several(l.by) || l.takes && l.by != matchGroup && l.by != matchRules {
			f.Doubts = []string{firstDoubt, changesDoubt, fewDoubt}
		}
		f.saves, f.grows = true, true
		if l.by == matchRules {
			asRules(f)
			return
		}
		if l.by == matchEqual || l.by == matchFold || l.by == matchGroup {
			l.same.tell(f)
		}
	}
}

// asRules makes a remark of a search among rules: what an index of them gains depends on what they say.
func asRules(f *Finding) {
	f.Severity, f.saves, f.grows = Info, false, false
	f.Doubts = []string{"if the order of the list is their priority, it has to remain: the first that matches decides"}
	f.Verify = "Record again with the same input: the CPU time of this loop should be less."
}

func (s *handSearch) add(at stack.Frame, n int64) {
	s.samples += n
	s.lines[at] += n
	if m := s.lines[at]; m > s.most || m == s.most && at.Line < s.at.Line {
		s.at, s.most = at, m
	}
}
