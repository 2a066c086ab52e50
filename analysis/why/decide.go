package why

import (
	"cmp"
	"slices"
	"strings"

	"loupe/format/compiler"
	"loupe/value/stack"
)

// candidate is a cause that has not been chosen yet.
type candidate struct {
	Cause
	// escapes says that the compiler has named it as coming from the heap;
	// other candidates only may.
	escapes bool
	weak    bool
	entry   bool                   // of a map literal
	also    []*compiler.Diagnostic // further reasons for the same expression
}

// decide finds the candidates of a site and chooses.
func (e *explainer) decide(s *Site, size int64, chain string) {
	asked := Mechanism(0)
	if e.stale(s.Frames[0]) {
		s.Stale = true
		return
	}
	if s.Runtime != "" {
		if asked = MechanismsOf(s.Runtime); asked == 0 {
			e.calledByName(s)
			return
		}
	}
	found := e.candidates(s.Frames)
	splitBoxes(found)
	if asked != 0 {
		for i := range found {
			found[i].Mechanism = found[i].serves(asked)
		}
		found = slices.DeleteFunc(found, func(c candidate) bool { return c.Mechanism == 0 })
	}
	if strong := slices.DeleteFunc(slices.Clone(found), func(c candidate) bool { return c.weak }); len(strong) > 0 {
		found = strong
	}
	// What escapes for sure allocates each time; what the compiler has kept on
	// the stack as far as it could allocates only beyond a size. Both count.
	at := map[compiler.Pos]bool{}
	for _, c := range found {
		at[c.Pos] = true
	}
	places := len(at) // alike ones are joined, but each has a call of its own
	found = outermost(fitting(distinct(found), size))
	if len(found) == places {
		found = inOrder(found, s.Frames[0].Address, e.calls[chain])
	}
	switch {
	case len(found) == 1 && found[0].escapes:
		s.Certainty = Exact
	case len(found) == 1:
		s.Certainty = Runtime
	case len(found) > 1:
		s.Certainty = Ambiguous
	case asked != 0 && asked&(asked-1) == 0:
		// The call tells the kind, the source does not tell the expression.
		s.Certainty = Runtime
		found = []candidate{{Cause: Cause{Mechanism: asked, Pos: posOf(s.Frames[0])}}}
	}
	for _, c := range found {
		if c.Reason == "" {
			c.Reason = words(&c, s.Runtime)
		}
		s.Causes = append(s.Causes, c.Cause)
	}
}

// stale says whether the source of a function is not the one that the program
// was built from: the function does not begin where the profile says.
func (e *explainer) stale(f stack.Frame) bool {
	if f.StartLine == 0 || stack.Enclosing(f.Func) != f.Func || strings.Contains(f.Func, ".func") || strings.Contains(f.Func, "-") {
		return false // wrappers and closures begin at odd places
	}
	src := e.source(f.File)
	return src != nil && src.whole && !src.funcs[f.StartLine]
}

// inOrder settles several makes on one line: they are carried out from left to
// right, so if each has a call of its own in the profile, the addresses of the
// calls are in the order of the columns.
func inOrder(list []candidate, address uint64, calls []uint64) []candidate {
	i := slices.Index(calls, address)
	if len(list) < 2 || len(calls) != len(list) || i < 0 {
		return list
	}
	for _, c := range list {
		if !c.escapes || c.Mechanism != Slice || !strings.HasPrefix(c.Expr, "make(") || c.Pos.Line != list[0].Pos.Line {
			return list
		}
	}
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b candidate) int { return cmp.Compare(a.Pos.Col, b.Pos.Col) })
	return list[i : i+1]
}

// fitting drops the candidates that objects of this size cannot be.
func fitting(list []candidate, size int64) []candidate {
	if size == 0 {
		return list
	}
	return slices.DeleteFunc(list, func(c candidate) bool {
		lo, hi := sizeRange(&c)
		return size < lo || hi > 0 && size > hi
	})
}

// calledByName explains a call of the runtime that the compiler has not put
// there: reflect.unsafe_New, runtime.SetFinalizer.
func (e *explainer) calledByName(s *Site) {
	reason := internalWords[stack.Local(s.Runtime)]
	switch {
	case !isRuntimeFrame(stack.Frame{Func: s.Runtime, File: "runtime/"}):
		// The frames below the line are hidden: the function that is called
		// has inlined one of the runtime, and profiles leave such frames out.
		reason = "allocated in " + s.Runtime + " or below, by a function of the runtime that was inlined there"
	case reason == "":
		reason = "allocated by " + s.Runtime
	default:
		reason += " (" + s.Runtime + ")"
	}
	s.Certainty = Runtime
	s.Causes = []Cause{{Mechanism: Call, Expr: s.Runtime, Pos: posOf(s.Frames[0]), Reason: reason}}
}

// distinct joins the candidates that are one: an expression that the compiler
// has given two reasons for, the copies of a generic function, two calls of one
// function on a line, both inlined.
func distinct(list []candidate) []candidate {
	var out []candidate
next:
	for _, c := range list {
		for i := range out {
			o := &out[i]
			if o.escapes != c.escapes || o.Mechanism != c.Mechanism {
				continue
			}
			// One place is one operation, however its names are printed: code
			// that was inlined twice names the package, or a temporary.
			same := c.Pos == o.Pos && c.Diagnostic != nil && o.Diagnostic != nil && c.Mechanism != Variable
			if !same && sameNames(o.Expr) != sameNames(c.Expr) {
				continue
			}
			if c.Diagnostic != nil && o.Diagnostic != nil && c.Pos == o.Pos {
				if c.escapes && !sameFlow(c.Diagnostic, o.Diagnostic) {
					o.also = append(o.also, c.Diagnostic)
				}
				continue next
			}
			if sameFlow(c.Diagnostic, o.Diagnostic) {
				continue next
			}
		}
		out = append(out, c)
	}
	return out
}

// outermost joins operations that are nested in one expression and are the
// same work: in append(append(s, a), b) either may be the one that grows, and
// []byte(s + t) concatenates right into the new bytes.
func outermost(list []candidate) []candidate {
	if len(list) < 2 {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(c candidate) bool {
		return slices.ContainsFunc(list, func(o candidate) bool {
			same := c.Mechanism == o.Mechanism && c.Mechanism&(Append|Concat) == c.Mechanism || c.Mechanism == Concat && o.Mechanism == Convert
			if c.entry && o.Mechanism&MakeMap != 0 && o.escapes {
				return true // the entries belong to the map literal
			}
			return same && len(o.Expr) > len(c.Expr) && c.Expr != "" && strings.Contains(o.Expr, c.Expr)
		})
	})
}

// sameNames is an expression without its packages and type arguments.
func sameNames(expr string) string { return local(stack.FoldGenerics(expr)) }

// sameFlow compares the ways of two escapes, apart from type arguments.
func sameFlow(a, b *compiler.Diagnostic) bool {
	if a == nil || b == nil {
		return a == b
	}
	return slices.EqualFunc(a.Flow, b.Flow, func(x, y compiler.Flow) bool {
		return sameNames(x.Dst) == sameNames(y.Dst) && sameNames(x.Src) == sameNames(y.Src) &&
			slices.EqualFunc(x.Steps, y.Steps, func(s, t compiler.Step) bool {
				return sameNames(s.Expr) == sameNames(t.Expr) && s.Why == t.Why
			})
	})
}

// candidates are the things on the innermost line that may allocate there.
func (e *explainer) candidates(frames []stack.Frame) []candidate {
	inner := frames[0]
	file, known := e.file(inner.File)
	var found []candidate
	spoken := false // the compiler speaks of operations that stay on the stack
	if known {
		here := e.set.At(file, inner.Line)
		chained := e.chained(here, frames)
		if chained == nil {
			chained = e.fromText(file, frames)
		}
		alone := false
		if chained == nil {
			if chained, alone = e.alone(here, frames), true; len(frames) == 1 {
				alone = false
			}
		}
		for _, d := range chained {
			mask := settle(d, maskOfText(d))
			if mask&Interface != 0 && isConstant(d.Text) {
				continue
			}
			found = append(found, candidate{Cause: Cause{Mechanism: mask, Expr: d.Text, Pos: d.Where(), Diagnostic: d, Alone: alone}, escapes: true})
		}
		for _, d := range here {
			if d.Kind != compiler.NoEscape || len(d.Inline) > 0 {
				continue
			}
			if mask := maskOfText(d) & (Slice | MakeMap | MapWrite | Append | Concat | Convert); mask != 0 && e.mayGrow(d, mask) {
				spoken = true
				found = append(found, candidate{Cause: Cause{Mechanism: mask, Expr: d.Text, Pos: d.Where(), Diagnostic: d}})
			}
		}
		if len(frames) > 1 {
			found = e.bodyOperations(found, here)
		}
		found = append(found, e.inLiteral(found, frames)...)
		found = append(found, e.deeper(frames)...)
		spoken = spoken || e.speaks(stack.Package(frames[len(frames)-1].Func), file)
	}
	return e.addSource(found, inner, spoken)
}

// inLiteral finds the literals in a map literal of several lines: those that
// are its values are made first, and under its own line.
func (e *explainer) inLiteral(found []candidate, frames []stack.Frame) (out []candidate) {
	if !slices.ContainsFunc(found, func(c candidate) bool { return c.Mechanism&MakeMap != 0 && strings.HasSuffix(c.Expr, "{...}") }) {
		return nil
	}
	src := e.source(frames[0].File)
	file, ok := e.file(frames[0].File)
	if src == nil || !ok {
		return nil
	}
	inner := slices.Clone(frames)
	for inner[0].Line++; inner[0].Line <= src.extent[frames[0].Line][1]; inner[0].Line++ {
		for _, d := range e.chained(e.set.At(file, inner[0].Line), inner) {
			if mask := settle(d, maskOfText(d)); mask&Object != 0 {
				out = append(out, candidate{Cause: Cause{Mechanism: mask, Expr: d.Text, Pos: d.Where(), Diagnostic: d}, escapes: true})
			}
		}
	}
	return out
}

// mayGrow says whether an operation that does not escape can still allocate.
func (e *explainer) mayGrow(d *compiler.Diagnostic, mask Mechanism) bool {
	if mask == Slice|MakeMap || mask&(MakeMap|Slice) != 0 && strings.HasPrefix(d.Text, "make(") {
		return true
	}
	// A literal of a struct type that does not escape never allocates.
	return mask&(Append|Concat|Convert) != 0 || strings.HasPrefix(d.Text, "map[")
}

// bodyOperations adds what the compiler says of the operations of an inlined
// function on its own: a concatenation that escapes there may stay within 32
// bytes of stack here, and allocate beyond.
func (e *explainer) bodyOperations(found []candidate, here []*compiler.Diagnostic) []candidate {
	for _, d := range here {
		if d.Kind != compiler.Escape || len(d.Inline) > 0 {
			continue
		}
		mask := settle(d, maskOfText(d)) & (Slice | MakeMap | Append | Concat | Convert)
		if mask == 0 || mask&Slice != 0 && !strings.HasPrefix(d.Text, "make(") {
			continue
		}
		if !slices.ContainsFunc(found, func(c candidate) bool { return c.Pos.Col == d.Pos.Col && c.Mechanism&mask != 0 }) {
			found = append(found, candidate{Cause: Cause{Mechanism: mask, Expr: d.Text, Pos: d.Pos}})
		}
	}
	return found
}

// chained are the escapes whose chain of positions is that of the frames.
func (e *explainer) chained(here []*compiler.Diagnostic, frames []stack.Frame) (out []*compiler.Diagnostic) {
	for _, d := range here {
		if d.Allocates() && e.sameChain(d, frames) {
			out = append(out, d)
		}
	}
	return out
}

// sameChain compares the positions of a diagnostic, the outermost first, with
// the frames of the profile, the innermost first.
func (e *explainer) sameChain(d *compiler.Diagnostic, frames []stack.Frame) bool {
	outer, inline := d.Pos, d.Inline
	if outer.File == "<autogenerated>" && len(inline) == len(frames) {
		outer, inline = inline[0], inline[1:] // wrappers are left out of stacks
	}
	if len(inline)+1 != len(frames) {
		return false
	}
	if !e.at(outer, frames[len(frames)-1]) {
		return false
	}
	for i, pos := range inline {
		if !e.at(pos, frames[len(frames)-2-i]) {
			return false
		}
	}
	return true
}

func (e *explainer) at(p compiler.Pos, f stack.Frame) bool {
	if p.Line != f.Line {
		return false
	}
	if p.File == f.File {
		return true
	}
	file, ok := e.file(f.File)
	return ok && file == p.File
}

// deeper finds what the code of an inlined call allocates under the line of the
// call itself: a parameter of the inlined function that was moved to the heap
// is set there. Other values of inlined code count only where the line has
// nothing else, for they lie under a line of their own as a rule.
func (e *explainer) deeper(frames []stack.Frame) (out []candidate) {
	root := frames[len(frames)-1]
	file, ok := e.file(root.File)
	if !ok {
		return nil
	}
	for _, d := range e.set.InlinedAt(file, root.Line) {
		if !d.Allocates() || len(d.Inline) < len(frames) {
			continue
		}
		outer := *d
		outer.Inline = d.Inline[:len(frames)-1]
		if !e.sameChain(&outer, frames) {
			continue
		}
		parameter := false
		if d.Kind == compiler.MovedToHeap && len(d.Inline) == len(frames) {
			src := e.source(d.Where().File)
			parameter = src == nil || slices.Contains(src.parameters[d.Where().Line], d.Where().Col)
		}
		out = append(out, candidate{Cause: Cause{Mechanism: settle(d, maskOfText(d)), Expr: d.Text, Pos: d.Where(), Diagnostic: d}, escapes: true, weak: !parameter})
	}
	return out
}

// fromText finds escapes of an inlined body where only the text of -m=2 is
// known: it names the call in the outermost function. The expression must be
// one that the body holds.
func (e *explainer) fromText(inner string, frames []stack.Frame) (out []*compiler.Diagnostic) {
	if len(frames) < 2 {
		return nil
	}
	root := frames[len(frames)-1]
	file, ok := e.file(root.File)
	if !ok {
		return nil
	}
	for _, d := range e.set.At(file, root.Line) {
		if !d.Allocates() || !d.Outer {
			continue
		}
		for _, body := range e.set.At(inner, frames[0].Line) {
			if (body.Allocates() || body.Kind == compiler.NoEscape) && body != d && local(body.Text) == local(d.Text) {
				out = append(out, d)
				break
			}
		}
	}
	return out
}

// local cuts the packages off the names in an expression: inlined code names
// them, the body in its own package does not.
func local(text string) string {
	var b strings.Builder
	start := 0
	for i := 0; i <= len(text); i++ {
		if i < len(text) && (text[i] == '_' || text[i] >= '0' && text[i] <= '9' || text[i]|0x20 >= 'a' && text[i]|0x20 <= 'z' || text[i] > 127) {
			continue
		}
		if i < len(text) && text[i] == '.' && i > start {
			start = i + 1
			continue
		}
		b.WriteString(text[start:i])
		if i < len(text) {
			b.WriteByte(text[i])
		}
		start = i + 1
	}
	return b.String()
}

// alone finds the escapes of the innermost function where the inlined copy is
// not known: the longest chain that ends in the same calls.
func (e *explainer) alone(here []*compiler.Diagnostic, frames []stack.Frame) (out []*compiler.Diagnostic) {
	for n := len(frames) - 1; n >= 1 && out == nil; n-- {
		out = e.chained(here, frames[:n])
	}
	return out
}

// speaks says whether the text of -m is known for a file: then operations of
// which it says nothing do not allocate.
func (e *explainer) speaks(_, file string) bool {
	if e.spoken == nil {
		e.spoken = map[string]bool{}
		for d := range e.set.All {
			if d.Kind == compiler.NoEscape {
				e.spoken[d.Pos.File] = true
			}
			if d.Kind == compiler.NoEscape && d.Text == "append" || d.Kind == compiler.Escape && strings.HasPrefix(d.Text, "append") {
				e.appends = true
			}
		}
	}
	return e.spoken[file]
}

// addSource adds what the source shows and the compiler says nothing about.
func (e *explainer) addSource(found []candidate, inner stack.Frame, spoken bool) []candidate {
	src := e.source(inner.File)
	if src == nil {
		return found
	}
	found = slices.DeleteFunc(found, func(c candidate) bool {
		return c.Mechanism&Slice != 0 && slices.Contains(src.extended[inner.Line], c.Pos.Col)
	})
	for _, op := range src.byLine[inner.Line] {
		for i := range found { // the compiler leaves out what is appended
			if c := &found[i]; c.Expr == "append" && c.Pos.Col == op.col && op.mask == Append {
				c.Expr = op.text
			}
		}
		if op.mask == Slice && slices.Contains(src.extended[inner.Line], op.col) {
			continue
		}
		if op.said && spoken && (op.mask != Append || e.appends) {
			continue
		}
		if op.mask&Call != 0 && op.mask != Call { // a function of the runtime, by its name
			found = append(found, candidate{Cause: Cause{Mechanism: op.mask, Expr: op.text, Pos: compiler.Pos{File: inner.File, Line: inner.Line, Col: op.col}}})
			continue
		}
		if slices.ContainsFunc(found, func(c candidate) bool {
			// Of what the compiler never speaks of, it has not spoken here.
			silent := op.mask&(MapWrite|MakeChan) == op.mask || op.mask == Concat && !op.said
			return c.Mechanism&op.mask != 0 && (c.Diagnostic != nil || c.Pos.Col == op.col) && !silent
		}) {
			continue
		}
		found = append(found, candidate{weak: op.weak || op.said && spoken, entry: op.entry,
			Cause: Cause{Mechanism: op.mask, Expr: op.text, Pos: compiler.Pos{File: inner.File, Line: inner.Line, Col: op.col}}})
	}
	return found
}

// file finds the name of a profile's file in the set.
func (e *explainer) file(name string) (string, bool) {
	if f, ok := e.files[name]; ok {
		return f, f != ""
	}
	f, ok := e.set.File(name)
	if !ok {
		f = ""
	}
	e.files[name] = f
	return f, ok
}

// source reads a file once. nil means that there is no source.
func (e *explainer) source(name string) *source {
	if s, ok := e.sources[name]; ok {
		return s
	}
	var s *source
	if e.opt.Source != nil && strings.HasSuffix(name, ".go") {
		if text, err := e.opt.Source(name); err == nil {
			s = readSource(text)
		}
	}
	e.sources[name] = s
	return s
}

// sizeRange bounds the size of what a candidate allocates, rounded up to the
// size classes of the runtime, with pointers of 4 or 8 bytes; hi 0 means that
// there is no bound.
func sizeRange(c *candidate) (lo, hi int64) {
	stays := !c.escapes && c.Diagnostic != nil // what is shorter is kept on the stack
	switch {
	case c.Mechanism == Interface && startsWith(c.Expr, "make([]", "append(", "[]", "([]"):
		return 12, 24 // the three words of a slice
	case c.Mechanism == Interface && (startsWith(c.Expr, "string(") || outsideBrackets(c.Expr, " + ") && strings.Contains(c.Expr, `"`)):
		return 8, 16
	case stays && (c.Mechanism == Convert || c.Mechanism == Concat), stays && c.Mechanism == Slice && startsWith(c.Expr, "make("):
		return 33, 0
	}
	return 0, 0
}

func startsWith(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}
