package web

import (
	"cmp"
	"context"
	"hash/fnv"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"loupe/analysis/calltree"
	"loupe/analysis/compare"
	"loupe/analysis/pprof"
	"loupe/format/profile"
	"loupe/report"
	"loupe/value/stack"
	"loupe/value/terminal"
)

// flame is a flame graph, or who calls a function and what it calls.
type flame struct {
	weightsShown
	// Views are the boxes: one view, or the callers and the callees.
	Views []flameView `json:"views"`
	// Path are the boxes above the one that is zoomed into, outermost first.
	Path []flameStep `json:"path"`
	// Lost tells that the box to zoom into is not there.
	Lost bool `json:"lost"`
	// The columns of the names that boxes have.
	Names   []string `json:"names"`
	Files   []string `json:"files"`   // file:line of one of the frames
	Classes string   `json:"classes"` // a digit for each, see report.FlameClass; 7 is a reason of waiting
	Hits    string   `json:"hits"`    // 1 for a name that is searched for
	Flat    []int64  `json:"flat"`    // of the function in all
	Cum     []int64  `json:"cum"`
	// Signs tell, in a comparison, whether a function grew (+) or shrank (-)
	// beyond chance, did not (=), or cannot be told (?).
	Signs string `json:"signs"`
	// Matched is the weight of all stacks with a name that is searched for.
	Matched      int64  `json:"matched"`
	MatchedShown string `json:"matched_shown"`
	// Base is the weight of what is compared with.
	Base      int64  `json:"base"`
	BaseShown string `json:"base_shown"`
}

// weightsShown is what every view of weights says.
type weightsShown struct {
	Type   string `json:"type"`
	Unit   string `json:"unit"`
	Total  int64  `json:"total"` // what shares are of
	Shown  string `json:"shown"`
	Covers string `json:"covers"`
	Diff   bool   `json:"diff"`
	// Part is what of the total the filters have left.
	Part      int64    `json:"part"`
	PartShown string   `json:"part_shown"`
	Notes     []string `json:"notes"`
}

// flameView holds boxes in columns, depth first, the widest of siblings first.
type flameView struct {
	Name   []int32 `json:"name"`
	Depth  []int32 `json:"depth"`
	Weight []int64 `json:"weight"`
	Self   []int64 `json:"self"`
	Base   []int64 `json:"base"` // nil unless it is a comparison
	Inline []int32 `json:"inline"`
	// Narrow is how many boxes below are too narrow to be drawn, and their
	// weight.
	Narrow       []int32 `json:"narrow"`
	NarrowWeight []int64 `json:"narrow_weight"`
	// Top and TopWeight are the same of the first level.
	Top       int   `json:"top"`
	TopWeight int64 `json:"top_weight"`
	Total     int64 `json:"total"`
	Width     int64 `json:"width"` // of all boxes of the first level
}

type flameStep struct {
	Name   string `json:"name"`
	Hash   string `json:"hash"`
	Weight int64  `json:"weight"`
	Shown  string `json:"shown"`
}

const (
	maxFlameBoxes = 10_000
	// findShare is the share down to which a box is looked for that is zoomed
	// into, whatever the width of the page is.
	findShare = 1.0 / 8000
)

func (r *shown) about() weightsShown {
	w := weightsShown{Type: r.Type, Unit: r.Unit, Total: r.Total, Shown: weightText(r.Total, r.Unit), Covers: r.covers, Diff: r.diff, Notes: slices.Clone(r.warned)}
	for _, v := range r.weights(false) {
		w.Part += max(v, -v)
	}
	w.PartShown = weightText(w.Part, r.Unit)
	if r.means != "" {
		w.Notes = append(w.Notes, r.Type+": "+r.means+".")
	}
	return w
}

// sideOf returns the weights of one side of a comparison, both more than
// nothing.
func sideOf(r *pprof.Report, p *profile.Profile, base bool) calltree.Samples {
	is := make([]bool, p.NumLabelSets())
	for set := range is {
		is[set] = r.IsBase(profile.LabelSet(set))
	}
	column := p.Values[r.Index()]
	return func(yield func(stack.ID, int64) bool) {
		for row, id := range p.StackIDs {
			v := column[row]
			if is[p.SetOf(row)] != base {
				continue
			}
			if base {
				v = -v // it was subtracted
			}
			if !yield(id, v) {
				return
			}
		}
	}
}

// nameOf is how a frame is called in all views.
func nameOf(f stack.Frame) string {
	if f.Func == "" {
		return calltree.Place{Module: f.Module, Address: f.Address}.String()
	}
	return stack.FoldGenerics(f.Func)
}

// exactly is an expression for a function as nameOf calls it, and the pages:
// what clean has taken away may have been anything.
func exactly(name string) string {
	return "^" + strings.NewReplacer(`\[\.\.\.\]`, `\[.*\]`, "\ufffd", ".").Replace(regexp.QuoteMeta(name)) + "$"
}

// profileFlame answers with a flame graph. Parameters beside those of a report:
// width in pixels, zoom (the hashes of boxes, by "."), inverted, f for the
// function whose callers and callees are asked for, q to search, group.
func profileFlame(ctx context.Context, s *Server, q *query) (*flame, error) {
	r, err := s.report(ctx, q, nil, "top")
	if err != nil {
		return nil, err
	}
	width, err := q.number("width", 1200)
	if err != nil {
		return nil, err
	}
	out := &flame{weightsShown: r.about(), Path: []flameStep{}}
	least := 0.5 / float64(min(max(width, 100), 8000))
	opt := calltree.FlameOptions{MinShare: least, NoInlines: r.Config.NoInlines, Name: nameOf, Inverted: q.Get("inverted") != ""}
	switch q.Get("group") {
	case "package":
		opt.Name = func(f stack.Frame) string { return cmp.Or(stack.Package(f.Func), f.Func) }
	case "recursion":
		opt.FoldRecursion = true
	}
	if r.diff {
		opt.Base = r.weights(true)
		for _, v := range r.weights(true) {
			out.Base += v
		}
		out.BaseShown = weightText(out.Base, r.Unit)
	}
	t := r.Profile.Stacks
	p := flamePacker{flame: out, r: r, number: map[string]int32{}}
	if p.search, err = searched(q.Get("q")); err != nil {
		return nil, err
	}
	if f := q.Get("f"); q.Get("view") == "sandwich" {
		callers, callees := calltree.Sandwich(t, r.weights(false), func(x stack.Frame) bool { return clean(nameOf(x)) == f }, opt)
		p.view(callers)
		p.view(callees)
	} else {
		g := p.zoomed(t, opt, q.Get("zoom"))
		if len(g.Boxes) > maxFlameBoxes {
			sizes := make([]int64, len(g.Boxes))
			for i := range g.Boxes {
				sizes[i] = sizeOf(&g.Boxes[i])
			}
			slices.SortFunc(sizes, func(a, b int64) int { return cmp.Compare(b, a) })
			opt.MinShare = float64(sizes[maxFlameBoxes]+1) / float64(max(1, widthOf(g)))
			out.Path, out.Lost = []flameStep{}, false
			g = p.zoomed(t, opt, q.Get("zoom"))
		}
		p.view(g)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if p.search != nil {
		p.matched(t)
	}
	p.functions()
	if r.diff {
		p.signs(q)
	}
	return out, nil
}

func magnitude(v int64) int64 { return max(v, -v) }

// sizeOf is what decides on a box being drawn.
func sizeOf(b *calltree.Box) int64 { return magnitude(b.Weight) + magnitude(b.BaseWeight) }

func widthOf(g *calltree.FlameGraph) int64 { return max(magnitude(g.Total), magnitude(g.Base)) }

// searched compiles what is searched for: an expression, or plain text where it
// is none; case counts only where there are capitals.
func searched(text string) (*regexp.Regexp, error) {
	if text == "" {
		return nil, nil
	}
	if len(text) > 1000 {
		return nil, &refusal{http.StatusBadRequest, "the search is too long"}
	}
	flags := ""
	if strings.ToLower(text) == text {
		flags = "(?i)"
	}
	re, err := regexp.Compile(flags + text)
	if err != nil {
		re, err = regexp.Compile(flags + regexp.QuoteMeta(text))
	}
	return re, err
}

// flamePacker fills a flame in.
type flamePacker struct {
	*flame
	r      *shown
	number map[string]int32
	frames []stack.FrameID // by number
	search *regexp.Regexp
}

// hashOf continues the hash of a path by one name. The pages compute the same.
func hashOf(before uint32, name string) uint32 {
	h := fnv.New32a()
	var b [4]byte
	for i := range b {
		b[i] = byte(before >> (8 * i))
	}
	h.Write(b[:])
	h.Write([]byte(name))
	return h.Sum32()
}

// zoomed makes the graph of the box at the end of a chain of hashes.
func (p *flamePacker) zoomed(t *stack.Table, opt calltree.FlameOptions, chain string) *calltree.FlameGraph {
	least := opt.MinShare
	if chain != "" {
		opt.MinShare = min(least, findShare)
	}
	g := calltree.Flame(t, p.r.weights(false), opt)
	if chain == "" {
		return g
	}
	links := strings.Split(chain, ".")
	before, skip := uint32(0), 0 // of the box at the top of g; its own place is known
	for n, link := range links {
		want, err := strconv.ParseUint(link, 36, 32)
		hashes := make([]uint32, len(g.Boxes))
		at := -1
		for i := range g.Boxes {
			b := &g.Boxes[i]
			switch {
			case skip == 1 && i == 0:
				hashes[i] = before
			case b.Parent < 0:
				hashes[i] = hashOf(0, clean(g.Names[b.Name]))
			default:
				hashes[i] = hashOf(hashes[b.Parent], clean(g.Names[b.Name]))
			}
			if hashes[i] == uint32(want) && !(skip == 1 && i == 0) {
				at = i
				break
			}
		}
		if err != nil || at < 0 {
			p.Lost = true
			break
		}
		var steps []flameStep
		for i := int32(at); i >= int32(skip); i = g.Boxes[i].Parent {
			b := &g.Boxes[i]
			steps = append(steps, flameStep{clean(g.Names[b.Name]), strconv.FormatUint(uint64(hashes[i]), 36), b.Weight, weightText(b.Weight, p.r.Unit)})
		}
		slices.Reverse(steps)
		p.Path = append(p.Path, steps...)
		share := opt.MinShare
		if n == len(links)-1 {
			share = least
		}
		before, skip = hashes[at], 1
		g = g.Zoom(at, share)
	}
	return g
}

// view adds the boxes of a graph.
func (p *flamePacker) view(g *calltree.FlameGraph) {
	n := len(g.Boxes)
	v := flameView{
		Name: make([]int32, n), Depth: make([]int32, n), Weight: make([]int64, n), Self: make([]int64, n), Inline: []int32{},
		Narrow: make([]int32, n), NarrowWeight: make([]int64, n), Total: g.Total,
	}
	if p.Diff {
		v.Base = make([]int64, n)
	}
	top := g.Total
	for i := range g.Boxes {
		b := &g.Boxes[i]
		v.Name[i], v.Depth[i], v.Weight[i], v.Self[i], v.Narrow[i], v.NarrowWeight[i] = p.name(g, b.Name), b.Depth, b.Weight, b.Self, b.Narrow, b.NarrowWeight
		if b.Inline {
			v.Inline = append(v.Inline, int32(i))
		}
		if p.Diff {
			v.Base[i] = b.BaseWeight
		}
		if b.Parent < 0 {
			top -= b.Weight
			v.Width += magnitude(b.Weight)
		}
	}
	// Beside the narrow ones, these are the stacks without any frame.
	v.TopWeight = top
	v.Width += magnitude(top)
	if len(g.Levels) > 0 {
		v.Top = g.Levels[0].Narrow
	}
	p.Views = append(p.Views, v)
}

// name returns the number of a name.
func (p *flamePacker) name(g *calltree.FlameGraph, at int32) int32 {
	name := g.Names[at]
	if n, ok := p.number[name]; ok {
		return n
	}
	n := int32(len(p.Names))
	p.number[name] = n
	f := p.r.Profile.Stacks.Frame(g.Frames[at])
	p.Names = append(p.Names, clean(name))
	file := ""
	if f.File != "" {
		file = clean(path.Base(strings.ReplaceAll(f.File, `\`, "/"))) + ":" + strconv.Itoa(cmp.Or(f.StartLine, f.Line))
	}
	p.Files = append(p.Files, file)
	p.frames = append(p.frames, g.Frames[at])
	p.Classes += string(rune('0' + classOf(p.r.scope, name)))
	hit := "0"
	if p.search != nil && (p.search.MatchString(name) || p.search.MatchString(f.Func)) {
		hit = "1"
	}
	p.Hits += hit
	return n
}

// classOf is whose code a name is.
func classOf(scope stack.Scope, name string) int {
	if strings.HasPrefix(name, "[") {
		return 7 // "[chan receive]": why a goroutine does not run
	}
	return report.FlameClass(scope, name)
}

// clean leaves out what no text should have: control characters and those that
// turn the direction of writing.
func clean(name string) string {
	return strings.Map(func(r rune) rune {
		if terminal.Obeyed(r) {
			return '\ufffd'
		}
		return r
	}, strings.ToValidUTF8(name, "\ufffd"))
}

// matched weighs the stacks with a name that is searched for.
func (p *flamePacker) matched(t *stack.Table) {
	hit := make([]bool, t.NumFrames())
	for i := range hit {
		f := t.Frame(stack.FrameID(i))
		hit[i] = p.search.MatchString(f.Func) || p.search.MatchString(stack.FoldGenerics(f.Func))
	}
	for id, v := range p.r.weights(false) {
		if slices.ContainsFunc(t.Frames(id), func(f stack.FrameID) bool { return hit[f] }) {
			p.Matched += v
		}
	}
	p.MatchedShown = weightText(p.Matched, p.r.Unit)
}

// functions fills in what each function has in all places together.
func (p *flamePacker) functions() {
	g := calltree.New(p.r.Profile.Stacks, calltree.Plain(p.r.weights(false)), calltree.Options{NoEdges: true, Group: nameOf, NoInlines: p.r.Config.NoInlines})
	p.Flat, p.Cum = make([]int64, len(p.Names)), make([]int64, len(p.Names))
	for _, n := range g.Nodes {
		if i, ok := p.number[n.Func]; ok {
			p.Flat[i], p.Cum[i] = n.Flat, n.Cum
		}
	}
}

// signs fills in what of a comparison is more than chance.
func (p *flamePacker) signs(q *query) {
	d, err := compare.Profiles([]*profile.Profile{p.r.a}, []*profile.Profile{p.r.b}, compare.ProfileOptions{
		SampleIndex: p.r.Type, FoldGenerics: true, Cum: true, Normalize: q.Get("norm") != "",
	})
	if err != nil {
		p.Notes = append(p.Notes, "What is chance cannot be told: "+err.Error())
		p.Signs = strings.Repeat("?", len(p.Names))
		return
	}
	by := map[string]compare.Significance{}
	for i := range d.Rows {
		by[d.Rows[i].Name] = d.Rows[i].Cum.Significance
	}
	signs := make([]byte, len(p.Names))
	for i, name := range p.Names {
		switch by[name] {
		case compare.Grew:
			signs[i] = '+'
		case compare.Shrank:
			signs[i] = '-'
		case compare.NoDifference:
			signs[i] = '='
		default:
			signs[i] = '?'
		}
	}
	p.Signs = string(signs)
	if d.Doubt == compare.Unfounded {
		p.Notes = append(p.Notes, "Nothing is known of the error of these values, so that no difference can be told from chance.")
	}
	p.Notes = append(p.Notes, d.Notes...)
}
