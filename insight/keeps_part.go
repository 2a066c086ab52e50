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

// A part of a text on its way to what keeps it: through objects that functions make for themselves, as a request that is decoded, into a
// map or a list that stays.

// partWays is where parts go before something keeps them.
type partWays struct {
	// passing are the fields of objects of the functions themselves that parts are put into: they keep nothing by themselves.
	passing []keepsAt
	lost    bool // a call with what is followed was not
}

// isOwn tells of a variable that it is a struct that its function makes, a result by name, or points into such a struct.
func isOwn(fn *ast.FuncDecl, name string) bool {
	return isOwnStruct(fn, name) || isStructResult(fn, name) || ownRoot(fn, name, maxKeepDepth) != nil
}

// isStructResult tells of a name that it is a result of a function, and no pointer.
func isStructResult(fn *ast.FuncDecl, name string) bool {
	if fn.Type.Results == nil {
		return false
	}
	return slices.ContainsFunc(fn.Type.Results.List, func(f *ast.Field) bool {
		switch f.Type.(type) {
		case *ast.Ident, *ast.SelectorExpr, *ast.StructType:
			return isAmong(f.Names, name)
		}
		return false
	})
}

// ownRoot is what a variable points to a part of, in each statement that sets it, if that belongs to a struct of the function: req.Streams[i] of s = &req.Streams[i];
// nil where it may point to something else.
func ownRoot(fn *ast.FuncDecl, name string, depth int) (part ast.Expr) {
	return ownRootOf(fn, name, depth, map[string]ast.Expr{})
}

// ownRootOf is ownRoot, with what is known of variables.
func ownRootOf(fn *ast.FuncDecl, name string, depth int, known map[string]ast.Expr) (part ast.Expr) {
	if part, ok := known[name]; ok {
		return part
	}
	if depth == 0 || slices.Contains(parameters(fn.Type), name) {
		return nil
	}
	known[name] = nil
	other := false
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if other {
			return false
		}
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if !isNamed(lhs, name) || len(n.Rhs) == len(n.Lhs) && isNamed(n.Rhs[i], "nil") {
					continue
				}
				of, ok := ast.Expr(nil), false
				if len(n.Rhs) == len(n.Lhs) {
					of, ok = pointedTo(n.Rhs[i])
				}
				if root := rootName(of); !ok || root == name || !isOwnStruct(fn, root) && !isStructResult(fn, root) && ownRootOf(fn, root, depth-1, known) == nil {
					other = true
					continue
				}
				part = of
			}
		case *ast.RangeStmt:
			other = other || n.Key != nil && isNamed(n.Key, name) || n.Value != nil && isNamed(n.Value, name)
		case *ast.ValueSpec:
			other = other || isAmong(n.Names, name) && len(n.Values) > 0
		}
		return true
	})
	if other {
		return nil
	}
	known[name] = part
	return part
}

// pointedTo is what an expression gives a pointer to.
func pointedTo(x ast.Expr) (ast.Expr, bool) {
	u, ok := ast.Unparen(x).(*ast.UnaryExpr)
	if !ok || u.Op != token.AND {
		return nil, false
	}
	switch u.X.(type) {
	case *ast.IndexExpr, *ast.SelectorExpr:
		return u.X, true
	}
	return nil, false
}

// carryBack taints the struct that a variable points into, with the fields on the way.
func carryBack(k *keeper, name string, vars map[string]taint, t taint) {
	for range maxKeepDepth {
		if k.fn == nil || isOwnStruct(k.fn, name) {
			return
		}
		part := ownRoot(k.fn, name, maxKeepDepth)
		if part == nil {
			return
		}
		ast.Inspect(part, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				k.fields[sel.Sel.Name] = true
			}
			return true
		})
		name = rootName(part)
		vars[name] = together(t, vars[name])
	}
}

// notePassing notes that a part goes into a field of a function's own object.
func notePassing(k *keeper, file string, lhs ast.Expr, t taint) {
	sel, ok := lhs.(*ast.SelectorExpr)
	if !ok || !t.isPart() {
		return
	}
	k.parts.passing = append(k.parts.passing, keepsAt{container: types.ExprString(sel), file: file, line: k.lineOf(file, lhs.Pos()), part: true, expr: k.cuts[t-part].expr})
}

// appendsNumbers tells of what is assigned that numbers, or bytes, are appended to a list by each declaration of its name: they are copied.
func appendsNumbers(k *keeper, lhs, rhs ast.Expr) bool {
	call, ok := rhs.(*ast.CallExpr)
	if !ok || !isNamed(call.Fun, "append") || !call.Ellipsis.IsValid() {
		return false
	}
	return allTypes(k, lastName(types.ExprString(lhs)), func(t ast.Expr) bool {
		list, ok := t.(*ast.ArrayType)
		if !ok {
			return false
		}
		id, ok := list.Elt.(*ast.Ident)
		return ok && isNumeric(id.Name)
	})
}

// takesTextItself is what copies an element of what a part is stored into, where these are texts by each declaration of its name; empty where they are not.
func takesTextItself(k *keeper, kind storeKind, container ast.Expr) string {
	elements := func(text string) bool {
		return allTypes(k, lastName(types.ExprString(container)), func(t ast.Expr) bool {
			switch t := t.(type) {
			case *ast.ArrayType:
				return types.ExprString(t.Elt) == text
			case *ast.MapType:
				return types.ExprString(t.Value) == text
			}
			return false
		})
	}
	switch {
	case !k.text || kind != intoSlice && kind != intoMap:
	case elements("string"):
		return "strings.Clone"
	case elements("[]byte"):
		return "bytes.Clone"
	}
	return ""
}

// allTypes tells whether something holds of the types of all fields and variables of packages that the sources declare by a name, of which there are some.
func allTypes(k *keeper, name string, is func(ast.Expr) bool) bool {
	known := typesIn(k.c)
	all := slices.Concat(known.fields[name], known.vars[name])
	return len(all) > 0 && !slices.ContainsFunc(all, func(t ast.Expr) bool { return !is(t) })
}

// neverEntered tells of a statement that the run that counts has not once entered the block around it.
func neverEntered(k *keeper, file string, n ast.Node) bool {
	counts := blockCountsOf(k.c)
	if counts == nil || k.fn == nil {
		return false
	}
	brace := token.NoPos
	ast.Inspect(k.fn.Body, func(x ast.Node) bool {
		if x == nil || !covers(x, n) {
			return false
		}
		switch x := x.(type) {
		case *ast.BlockStmt:
			brace = x.Lbrace
		case *ast.CaseClause, *ast.CommClause:
			brace = token.NoPos // of these the blocks are counted elsewhere
		}
		return true
	})
	if !brace.IsValid() || brace == k.fn.Body.Lbrace {
		return false
	}
	called, known := counts.blocks.Entered(file, k.c.parse(file).fset.PositionFor(k.fn.Body.Lbrace, false).Offset)
	times, ok := counts.blocks.Entered(file, k.c.parse(file).fset.PositionFor(brace, false).Offset)
	return known && ok && called > 0 && times == 0
}

// growingFirst has what may have many parts stand before a field, which has one: it keeps one as long as its object lives, which may end with the call.
func growingFirst(all []keepsAt) []keepsAt {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b keepsAt) int {
		switch fa, fb := a.kind == intoField, b.kind == intoField; {
		case fa == fb:
			return 0
		case fa:
			return 1
		}
		return -1
	})
	return all
}

// besideIt are the lines right below a store that store the same part into something else: "names.go:51".
func besideIt(all []keepsAt, s keepsAt) string {
	var lines []string
	for _, o := range all {
		if o.part && o.file == s.file && o.expr == s.expr && s.direct != "" && o.kind != intoField && o.line != s.line && max(o.line-s.line, s.line-o.line) <= 3 {
			lines = append(lines, fileLine(o.file, o.line))
		}
	}
	return strings.Join(lines, ", ")
}

// otherThanCopy is what to do where a copy does not help: a field has no bound.
func otherThanCopy(s keepsAt) string {
	if s.kind == intoField {
		return " It keeps the whole as long as the object with that field lives: one that ends with the call is not what holds it."
	}
	return fmt.Sprintf(" If nearly all of it is needed, or it is already a copy, bound %s.", s.container)
}

// partPasses says of what is only cut into parts which go into objects that the functions make for themselves, and on to a call that was not followed, that the
// source does not show what keeps one of these.
func partPasses(c *code, own []stack.Frame) (h holding, ok bool) {
	k := keeperOf(c, own, true)
	if len(k.parts.passing) == 0 || len(k.stores) > 0 || !k.parts.lost {
		return h, false
	}
	var words []string
	for _, s := range k.parts.passing {
		if text := fmt.Sprintf("%s (%s)", s.container, fileLine(s.file, s.line)); len(words) < maxPassing && !slices.Contains(words, text) {
			words = append(words, text)
			h.shows = append(h.shows, c.shownAt(s.file, s.line, "a part of it goes into %s here, without a copy", s.container))
		}
	}
	list := strings.Join(words, " and ")
	h.says = "according to the source, parts of it go into " + list + "; what keeps one of these, and with it the whole, the source does not show"
	h.advice = fmt.Sprintf("Parts of it (substrings or slices) go into %s, without a copy. Look for where one of them goes on into a map, a list or a field that stays, and copy it there, before it is stored (%s): a small part keeps the whole alive. What only lives as long as a call needs no copy.", list, clonerAt(c, own[0]))
	h.doubt = "something else may keep the whole"
	return h, true
}

// maxPassing is how many places that parts go through are named.
const maxPassing = 2
