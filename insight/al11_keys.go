package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// Texts that are made to be the key of a map, and nothing else.

// keyUse is the map that a text is a key of, and where.
type keyUse struct {
	container string
	at        stack.Frame
	x, key    ast.Expr // the map and the key
}

// keyOnly tells whether all that is done with the result of a call on a line is to look something up
// by it, or to store it under it: in its function, or in those that call this for it. It returns these uses, the
// first one first, and the call.
func keyOnly(c *code, at stack.Frame, callee string) (uses []keyUse, formats *ast.CallExpr) {
	fn, s := c.function(at), c.parse(at.File)
	if fn == nil || s == nil {
		return nil, nil
	}
	made := 0
	s.onLine(at.Line, func(n ast.Node, around []ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if first, _ := s.lines(n); !ok || first != at.Line || types.ExprString(call.Fun) != callee {
			return
		}
		if made++; made > 1 || len(around) == 0 {
			return
		}
		u := textUses{c: c, file: at.File}
		u.of(fn, call, around[len(around)-1], true)
		if u.others == 0 {
			uses, formats = u.keys, call
		}
	})
	if made != 1 {
		return nil, nil
	}
	return uses, formats
}

// textUses counts what is done with a text.
type textUses struct {
	c      *code
	file   string
	keys   []keyUse
	others int
	seen   []*ast.Ident // the variables whose uses were looked at
}

// of looks at the use of an expression by what it stands in. Up tells that a result is followed to the callers.
func (u *textUses) of(fn *ast.FuncDecl, x ast.Expr, in ast.Node, up bool) {
	switch in := in.(type) {
	case *ast.IndexExpr:
		if in.Index == x {
			u.key(in.X, x, in)
			return
		}
	case *ast.CallExpr:
		if isNamed(in.Fun, "delete") && len(in.Args) == 2 && in.Args[1] == x {
			u.key(in.Args[0], x, in)
			return
		}
	case *ast.AssignStmt:
		if len(in.Lhs) == len(in.Rhs) {
			for i, rhs := range in.Rhs {
				if id, ok := in.Lhs[i].(*ast.Ident); ok && rhs == x && id.Name != "_" {
					u.variable(fn, id)
					return
				}
			}
		}
	case *ast.ReturnStmt:
		if up && len(in.Results) == 1 && onlyReturn(fn) {
			u.callers(fn)
			return
		}
	}
	u.others++
}

func (u *textUses) key(container, key ast.Expr, at ast.Node) {
	line, _ := u.c.parse(u.file).lines(at)
	u.keys = append(u.keys, keyUse{types.ExprString(container), stack.Frame{File: u.file, Line: line}, container, key})
}

// variable looks at all uses of a variable of a function.
func (u *textUses) variable(fn *ast.FuncDecl, v *ast.Ident) {
	if slices.Contains(u.seen, v) {
		return // it is assigned to itself, by a way
	}
	u.seen = append(u.seen, v)
	eachWithin(fn.Body, func(n, in ast.Node) {
		id, ok := n.(*ast.Ident)
		if !ok || id.Name != v.Name || id.Pos() == v.Pos() {
			return
		}
		if a, ok := in.(*ast.AssignStmt); ok && !slices.Contains(a.Rhs, ast.Expr(id)) {
			u.others++ // it is something else as well
			return
		}
		if sel, ok := in.(*ast.SelectorExpr); ok && sel.Sel == id {
			return // a field of that name
		}
		u.of(fn, id, in, false)
	})
}

// callers looks at what those do with it that call a function.
func (u *textUses) callers(fn *ast.FuncDecl) {
	name := fn.Name.Name
	if len(u.c.functions()[name]) != 1 {
		u.others++ // a call may mean another one
		return
	}
	for _, all := range u.c.functions() {
		for _, d := range all {
			u.file = d.file
			eachWithin(d.Body, func(n, in ast.Node) {
				switch n := n.(type) {
				case *ast.CallExpr:
					if calledName(n) == name {
						u.of(d.FuncDecl, n, in, false)
					}
				case *ast.Ident: // passed on as a value
					call, called := in.(*ast.CallExpr)
					sel, field := in.(*ast.SelectorExpr)
					if n.Name == name && !(called && call.Fun == n) && !(field && sel.Sel == n) {
						u.others++
					}
				}
			})
		}
	}
}

// eachWithin visits all nodes inside of one, with the one that each stands in.
func eachWithin(root ast.Node, visit func(n, in ast.Node)) {
	eachNode(root, func(n ast.Node, around []ast.Node) {
		if len(around) > 0 {
			visit(n, around[len(around)-1])
		}
	})
}

// onlyReturn tells of a function that it returns one result, at one place.
func onlyReturn(fn *ast.FuncDecl) bool {
	returns := 0
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if _, ok := n.(*ast.ReturnStmt); ok {
			returns++
		}
		return true
	})
	return returns == 1 && fn.Type.Results.NumFields() == 1
}

// tellKey is what to do about texts that are made to be keys: whether the values themselves can be the
// key in place of what the first line of a finding makes, and of most of what it is about.
func tellKey(h *hit, f *Finding) bool {
	weight := int64(0)
	var maps []string
	var evidence []Evidence
	for i, line := range h.lines {
		uses, call := keyOnly(h.in.code, line.Caller, stack.Short(line.Callee))
		if len(uses) == 0 || !keyOfValues(h.in.code, line.Caller.File, call, uses) {
			if i == 0 {
				return false // the finding is headed by another text
			}
			continue
		}
		weight += line.Weight
		if use := uses[0]; !slices.Contains(maps, use.container) {
			maps = append(maps, use.container)
			evidence = append(evidence, h.in.code.shownAt(use.at.File, use.at.Line, "the text of %s:%d is a key of the map %s here", baseName(line.Caller.File), line.Caller.Line, use.container))
		}
	}
	if 2*weight < h.weight {
		return false
	}
	f.Evidence = append(f.Evidence, evidence...)
	texts := "the text is made to be a key of the map " + maps[0]
	if len(maps) > 1 {
		texts = "the texts are made to be keys of the maps " + strings.Join(maps[:len(maps)-1], ", ") + " and " + maps[len(maps)-1]
	}
	f.Advice = fmt.Sprintf("According to the source, %s and for nothing else: make the values themselves the key, as a struct (type key struct { … }; map[key]…), which formats and allocates nothing.", texts)
	f.Doubts = append(f.Doubts, "different values that are formatted alike are one key today, as a-b and c are with a and b-c", "who reads the keys as texts, as to print the map, has to make them there")
	return true
}
