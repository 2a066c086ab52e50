package insight

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
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

// A deep copy that is made by encoding a value and decoding it right away. The two halves may be at two lines, and in
// functions that the one that copies calls: all of it counts for that one.

// deepCopy is such a function with its samples.
type deepCopy struct {
	encodedCopy
	name, file     string
	lines          [2]int // where it encodes and decodes
	halves         [2]int64
	weight         int64
	heavy          stack.ID
	most           int64
	place          int // the position of its frame on that stack
	encodes, reads [2]int
	coders         map[string]bool // the functions of the package that it comes to
}

// deepCopiesIn are the functions of a CPU profile that copy so, the heaviest first.
func deepCopiesIn(in *Input, w *facts.Weights) []*deepCopy {
	v, known := in.view(w.Profile), map[string]*deepCopy{}
	startup := v.marks("startup")
	for id, n := range w.Profile.Samples(w.Index) {
		frames := v.t.Frames(id)
		if n <= 0 || slices.ContainsFunc(frames, func(f stack.FrameID) bool { return startup[f] }) {
			continue
		}
		for i, f := range frames { // the innermost first
			if v.origins[f] != stack.User {
				continue
			}
			at := v.t.Frame(f)
			d, asked := known[at.Func]
			if !asked {
				d = deepCopyOf(in.code, at)
				known[at.Func] = d
			}
			if d == nil {
				continue
			}
			if coder := coderIn(v, frames[:i]); coder != "" && d.add(at.Line, n) {
				d.coders[stack.FoldGenerics(coder)] = true
				if n > d.most {
					d.most, d.heavy, d.place = n, id, i
				}
				break
			}
		}
	}
	var all []*deepCopy
	for _, d := range known {
		if d != nil && d.weight > 0 {
			all = append(all, d)
		}
	}
	slices.SortFunc(all, func(a, b *deepCopy) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.name, b.name))
	})
	return all
}

func deepCopyOf(c *code, at stack.Frame) *deepCopy {
	x, ok := encodedCopyIn(c, at)
	if !ok {
		return nil
	}
	d, s := &deepCopy{encodedCopy: x, name: at.Func, file: at.File, coders: map[string]bool{}}, c.parse(at.File)
	d.encodes[0], d.encodes[1] = s.lines(x.encode)
	d.reads[0], d.reads[1] = s.lines(x.decode)
	d.lines = [2]int{d.encodes[0], d.reads[0]}
	return d
}

// valueCodecs are the packages of the standard library that encode values; others encode bytes.
var valueCodecs = []string{"encoding/json", "encoding/gob", "encoding/xml", "encoding/asn1"}

// coderIn is the function by which the frames of a stack, the leaf first, encode or decode; empty where they do not: what
// makes the value, or looks at the copy, is no part of the copying.
func coderIn(v *view, frames []stack.FrameID) string {
	for i := len(frames) - 1; i >= 0; i-- {
		name := v.t.Frame(frames[i]).Func
		if v.origins[frames[i]] == stack.User || !slices.Contains([]string{"Marshal", "MarshalIndent", "Unmarshal", "Encode", "Decode"}, lastName(name)) {
			continue
		}
		if pkg := stack.Package(name); !stack.IsStandard(pkg) || slices.ContainsFunc(valueCodecs, func(p string) bool { return strings.HasPrefix(pkg, p) }) {
			return name
		}
	}
	return ""
}

// add counts samples at one of the lines.
func (d *deepCopy) add(line int, n int64) bool {
	half := 0
	switch {
	case d.encodes[0] <= line && line <= d.encodes[1]:
	case d.reads[0] <= line && line <= d.reads[1]:
		half = 1
	default:
		return false
	}
	d.weight += n
	d.halves[half] += n
	return true
}

// withDeepCopies puts copies by encoding before what a format costs elsewhere, in which they do not count.
func withDeepCopies(r *Rule, in *Input, rest func(except func(*stack.Table, []stack.FrameID) bool) []Finding) []Finding {
	nothing := func(*stack.Table, []stack.FrameID) bool { return false }
	w, err := in.Facts.Weights(facts.CPU, "samples")
	if err != nil || float64(w.Total()) < r.param("samples") {
		return rest(nothing)
	}
	var found []Finding
	var told []*deepCopy
	for _, d := range deepCopiesIn(in, w) {
		share := stats.Wilson(float64(d.weight), float64(w.Total()), compare.Confidence)
		if share.Low >= r.param("share") && d.weight >= minHits && len(found) < 2 {
			found, told = append(found, d.finding(r, in, w, share)), append(told, d)
		}
	}
	if len(found) == 0 {
		return rest(nothing)
	}
	others := rest(func(t *stack.Table, frames []stack.FrameID) bool {
		return slices.ContainsFunc(frames, func(f stack.FrameID) bool {
			at := t.Frame(f)
			return slices.ContainsFunc(told, func(d *deepCopy) bool { return d.name == at.Func && d.file == at.File && d.covers(at.Line) })
		})
	})
	return append(found, slices.DeleteFunc(others, func(f Finding) bool { return f.State != Found })...)
}

func (d *deepCopy) covers(line int) bool {
	return d.encodes[0] <= line && line <= d.encodes[1] || d.reads[0] <= line && line <= d.reads[1]
}

// finding says who copies so, and what to do instead.
func (d *deepCopy) finding(r *Rule, in *Input, w *facts.Weights, share stats.Interval) Finding {
	f := r.answer(Found, "%s of the CPU time went into copying values by way of package %s: %s in %s encodes a value, and decodes the result right away", unit.Percent(share.Estimate),
		d.codec, fileLine(d.file, d.lines[0]), stack.Short(stack.FoldGenerics(d.name)))
	if d.lines[1] != d.lines[0] {
		f.Summary += fmt.Sprintf(" (line %d)", d.lines[1])
	}
	f.Title = "Deep copy by encoding and decoding (" + d.codec + ")"
	f.takes(r, share)
	for half, n := range d.halves {
		if half == 1 && d.lines[1] == d.lines[0] {
			break
		}
		what := []string{"it encodes", "it decodes"}[half]
		if d.lines[1] == d.lines[0] {
			what, n = "it encodes and decodes", d.weight
		}
		e := in.lineAt(w.Entry, stack.Frame{Func: d.name, File: d.file, Line: d.lines[half]}, "%s here: %d of %d samples", what, n, w.Total())
		if p, ok := in.Session.Manifest().PhaseNamed(w.Entry.Phase); ok {
			e.Span = span(p.Span)
		}
		f.Evidence = append(f.Evidence, e)
		for line := d.encodes[0]; line <= d.encodes[1] && half == 0; line++ {
			f.costs = append(f.costs, d.costsAt(line)...)
		}
		for line := d.reads[0]; line <= d.reads[1] && half == 1; line++ {
			f.costs = append(f.costs, d.costsAt(line)...)
		}
	}
	slices.SortStableFunc(f.Evidence, func(a, b Evidence) int { // the heavier half first
		return cmp.Compare(d.halves[slices.Index(d.lines[:], b.Line)], d.halves[slices.Index(d.lines[:], a.Line)])
	})
	f.Evidence[0].Stack = evidenceStack(facts.Frames(w.Profile.Stacks, d.heavy)[d.place:])
	f.Evidence[0].Stack[0].Line = f.Evidence[0].Line
	f.Advice, f.belows = deepCopyAdvice, true
	if !d.intoNew(in.code) {
		f.Doubts = append(f.Doubts, "what it decodes into may exist already: then what the text does not have stays as it is, and a copy of the struct would replace it")
	}
	f.Doubts = append(f.Doubts, "package "+d.codec+" leaves out unexported fields, and others by their tags, and may call methods of the type; behind an interface (any) numbers become float64 and lists []any: where that is meant, the copy has to do the same")
	return f
}

// costsAt are what the package takes at a line.
func (d *deepCopy) costsAt(line int) (all []cost) {
	for _, name := range slices.Sorted(maps.Keys(d.coders)) {
		all = append(all, cost{file: d.file, line: line, callee: name})
	}
	return all
}

// deepCopyAdvice is what to do instead of encoding and decoding.
const deepCopyAdvice = "The function encodes a value and decodes it right away, which makes a copy of it: copy it by hand (assign the struct, and clone its slices and maps with slices.Clone and maps.Clone; these copy the elements only, so that slices, maps and pointers inside them need copies of their own), or generate a method for a deep copy. If the types differ, assign the fields. If nobody changes what is handed out, no copy is needed at all; and where the value was decoded from the same format into an interface, encoding and decoding it gives the same again."

// intoNew tells whether it decodes into a value that its function has made, or the one that it calls.
func (d *deepCopy) intoNew(c *code) bool {
	if d.into == nil {
		return true
	}
	x := ast.Unparen(d.into)
	if address, ok := x.(*ast.UnaryExpr); ok && address.Op == token.AND {
		x = address.X
	}
	id, ok := x.(*ast.Ident)
	if !ok {
		return false
	}
	fn := c.function(stack.Frame{Func: d.name, File: d.file, Line: d.lines[0]})
	if fn == nil || slices.Contains(parameters(fn.Type), id.Name) || scopeOf(fn).receiver == id.Name {
		return false
	}
	made := assignedTo(fn, id.Name)
	return len(made) == 0 && scopeOf(fn).declares(id.Name) || len(made) == 1 && isMadeNew(made[0])
}

// isMadeNew tells of an expression that it makes a value: T{…}, &T{…}, new(T), make(T).
func isMadeNew(x ast.Expr) bool {
	switch x := ast.Unparen(x).(type) {
	case *ast.UnaryExpr:
		return x.Op == token.AND && isMadeNew(x.X)
	case *ast.CompositeLit:
		return true
	case *ast.CallExpr:
		name := types.ExprString(x.Fun)
		return name == "new" || name == "make"
	}
	return false
}
