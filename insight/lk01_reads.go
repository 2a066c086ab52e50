package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// Whether what is done under a lock only reads, by the source: then it could be taken for reading.

// readOnlyPackages are those whose functions change nothing that they are given, but for the functions of butThese.
var readOnlyPackages = []string{"strings", "strconv", "math", "math/bits", "unicode", "unicode/utf8", "bytes", "path", "path/filepath", "errors", "time", "cmp", "encoding/json", "encoding/hex", "crypto/sha256", "crypto/sha1", "crypto/md5", "hash/fnv", "fmt", "slices", "maps"}

// butThese are names of functions of these packages that do change something, or call back what may.
var butThese = []string{"Fprint", "Fscan", "Sscan", "Scan", "Print", "Sort", "Reverse", "Delete", "Insert", "Replace", "Compact", "Copy", "Unmarshal", "NewEncoder", "NewDecoder", "Func", "Sleep", "Decode", "Encode", "Clip", "Grow"}

// maxReads is how many functions deep the code under a lock is followed.
const maxReads = 2

// mayOnlyRead tells whether nothing in the source says that what is done under the lock of a line changes something:
// each statement there, and in the program's functions that it calls, reads alone. Without the source nothing does.
func mayOnlyRead(c *code, at stack.Frame) bool {
	fn, s := c.scopeAt(at), c.parse(at.File)
	if fn == nil {
		return true
	}
	h, known := c.heldAt(at)
	if !known {
		return false // where it is let go is not seen
	}
	under := func(n ast.Node) bool {
		first, _ := s.lines(n)
		return h.has(first)
	}
	return readsOnly{c, s, fn.body}.all(under, maxReads)
}

// onlyReads tells whether all that is seen of what the holder of a lock does under it, by the types, leaves alone what the lock guards; files are what it
// does to files of its own meanwhile. A call whose effect is not known is enough for no.
func (h *lockHolder) onlyReads(c *code, waiter []stack.Frame) (files []lockSign, ok bool) {
	p := purposeOf(c, waiter, h.frames)
	if p.unseen || p.reads || callsFromBefore(p) {
		return nil, false
	}
	for _, s := range p.signs {
		switch s.rank {
		case signChecks:
		case signFile:
			files = append(files, s)
		case signWrites:
			if !writesOwnFile(c, s) {
				return nil, false
			}
			files = append(files, s)
		default:
			return nil, false
		}
	}
	return files, true
}

// writesOwnFile tells of what is written that it goes to a file which its function opens itself.
func writesOwnFile(c *code, s lockSign) bool {
	decl := c.function(stack.Frame{File: s.at.file, Line: s.at.line})
	return decl != nil && slices.ContainsFunc(c.lineCalls(stack.Frame{File: s.at.file, Line: s.at.line}), func(call *ast.CallExpr) bool {
		of := receiverOf(call)
		return of != nil && isIdent(ast.Unparen(of)) && opensVariable(decl.Body, rootName(of))
	})
}

// callsFromBefore tells of what is under a lock that a function is called there which a variable has, and whose body does not stand under the lock itself:
// what it does was not looked at.
func callsFromBefore(p *lockPurpose) bool {
	return slices.ContainsFunc(p.calls, func(call *ast.CallExpr) bool {
		id, ok := ast.Unparen(call.Fun).(*ast.Ident)
		if !ok {
			return false
		}
		v, ok := p.d.variable(id).(*types.Var)
		if !ok {
			return false
		}
		for _, decl := range p.d.t.decls {
			if isLocal(decl, v) && !isGiven(decl, v) {
				return !literalUnder(p, decl, v)
			}
		}
		return true
	})
}

// literalUnder tells of a variable of a function that all it is set to are function literals which stand under the lock, or are of a function that is
// called there.
func literalUnder(p *lockPurpose, decl *ast.FuncDecl, v types.Object) bool {
	all := p.d.definitions(decl)[v]
	return len(all) > 0 && !slices.ContainsFunc(all, func(def definition) bool {
		lit, ok := def.x.(*ast.FuncLit)
		if !ok {
			return true
		}
		at, first := p.d.placeOf(lit), p.d.placeOf(decl).line
		_, last, _ := p.d.t.at(decl.End())
		holds := at.file == p.u.file && first <= p.u.lock && p.u.lock <= last
		return holds && !p.u.under(at.line)
	})
}

// forReading is what to do about a lock that a function holds which only reads what it guards, where those who wait for it are readers, too; empty where
// that is not so.
func (h *lockHolder) forReading(c *code, waiter []stack.Frame) string {
	if h.taken == 0 || !waitsToRead(c, waiter) {
		return ""
	}
	files, ok := h.onlyReads(c, waiter)
	if !ok {
		return ""
	}
	at := fileLine(h.at.File, h.taken)
	text := fmt.Sprintf("By the source, %s changes nothing that the lock guards: take it for reading at %s (RLock, and RUnlock).", stack.Short(h.at.Func), at)
	if !mayOnlyRead(c, stack.Frame{Func: h.at.Func, File: h.at.File, Line: h.taken}) {
		text = fmt.Sprintf("As far as the source was followed, %s only reads what the lock guards. If it changes none of that by another name either, nor by a method of a library (go test -race, with the change, tells), take it for reading at %s (RLock, and RUnlock).", stack.Short(h.at.Func), at)
	}
	text += " Those who read then do not wait for it; where one who writes waits meanwhile, those who come to read after it still do, so that it helps as well to hold it for a shorter time."
	if len(files) > 0 {
		text += fmt.Sprintf(" Two may then do what is done to files there at once (%s): if several call it, give that a mutex of its own, around the whole of it.", fileLine(files[0].at.file, files[0].at.line))
	}
	return text
}

// readsOnly looks at the body of a function.
type readsOnly struct {
	c    *code
	s    *syntax
	body *ast.BlockStmt
}

// all tells whether the nodes that are wanted only read.
func (r readsOnly) all(wanted func(ast.Node) bool, depth int) bool {
	changes := false
	ast.Inspect(r.body, func(n ast.Node) bool {
		if n == nil || changes {
			return false
		}
		if _, block := n.(*ast.BlockStmt); block || !wanted(n) {
			return true
		}
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				changes = slices.ContainsFunc(n.Lhs, func(x ast.Expr) bool { return !r.own(x) })
			}
		case *ast.IncDecStmt:
			changes = !r.own(n.X)
		case *ast.SendStmt, *ast.GoStmt:
			changes = true
		case *ast.CallExpr:
			changes = !r.reads(n, depth)
		}
		return !changes
	})
	return !changes
}

// own tells of what is assigned to that it is a variable of the function, or a part of one that it has made.
func (r readsOnly) own(x ast.Expr) bool {
	name := rootName(x)
	if name == "_" {
		return true
	}
	_, whole := x.(*ast.Ident)
	found := false
	ast.Inspect(r.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				if n.Tok == token.DEFINE && isNamed(left, name) {
					found = found || whole || len(n.Lhs) == len(n.Rhs) && makes(n.Rhs[i])
				}
			}
		case *ast.ValueSpec:
			for _, id := range n.Names {
				found = found || id.Name == name
			}
		case *ast.RangeStmt:
			found = found || whole && (isNamed(n.Key, name) || n.Value != nil && isNamed(n.Value, name))
		}
		return !found
	})
	return found || whole && !r.global(name)
}

// appendsToOwn tells of a list that the function has made it: what is appended to another one may be written where others look.
func (r readsOnly) appendsToOwn(x ast.Expr) bool {
	x = ast.Unparen(x)
	if isNamed(x, "nil") || makes(x) {
		return true
	}
	if conv, ok := x.(*ast.CallExpr); ok {
		_, list := conv.Fun.(*ast.ArrayType)
		return list && len(conv.Args) == 1 && isNamed(conv.Args[0], "nil")
	}
	id, ok := x.(*ast.Ident)
	if !ok {
		return false
	}
	made := false
	ast.Inspect(r.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			made = made || isAmong(n.Names, id.Name) && len(n.Values) == 0
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				made = made || n.Tok == token.DEFINE && isNamed(left, id.Name) && len(n.Lhs) == len(n.Rhs) && makes(n.Rhs[i])
			}
		}
		return !made
	})
	return made
}

// makes tells of an expression that it gives something new.
func makes(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.CompositeLit:
		return true
	case *ast.UnaryExpr:
		return x.Op == token.AND && makes(x.X)
	case *ast.CallExpr:
		return isNamed(x.Fun, "make") || isNamed(x.Fun, "new")
	}
	return false
}

// global tells of a name that a variable of a package has it.
func (r readsOnly) global(name string) (found bool) {
	for _, d := range r.s.file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
			for _, spec := range g.Specs {
				found = found || isAmong(spec.(*ast.ValueSpec).Names, name)
			}
		}
	}
	return found
}

// reads tells of a call that what it does is known, and changes nothing but what the function has made.
func (r readsOnly) reads(call *ast.CallExpr, depth int) bool {
	switch f := call.Fun.(type) {
	case *ast.ArrayType, *ast.MapType, *ast.ParenExpr, *ast.InterfaceType, *ast.FuncLit:
		return true // a conversion, or its body is looked at, too
	case *ast.Ident:
		if slices.Contains([]string{"len", "cap", "min", "max", "make", "new", "string", "int", "int64", "int32", "uint", "uint64", "uint32", "byte", "rune", "float64", "float32", "bool", "panic", "complex", "real", "imag"}, f.Name) {
			return true
		}
		if f.Name == "append" && len(call.Args) > 0 { // what it gives is stored by an assignment
			return r.appendsToOwn(call.Args[0])
		}
		return r.declared(f.Name, false, depth)
	case *ast.SelectorExpr:
		if lockMethods[f.Sel.Name] {
			return true
		}
		if id, ok := f.X.(*ast.Ident); ok {
			for _, pkg := range readOnlyPackages {
				if importedAs(r.s.file, pkg) == id.Name && id.Name != "" {
					if (pkg == "fmt" || pkg == "encoding/json") && formatsItself(r.c) {
						return false
					}
					return !slices.ContainsFunc(butThese, func(w string) bool {
						return strings.HasPrefix(f.Sel.Name, w) || w == "Func" && strings.HasSuffix(f.Sel.Name, w)
					})
				}
			}
			if r.madeHere(id.Name) {
				return true
			}
		}
		return r.declared(f.Sel.Name, true, depth)
	}
	return false
}

// formatsItself tells whether a type of the program says itself how it is printed or encoded: that may change something.
func formatsItself(c *code) (found bool) {
	c.eachSource(func(_ string, s *syntax) {
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			found = found || ok && f.Recv != nil && slices.Contains([]string{"String", "Error", "GoString", "Format", "MarshalJSON", "MarshalText"}, f.Name.Name)
		}
	})
	return found
}

// lockMethods are the methods of locks themselves.
var lockMethods = map[string]bool{"Lock": true, "Unlock": true, "RLock": true, "RUnlock": true}

// madeHere tells of a variable that the function declares it as a value, or makes it: as a strings.Builder.
func (r readsOnly) madeHere(name string) (found bool) {
	ast.Inspect(r.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			found = found || len(n.Values) == 0 && isAmong(n.Names, name)
		case *ast.AssignStmt:
			found = found || n.Tok == token.DEFINE && len(n.Lhs) == 1 && isNamed(n.Lhs[0], name) && makes(n.Rhs[0])
		}
		return !found
	})
	return found
}

// declared tells whether all functions, or methods, of the program with a name only read; it is false where there is
// none: the name may be that of a variable, or of a library.
func (r readsOnly) declared(name string, method bool, depth int) bool {
	if depth == 0 {
		return false
	}
	any, all := false, true
	r.c.eachSource(func(_ string, s *syntax) {
		for _, d := range s.file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Name.Name != name || fn.Recv != nil != method || fn.Body == nil || !all {
				continue
			}
			any = true
			all = readsOnly{r.c, s, fn.Body}.all(func(ast.Node) bool { return true }, depth-1)
		}
	})
	return any && all
}
