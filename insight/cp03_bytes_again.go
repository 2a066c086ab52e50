package insight

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"strings"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

// The same bytes that are decoded several times in one run of a function.

// bytesPlaceUse is a way from a variable with the bytes to a call that decodes them.
type bytesPlaceUse struct {
	of    *bytesDecode
	steps int // of the variable
	// whole are the samples in which it is gone, own those in which no other way of the group goes on from it.
	whole, own int64
	heavy      stack.ID
	most       int64
	at         int // the position of the decoding line on that stack
}

// bytesGroup are the ways from one variable.
type bytesGroup struct {
	place bytesPlace
	in    *bytesStep // of the variable
	depth int
	uses  map[string]*bytesPlaceUse
	seen  []bytesSample
	// picked are the ways that repeat others, the heaviest first; total are the samples in which one is gone, rest those
	// that are not of the most expensive one.
	picked      []*bytesPlaceUse
	total, rest int64
	tries       bool
	// written is where a decoded value is changed afterwards; isWritten tells whether one is.
	written   codeLine
	isWritten bool
}

// bytesSample is a stack with the ways on it.
type bytesSample struct {
	n    int64
	ways []string // the outermost first
}

// maxBytesUses bounds how many ways are compared with each other.
const maxBytesUses = 12

// withSameBytes puts bytes that are decoded several times before what a format costs elsewhere, in which they do not count.
func withSameBytes(r *Rule, in *Input, except func(*stack.Table, []stack.FrameID) bool, rest func(except func(*stack.Table, []stack.FrameID) bool) []Finding) []Finding {
	w, err := in.Facts.Weights(facts.CPU, "samples")
	if err != nil || float64(w.Total()) < r.param("samples") {
		return rest(except)
	}
	var found []Finding
	told := map[codeLine]bool{}
	for _, g := range bytesDecodedAgain(r, in, w, except) {
		if len(found) == 2 || !slices.ContainsFunc(g.picked, func(u *bytesPlaceUse) bool { return !told[u.line()] }) {
			continue
		}
		found = append(found, g.finding(r, in, w))
		for _, u := range g.picked {
			told[u.line()] = true
		}
	}
	if len(found) == 0 {
		return rest(except)
	}
	others := rest(func(t *stack.Table, frames []stack.FrameID) bool {
		return except(t, frames) || slices.ContainsFunc(frames, func(f stack.FrameID) bool {
			at := t.Frame(f)
			return told[codeLine{at.File, at.Line}]
		})
	})
	return append(found, slices.DeleteFunc(others, func(f Finding) bool { return f.State != Found })...)
}

// line is the one that decodes.
func (u *bytesPlaceUse) line() codeLine {
	return codeLine{u.of.steps[0].line.File, u.of.steps[0].line.Line}
}

// bytesDecodedAgain are the groups of a CPU profile that take enough, those that take most first.
func bytesDecodedAgain(r *Rule, in *Input, w *facts.Weights, except func(*stack.Table, []stack.FrameID) bool) []*bytesGroup {
	groups, d := bytesGroups(in, w, r.param("share"), except)
	enough := func(n int64) bool {
		return n >= minHits && stats.Wilson(float64(n), float64(w.Total()), compare.Confidence).Low >= r.param("share")
	}
	all := slices.DeleteFunc(groups, func(g *bytesGroup) bool {
		sum := int64(0)
		for _, s := range g.seen {
			sum += s.n
		}
		if len(g.uses) < 2 || !enough(sum) {
			return true
		}
		g.pick(d)
		if g.decoded() > 1 {
			g.written, g.isWritten = bytesWritten(d, g.picked)
		}
		return !enough(g.total) || !enough(g.rest)
	})
	slices.SortFunc(all, func(a, b *bytesGroup) int {
		return cmp.Or(cmp.Compare(b.total, a.total), cmp.Compare(b.depth, a.depth), cmp.Compare(a.place.root.Pos(), b.place.root.Pos()))
	})
	return all
}

// bytesGroups follows what each stack decodes.
func bytesGroups(in *Input, w *facts.Weights, least float64, except func(*stack.Table, []stack.FrameID) bool) (all []*bytesGroup, d *derivations) {
	v := in.view(w.Profile)
	startup, logging := v.marks("startup"), v.marks("logging")
	samples, sum := map[stack.ID]int64{}, int64(0)
	decoder := make([]bool, v.t.NumFrames())
	for id := range decoder {
		decoder[id] = v.origins[id] != stack.User && decodesText(stack.FoldGenerics(v.t.Frame(stack.FrameID(id)).Func))
	}
	for id, n := range w.Profile.Samples(w.Index) {
		frames := v.t.Frames(id)
		if n > 0 && slices.ContainsFunc(frames, func(f stack.FrameID) bool { return decoder[f] }) && !except(v.t, frames) &&
			!slices.ContainsFunc(frames, func(f stack.FrameID) bool { return startup[f] || logging != nil && logging[f] }) {
			samples[id], sum = samples[id]+n, sum+n
		}
	}
	if float64(sum) < least*float64(w.Total()) {
		return nil, nil
	}
	d = newDerivations(in.code)
	known, nodes, codes := map[string]*bytesDecode{}, map[ast.Node]int{}, map[stack.FrameID]*frameCode{}
	groups := map[bytesPlace]*bytesGroup{}
	for _, id := range slices.Sorted(maps.Keys(samples)) {
		frames, n := v.t.Frames(id), samples[id]
		ways := map[bytesPlace][]string{}
		for i := len(frames) - 1; i > 0; i-- {
			if !decoder[frames[i-1]] || v.origins[frames[i]] != stack.User {
				continue
			}
			key := fmt.Sprint(frames[i-1:])
			of, asked := known[key]
			if !asked {
				of = (&bytesWay{d, v, frames, codes}).decode(i)
				known[key] = of
			}
			if of == nil {
				continue
			}
			for k, place := range of.places {
				g := groups[place]
				if g == nil {
					g = &bytesGroup{place: place, uses: map[string]*bytesPlaceUse{}}
					groups[place] = g
				}
				g.depth, g.in = max(g.depth, k), of.steps[of.at[k]]
				chain := of.chainKey(nodes, of.at[k])
				u := g.uses[chain]
				if u == nil {
					u = &bytesPlaceUse{of: of, steps: of.at[k]}
					g.uses[chain] = u
				}
				if n > u.most {
					u.most, u.heavy, u.at = n, id, i
				}
				if !slices.Contains(ways[place], chain) {
					ways[place] = append(ways[place], chain)
				}
			}
		}
		for place, chains := range ways {
			groups[place].seen = append(groups[place].seen, bytesSample{n, chains})
		}
	}
	return slices.Collect(maps.Values(groups)), d
}

// pick finds the ways that repeat each other, and adds up what they take.
func (g *bytesGroup) pick(d *derivations) {
	count := func(picked map[*bytesPlaceUse]bool) {
		g.total = 0
		for _, u := range g.uses {
			u.whole, u.own = 0, 0
		}
		for _, s := range g.seen {
			var last *bytesPlaceUse
			for _, chain := range s.ways {
				if u := g.uses[chain]; picked == nil || picked[u] {
					u.whole += s.n
					last = u
				}
			}
			if last != nil {
				last.own += s.n
				g.total += s.n
			}
		}
	}
	count(nil)
	heaviest := func(all []*bytesPlaceUse) []*bytesPlaceUse {
		slices.SortFunc(all, func(a, b *bytesPlaceUse) int {
			return cmp.Or(cmp.Compare(b.own, a.own), cmp.Compare(b.whole, a.whole), cmp.Compare(a.of.steps[0].node.Pos(), b.of.steps[0].node.Pos()), cmp.Compare(a.of.steps[a.steps].node.Pos(), b.of.steps[b.steps].node.Pos()))
		})
		return all
	}
	uses := heaviest(slices.Collect(maps.Values(g.uses)))
	uses = uses[:min(len(uses), maxBytesUses)]
	picked, nests := map[*bytesPlaceUse]bool{}, map[*bytesPlaceUse][]*bytesPlaceUse{}
	repeats := map[[2]*bytesPlaceUse]bool{}
	for i, a := range uses {
		for _, b := range uses[i+1:] {
			again, nested := bytesRepeat(d, a, b)
			if again {
				picked[a], picked[b] = true, true
				repeats[[2]*bytesPlaceUse{a, b}], repeats[[2]*bytesPlaceUse{b, a}] = true, true
			}
			if nested {
				nests[a], nests[b] = append(nests[a], b), append(nests[b], a)
			}
		}
	}
	for u, others := range nests { // what hands the whole on to one of them
		if slices.ContainsFunc(others, func(o *bytesPlaceUse) bool { return picked[o] && len(o.of.steps) > len(u.of.steps) }) {
			picked[u] = true
		}
	}
	count(picked)
	g.picked = heaviest(slices.Collect(maps.Keys(picked)))
	g.rest = g.total
	var kept []*bytesPlaceUse // the one that has to be, and those that are in its place at other times
	for _, u := range g.picked {
		if !slices.ContainsFunc(kept, func(k *bytesPlaceUse) bool { return repeats[[2]*bytesPlaceUse{k, u}] || slices.Contains(nests[k], u) }) {
			kept, g.rest = append(kept, u), g.rest-u.own
		}
	}
	for _, a := range g.picked {
		for _, b := range g.picked {
			if repeats[[2]*bytesPlaceUse{a, b}] && a.steps == 0 && b.steps == 0 && triesBytes(a.of.steps[0].in.decl.Body, a.of.steps[0].node, b.of.steps[0].node) {
				g.tries = true
			}
		}
	}
}

// shown is where a way is told from the others: the line that decodes, or that calls what does where others go there as well.
func (g *bytesGroup) shown(u *bytesPlaceUse) *bytesStep {
	for i := 0; i < u.steps; i++ {
		if !slices.ContainsFunc(g.picked, func(o *bytesPlaceUse) bool {
			return o != u && slices.ContainsFunc(o.of.steps[:o.steps+1], func(s *bytesStep) bool { return s.node == u.of.steps[i].node }) && len(o.of.steps) == len(u.of.steps)
		}) {
			return u.of.steps[i]
		}
	}
	return u.of.steps[u.steps]
}

// finding says where the same bytes are decoded.
func (g *bytesGroup) finding(r *Rule, in *Input, w *facts.Weights) Finding {
	share := stats.Wilson(float64(g.total), float64(w.Total()), compare.Confidence)
	rest := stats.Wilson(float64(g.rest), float64(w.Total()), compare.Confidence)
	part := func(n int64) string { return unit.Percent(float64(n) / float64(w.Total())) }
	name, made := g.place.root.Name()+strings.ReplaceAll(g.place.path, ".*", ""), g.made(in)
	var places []string
	for _, u := range g.picked {
		s := g.shown(u)
		places = append(places, fmt.Sprintf("%s (%s)", fileLine(s.line.File, s.line.Line), part(u.own)))
	}
	f := r.answer(Found, "%s of the CPU time went into decoding bytes that are decoded several times: one run of %s decodes %s (%s) at %d places: %s; all but the most expensive take %s", unit.Percent(share.Estimate),
		stack.Short(stack.FoldGenerics(g.in.line.Func)), name, made, len(places), andList(places), unit.Percent(rest.Estimate))
	f.Title = "The same bytes are decoded several times"
	f.takes(r, share)
	f.Impact = &Impact{rest.Estimate, f.Impact.Unit, rest.Low, rest.High}
	for _, u := range g.picked {
		s := g.shown(u)
		text := fmt.Sprintf("%d of %d samples in %s", u.own, w.Total(), u.of.callee)
		if u.whole > u.own {
			text += fmt.Sprintf(", %d with what it hands the bytes to", u.whole)
		}
		e := in.lineAt(w.Entry, s.line, "%s", text)
		if p, ok := in.Session.Manifest().PhaseNamed(w.Entry.Phase); ok {
			e.Span = span(p.Span)
		}
		frames := facts.Frames(w.Profile.Stacks, u.heavy)
		if i := slices.Index(frames, s.line); i >= 0 {
			e.Stack = evidenceStack(frames[i:])
		}
		f.Evidence = append(f.Evidence, e)
		f.costs = append(f.costs, cost{file: s.line.File, line: s.line.Line})
	}
	f.belows = true
	f.Advice = g.advice()
	f.Doubts = append(f.Doubts, "that the bytes are the same is read in the source: what decodes only where a condition holds may not run each time",
		"decoders that are set up differently (unknown fields, numbers, what may follow the value) give other values and other errors: none of them can stand for another one")
	if g.isWritten {
		f.Severity, f.saves = Info, false
		f.Summary += "; a decoded value is changed afterwards, as at " + g.written.text()
		f.Advice = "Each place that changes the value, or has to have it as it was, needs its own. Decode once and give each of them a copy, if a copy costs less: one that goes into the slices, maps and pointers in it."
		f.Evidence = append(f.Evidence, in.code.shownAt(g.written.file, g.written.line, "a decoded value is written to here"))
	} else if g.decoded() > 1 {
		f.Doubts = append(f.Doubts, "whoever changes the value, or what it points to, needs a copy of its own")
	}
	return f
}

// made says where the variable is declared.
func (g *bytesGroup) made(in *Input) string {
	file, line, _ := typedOf(in.code).at(g.place.root.Pos())
	return fileLine(file, line)
}

// advice is what to do instead.
func (g *bytesGroup) advice() string {
	all := func(is func(fn string) bool) bool {
		return !slices.ContainsFunc(g.picked, func(u *bytesPlaceUse) bool { return !is(u.of.callee) })
	}
	isJSON := func(fn string) bool { return strings.Contains(strings.ToLower(stack.Package(fn)), "json") }
	const valid = "Decoding checks the whole text by itself: "
	if g.decoded() == 1 {
		return "Leave out the check with Valid. " + valid + "an error of it that is no *json.SyntaxError is one of a value that does not fit the type."
	}
	text := "Decode them once and pass on the decoded value: into one struct with all that these places need"
	if all(isJSON) {
		text += ", or into a map[string]json.RawMessage (or a struct with json.RawMessage fields), of which each place decodes its own part alone"
	}
	text += "."
	if g.tries {
		text += " Where several types are tried, look first at what tells them apart, the first byte or the field that says the kind, and decode into that type alone."
	}
	if !all(func(fn string) bool { return ownName(fn) != "Valid" }) {
		text += " " + valid + "Valid is not needed before it."
	}
	return text
}

// decoded is how many places decode, and do not only check.
func (g *bytesGroup) decoded() (n int) {
	for _, u := range g.picked {
		if !u.of.checks() {
			n++
		}
	}
	return n
}

// sameTarget tells of two types that are decoded into that the values may be one: the types are the same, or one is not known.
func sameTarget(a, b types.Type) bool {
	plain := func(t types.Type) types.Type {
		if t == nil || t == types.Typ[types.Invalid] {
			return nil
		}
		if p, ok := t.Underlying().(*types.Pointer); ok {
			return p.Elem()
		}
		return t
	}
	a, b = plain(a), plain(b)
	return a == nil || b == nil || types.IsInterface(a) || types.IsInterface(b) || types.Identical(a, b)
}

// bytesWritten finds where one of the values that some ways decode is changed afterwards. What a function that all of them
// call does to the value that it returns belongs to making it.
func bytesWritten(d *derivations, picked []*bytesPlaceUse) (at codeLine, ok bool) {
	var decoders []ast.Node
	shared := map[*ast.FuncDecl]int{}
	for _, u := range picked {
		own := map[*ast.FuncDecl]bool{}
		for i, s := range u.of.steps {
			if decoders = append(decoders, s.node); i < u.steps {
				own[s.in.decl] = true
			}
		}
		for decl := range own {
			shared[decl]++
		}
	}
	var flows []*decodedFlow
	for _, u := range picked {
		if f := decodedFlowOf(d, u.of.steps); f != nil && !u.of.checks() {
			flows = append(flows, f)
		}
	}
	for i, f := range flows {
		// A value of another type is another part of what one decode would give, whoever changes it.
		if !slices.ContainsFunc(flows, func(o *decodedFlow) bool { return o != flows[i] && sameTarget(f.of, o.of) }) {
			continue
		}
		makes := func(w writtenPlace) bool {
			for decl, n := range shared {
				if n == len(picked) && f.gives[decl] == bondIs && ofMaking(d.c, w.in.Name.Name, decl.Name.Name, 0) {
					return true
				}
			}
			return false
		}
		if at, ok := f.written(decoders, makes); ok {
			return at, true
		}
	}
	return at, false
}
