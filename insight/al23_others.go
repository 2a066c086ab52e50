package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// Results other than the parts of a text.

// spareQuery tells of r.URL.Query() that the same query is parsed more than once in a function, itself or by one
// that it calls, and only read.
func spareQuery(r *resultAt) *spared {
	sel, ok := r.call.Fun.(*ast.SelectorExpr)
	if !ok || len(r.call.Args) != 0 || r.t.callee(r.call) != nil || !r.onlyAsked(r.around) {
		return nil
	}
	of, root := types.ExprString(sel.X), r.variable(innermost(sel.X))
	if root == nil || !isLocal(r.decl, root) || r.changes(r.decl, of) {
		return nil
	}
	if r.queryChanged(of, root) {
		return nil // what is asked is not what is changed
	}
	const parses = "() parses the query and fills a new map each time; "
	doubts := []string{"if the URL's RawQuery is changed in between, each call sees the change"}
	calls := r.callsLike(r.decl, func(call *ast.CallExpr, around []ast.Node) bool {
		f, ok := call.Fun.(*ast.SelectorExpr)
		return ok && types.ExprString(f) == of+".Query" && r.variable(innermost(f.X)) == root && r.onlyAsked(around)
	})
	if comesAgain(calls) {
		return &spared{uses: "is parsed again by another call in the same function", doubts: doubts,
			advice: fmt.Sprintf("%s.Query%sthe function does it %d times. Call it once (q := %s.Query()) and ask q.", of, parses, len(r.queries(of, root)), of)}
	}
	for _, n := range r.around {
		if isLoop(n) && (root.Pos() < n.Pos() || root.Pos() >= n.End()) {
			return &spared{uses: "is parsed again in each turn of a loop", doubts: doubts,
				advice: fmt.Sprintf("%s.Query%sthe loop does it in each turn. Call it once before the loop (q := %s.Query()) and ask q.", of, parses, of)}
		}
	}
	if fn, ok := r.t.info.Defs[r.decl.Name].(*types.Func); ok && isGiven(r.decl, root) {
		for _, decl := range r.t.decls {
			by := map[string][][]ast.Node{}
			for _, around := range r.callsLike(decl, func(call *ast.CallExpr, _ []ast.Node) bool { return r.t.callee(call) == fn }) {
				if given := argumentFor(r.derivations, r.decl, around[len(around)-1].(*ast.CallExpr), root); given != nil {
					by[types.ExprString(given)] = append(by[types.ExprString(given)], around)
				}
			}
			for given, calls := range by {
				if comesAgain(calls) && !r.changes(decl, given+strings.TrimPrefix(of, rootName(sel.X))) {
					return &spared{uses: "is parsed again for the same request", doubts: doubts,
						advice: fmt.Sprintf("%s.Query%s%s calls %s %d times for the same one. Parse it there once, and hand %s the values instead.", of, parses, decl.Name.Name, r.decl.Name.Name, len(calls), r.decl.Name.Name)}
				}
			}
		}
	}
	return nil
}

// queries are all calls of Query of a URL in the function, whatever becomes of the result.
func (r *resultAt) queries(of string, root types.Object) (all []*ast.CallExpr) {
	ast.Inspect(r.decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if f, ok := call.Fun.(*ast.SelectorExpr); ok && types.ExprString(f) == of+".Query" && r.variable(innermost(f.X)) == root {
			all = append(all, call)
		}
		return true
	})
	return all
}

// queryChanged tells whether the function changes the values of one of the queries of a URL, itself or by what it gives
// them to: the others do not see that.
func (r *resultAt) queryChanged(of string, root types.Object) bool {
	f := flowOf(r.derivations, r.queries(of, root), nil)
	return len(f.writes()) > 0
}

// callsLike are calls in a function, not in one without a name inside of it, each with the nodes around it and itself at the end.
func (r *resultAt) callsLike(decl *ast.FuncDecl, is func(call *ast.CallExpr, around []ast.Node) bool) (all [][]ast.Node) {
	eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || withinLit(around) {
			return
		}
		if is(call, around) {
			all = append(all, append(slices.Clone(around), call))
		}
	})
	return all
}

// comesAgain tells whether one of some calls, in the order of the source, is always made before another one: the block
// that it is in is around the other one.
func comesAgain(calls [][]ast.Node) bool {
	for i, a := range calls {
		var block ast.Node
		for _, n := range a {
			switch n.(type) {
			case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
				block = n
			}
		}
		if slices.ContainsFunc(calls[i+1:], func(b []ast.Node) bool { return slices.Contains(b, block) }) {
			return true
		}
	}
	return false
}

// onlyAsked tells of a map of values that it is asked for one of them, and nothing else.
func (r *resultAt) onlyAsked(around []ast.Node) bool {
	switch p := parent(around).(type) {
	case *ast.SelectorExpr:
		return p.Sel.Name == "Get" || p.Sel.Name == "Has"
	case *ast.IndexExpr:
		w := &useWalk{resultAt: r}
		return !w.isWritten(p, around[:len(around)-1])
	}
	return false
}

// changes tells whether a function assigns to what an expression names, to what that is a part of, or to a part of it.
func (r *resultAt) changes(decl *ast.FuncDecl, of string) (found bool) {
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		for _, x := range changedBy(n) {
			text := types.ExprString(x)
			found = found || strings.HasPrefix(of+".", text+".") || strings.HasPrefix(text, of+".")
		}
		return !found
	})
	return found
}

// appending are functions that make a text, with the ones that append it; %s are the slice and the arguments.
var appending = map[string]struct {
	form  string
	since int
	size  int // of the longest text that is usual; 0 where there is no bound
}{
	"strconv.Itoa":        {"strconv.AppendInt(%s, int64(%s), 10)", 0, 20},
	"strconv.FormatInt":   {"strconv.AppendInt(%s, %s)", 0, 65},
	"strconv.FormatUint":  {"strconv.AppendUint(%s, %s)", 0, 65},
	"strconv.FormatFloat": {"strconv.AppendFloat(%s, %s)", 0, 32},
	"strconv.Quote":       {"strconv.AppendQuote(%s, %s)", 0, 0},
	"hex.EncodeToString":  {"hex.AppendEncode(%s, %s)", 22, 0},
}

// spareEncode tells of a number, a time or bytes that are made a text, which is copied into a buffer at once.
func spareEncode(r *resultAt) *spared {
	form, since, size := "", 0, 0
	args := make([]string, len(r.call.Args))
	for i, a := range r.call.Args {
		args[i] = brief(a, "…")
	}
	sel, ok := r.call.Fun.(*ast.SelectorExpr)
	switch a, known := appending[types.ExprString(r.call.Fun)]; {
	case known:
		form, since, size = a.form, a.since, a.size
	case ok && r.name == "Format" && r.pkg == "" && r.t.callee(r.call) == nil && len(args) == 1:
		form, size = brief(sel.X, "t")+".AppendFormat(%s, %s)", 64
	case ok && r.name == "EncodeToString" && r.pkg == "" && r.t.callee(r.call) == nil && len(args) == 1:
		form, since = brief(sel.X, "enc")+".AppendEncode(%s, %s)", 22
	default:
		return nil
	}
	if !r.has(since) {
		return nil
	}
	to := func(slice string) string { return fmt.Sprintf(form, slice, strings.Join(args, ", ")) }
	release := ""
	if since > 0 {
		release = fmt.Sprintf(" (Go 1.%d)", since)
	}
	p, ok := parent(r.around).(*ast.CallExpr)
	if !ok || len(p.Args) == 0 || p.Args[len(p.Args)-1] != ast.Expr(r.call) {
		return nil
	}
	switch fun := p.Fun.(type) {
	case *ast.Ident:
		if fun.Name == "append" && len(p.Args) == 2 && p.Ellipsis.IsValid() {
			slice := brief(p.Args[0], "b")
			return &spared{works: true, uses: "is appended to a slice", advice: "Append it without a text of its own: " + to(slice) + release + "."}
		}
	case *ast.ArrayType:
		if size > 0 && types.ExprString(fun) == "[]byte" {
			return &spared{works: true, uses: "is copied into bytes", advice: "Make the bytes without a text first: " + to("nil") + release + "."}
		}
	case *ast.SelectorExpr:
		if fun.Sel.Name != "WriteString" || len(p.Args) != 1 {
			return nil
		}
		w := types.ExprString(fun.X)
		switch of := r.declaredType(fun.X); {
		case of == "bytes.Buffer" && r.has(21), of == "bufio.Writer" && r.has(18):
			return &spared{works: true, uses: "is written to a buffer", advice: fmt.Sprintf("Append it to the buffer's own memory: %s.Write(%s)%s.", w, to(w+".AvailableBuffer()"), release)}
		case of == "strings.Builder" && size > 0:
			return &spared{works: true, uses: "is written to a strings.Builder", advice: fmt.Sprintf("Append it to an array on the stack (var a [%d]byte): %s.Write(%s)%s.", size, w, to("a[:0]"), release)}
		}
	}
	return nil
}

// declaredType is the type of a variable or a field as the source declares it or by what makes it, without the
// star of a pointer: "bytes.Buffer". It is empty where the source does not show it.
func (r *resultAt) declaredType(x ast.Expr) (of string) {
	var v types.Object
	switch x := ast.Unparen(unrefer(x)).(type) {
	case *ast.Ident:
		v = r.variable(x)
	case *ast.SelectorExpr:
		v = r.field(x)
	}
	if v == nil {
		return ""
	}
	note := func(names []*ast.Ident, t ast.Expr) {
		if t != nil && slices.ContainsFunc(names, func(id *ast.Ident) bool { return r.t.info.Defs[id] == v }) {
			of = strings.TrimPrefix(types.ExprString(t), "*")
		}
	}
	for _, f := range r.t.files {
		if f.file.FileStart > v.Pos() || v.Pos() >= f.file.FileEnd {
			continue
		}
		ast.Inspect(f.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Field:
				note(n.Names, n.Type)
			case *ast.ValueSpec:
				note(n.Names, n.Type)
			}
			assigned(n, func(lhs, rhs ast.Expr) {
				id, ok := lhs.(*ast.Ident)
				if !ok {
					return
				}
				t := typeMade(rhs)
				if call, ok := ast.Unparen(rhs).(*ast.CallExpr); ok && t == nil {
					switch types.ExprString(call.Fun) {
					case "bytes.NewBuffer", "bytes.NewBufferString", "bufio.NewWriter", "bufio.NewWriterSize":
						note([]*ast.Ident{id}, &ast.Ident{Name: map[bool]string{true: "bytes.Buffer", false: "bufio.Writer"}[strings.HasPrefix(types.ExprString(call.Fun), "bytes.")]})
					case "new":
						t = call.Args[0]
					}
				}
				note([]*ast.Ident{id}, t)
			})
			return true
		})
	}
	return of
}

// sums are the functions that hash at once, by the package.
var sums = map[string]map[string]string{
	"crypto/sha256": {"New": "Sum256", "New224": "Sum224"}, "crypto/sha512": {"New": "Sum512", "New384": "Sum384", "New512_256": "Sum512_256"},
	"crypto/sha1": {"New": "Sum"}, "crypto/md5": {"New": "Sum"},
}

// spareHash tells of a hash that is made for one text.
func spareHash(r *resultAt) *spared {
	made := r.call
	if r.name == "Sum" {
		sel, ok := r.call.Fun.(*ast.SelectorExpr)
		if !ok || r.pkg != "" {
			return nil
		}
		defs := r.definitions(r.decl)[r.variable(sel.X)]
		if len(defs) != 1 || defs[0].x == nil {
			return nil
		}
		if made, ok = ast.Unparen(defs[0].x).(*ast.CallExpr); !ok {
			return nil
		}
	}
	pkg := r.t.fromPackage(made.Fun)
	sum := sums[pkg][calledName(made)]
	if sum == "" || len(made.Args) > 0 {
		return nil
	}
	var h types.Object
	var list []ast.Stmt
	var writes, sumAt token.Pos
	ok, what, uses := true, "", 0
	eachNode(r.decl.Body, func(n ast.Node, around []ast.Node) {
		if n == ast.Node(made) {
			assigned(parent(around), func(lhs, rhs ast.Expr) {
				if rhs == ast.Expr(made) {
					h = r.variable(lhs)
				}
			})
			if len(around) > 1 {
				list = statements(around[len(around)-2])
			}
		}
		id, is := n.(*ast.Ident)
		if h == nil || !is || r.t.info.Uses[id] != h {
			return
		}
		uses++
		sel, is := parent(around).(*ast.SelectorExpr)
		if !is || len(around) < 3 {
			ok = false
			return
		}
		call, is := around[len(around)-2].(*ast.CallExpr)
		switch {
		case !is || call.Fun != ast.Expr(sel) || len(call.Args) != 1:
			ok = false
		case sel.Sel.Name == "Sum" && isNamed(call.Args[0], "nil") && writes.IsValid():
			sumAt = call.Pos()
		case sel.Sel.Name == "Write" && !writes.IsValid() && slices.ContainsFunc(list, func(s ast.Stmt) bool { return ast.Node(s) == around[len(around)-3] }):
			writes, what = call.Pos(), brief(call.Args[0], "data")
		default:
			ok = false
		}
	})
	if !ok || h == nil || uses != 2 || !sumAt.IsValid() || !isLocal(r.decl, h) || isGiven(r.decl, h) || len(r.definitions(r.decl)[h]) != 1 {
		return nil
	}
	short := pkg[strings.LastIndexByte(pkg, '/')+1:]
	return &spared{uses: "is the hash of one text",
		advice: fmt.Sprintf("One text is hashed: sum := %s.%s(%s) is the same as New, Write and Sum(nil), and allocates nothing itself; sum[:] is the slice.", short, sum, what)}
}

// spareCollect tells of the keys or the values of a map that are collected in a slice that grows.
func spareCollect(r *resultAt) *spared {
	if r.pkg != "slices" || len(r.call.Args) == 0 {
		return nil
	}
	from := r.callOf(r.call.Args[0], "maps", "Keys", "Values")
	if from == nil || len(from.Args) != 1 {
		return nil
	}
	switch from.Args[0].(type) {
	case *ast.Ident, *ast.SelectorExpr:
	default:
		return nil
	}
	m, sort := brief(from.Args[0], "m"), map[string]string{"Sorted": ", and slices.Sort", "SortedFunc": ", and slices.SortFunc", "SortedStableFunc": ", and slices.SortStableFunc"}[r.name]
	return &spared{uses: "grows step by step, though its length is known",
		advice: fmt.Sprintf("The slice is allocated again and again while it grows: slices.AppendSeq(make([]T, 0, len(%s)), %s)%s makes it once.", m, brief(from, "the iterator"), sort),
		doubts: []string{"of an empty map that is an empty slice, and not nil"}}
}

// spareMatch tells of matches of a regular expression of which nothing is needed but that there are some.
func spareMatch(r *resultAt) *spared {
	sel, ok := r.call.Fun.(*ast.SelectorExpr)
	if !ok || len(r.call.Args) == 0 {
		return nil
	}
	if strings.Contains(r.name, "All") {
		if n, ok := r.constant(r.call.Args[len(r.call.Args)-1]); !ok || n == 0 {
			return nil
		}
	} else if !strings.HasSuffix(r.name, "Submatch") && !strings.HasSuffix(r.name, "Index") {
		return nil // the text of a match may be nil, or empty
	}
	u := r.usesOf()
	if u == nil || !u.only(u.isNil+u.isEmpty) {
		return nil
	}
	match := "Match"
	if strings.Contains(r.name, "String") {
		match = "MatchString"
	}
	return &spared{uses: "is only asked whether there is a match",
		advice: fmt.Sprintf("Use %s.%s(%s), which says whether there is a match and allocates nothing for it.", brief(sel.X, "re"), match, brief(r.call.Args[0], "text"))}
}

// spareRepeat tells of a text that is the same each time.
func spareRepeat(r *resultAt) *spared {
	if r.pkg != "strings" || len(r.call.Args) != 2 {
		return nil
	}
	_, text := r.text(r.call.Args[0])
	if _, number := r.constant(r.call.Args[1]); !text || !number {
		return nil
	}
	return &spared{uses: "is the same each time",
		advice: fmt.Sprintf("%s is the same text each time: make it once, in a variable of the package.", brief(r.call, "It"))}
}

// spareAddress tells of an IP address that is only checked.
func spareAddress(r *resultAt) *spared {
	if r.pkg != "net" || len(r.call.Args) != 1 || !r.has(18) {
		return nil
	}
	u := r.usesOf()
	if u == nil || !u.only(u.isNil) {
		return nil
	}
	return &spared{uses: "is only compared with nil",
		advice: fmt.Sprintf("Only whether it is an address is asked: addr, err := netip.ParseAddr(%s) allocates nothing for one that is; net.ParseIP takes the same texts but those with a zone (err == nil && addr.Zone() == \"\").", brief(r.call.Args[0], "text"))}
}

// spareHeader tells of the name of a header that is converted to its canonical form for each call.
func spareHeader(r *resultAt) *spared {
	if len(r.call.Args) == 0 {
		return nil
	}
	name, ok := r.text(r.call.Args[0])
	canonical, valid := canonicalHeader(name)
	if !ok || !valid || name == canonical || r.t.callee(r.call) != nil {
		return nil
	}
	return &spared{uses: "is the canonical form of a constant name",
		advice: fmt.Sprintf("Write the name as the header has it, %q instead of %q: it is looked up as it is then, and no text is made for it.", canonical, name)}
}

// canonicalHeader is a name of a header as net/http has it; it is not valid where it has other characters than
// letters, digits and hyphens, of which it is not said here what becomes.
func canonicalHeader(name string) (canonical string, valid bool) {
	upper, b := true, []byte(name)
	for i, c := range b {
		switch {
		case upper && 'a' <= c && c <= 'z':
			b[i] = c - 'a' + 'A'
		case !upper && 'A' <= c && c <= 'Z':
			b[i] = c - 'A' + 'a'
		case c != '-' && !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'):
			return "", false
		}
		upper = c == '-'
	}
	return string(b), len(b) > 0
}

// callOf is the call that an argument is, of a function of a package; nil where it is none.
func (r *resultAt) callOf(x ast.Expr, pkg string, names ...string) *ast.CallExpr {
	call, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok || r.t.fromPackage(uninstantiated(call)) != pkg || !slices.Contains(names, lastName(types.ExprString(uninstantiated(call)))) {
		return nil
	}
	return call
}
