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

// What the source sets that closes connections, or keeps few of them.

// connSources looks in the sources for what decides about connections.
type connSources struct{ *code }

// connSetting is a line that does so.
type connSetting struct {
	keeps  limitValues // of a handle of a database: how many idle connections
	at     Evidence
	owner  string // the variable or field that it is of, by its last name
	does   string // what it does, in words
	advice string // what to do about it, where it is the one
	sure   bool   // nothing is used again with it; else it may be too small
	branch bool   // it is set in one branch of several
	unset  bool   // it is what is not set that does so
	traced bool   // it stands in a literal that makes the requests, as far as the source shows
}

// httpSetting tells what a field of an http.Transport or an http.Request is set to, where that
// closes connections or bounds how many are kept.
func httpSetting(name string, value ast.Expr) (x connSetting, ok bool) {
	n, known := numberOf(value)
	switch {
	case name == "DisableKeepAlives" && isNamed(value, "true"):
		return connSetting{does: "turns keep-alive off", sure: true, advice: "remove it, unless each request is meant to use a new connection (to spread calls over the hosts behind one name; a short IdleConnTimeout also does that)"}, true
	case name == "Close" && isNamed(value, "true"):
		return connSetting{does: "closes the connection after each request", sure: true, advice: "remove it"}, true
	case name == "MaxIdleConnsPerHost" && known && n < 0:
		return connSetting{does: "keeps no idle connection", sure: true, advice: "set it to the number of concurrent requests to one host"}, true
	case name == "MaxIdleConns" && known && n > 0:
		return connSetting{does: fmt.Sprintf("keeps at most %d idle connections to all hosts together", n), advice: "if the program talks to more hosts, raise it to their number times MaxIdleConnsPerHost, or to 0, which means no limit"}, true
	}
	return x, false
}

// httpSettings are those in the sources.
func (c connSources) httpSettings() []connSetting { return c.fieldSettings(httpSetting) }

// fieldSettings are the lines that set a field of a value of package net/http, of those that are asked for.
func (c connSources) fieldSettings(setting func(name string, value ast.Expr) (connSetting, bool)) (all []connSetting) {
	c.eachSource(func(file string, s *syntax) {
		eachNode(s.file, func(n ast.Node, around []ast.Node) {
			name, value, owner := "", ast.Expr(nil), ""
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				if id, ok := n.Key.(*ast.Ident); ok {
					name, value, owner = id.Name, n.Value, ownerOf(around)
				}
				if lit := literalAround(around); name == "" || lit == nil || !strings.HasPrefix(types.ExprString(lit), "http.") {
					return
				}
			case *ast.AssignStmt:
				if sel, ok := n.Lhs[0].(*ast.SelectorExpr); ok && importedAs(s.file, "net/http") != "" {
					name, value, owner = sel.Sel.Name, n.Rhs[0], lastName(types.ExprString(sel.X))
				}
			}
			if x, ok := setting(name, value); ok {
				line, _ := s.lines(n)
				x.at, x.owner = c.shownAt(file, line, "the source sets %s here, which %s", name, x.does), owner
				all = append(all, x)
			}
		})
	})
	return all
}

// unsetPerHost are the literals of an http.Transport that leave open how many idle connections to one host are kept,
// which then are two, and whose variable nothing sets that of without a condition.
func (c connSources) unsetPerHost() (all []connSetting) {
	const field = "MaxIdleConnsPerHost"
	c.eachSource(func(file string, s *syntax) {
		eachNode(s.file, func(n ast.Node, around []ast.Node) {
			lit, ok := n.(*ast.CompositeLit)
			if !ok || lit.Type == nil || types.ExprString(lit.Type) != "http.Transport" {
				return
			}
			set := func(e ast.Expr) bool {
				kv, ok := e.(*ast.KeyValueExpr)
				return ok && (isNamed(kv.Key, field) || isNamed(kv.Key, "DisableKeepAlives"))
			}
			if slices.ContainsFunc(lit.Elts, set) {
				return
			}
			x := connSetting{owner: ownerOf(around), unset: true, does: "keeps two idle connections to each host, since " + field + " is unset",
				advice: "set it to the number of concurrent requests to one host"}
			always, line := false, 0
			eachNode(s.file, func(n ast.Node, around []ast.Node) {
				if a, ok := n.(*ast.AssignStmt); ok && strings.HasSuffix(types.ExprString(a.Lhs[0]), "."+field) && x.owner != "" && lastName(strings.TrimSuffix(types.ExprString(a.Lhs[0]), "."+field)) == x.owner {
					line, _ = s.lines(a)
					always = always || !branched(around)
				}
			})
			if always {
				return
			}
			first, _ := s.lines(lit)
			text := "the source makes a Transport here that leaves %s unset: it keeps two idle connections to each host"
			if line > 0 {
				text += fmt.Sprintf(", unless line %d sets it", line)
			}
			x.at = c.shownAt(file, first, text, field)
			all = append(all, x)
		})
	})
	return all
}

// literalAround is the type of the innermost composite literal around a node.
func literalAround(around []ast.Node) ast.Expr {
	for _, n := range slices.Backward(around) {
		if lit, ok := n.(*ast.CompositeLit); ok {
			return lit.Type
		}
	}
	return nil
}

// ownerOf is the variable that the statement around a node assigns to.
func ownerOf(around []ast.Node) string {
	for _, n := range slices.Backward(around) {
		switch n := n.(type) {
		case *ast.AssignStmt:
			return lastName(types.ExprString(n.Lhs[0]))
		case *ast.ValueSpec:
			return n.Names[0].Name
		case *ast.FuncLit:
			return ""
		}
	}
	return ""
}

// idleSettings are the lines that say how many idle connections a handle of package database/sql keeps:
// none, or some.
func (c connSources) idleSettings() (all []connSetting) {
	c.eachSource(func(file string, s *syntax) {
		eachNode(s.file, func(n ast.Node, around []ast.Node) {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 {
				return
			}
			f, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || f.Sel.Name != "SetMaxIdleConns" {
				return
			}
			keeps := c.valuesOf(file, around, call.Args[0])
			x := connSetting{owner: lastName(types.ExprString(f.X)), does: "keeps no idle connection", sure: keeps.sure() && keeps.most() <= 0, keeps: keeps, advice: "set it to as many as are in use at once, unless something in front of the database requires a new connection each time"}
			if !x.sure {
				x.does = "lets the handle keep " + keeps.String()
			}
			where := ""
			if x.branch = branched(around); x.branch {
				where = ", in one branch of several"
			}
			line, _ := s.lines(call)
			x.at = c.shownAt(file, line, "the source calls SetMaxIdleConns here%s: it %s", where, x.does)
			all = append(all, x)
		})
	})
	return all
}

// branched tells whether what stands around a node in its function is done on a condition.
func branched(around []ast.Node) bool {
	for _, n := range slices.Backward(around) {
		switch n.(type) {
		case *ast.IfStmt, *ast.CaseClause, *ast.CommClause:
			return true
		case *ast.FuncDecl, *ast.FuncLit:
			return false
		}
	}
	return false
}

// settingsOn are the settings of what the lines of a stack use: those whose variable, or one
// that it is put into, stands on one of them. Where none does, all are returned, and named is
// false.
func (c connSources) settingsOn(frames []stack.Frame, all []connSetting) (some []connSetting, named bool) {
	for _, x := range all {
		if x.traced {
			some = append(some, x)
		}
	}
	if len(some) > 0 {
		return some, true
	}
	used := map[string]bool{}
	for _, f := range frames {
		c.usedAt(f, used)
	}
	for _, x := range all {
		if x.owner != "" && slices.ContainsFunc(c.holding(x.owner), func(name string) bool { return used[name] }) {
			some = append(some, x)
		}
	}
	if len(some) > 0 {
		return some, true
	}
	return all, false
}

// usedAt adds the names on a frame's line: for a parameter the caller's line has one, and a
// variable of the function may be another name of a variable from outside.
func (c connSources) usedAt(f stack.Frame, used map[string]bool) {
	fn, s := c.scopeAt(f), c.parse(f.File)
	if fn == nil {
		return
	}
	for _, call := range c.lineCalls(f) {
		if _, last := s.lines(call); last != f.Line {
			continue
		}
		ast.Inspect(call, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && fn.parameter(id.Name) < 0 {
				used[id.Name] = true
			}
			return true
		})
	}
	ast.Inspect(fn.body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == len(a.Rhs) {
			for i, x := range a.Lhs {
				if id, ok := x.(*ast.Ident); ok && used[id.Name] && rootName(a.Rhs[i]) != "" {
					used[lastName(types.ExprString(a.Rhs[i]))] = true
				}
			}
		}
		return true
	})
}

// readThere begins the advice where bodies are no reason.
const readThere = "By the source, the body is read to its end there."

// maxHolders is how far a variable is followed into others.
const maxHolders = 2

// holding are a variable and those that are made with it: the client that has the transport.
func (c connSources) holding(owner string) []string {
	names := []string{owner}
	for range maxHolders {
		c.eachSource(func(_ string, s *syntax) {
			ast.Inspect(s.file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.AssignStmt:
					if n.Tok == token.DEFINE || n.Tok == token.ASSIGN {
						names = holds(names, lastName(types.ExprString(n.Lhs[0])), n.Rhs[0])
					}
				case *ast.ValueSpec:
					if len(n.Values) > 0 {
						names = holds(names, n.Names[0].Name, n.Values[0])
					}
				case *ast.KeyValueExpr: // a field of a literal
					if id, ok := n.Key.(*ast.Ident); ok {
						names = holds(names, id.Name, n.Value)
					}
				}
				return true
			})
		})
	}
	return names
}

// holds adds a name to others where its value is a literal that one of them is put into.
func holds(names []string, name string, value ast.Expr) []string {
	lit, ok := unrefer(value).(*ast.CompositeLit)
	if !ok || slices.Contains(names, name) {
		return names
	}
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			e = kv.Value
		}
		if slices.Contains(names, lastName(types.ExprString(unrefer(e)))) {
			return append(names, name)
		}
	}
	return names
}

// tellSettings puts what the source sets for the calls of a stack in front of the advice, and
// the line in front of the evidence. What may be of others comes behind.
func tellSettings(f *Finding, c connSources, frames []stack.Frame, all []connSetting) {
	some, named := c.settingsOn(frames, all)
	if slices.ContainsFunc(some, func(x connSetting) bool { return named && x.unset }) { // what the total is does not matter then
		some = slices.DeleteFunc(slices.Clone(some), func(x connSetting) bool { return !x.unset && !x.sure })
	}
	slices.SortStableFunc(some, func(a, b connSetting) int { // what is sure comes first
		switch {
		case a.sure == b.sure:
			return 0
		case a.sure:
			return -1
		}
		return 1
	})
	if len(some) == 0 {
		return
	}
	x := some[0]
	switch {
	case named && !x.branch:
		for _, y := range slices.Backward(some[:min(2, len(some))]) {
			f.Evidence = slices.Insert(f.Evidence, 0, y.at)
		}
		if x.traced && x.unset && strings.HasPrefix(f.Advice, readThere) {
			f.Advice = fmt.Sprintf("The source %s (%s:%d): ", x.does, baseName(x.at.File), x.at.Line) + x.advice + ". " + readThere
			return
		}
		f.Advice = fmt.Sprintf("The source %s (%s:%d): ", x.does, baseName(x.at.File), x.at.Line) + x.advice + ". Otherwise: " + strings.ToLower(f.Advice[:1]) + f.Advice[1:]
	case x.sure:
		f.Evidence = append(f.Evidence, x.at)
		f.Advice += fmt.Sprintf(" One in the source %s (%s:%d): if that is the one in use here, ", x.does, baseName(x.at.File), x.at.Line) + x.advice + "."
	default:
		f.Doubts = append(f.Doubts, fmt.Sprintf("one in the source %s (%s:%d), which may be the one in use here: %s", x.does, baseName(x.at.File), x.at.Line, x.advice))
	}
}

// dsn is what the source says of the names that handles of databases are opened with.
type dsn int

const (
	dsnUnknown dsn = iota
	dsnSame
	dsnOther // as far as the source shows, another one may come each time
)

// opensWith looks at the name in the call of sql.Open that a stack leads through.
func (c connSources) opensWith(frames []stack.Frame) dsn {
	frames = slices.DeleteFunc(slices.Clone(frames), func(f stack.Frame) bool { return c.parse(f.File) == nil })
	for i, f := range frames {
		for _, call := range c.lineCalls(f) {
			if types.ExprString(call.Fun) != "sql.Open" || len(call.Args) != 2 {
				continue
			}
			if fn := c.scopeAt(f); fn != nil && fixedValue(c.code, call.Args[1], fn, frames[i:]) {
				return dsnSame
			}
			return dsnOther
		}
	}
	return dsnUnknown
}
