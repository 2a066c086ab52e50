package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/recording"
)

// Objects that are made anew each time, and maps that have a pointer to one as their key: whoever comes with another
// object, however equal, does not find what is there.

// makesPart tells of expressions that a line makes a part of a composite literal in one of them: what has the literal has
// what the line allocates.
func makesPart(s *syntax, all []ast.Expr, line int) bool {
	return slices.ContainsFunc(all, func(x ast.Expr) bool {
		if call, ok := x.(*ast.CallExpr); ok && isNamed(call.Fun, "append") && len(call.Args) > 1 {
			return makesPart(s, call.Args[1:], line)
		}
		lit, ok := unrefer(x).(*ast.CompositeLit)
		return ok && s.covers(lit, line) && literalTakes(s, lit, line)
	})
}

// literalTakes is makesPart of a composite literal that the line is in. What is done in a function that stands in it is
// done later, and what a call in it is given the call may keep or not.
func literalTakes(s *syntax, lit *ast.CompositeLit, line int) bool {
	for _, e := range lit.Elts {
		if !s.covers(e, line) {
			continue
		}
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			e = kv.Value
		}
		first, _ := s.lines(e)
		switch x := unrefer(e).(type) {
		case *ast.CompositeLit:
			if s.covers(x, line) {
				return literalTakes(s, x, line)
			}
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			return first == line && !isNamed(x.Fun, "len") && !isNamed(x.Fun, "cap")
		}
		return first == line
	}
	return true // the line makes the literal itself
}

// noteFresh keeps which object expressions make anew, and give a pointer to: &T{…} or new(T).
func noteFresh(k *keeper, all []ast.Expr) {
	for _, x := range all {
		switch x := x.(type) {
		case *ast.UnaryExpr:
			if lit, ok := x.X.(*ast.CompositeLit); ok && lit.Type != nil {
				k.fresh = typeName(lit.Type)
			}
		case *ast.CallExpr:
			if isNamed(x.Fun, "new") && len(x.Args) == 1 {
				k.fresh = typeName(x.Args[0])
			}
		}
	}
}

// noteOwn tells of a field that a line puts what it allocates into that it is one of a struct which the function makes
// itself, and returns or stores by a pointer: where that goes is where the memory goes.
func noteOwn(k *keeper, lhs ast.Expr) bool {
	sel, ok := lhs.(*ast.SelectorExpr)
	if !ok || k.fn == nil || !isIdent(sel.X) {
		return false
	}
	own := false
	eachAssigned(k.fn.Body, func(left, right ast.Expr) {
		if isNamed(left, rootName(lhs)) {
			noteFresh(k, []ast.Expr{right})
			own = own || k.fresh != ""
		}
	})
	return own
}

// freshKey tells of what a map is indexed by that it is a pointer to the object which is made anew each time, or has one
// in it, by the type of the key in each map of that name that the sources declare.
func freshKey(k *keeper, container, index ast.Expr) bool {
	if k.fresh == "" {
		return false
	}
	keys := keysOfMaps(k.c, lastName(types.ExprString(container)))
	return len(keys) > 0 && !slices.ContainsFunc(keys, func(key ast.Expr) bool { return !pointsAnew(k, key, index) })
}

// keysOfMaps are the types of the keys of all maps that the sources declare by a name.
func keysOfMaps(c *code, name string) (keys []ast.Expr) {
	add := func(t ast.Expr) {
		switch x := t.(type) {
		case *ast.CompositeLit:
			t = x.Type
		case *ast.CallExpr:
			if isNamed(x.Fun, "make") && len(x.Args) > 0 {
				t = x.Args[0]
			}
		}
		if m, ok := t.(*ast.MapType); ok {
			keys = append(keys, m.Key)
		}
	}
	c.eachSource(func(_ string, s *syntax) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Field:
				if isAmong(n.Names, name) {
					add(n.Type)
				}
			case *ast.ValueSpec:
				for i, id := range n.Names {
					if id.Name != name {
						continue
					}
					if add(n.Type); n.Type == nil && i < len(n.Values) {
						add(n.Values[i])
					}
				}
			}
			return true
		})
	})
	return keys
}

// pointsAnew tells of the type of a key that it is a pointer to the new object, an interface that is given one, or a struct
// with one.
func pointsAnew(k *keeper, key, index ast.Expr) bool {
	if star, ok := key.(*ast.StarExpr); ok {
		return typeName(star.X) == k.fresh
	}
	name := types.ExprString(key)
	if _, ok := key.(*ast.InterfaceType); ok || name == "any" || typesIn(k.c).interfaces[typeName(key)] {
		return isIdent(index) && !k.text // of a text, the variable may be the text itself
	}
	found := false
	k.c.eachSource(func(_ string, s *syntax) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok || spec.Name.Name != typeName(key) {
				return !found
			}
			if st, ok := spec.Type.(*ast.StructType); ok {
				for _, f := range st.Fields.List {
					star, ok := f.Type.(*ast.StarExpr)
					found = found || ok && typeName(star.X) == k.fresh
				}
			}
			return !found
		})
	})
	return found
}

// addToSyncMap notes what goes into a sync.Map, or the like, by its Store or LoadOrStore.
func addToSyncMap(k *keeper, file string, call *ast.CallExpr, arg int, t taint) {
	if arg == 0 && t == whole && k.fresh != "" && !k.text && isIdent(call.Args[0]) {
		k.anew = k.fresh
		defer func() { k.anew = "" }()
	}
	k.add(intoSyncMap, file, call.Fun.(*ast.SelectorExpr).X, call.Pos(), t)
}

// tellAnew says of a map from which nothing is deleted that its key is a pointer to an object that a line makes anew each
// time. An object that is looked up as long as it lives is found by its pointer: then only its end is missing.
func tellAnew(c *code, h *holding, s keepsAt, made Evidence) {
	const aside = " If it is looked up by the same pointer while it is in use, delete the entry when that ends."
	at := fileLine(made.File, made.Line)
	h.says += fmt.Sprintf(", by a pointer to a new %s of each call (%s): a later call, with another one, does not find it, and nothing in the source deletes it", s.anew, at)
	h.advice = fmt.Sprintf("It goes into %s, and nothing in the source deletes from a map of this name. Its key is a pointer to a %s made anew at %s in each call, so a later call with an equal one does not find the entry: "+
		"key it by what identifies the %s (a string or a struct of its fields), or do not remember it at all.", s.container, s.anew, at, s.anew)
	if line := looksUpBefore(c, s); line > 0 {
		h.shows = append(h.shows, c.shownAt(s.file, line, "it is looked up here before, by the same pointer"))
		return
	}
	h.advice += aside
}

// looksUpBefore is the line at which the function that stores something into a map looks into it before; 0 where it does
// not.
func looksUpBefore(c *code, s keepsAt) (line int) {
	x := c.parse(s.file)
	x.onLine(s.line, func(n ast.Node, _ []ast.Node) {
		fn, ok := n.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			return
		}
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			is := false
			switch n := n.(type) {
			case *ast.IndexExpr:
				is = types.ExprString(n.X) == s.container
			case *ast.CallExpr:
				f, ok := n.Fun.(*ast.SelectorExpr)
				is = ok && strings.HasPrefix(f.Sel.Name, "Load") && types.ExprString(f.X) == s.container
			}
			if at := 0; is && line == 0 {
				if at, _ = x.lines(n); at < s.line {
					line = at
				}
			}
			return true
		})
	})
	return line
}

// ranAt is a line that a profile has seen at work.
type ranAt struct {
	file string
	line int
}

// thatRan are those of several functions, of which a call may mean each, that a profile of the recording has seen at work;
// all of them where it has seen none.
func thatRan(c *code, all []declaration) []declaration {
	if len(all) < 2 {
		return all
	}
	if c.ran == nil {
		c.ran = map[ranAt]bool{}
		for _, e := range slices.Concat(c.session.Manifest().Of(recording.Heap), c.session.Manifest().Of(recording.CPU)) {
			p, err := c.session.ProfileAt(e.Path)
			if err != nil {
				continue
			}
			for _, id := range p.StackIDs {
				for _, f := range facts.Frames(p.Stacks, id) {
					c.ran[ranAt{f.File, f.Line}] = true
				}
			}
		}
	}
	ran := slices.DeleteFunc(slices.Clone(all), func(d declaration) bool {
		first, last := c.parse(d.file).lines(d.FuncDecl)
		for line := first; line <= last; line++ {
			if c.ran[ranAt{d.file, line}] {
				return false
			}
		}
		return true
	})
	if len(ran) == 0 {
		return all
	}
	return ran
}

// keepsAll tells of what holds memory that the source shows nothing that takes anything out of it, by a map that is a field or a
// variable of the package.
func keepsAll(h holding) bool {
	s := h.into
	return (s.kind == intoMap || s.kind == intoSyncMap) && s.file != "" && !s.wraps && (s.anew != "" || strings.Contains(s.container, ".")) &&
		h.lets.File == "" && h.bounds.File == "" && h.unless.File == "" && h.expires.File == "" && !h.fixed && h.wastes == noWaste && len(h.shows) > 0
}

// putFirst has a piece of evidence stand before the others.
func putFirst(f *Finding, e Evidence) {
	f.Evidence = slices.DeleteFunc(f.Evidence, func(x Evidence) bool { return x.File != "" && evidenceLine(x) == evidenceLine(e) })
	f.Evidence = slices.Insert(f.Evidence, 0, e)
}

// tellKeepsFirst shows the line that keeps memory before those that allocate it: it is the one to change.
func tellKeepsFirst(f *Finding, keeps Evidence) {
	i := slices.IndexFunc(f.Evidence, func(e Evidence) bool { return e.File != "" && evidenceLine(e) == evidenceLine(keeps) })
	if i < 0 {
		return
	}
	const nothing = ", and nothing in the source deletes from it"
	was := f.Evidence[i]
	if !strings.Contains(was.Text, nothing) {
		also := ""
		if was.Text != keeps.Text {
			also = "; " + was.Text
		}
		was.Text = keeps.Text + nothing + also
	}
	f.Evidence = slices.Insert(slices.Delete(f.Evidence, i, i+1), 0, was)
}

// hasCore tells whether a recording has a core.
func hasCore(in *Input) bool { return len(in.Session.Manifest().Of(recording.Core)) > 0 }
