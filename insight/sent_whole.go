package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/value/stack"
)

// What is put together in memory only to be sent: a buffer of a function that is filled from streams, and then given as a whole
// to what reads it from its beginning to its end, once. The source has to show that nothing else needs it.

// sentTitle and writtenTitle are the titles of that.
const (
	sentTitle    = "What is sent is put together in memory first"
	writtenTitle = "What is written is put together in memory first"
)

// sentWhole is such a buffer, and what is done with it.
type sentWhole struct {
	d    *derivations
	decl *ast.FuncDecl // makes it
	v    types.Object
	// over is what writes into it, as the source has it: multipart.NewWriter; empty where it is written to itself.
	over  string
	fills []ast.Node
	// streams tells that something is copied into it, or written by what takes a piece at a time.
	streams bool
	// sends are the calls that read it, to is what they are, or, if writes, what they write it to.
	sends  []*ast.CallExpr
	to     string
	writes bool
	// measured is where its length is asked for.
	measured ast.Node
	// kept tells that something may hold it for longer, other that it is needed as a whole, or again.
	kept, other bool
	// returned is the result that it is, from 1 on; 0 where it is none.
	returned int
}

// handle is how a variable refers to such a buffer.
type handle int

const (
	toWhole  handle = iota // the buffer
	toWriter               // what writes into it
	toReader               // a reader of it
)

// maxSentDepth is into how many functions, one in the other, it is followed. Chosen.
const maxSentDepth = 3

var (
	// writesOver make something that writes into what they are given, a piece at a time.
	writesOver = lazily(`(^|/)(multipart|tar|zip|gzip|zlib|flate|lzw|zstd|brotli|snappy|lz4|xz|quotedprintable|csv|bufio)\.New\w*Writer\w*$|(^|/)(json|xml|gob|base64|hex|base32|yaml|yaml\.v\d)\.NewEncoder$`)
	// writesToFirst write into their first argument.
	writesToFirst = lazily(`^(Copy|CopyN|CopyBuffer|WriteString|Fprint|Fprintf|Fprintln|Encode|Execute|Render|Write)$`)
	// makesRequest are the functions of net/http whose last argument is a body.
	makesRequest = lazily(`^(NewRequest|NewRequestWithContext|Post)$`)
)

// piecewise are methods of what writes into a buffer that hand on a piece at a time. An encoder's Encode has all of a value in memory itself:
// it does so only where it is called for one after the other.
var piecewise = map[string]bool{"Write": true, "WriteString": true, "WriteByte": true, "WriteRune": true, "ReadFrom": true, "EncodeToken": true, "EncodeElement": true}

// sentBuffer finds the buffer that a line fills, whatever is done with it; nil where the source shows none. frames are those of
// the user's code from the line outward.
func sentBuffer(c *code, frames []stack.Frame) *sentWhole {
	d := derivationsOf(c)
	for i, f := range frames[:min(len(frames), maxSentDepth)] {
		in, ok := d.at(f)
		if !ok {
			return nil
		}
		for _, v := range madeBuffers(d, in.decl) {
			x := &sentWhole{d: d, decl: in.decl, v: v}
			x.follow(in.decl, v, toWhole, 0)
			if !slices.ContainsFunc(x.fills, func(n ast.Node) bool { return d.placeOf(n).file == f.File && coversLine(d, n, f.Line) }) {
				continue
			}
			if x.returned > 0 && i+1 < len(frames) {
				x.byCaller(frames[i+1])
			}
			x.kept = x.kept || x.returned > 0
			return x
		}
	}
	return nil
}

// streamable tells that it need not be in memory as a whole.
func (x *sentWhole) streamable() bool {
	return x != nil && len(x.sends) == 1 && x.streams && !x.kept && !x.other
}

// madeBuffers are the variables of a function that it sets once, to an empty buffer.
func madeBuffers(d *derivations, decl *ast.FuncDecl) (all []types.Object) {
	for v, defs := range d.definitions(decl) {
		if of := libraryTypeBy(d, v, 0).text(); of != "bytes.Buffer" && of != "strings.Builder" || isGiven(decl, v) {
			continue
		}
		defs = slices.DeleteFunc(slices.Clone(defs), func(x definition) bool { return x.unknown })
		if len(defs) == 1 && !defs[0].part && !defs[0].ranged && (defs[0].x == nil || makesEmptyBuffer(d, defs[0].x)) {
			all = append(all, v)
		}
	}
	slices.SortFunc(all, func(a, b types.Object) int { return int(a.Pos() - b.Pos()) })
	return all
}

// makesEmptyBuffer tells of an expression that it makes an empty buffer.
func makesEmptyBuffer(d *derivations, x ast.Expr) bool {
	switch x := unrefer(x).(type) {
	case *ast.CompositeLit:
		return len(x.Elts) == 0
	case *ast.CallExpr:
		if isNamed(x.Fun, "new") {
			return true
		}
		if d.t.fromPackage(x.Fun) != "bytes" || calledName(x) != "NewBuffer" || len(x.Args) != 1 {
			return false
		}
		room, made := x.Args[0].(*ast.CallExpr)
		return isNamed(x.Args[0], "nil") || types.ExprString(x.Args[0]) == "[]byte{}" || made && isNamed(room.Fun, "make") && len(room.Args) == 3 && types.ExprString(room.Args[1]) == "0"
	}
	return false
}

// byCaller goes on where the function returns it.
func (x *sentWhole) byCaller(f stack.Frame) {
	in, ok := x.d.at(f)
	if !ok {
		return
	}
	fn := types.Object(nil)
	ast.Inspect(in.decl.Body, func(n ast.Node) bool {
		a, is := n.(*ast.AssignStmt)
		if !is || len(a.Rhs) != 1 || len(a.Lhs) < x.returned || !coversLine(x.d, a, f.Line) {
			return true
		}
		if call, is := a.Rhs[0].(*ast.CallExpr); is && x.d.t.decls[x.d.t.callee(call)] == x.decl && a.Tok == token.DEFINE {
			fn = x.d.variable(a.Lhs[x.returned-1])
		}
		return true
	})
	if fn == nil {
		return
	}
	x.returned = 0
	x.follow(in.decl, fn, toWhole, 1)
}

// follow looks at all uses of a variable in a function.
func (x *sentWhole) follow(decl *ast.FuncDecl, v types.Object, as handle, depth int) {
	if v == nil || depth > maxSentDepth {
		x.other = true
		return
	}
	eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
		id, ok := n.(*ast.Ident)
		if !ok || x.d.t.info.Uses[id] != v {
			return
		}
		u := sentUse{sentWhole: x, decl: decl, v: v, as: as, depth: depth}
		u.use(id, slices.Clone(around))
	})
}

// sentUse is one use of a variable.
type sentUse struct {
	*sentWhole
	decl  *ast.FuncDecl
	v     types.Object
	as    handle
	depth int
}

// use is what is around an expression that refers to the buffer.
func (u *sentUse) use(x ast.Expr, around []ast.Node) {
	for len(around) > 0 {
		p, ok := around[len(around)-1].(ast.Expr)
		if !ok || unrefer(p) != x && ast.Unparen(p) != x {
			break
		}
		x, around = p, around[:len(around)-1]
	}
	if len(around) == 0 {
		return
	}
	rest := around[:len(around)-1]
	switch p := around[len(around)-1].(type) {
	case *ast.SelectorExpr:
		call, ok := (*ast.CallExpr)(nil), false
		if len(rest) > 0 {
			call, ok = rest[len(rest)-1].(*ast.CallExpr)
		}
		if !ok || call.Fun != ast.Expr(p) {
			u.kept = true
			return
		}
		u.method(call, p.Sel.Name, rest[:len(rest)-1])
	case *ast.CallExpr:
		u.argument(p, slices.Index(p.Args, x), rest)
	case *ast.BinaryExpr: // it is compared with nil
	case *ast.ReturnStmt:
		if u.depth == 0 && u.as != toWriter && !withinLit(rest) && u.returned == 0 {
			u.returned = 1 + slices.Index(p.Results, x)
			return
		}
		u.kept = true
	case *ast.AssignStmt:
		if to := u.d.variable(definedAs(p, x)); to != nil && p.Tok == token.DEFINE && u.as == toReader {
			u.follow(u.decl, to, toReader, u.depth+1)
			return
		}
		u.kept = true
	default:
		u.kept = true
	}
}

// method is a call of one of its methods.
func (u *sentUse) method(call *ast.CallExpr, name string, around []ast.Node) {
	switch {
	case u.as == toWriter:
		u.fill(call, piecewise[name] || name == "Encode" && loopsSince(around, u.sentWhole.v.Pos()), around)
		if strings.HasPrefix(name, "Create") && len(around) > 0 { // a part, an entry
			if a, ok := around[len(around)-1].(*ast.AssignStmt); ok && len(a.Rhs) == 1 && a.Tok == token.DEFINE {
				if part := u.d.variable(a.Lhs[0]); part != nil {
					u.follow(u.decl, part, toWriter, u.depth+1)
				}
			}
		}
	case name == "Len" || name == "Size":
		u.measured = call
	case name == "WriteTo" && len(call.Args) == 1:
		u.write(call, call.Args[0], around)
	case u.as == toReader:
		u.other = true
	case name == "Grow":
	case strings.HasPrefix(name, "Write"):
		u.fill(call, false, around)
	case name == "ReadFrom":
		u.fill(call, true, around)
	case (name == "Bytes" || name == "String") && len(around) > 0:
		u.content(call, around)
	default:
		u.other = true
	}
}

// content is what is done with all that is in the buffer.
func (u *sentUse) content(x *ast.CallExpr, around []ast.Node) {
	call, ok := around[len(around)-1].(*ast.CallExpr)
	if !ok {
		u.kept = true
		return
	}
	rest := around[:len(around)-1]
	text := types.ExprString(call.Fun)
	sel, method := call.Fun.(*ast.SelectorExpr)
	switch {
	case text == "len":
		u.measured = call
	case asReader.MatchString(text):
		read := *u
		read.as = toReader
		read.use(call, rest)
	case text == "io.WriteString" && len(call.Args) == 2:
		u.write(call, call.Args[0], rest)
	case method && (sel.Sel.Name == "Write" || sel.Sel.Name == "WriteString") && len(call.Args) == 1:
		u.write(call, sel.X, rest)
	default:
		u.other = true
	}
}

// argument is a call that is given it.
func (u *sentUse) argument(call *ast.CallExpr, at int, around []ast.Node) {
	pkg, name := u.d.t.fromPackage(call.Fun), calledName(call)
	callee := u.d.t.decls[u.d.t.callee(call)]
	switch {
	case at < 0:
		u.other = true
	case u.as != toReader && writesOver.MatchString(pkg+"."+name):
		u.writer(call, around)
	case u.as != toReader && at == 0 && callee == nil && (writesToFirst.MatchString(name) || u.as == toWriter):
		u.fill(call, name != "WriteString" && !strings.HasPrefix(name, "Fprint"), around)
	case pkg == "io" && name == "NopCloser" && u.as != toWriter:
		u.as = toReader
		u.use(call, around)
	case pkg == "io" && name == "Copy" && at == 1 && u.as != toWriter:
		u.write(call, call.Args[0], around)
	case at == len(call.Args)-1 && u.as != toWriter && (pkg == "net/http" && makesRequest.MatchString(name) || callee == nil && pkg == "" && name == "Post" && len(call.Args) == 3):
		u.send(call, types.ExprString(call.Fun), false, around)
	case callee != nil && !call.Ellipsis.IsValid() && !loopsSince(around, u.v.Pos()) && !slices.ContainsFunc(around, isDeferOrGo):
		u.handed(call, callee, at, around)
	case u.as == toWriter && callee == nil:
		u.fill(call, true, around)
	default:
		u.other = true
	}
}

// handed is a function of the program that is given it.
func (u *sentUse) handed(call *ast.CallExpr, callee *ast.FuncDecl, at int, around []ast.Node) {
	to := u.d.given(callee, at)
	as, of := u.as, ""
	if to != nil {
		if by := u.d.t.declaredOf(to); by.of != nil {
			of = types.ExprString(by.of)
		}
	}
	switch {
	case u.as == toWhole && (of == "io.Reader" || of == "io.ReadCloser" || of == "io.ReadSeeker"):
		as = toReader
	case u.as == toWhole && of == "io.Writer":
		as = toWriter
	}
	if as != toReader {
		u.fills = append(u.fills, call)
	}
	if as != toWriter && withinLit(around) {
		u.other = true
	}
	u.follow(callee, to, as, u.depth+1)
}

// writer is a call that makes what writes into it.
func (u *sentUse) writer(call *ast.CallExpr, around []ast.Node) {
	if u.over == "" {
		u.over = types.ExprString(call.Fun)
	}
	if len(around) == 0 {
		return
	}
	switch p := around[len(around)-1].(type) {
	case *ast.SelectorExpr: // json.NewEncoder(&b).Encode(v)
		if outer, ok := around[max(0, len(around)-2)].(*ast.CallExpr); ok {
			u.fill(outer, piecewise[calledName(outer)] || loopsSince(around, u.sentWhole.v.Pos()), around[:len(around)-2])
		}
		return
	case *ast.AssignStmt:
		if to := u.d.variable(p.Lhs[0]); to != nil && len(p.Rhs) == 1 && p.Tok == token.DEFINE {
			u.follow(u.decl, to, toWriter, u.depth)
			return
		}
	case *ast.CallExpr:
		outer := *u
		outer.as = toWriter
		outer.argument(p, slices.Index(p.Args, ast.Expr(call)), around[:len(around)-1])
		return
	}
	u.kept = true
}

// fill is a call that writes into it. What is hashed on the way has a sum that something may need before it is sent.
func (u *sentUse) fill(call *ast.CallExpr, stream bool, around []ast.Node) {
	if slices.ContainsFunc(around, func(n ast.Node) bool { _, is := n.(*ast.GoStmt); return is }) ||
		hasCall(call, func(c *ast.CallExpr) bool { return calledName(c) == "TeeReader" || calledName(c) == "MultiWriter" }) {
		u.other = true
	}
	u.fills = append(u.fills, call)
	u.streams = u.streams || stream
}

// write is a call that writes all of it to something else.
func (u *sentUse) write(call *ast.CallExpr, to ast.Expr, around []ast.Node) {
	of := libraryTypeOf(u.d, to, 0)
	if of.text() == "bytes.Buffer" || of.text() == "strings.Builder" || isHash(of) || of.pkg == "" && (u.d.t.ownMethods(to) || hashName.MatchString(lastName(types.ExprString(to)))) {
		u.other = true
		return
	}
	u.send(call, types.ExprString(unrefer(to)), true, around)
}

// send is a call that reads all of it, once.
func (u *sentUse) send(call *ast.CallExpr, to string, writes bool, around []ast.Node) {
	if withinLit(around) || slices.ContainsFunc(around, isDeferOrGo) || loopsSince(around, u.v.Pos()) || u.sentAgain(call, around) {
		u.other = true
	}
	u.sends, u.to, u.writes = append(u.sends, call), to, writes
}

// sentAgain tells of a request that its body may be needed again: it is sent in a loop, or has a GetBody.
func (u *sentUse) sentAgain(call *ast.CallExpr, around []ast.Node) (again bool) {
	request := types.Object(nil)
	if len(around) > 0 {
		if a, ok := around[len(around)-1].(*ast.AssignStmt); ok && len(a.Rhs) == 1 && a.Rhs[0] == ast.Expr(call) {
			request = u.d.variable(a.Lhs[0])
		}
	}
	eachNode(u.decl.Body, func(n ast.Node, around []ast.Node) {
		if id, ok := n.(*ast.Ident); ok {
			again = again || id.Name == "GetBody" || request != nil && u.d.t.info.Uses[id] == request && (loopsSince(around, request.Pos()) || withinLit(around))
		}
	})
	return again
}

// said is what the source shows of it.
func (x *sentWhole) said() string {
	made := x.d.placeOf(atPos(x.v.Pos()))
	text := fmt.Sprintf("according to the source it is in %s of %s", x.v.Name(), made.text())
	if x.over != "" {
		text += fmt.Sprintf(", which %s writes to", strings.TrimSuffix(x.over, "()"))
	}
	return text
}

// advice is how to do without.
func (x *sentWhole) advice() string {
	const part = " Then only a buffer of it is in memory at a time, however long it is."
	over := x.over
	if over == "" {
		over = "io.Copy"
	}
	if x.writes {
		return fmt.Sprintf("Write to %s itself, instead of to %s: %s over it, with a bufio.Writer in between where the writes are small.", x.to, x.v.Name(), over) + part
	}
	text := fmt.Sprintf("Stream it: with pr, pw := io.Pipe(), let a goroutine write into pw (%s) what now goes into %s, close what writes, and then call pw.CloseWithError(err); give pr to %s, and close it when the request is done, so that the goroutine ends in any case.", over, x.v.Name(), x.to) + part
	if x.over == "" {
		text += " Where it is a single file or reader, give that itself to " + x.to + "."
	}
	return text + " Where the length has to be known and cannot be computed, or the request has to be sent again (GetBody), put it into a temporary file and send that."
}

// doubts are what speaks against it.
func (x *sentWhole) doubts() (all []string) {
	if x.writes {
		return append(all, "if it cannot be put together, a part is written already: where nothing may be written then, write to a temporary file first")
	}
	length := "the length of what comes through a pipe is not known: it is sent in chunks, which some servers refuse, unless the request's ContentLength is set to one that is computed"
	if x.measured != nil {
		length = fmt.Sprintf("its length is asked for at %s, before it is sent; ", x.d.placeOf(x.measured).text()) + length
	}
	return append(all, length,
		"a redirect that keeps the body (307, 308), or a connection that breaks, needs it again: net/http can do that with a buffer, but not with a pipe")
}

// tell makes a finding say that it could be streamed.
func (x *sentWhole) tell(in *Input, f *Finding) {
	sent := x.d.placeOf(x.sends[0])
	f.Title = sentTitle
	does := "given to " + x.to
	if x.writes {
		f.Title, does = writtenTitle, "written to "+x.to
	}
	f.Summary += fmt.Sprintf("; %s, and then only %s at %s, which takes a stream of it as well", x.said(), does, sent.text())
	f.Advice = x.advice()
	f.Doubts = append(slices.DeleteFunc(f.Doubts, func(d string) bool { return strings.HasPrefix(d, oneMoment) }), x.doubts()...)
	f.Verify = "Record again: the peak heap and the peak memory should be lower, and no longer grow with what is sent."
	if e := in.code.shownAt(sent.file, sent.line, "here all of it is given to what reads it, from its beginning to its end"); !shows(f, evidenceLine(e)) {
		f.Evidence = append(f.Evidence, e)
	}
}

// tellSent makes a warning of what is put together in memory only to be sent, where it is most of the live heap. Of another buffer
// that one call makes it says that.
func tellSent(r *Rule, in *Input, kept *facts.Look, top *facts.Line, f *Finding) {
	own := userFrames(in.code, top.At, top.Frames)
	x := sentBuffer(in.code, own)
	if x == nil || f.Severity != Info || f.Title != r.Title {
		return
	}
	if !x.streamable() {
		if !x.kept && len(in.code.storesOf(own)) == 0 {
			f.Summary += fmt.Sprintf("; %s, which nothing in the source holds for longer than a call of %s", x.said(), x.decl.Name.Name)
			f.Advice = "It takes the memory only for as long as that call. If the peak is too high, put less into it at a time, let fewer of these calls run at once, or write it to a file or a connection where nothing needs all of it."
		}
		return
	}
	bytes, known := int64(0), map[string]bool{}
	for frames, w := range facts.EachStack(kept.InUse) {
		if !slices.ContainsFunc(frames, func(f stack.Frame) bool {
			return f.Func == top.At.Func && f.File == top.At.File && f.Line == top.At.Line
		}) {
			continue
		}
		way, key := userFrames(in.code, top.At, frames), ""
		for _, f := range way[:min(len(way), maxSentDepth+1)] {
			key += evidenceLine(Evidence{File: f.File, Line: f.Line}) + " "
		}
		if _, asked := known[key]; !asked {
			known[key] = sentBuffer(in.code, way).streamable()
		}
		if known[key] {
			bytes += w
		}
	}
	if float64(bytes) < r.param("share")*float64(kept.Bytes) {
		return
	}
	x.tell(in, f)
	if float64(bytes) >= r.param("grows")*(1<<20) {
		f.Severity, f.Score = Warning, max(f.Score, 50)
	}
}
