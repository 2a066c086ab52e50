package insight

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
	"loupe/value/unit"
)

// How often a sync.Pool has what it is asked for, by the counts of the branches behind the question. One without a New function is asked first, and what it does
// not have is made behind that.

// poolMisses are such counts of a pool that hardly ever has anything.
type poolMisses struct {
	name             string // of the pool, as the source has it
	asked, had, puts int64
	get, put         codeLine // put is where the most are put in; no line where nothing is
	several          bool     // it is one of several, which Get and Put choose
}

// poolMissesAt are those of the pool that the function of a line asks before the line. It is false where that was not counted, or where the pool has it often.
func poolMissesAt(c *code, at stack.Frame) (m poolMisses, ok bool) {
	counts := blockCountsOf(c)
	if counts == nil {
		return m, false
	}
	in, found := counts.d.at(at)
	if !found {
		return m, false
	}
	calls, counted := counts.entered(in.body().Lbrace)
	pools := poolNames(c, folderOf(at.File))
	if !counted || calls < fewAsked || len(pools) == 0 {
		return m, false
	}
	pool := ""
	eachNode(in.body(), func(n ast.Node, around []ast.Node) {
		stmt, is := n.(*ast.IfStmt)
		if !is || ok {
			return
		}
		from, hit := poolAsked(stmt, around, pools)
		place := counts.d.placeOf(stmt)
		if from == nil || place.line > at.Line {
			return
		}
		asked, known := counts.reaches(append([]ast.Node{in.body()}, around...), stmt)
		inside, entered := counts.entered(stmt.Body.Lbrace)
		if !known || !entered || asked < fewAsked {
			return
		}
		if !hit {
			inside = max(0, asked-inside)
		}
		_, several := ast.Unparen(from).(*ast.IndexExpr)
		pool = last(from)
		m = poolMisses{name: types.ExprString(from), asked: asked, had: inside, get: place, several: several}
		ok = float64(inside) <= mostHits*float64(calls)
	})
	if ok {
		m.countPuts(counts, pool, folderOf(at.File))
	}
	return m, ok
}

// poolNames are the names of variables and fields of a folder's sources that are pools, or have some.
func poolNames(c *code, folder string) map[string]bool {
	names := map[string]bool{}
	note := func(ids []*ast.Ident, of ast.Expr) {
		if of != nil && strings.HasSuffix(types.ExprString(of), "sync.Pool") {
			for _, id := range ids {
				names[id.Name] = true
			}
		}
	}
	c.eachSource(func(file string, s *syntax) {
		if folderOf(file) != folder {
			return
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Field:
				note(n.Names, n.Type)
			case *ast.ValueSpec:
				note(n.Names, n.Type)
				for i, x := range n.Values {
					if lit, ok := ast.Unparen(x).(*ast.CompositeLit); ok && i < len(n.Names) {
						note(n.Names[i:i+1], lit.Type)
					}
				}
			}
			return true
		})
	})
	return names
}

// poolAsked is the pool whose Get an if statement looks at the result of: in itself, or in the statement before it. hit tells that its branch is the one in which
// there was something.
func poolAsked(stmt *ast.IfStmt, around []ast.Node, pools map[string]bool) (pool ast.Expr, hit bool) {
	name, hit := givesSomething(stmt.Cond)
	from := stmt.Init
	if block, ok := parent(around).(*ast.BlockStmt); ok && from == nil {
		if i := slices.Index(block.List, ast.Stmt(stmt)); i > 0 {
			from = block.List[i-1]
		}
	}
	set, ok := from.(*ast.AssignStmt)
	if !ok || name == "" || len(set.Rhs) != 1 || !slices.ContainsFunc(set.Lhs, func(x ast.Expr) bool { return isNamed(x, name) }) {
		return nil, false
	}
	x := ast.Unparen(set.Rhs[0])
	if as, ok := x.(*ast.TypeAssertExpr); ok {
		x = ast.Unparen(as.X)
	}
	call, ok := x.(*ast.CallExpr)
	if !ok || len(call.Args) > 0 || calledName(call) != "Get" || !pools[last(receiverOf(call))] {
		return nil, false
	}
	return receiverOf(call), hit
}

// givesSomething is the variable that a condition asks whether there is something: v != nil, ok, and their opposites.
func givesSomething(cond ast.Expr) (name string, positive bool) {
	if x, ok := ast.Unparen(cond).(*ast.BinaryExpr); ok && (x.Op == token.NEQ || x.Op == token.EQL) && isNamed(x.Y, "nil") {
		id, _ := ast.Unparen(x.X).(*ast.Ident)
		if id == nil {
			return "", false
		}
		return id.Name, x.Op == token.NEQ
	}
	return askedFirst(cond)
}

// countPuts counts what is put into pools of a name in a folder.
func (m *poolMisses) countPuts(counts *countedTurns, pool, folder string) {
	most := int64(0)
	for _, decl := range counts.d.t.decls {
		if decl.Body == nil || folderOf(counts.d.placeOf(decl).file) != folder {
			continue
		}
		eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
			call, is := n.(*ast.CallExpr)
			if !is || calledName(call) != "Put" || len(call.Args) != 1 || receiverOf(call) == nil || last(receiverOf(call)) != pool {
				return
			}
			times, known := counts.reached(decl, around, call)
			at := counts.d.placeOf(call)
			if known && (times > most || times == most && times > 0 && cmp.Or(cmp.Compare(at.file, m.put.file), at.line-m.put.line) < 0) {
				most, m.put = times, at
			}
			m.puts += times
		})
	}
}

// tell says it of what is allocated because the pool has nothing.
func (m *poolMisses) tell(c *code, f *Finding) {
	f.Title = poolTitle
	f.Summary += fmt.Sprintf("; it is made only where a pool has nothing: in the run that counts, %s had something in %s of %s times, and %s", m.name, unit.Count(m.had), unit.Count(m.asked), wasPut(m.puts))
	f.Evidence = append(f.Evidence, c.shownAt(m.get.file, m.get.line, "the pool is asked here"))
	f.saves = true
	if m.put.line == 0 {
		f.Advice = "Nothing is put back: call Put where the last user is done, on every path." + whenDone
		return
	}
	f.Evidence = append(f.Evidence, c.shownAt(m.put.file, m.put.line, "here it is put in"))
	switch {
	case 2*m.puts < m.asked-m.had && !m.several:
		f.Advice = fmt.Sprintf("Much less is put back than is asked for: call Put on every path where the last user is done, early returns included (now at %s).", m.put.text()) + whenDone
	case m.several:
		f.Advice = fmt.Sprintf("What is put in at %s is not where it is looked for at %s: both have to choose the same pool. By size, Put takes the largest class that the capacity fills, and Get the smallest that is large enough.", m.put.text(), m.get.text()) + whenDone
	default:
		f.Advice = fmt.Sprintf("Find out why what is put in at %s is not found at %s: a pool that is made again and again, one for each of something, or collections that empty it (twice without use is enough).", m.put.text(), m.get.text()) + whenDone
	}
}

// poolTitle is that of a pool that hardly ever has anything.
const poolTitle = "A sync.Pool hardly ever has what it is asked for"

// wasPut says how many were put in.
func wasPut(n int64) string {
	if n == 0 {
		return "nothing was put in"
	}
	return unit.Plural(n, "value") + " " + map[bool]string{true: "was", false: "were"}[n == 1] + " put in"
}
