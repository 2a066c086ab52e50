package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"loupe/value/stack"
)

// A function that does its work only where a cache does not have the result.

// missed is a cache whose misses a hot function is called for.
type missed struct {
	at  stack.Frame // the line that calls it
	key string      // what makes each key another one: "time.Now()"; empty where the source shows nothing
	put Evidence    // where that comes from
}

// missesOn finds on a stack the call that is made only where a cache has nothing yet, from the at-th frame outward.
func missesOn(in *Input, v *view, frames []stack.FrameID, at int) (m missed, ok bool) {
	for i := max(1, at+1); i < len(frames); i++ {
		f, callee := v.t.Frame(frames[i]), v.t.Frame(frames[i-1]).Func
		if v.origins[frames[i]] != stack.User || !fillsOnce(in.code, f, callee) {
			continue
		}
		keys := cacheKeys(in.code, f)
		if len(keys) == 0 {
			continue // one result, and not one for each key
		}
		m.at = f
		way := make([]stack.Frame, 0, len(frames)-i)
		for _, id := range frames[i:] {
			if v.origins[id] != stack.User {
				break
			}
			way = append(way, v.t.Frame(id))
		}
		d := newDerivations(in.code)
		for _, key := range keys {
			if x := volatile(d, way, key, 0); x != nil {
				m.key = brief(x, "a call")
				file, line, _ := d.t.at(x.Pos())
				m.put = in.code.shownAt(file, line, "%s makes each key another one", m.key)
				return m, true
			}
		}
		return m, true
	}
	return m, false
}

// cacheKeys are the indices of maps that the function of a frame reads with a second result that tells whether it is
// there, or by a method Load or Get.
func cacheKeys(c *code, f stack.Frame) (keys []ast.Expr) {
	d := typedOf(c)
	in, ok := (&derivations{c: c, t: d}).at(f)
	if !ok {
		return nil
	}
	ast.Inspect(in.body(), func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Rhs) != 1 || len(a.Lhs) != 2 {
			return true
		}
		switch x := ast.Unparen(a.Rhs[0]).(type) {
		case *ast.IndexExpr:
			keys = append(keys, x.Index)
		case *ast.CallExpr:
			if name := calledName(x); len(x.Args) == 1 && (name == "Load" || name == "Get" || name == "Peek") {
				keys = append(keys, x.Args[0])
			}
		}
		return true
	})
	return keys
}

// volatile finds in what an expression is made of, in the function of a way's first frame and outward, a call that gives
// something else each time, and that nothing rounds: a time of which the minute alone is kept comes again.
func volatile(d *derivations, way []stack.Frame, x ast.Expr, depth int) (found ast.Expr) {
	if len(way) == 0 || depth > 8 {
		return nil
	}
	in, ok := d.at(way[0])
	if !ok {
		return nil
	}
	var parts []ast.Expr
	switch x := ast.Unparen(x).(type) {
	case *ast.CompositeLit:
		parts = x.Elts
	case *ast.KeyValueExpr:
		parts = []ast.Expr{x.Value}
	case *ast.BinaryExpr:
		if x.Op == token.ADD {
			parts = []ast.Expr{x.X, x.Y}
		}
	case *ast.CallExpr:
		sel, method := x.Fun.(*ast.SelectorExpr)
		tv, known := d.t.info.Types[ast.Unparen(x.Fun)]
		switch pkg := d.t.fromPackage(x.Fun); {
		case givesAnother(d, x):
			return x
		case known && tv.IsType(), pkg == "fmt" && strings.HasPrefix(calledName(x), "Sprint"):
			parts = x.Args
		case method && pkg == "" && len(x.Args) == 0 && (sel.Sel.Name == "UnixNano" || sel.Sel.Name == "String"):
			parts = []ast.Expr{sel.X}
		}
	case *ast.Ident:
		v := d.variable(x)
		switch defs := d.definitions(in.decl)[v]; {
		case v == nil || !isLocal(in.decl, v):
		case isGiven(in.decl, v):
			return givenVolatile(d, way, in.decl, v, depth)
		case len(defs) == 1 && defs[0].x != nil && !defs[0].ranged && !defs[0].part && defs[0].x.End() <= x.Pos():
			parts = []ast.Expr{defs[0].x}
		}
	}
	for _, part := range parts {
		if found = volatile(d, way, part, depth+1); found != nil {
			return found
		}
	}
	return nil
}

// givenVolatile is volatile of a parameter: of what the next function of the way gives for it.
func givenVolatile(d *derivations, way []stack.Frame, decl *ast.FuncDecl, v types.Object, depth int) ast.Expr {
	if len(way) < 2 {
		return nil
	}
	outer, ok := d.at(way[1])
	if !ok {
		return nil
	}
	for _, call := range d.callsOn(outer, way[1], decl.Name.Name) {
		if given := argumentFor(d, decl, call, v); given != nil {
			return volatile(d, way[1:], given, depth+1)
		}
	}
	return nil
}

// givesAnother tells of a call of a library that its result is another one each time.
func givesAnother(d *derivations, call *ast.CallExpr) bool {
	pkg, name := d.t.fromPackage(call.Fun), calledName(call)
	switch {
	case pkg == "time":
		return name == "Now"
	case drawing(pkg): // of a range so large that nothing comes twice
		return len(call.Args) == 0 && (name == "Int" || name == "Int63" || name == "Int64" || name == "Uint64")
	case strings.HasSuffix(pkg, "/uuid"), strings.HasSuffix(pkg, "/xid"), strings.HasSuffix(pkg, "/ksuid"):
		return strings.HasPrefix(name, "New")
	}
	return false
}
