package insight

import (
	"fmt"
	"go/ast"
	goconstant "go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

// bufferTitle is the title of a huge buffer that a stream goes through a piece at a time.
const bufferTitle = "A buffer far larger than needed holds most of the live heap"

// reservedTitle is that of memory of which most was never touched.
const reservedTitle = "Most of the live heap is reserved for what never comes"

// localBuffer is memory that a line makes in one piece and that a local variable holds, by the source.
type localBuffer struct {
	name  string // the variable; empty where it is given to a call at once
	size  int64  // in elements, where it is constant; else 0
	sized string // how large it is, as the source has it
	// streams tells that data goes through it a piece at a time, each over the one before: then nothing but the time of
	// a call depends on its size. at is where.
	streams bool
	at      Evidence
	// parts tells that a stream goes through it whose pieces may be what somebody counts on: what is looked at in it, written
	// only at the end, or given on as a part.
	parts bool
	// grows tells of the buffer of a scanner: it may begin small, and its limit is another argument.
	grows bool
}

// localBufferAt finds what a line makes. It is false where the source shows no local variable that holds it.
func localBufferAt(c *code, at stack.Frame) (b localBuffer, ok bool) {
	d := newDerivations(c)
	in, found := d.at(at)
	if !found {
		return b, false
	}
	eachNode(in.body(), func(n ast.Node, around []ast.Node) {
		call, is := n.(*ast.CallExpr)
		if ok || !is || len(around) == 0 {
			return
		}
		if _, line, _ := d.t.at(call.Pos()); line != at.Line {
			return
		}
		parent := around[len(around)-1]
		switch name := calledName(call); {
		case d.t.fromPackage(call.Fun) == "bufio" && (name == "NewReaderSize" || name == "NewWriterSize") && len(call.Args) == 2:
			b, ok = sizedBuffer(d, call.Args[1]), true
			b.streams = name == "NewReaderSize" && onlyReadFrom(d, in.decl, d.variable(definedAs(parent, call)))
			b.parts, b.at = !b.streams, c.shownAt(at.File, at.Line, "a stream goes through it here")
		case isNamed(call.Fun, "make") && len(call.Args) > 1:
			b = sizedBuffer(d, call.Args[len(call.Args)-1])
			if outer, is := parent.(*ast.CallExpr); is {
				ok = givenToCopy(d, outer, call) && isBytes(d, call.Args[0])
				b.streams, b.grows, b.at = ok, calledName(outer) == "Buffer", c.shownAt(at.File, at.Line, "a stream goes through it here")
				return
			}
			id := definedAs(parent, call)
			v := d.variable(id)
			if id == nil || v == nil || !isLocal(in.decl, v) || isGiven(in.decl, v) {
				return
			}
			b.name, ok = v.Name(), true
			if through := streamThrough(d, in.decl, v); through != nil && isBytes(d, call.Args[0]) {
				_, line, _ := d.t.at(through.Pos())
				b.parts = givesParts(d, in.decl, v)
				b.streams, b.at = !b.parts, c.shownAt(at.File, line, "a stream goes through it here, a piece at a time")
			}
		}
	})
	return b, ok
}

// sizedBuffer is a buffer of so many elements.
func sizedBuffer(d *derivations, size ast.Expr) (b localBuffer) {
	b.sized = types.ExprString(size)
	if tv, ok := d.t.info.Types[size]; ok && tv.Value != nil && tv.Value.Kind() == goconstant.Int {
		b.size, _ = goconstant.Int64Val(tv.Value)
	} else if n, known := numberOf(size); known {
		b.size = n
	}
	return b
}

// isBytes tells of a type that it is a slice of bytes.
func isBytes(d *derivations, x ast.Expr) bool {
	t := d.t.typeOf(x)
	if t == nil {
		return types.ExprString(x) == "[]byte"
	}
	s, ok := t.Underlying().(*types.Slice)
	return ok && types.Identical(s.Elem().Underlying(), types.Typ[types.Byte])
}

// definedAs is the variable that a statement defines, or sets, as a value; nil is none.
func definedAs(parent ast.Node, value ast.Expr) *ast.Ident {
	switch p := parent.(type) {
	case *ast.AssignStmt:
		for i, x := range p.Rhs {
			if x == value && len(p.Lhs) == len(p.Rhs) {
				id, _ := p.Lhs[i].(*ast.Ident)
				return id
			}
		}
	case *ast.ValueSpec:
		for i, x := range p.Values {
			if x == value && i < len(p.Names) {
				return p.Names[i]
			}
		}
	}
	return nil
}

// givenToCopy tells whether a call takes a buffer for a stream: io.CopyBuffer, or the Buffer of a bufio.Scanner, which grows
// up to its other argument.
func givenToCopy(d *derivations, call *ast.CallExpr, buffer ast.Expr) bool {
	switch calledName(call) {
	case "CopyBuffer":
		return d.t.fromPackage(call.Fun) == "io" && len(call.Args) == 3 && ast.Unparen(call.Args[2]) == buffer
	case "Buffer":
		return isMethodCall(call) && len(call.Args) == 2 && ast.Unparen(call.Args[0]) == buffer
	}
	return false
}

// streamThrough finds the call by which a stream goes through all of a local variable: a Read into it from its beginning, in
// a loop that it is made outside of, so that each overwrites the one before and may bring any number of bytes; or
// io.CopyBuffer. Nil where there is none, or where the variable is used otherwise: what is asked for here, or read behind
// what is there (b[n:]), may need its size.
func streamThrough(d *derivations, decl *ast.FuncDecl, v types.Object) (through ast.Node) {
	other := false
	eachNode(decl, func(n ast.Node, around []ast.Node) {
		id, is := n.(*ast.Ident)
		if other || !is || d.t.info.Uses[id] != v || len(around) == 0 {
			return
		}
		switch p := around[len(around)-1].(type) {
		case *ast.SliceExpr:
			from, known := numberOf(orZero(p.Low))
			other = p.X != ast.Expr(id) || !known || from != 0
		case *ast.CallExpr:
			name := calledName(p)
			switch {
			case name == "len" || name == "cap":
			case givenToCopy(d, p, id):
				through = p
			case name == "Read" && isMethodCall(p) && len(p.Args) == 1:
				if loopsSince(around, v.Pos()) {
					through = p
				} else {
					other = true
				}
			default:
				other = true
			}
		default:
			other = true
		}
	})
	if other {
		return nil
	}
	return through
}

// readMethods are methods of a bufio.Reader that do not need what they read to be in its buffer at once.
var readMethods = []string{"Read", "ReadByte", "UnreadByte", "ReadRune", "UnreadRune", "ReadString", "ReadBytes", "WriteTo", "Buffered"}

// onlyReadFrom tells of a variable that holds a bufio.Reader that it is only read, by its methods or by packages io and bufio: Peek, ReadSlice and ReadLine
// need room for what they return, and of other functions it is not known.
func onlyReadFrom(d *derivations, decl *ast.FuncDecl, v types.Object) bool {
	only := v != nil
	eachNode(decl, func(n ast.Node, around []ast.Node) {
		id, is := n.(*ast.Ident)
		if !only || !is || d.t.info.Uses[id] != v || len(around) == 0 {
			return
		}
		switch p := around[len(around)-1].(type) {
		case *ast.SelectorExpr:
			only = slices.Contains(readMethods, p.Sel.Name)
		case *ast.CallExpr:
			from := d.t.fromPackage(p.Fun)
			only = from == "io" || from == "bufio"
		default:
			only = false
		}
	})
	return only
}

// givesParts tells of a buffer that a piece of it is given to a call other than Write, append and copy: to whom it may matter
// how large the piece is, as a part of an upload or a block that is encrypted.
func givesParts(d *derivations, decl *ast.FuncDecl, v types.Object) (gives bool) {
	eachNode(decl, func(n ast.Node, around []ast.Node) {
		x, is := n.(*ast.SliceExpr)
		if gives || !is || d.t.info.Uses[rootIdent(x.X)] != v {
			return
		}
		call, is := around[len(around)-1].(*ast.CallExpr)
		gives = !is || !slices.Contains([]string{"Write", "append", "copy", "string", "Read"}, calledName(call))
	})
	return gives
}

// orZero is where a slice begins.
func orZero(low ast.Expr) ast.Expr {
	if low == nil {
		return &ast.BasicLit{Kind: token.INT, Value: "0"}
	}
	return low
}

// loopsSince tells whether one of the nodes is a loop that begins behind a position.
func loopsSince(around []ast.Node, pos token.Pos) bool {
	for _, n := range around {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			if n.Pos() > pos {
				return true
			}
		}
	}
	return false
}

// leastBuffer is from how many bytes on a buffer for a stream is far larger than needed. Chosen: a call of the kernel costs as
// much as copying some kilobytes, so that nothing is gained beyond some hundred of them.
const leastBuffer = 16 << 20

// says is what the source shows of it.
func (b localBuffer) says() string {
	what := "it is a buffer"
	if b.name != "" {
		what = "the variable " + b.name + " holds it"
	}
	switch {
	case b.size > 0 && b.streams:
		what += ", always of " + unit.BytesOf(float64(b.size))
	case b.size > 0:
		what += ", always of " + b.sized
	case b.sized != "":
		what += ", of " + b.sized
	}
	switch {
	case b.streams && b.grows:
		what += fmt.Sprintf(", which the scanner at %s makes larger where a token needs it", fileLine(b.at.File, b.at.Line))
	case b.streams:
		what += fmt.Sprintf(", and data goes through it at %s, each piece over the one before: any size would do", fileLine(b.at.File, b.at.Line))
	case b.parts:
		what += fmt.Sprintf(", and data goes through it at %s", fileLine(b.at.File, b.at.Line))
	}
	return "according to the source, " + what
}

// advice is what to do about it.
func (b localBuffer) advice() string {
	switch {
	case b.grows:
		return "Let it begin small, with 64 KiB: the scanner grows it up to its limit. The limit is the other argument of Buffer, or the size of this buffer if that is larger: keep it, as longer tokens end the scan with an error."
	case b.parts:
		return fmt.Sprintf("Check what needs pieces of this size: a stream takes 64 KiB to 1 MiB as well. If each piece is a part of its own (of an upload), or has to fit as a whole (what Peek returns, what is written only after a success), it has to be of a size for that; then %s is to be checked against the data.", b.sized)
	case b.streams:
		return "Make the buffer smaller: with 64 KiB to 1 MiB the calls cost next to nothing beside the data. io.Copy does it with 32 KiB, or without a buffer where the kernel can copy; io.CopyBuffer takes a buffer that serves for all files or requests. " +
			"All of a large buffer has to be mapped, and cleared where the memory was used before, however short the data is."
	case b.size > 0:
		return fmt.Sprintf("It is of the same size however much there is to put into it: make it as large as the data needs (the size of a file by Stat, a length that is sent first), begin small and append, or work through the data in pieces. All of %s has to be mapped, and cleared where the memory was used before.", b.sized)
	}
	return fmt.Sprintf("Check %s against what is put into it: a capacity is better somewhat too small (append grows it) than many times too large. If all of it is needed at once, a smaller type of element is what helps; else work in parts.", b.sized)
}

// readsWhole is the function on a frame's line that reads a whole, as the source names it.
func readsWhole(c *code, at stack.Frame) (name string, ok bool) {
	for _, call := range c.lineCalls(at) {
		if name = types.ExprString(call.Fun); wholeReaders.MatchString(name) {
			return name, true
		}
	}
	return "", false
}

// tellBuffer says of a line that has most of the live heap in a few huge pieces what they are. It is a warning where any size
// would do, or where the program never had as much resident.
func tellBuffer(r *Rule, in *Input, all *facts.Retention, top *facts.Line, f *Finding) {
	huge, sizes := int64(0), all.Most.SizesAt(top.At)
	for size, bytes := range sizes {
		if float64(size) >= r.param("huge")*(1<<20) {
			huge += bytes
		}
	}
	own := userFrames(in.code, top.At, top.Frames)
	if float64(huge) < halfOfAll*float64(all.Most.Bytes) || f.Severity != Info || len(own) == 0 || len(in.code.storesOf(own)) > 0 {
		return
	}
	b, ok := localBufferAt(in.code, own[0])
	if !ok {
		if read, whole := readsWhole(in.code, own[0]); whole && f.Title == r.Title {
			f.Advice = "It is read as a whole: if what is made of it does not need all of it at once, read it through a bufio.Reader or a decoder of the format, a part at a time; if only parts of it are kept, copy those, so that the whole can go."
			if lastName(read) == "ReadAll" { // os.ReadFile makes its buffer by the length of the file
				f.Advice += " Where the length is known, a buffer of that length (io.ReadFull) takes no more than that, while io.ReadAll grows as it reads."
			}
		}
		return
	}
	f.Summary += "; " + b.says()
	f.Advice = b.advice()
	if (b.streams || b.parts) && !shows(f, evidenceLine(b.at)) {
		f.Evidence = append(f.Evidence, b.at)
	}
	f.Doubts = slices.DeleteFunc(f.Doubts, func(d string) bool { return strings.HasPrefix(d, oneMoment) }) // whether it grows is not the question
	rss := int64(0)
	for i := range in.Facts.Rounds {
		rss = max(rss, in.Facts.Rounds[i].MaxRSS)
	}
	untouched := huge - rss
	if rss > 0 && float64(untouched) >= halfOfAll*float64(huge) {
		f.Summary += fmt.Sprintf("; the process never had more than %s resident, so that at least %s of it were never touched", unit.BytesOf(float64(rss)), unit.BytesOf(float64(untouched)))
	}
	switch {
	case b.streams:
		f.Title, f.Severity = bufferTitle, Warning
		f.Doubts = append(f.Doubts, "what is given a piece of it may rely on large ones, although a read may bring any number of bytes")
	case rss > 0 && float64(untouched) >= halfOfAll*float64(huge):
		f.Title, f.Severity = reservedTitle, Warning
		f.Doubts = append(f.Doubts, "other input may need all of it", "memory that was swapped out is not resident either")
	default:
		f.Doubts = append(f.Doubts, "if all of it is needed at once, this is what the data takes")
		return
	}
	f.Score = max(f.Score, 50)
	f.Verify = "Record again: the peak heap should be lower, and the CPU time for clearing memory (CP06) with it."
}

// tellCleared says of new memory that is cleared that it is a buffer for a stream, far larger than needed; it is false where the
// source does not show that.
func tellCleared(c *code, at stack.Frame, f *Finding) bool {
	b, ok := localBufferAt(c, at)
	if !ok || !b.streams || b.size < leastBuffer {
		return false
	}
	f.Summary += "; " + b.says()
	f.Advice = b.advice()
	if !shows(f, evidenceLine(b.at)) {
		f.Evidence = append(f.Evidence, b.at)
	}
	return true
}

// makesBuffer tells of a finding about work that it is that of making a huge buffer which another one is about.
func makesBuffer(a, b *Finding) bool {
	return b.Rule == gc16.ID && b.Title == bufferTitle && b.Severity.AtLeast(a.Severity) && firstLine(a) == firstLine(b) &&
		(a.Rule == cp06.ID || strings.HasPrefix(a.Rule, "AL"))
}
