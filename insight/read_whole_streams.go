package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/value/stack"
)

// readsFile is a call that reads a file by its name.
var readsFile = lazily(`^(os|ioutil)\.ReadFile\(`)

// bufferThatReads is statementThatReads of a buffer that reads all: one of package bytes, which is declared in the same list of
// statements and which nothing else is in.
func bufferThatReads(d *derivations, f stack.Frame) (list []ast.Stmt, at int, name string, call *ast.CallExpr) {
	d.c.parse(f.File).onLine(f.Line, func(n ast.Node, around []ast.Node) {
		x, ok := n.(*ast.CallExpr)
		if call != nil || !ok || len(around) < 3 {
			return
		}
		var buf ast.Expr
		switch {
		case types.ExprString(x.Fun) == "io.Copy" && len(x.Args) == 2:
			buf = x.Args[0]
		case calledName(x) == "ReadFrom" && isMethodCall(x) && len(x.Args) == 1:
			buf = x.Fun.(*ast.SelectorExpr).X
		default:
			return
		}
		id, ok := unrefer(buf).(*ast.Ident)
		if !ok || libraryTypeOf(d, asTyped(d, f.File, id), 0) != (libraryType{"bytes", "Buffer"}) {
			return
		}
		s, ok := around[len(around)-1].(ast.Stmt)
		stmts := statements(around[len(around)-2])
		if outer, is := around[len(around)-2].(*ast.IfStmt); is && outer.Init == s && asksError(outer.Cond, token.NEQ) {
			s, stmts = outer, statements(around[len(around)-3])
		}
		i := slices.Index(stmts, s)
		if !ok || i < 0 || !madeEmpty(stmts[:i], id.Name) {
			return
		}
		list, at, name, call = stmts, i, id.Name, x
	})
	return list, at, name, call
}

// madeEmpty tells of the statements before a buffer reads that they declare it, and do nothing with it but to make room.
func madeEmpty(list []ast.Stmt, name string) (declared bool) {
	for _, s := range list {
		if !mentions(s, name) {
			continue
		}
		switch s := s.(type) {
		case *ast.DeclStmt:
			declared = makesOnly(s)
		case *ast.AssignStmt:
			declared = s.Tok == token.DEFINE && len(s.Lhs) == 1 && makesOnly(s)
		case *ast.ExprStmt:
			if call, ok := s.X.(*ast.CallExpr); !ok || calledName(call) != "Grow" {
				return false
			}
		default:
			return false
		}
	}
	return declared
}

// ofBuffer tells of a node around a name that it takes its address, or selects a method that gives or writes all of a buffer.
func ofBuffer(n ast.Node, id *ast.Ident) bool {
	switch n := n.(type) {
	case *ast.UnaryExpr:
		return n.Op == token.AND && n.X == ast.Expr(id)
	case *ast.SelectorExpr:
		return n.X == ast.Expr(id) && slices.Contains([]string{"Bytes", "String", "WriteTo"}, n.Sel.Name)
	}
	return false
}

// makesHash tells of a statement that it only makes a hash: by a function value that is
// declared to give one, or by a switch whose cases do nothing but that, or end the function.
func (r *wholeReader) makesHash(of declaration, s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.AssignStmt:
		if len(s.Lhs) != 1 || len(s.Rhs) != 1 {
			return false
		}
		d := derivationsOf(r.c)
		if v := d.variable(asTyped(d, of.file, s.Lhs[0])); s.Tok != token.DEFINE && (v == nil || ofPackage(v)) {
			return false
		}
		call, made := s.Rhs[0].(*ast.CallExpr)
		return made && (len(call.Args) == 0 || hashMakers.MatchString(types.ExprString(call.Fun))) && isHash(libraryTypeOf(d, asTyped(d, of.file, call), 0))
	case *ast.SwitchStmt:
		if s.Init != nil || s.Tag != nil && !makesOnly(s.Tag) {
			return false
		}
		for _, c := range s.Body.List {
			for _, inner := range c.(*ast.CaseClause).Body {
				if _, ends := inner.(*ast.ReturnStmt); !ends && !r.makesHash(of, inner) {
					return false
				}
			}
		}
		return true
	}
	return false
}

// asTyped is an expression of a file as go/types has it, which has parsed the file once more; nil where it has not.
func asTyped(d *derivations, file string, x ast.Expr) (same ast.Expr) {
	s := d.c.parse(file)
	if s == nil {
		return nil
	}
	from, to, text := s.fset.PositionFor(x.Pos(), false).Offset, s.fset.PositionFor(x.End(), false).Offset, types.ExprString(x)
	for _, f := range d.t.files {
		if f.name != file {
			continue
		}
		ast.Inspect(f.file, func(n ast.Node) bool {
			if n == nil || same != nil {
				return false
			}
			_, _, first := d.t.at(n.Pos())
			_, _, last := d.t.at(n.End())
			if e, ok := n.(ast.Expr); ok && first == from && last == to && types.ExprString(e) == text {
				same = e
			}
			return same == nil && first <= from && to <= last
		})
	}
	return same
}

// hashPackages are packages whose types with a Write are hashes.
var hashPackages = lazily(`^hash(/\w+)?$|(^|/)(md5|sha1|sha256|sha512|sha3|hmac|blake2b|blake2s|blake3|ripemd160|xxhash|murmur3)(/v\d+)?$`)

// isHash tells of a type that it is a hash.
func isHash(of libraryType) bool { return hashPackages.MatchString(of.pkg) }

// written is a call that writes all of it to something. What gathers it in memory takes no stream, and what has methods of the
// program may keep it.
func (r *wholeReader) written(d declaration, to ast.Expr, call *ast.CallExpr) (p passage, ok bool) {
	t := derivationsOf(r.c)
	typed := asTyped(t, d.file, to)
	of := libraryTypeOf(t, typed, 0)
	if of.text() == "bytes.Buffer" || of.text() == "strings.Builder" || of.pkg == "net" || of.pkg == "" && t.t.ownMethods(typed) {
		return p, false
	}
	r.to = types.ExprString(unrefer(to))
	r.sure = isHash(of)
	if r.sure || of.pkg == "" && hashName.MatchString(lastName(r.to)) {
		return r.found(d, inHash, call)
	}
	return r.found(d, inWrite, call)
}

// ownMethods tells of an expression that its type is one of the sources.
func (t *typed) ownMethods(x ast.Expr) bool {
	if x == nil {
		return false
	}
	of := t.typeOf(unrefer(x))
	if of == nil {
		return false
	}
	if p, ok := of.(*types.Pointer); ok {
		of = p.Elem()
	}
	return t.isOfSources(of)
}

// streamed is a call that is given a reader of it: it has to read as it goes. A decoder of JSON takes all of a value before it
// decodes it, so that it does so only where a loop has it decode one after the other.
func (r *wholeReader) streamed(d declaration, s ast.Stmt, rest []ast.Stmt, call *ast.CallExpr) (p passage, ok bool) {
	text := types.ExprString(call.Fun)
	switch {
	case text == "json.NewDecoder":
		a, assigned := s.(*ast.AssignStmt)
		if !assigned || len(a.Lhs) != 1 || a.Rhs[0] != ast.Expr(call) || !decodesMany(rest, types.ExprString(a.Lhs[0])) {
			return p, false
		}
	case !readsOn.MatchString(text):
		return p, false
	case text == "io.Copy" || text == "io.CopyBuffer":
		if !r.plain {
			return r.found(d, inStream, call)
		}
		return r.written(d, call.Args[0], call)
	}
	r.to = text
	return r.found(d, inStream, call)
}

// decodesMany tells of statements that a loop has a decoder decode one value after the other.
func decodesMany(list []ast.Stmt, decoder string) bool {
	return slices.ContainsFunc(list, func(s ast.Stmt) bool {
		loop, ok := s.(*ast.ForStmt)
		return ok && hasCall(loop, func(call *ast.CallExpr) bool {
			name, is := strings.CutPrefix(types.ExprString(call.Fun), decoder+".")
			return is && (name == "Decode" || name == "Token")
		})
	})
}

// reader is a variable with a reader of it, which has to be given to what reads as it goes, and to nothing else.
func (r *wholeReader) reader(d declaration, s ast.Stmt, rest []ast.Stmt) (p passage, ok bool) {
	a, ok := s.(*ast.AssignStmt)
	if !ok || a.Tok != token.DEFINE || len(a.Lhs) != 1 {
		return p, false
	}
	name := types.ExprString(a.Lhs[0])
	for i, s := range rest {
		if !mentions(s, name) {
			if !doesNothing(s) && !r.makesHash(d, s) {
				return p, false
			}
			continue
		}
		uses, takes := 0, (*ast.CallExpr)(nil)
		eachNode(s, func(n ast.Node, around []ast.Node) {
			id, is := n.(*ast.Ident)
			if !is || id.Name != name || len(around) == 0 {
				return
			}
			uses++
			if call, given := around[len(around)-1].(*ast.CallExpr); given && call.Fun != ast.Expr(id) && !handsOff(around) && !inTurns(append(slices.Clone(around), n)) {
				takes = call
			}
		})
		if uses != 1 || takes == nil || slices.ContainsFunc(rest[i+1:], func(s ast.Stmt) bool { return mentions(s, name) }) {
			return p, false
		}
		return r.streamed(d, s, rest[i+1:], takes)
	}
	return p, false
}

// readOnce is how what a line has read is gone through, and how much of what is in use the ways have read on which the source
// shows that nothing else is done with it. most is the passage that has most of that.
type readOnce struct {
	most  passage
	bytes int64
}

// onceIn looks at all ways to a line that has memory in use.
func onceIn(in *Input, kept *facts.Look, top *facts.Line) (x readOnce) {
	type way struct {
		passage
		ok    bool
		bytes int64
	}
	ways := map[string]*way{}
	best := int64(0)
	for frames, w := range facts.EachStack(kept.InUse) {
		if !slices.ContainsFunc(frames, func(f stack.Frame) bool {
			return f.Func == top.At.Func && f.File == top.At.File && f.Line == top.At.Line
		}) {
			continue
		}
		own := userFrames(in.code, top.At, frames)
		key := ""
		for _, f := range own[:min(len(own), maxKeepUp)] {
			key += evidenceLine(Evidence{File: f.File, Line: f.Line}) + " "
		}
		one := ways[key]
		if one == nil {
			one = &way{}
			one.passage, one.ok = goneThroughOnce(in.code, own)
			ways[key] = one
		}
		if !one.ok {
			continue
		}
		x.bytes += w
		if one.bytes += w; one.bytes > best {
			best, x.most = one.bytes, one.passage
		}
	}
	return x
}
