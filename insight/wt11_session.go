package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"loupe/value/stack"
)

// Statements that cannot be prepared at the start of the program, by its source: they need a table or a setting that a transaction
// or a connection makes for itself, or a database that is opened for each use.

// sessionTexts are the beginnings of queries that make a temporary table, or change what belongs to a connection alone.
var sessionTexts = lazily(`(?is)^\s*(create\s+(or\s+replace\s+)?(local\s+|global\s+)?(temp|temporary)\s|create\s+table\s+(if\s+not\s+exists\s+)?\[?#|declare\s+(local|global)\s+temporary|select\s.*\binto\s+(temp|temporary|#)|set\s+(local\s+|session\s+)?(search_path|schema|role|session)\b|use\s+\S|attach\s|pragma\s+temp|alter\s+session\s)`)

// temporaryName is the name of a temporary table in such a text.
var temporaryName = lazily("(?is)^\\s*(?:create\\s+(?:or\\s+replace\\s+)?(?:local\\s+|global\\s+)?(?:temp|temporary)\\s+(?:table|view|sequence)\\s+(?:if\\s+not\\s+exists\\s+)?|create\\s+table\\s+(?:if\\s+not\\s+exists\\s+)?)[\\[\"`]?([\\w#.$]+)")

// sessionMethods are the methods by which a query is run.
var sessionMethods = []string{"Exec", "ExecContext", "MustExec", "Query", "QueryContext", "QueryRow", "QueryRowContext", "NamedExec", "NamedExecContext"}

// preparedState is why a statement cannot be prepared at the start.
type preparedState struct {
	at   codeLine
	text string
	// opens tells that its database is opened for each use.
	opens bool
}

// sessionOf finds what a statement needs that only its transaction, its connection or its database has: in the functions of the
// program from the one that prepares it outward, up to one that the library calls, and in what these call with the same.
func sessionOf(in *Input, t stack.Scope, way byHandWay) (s preparedState, ok bool) {
	statement, known := preparedLiteral(in.code, way)
	seen := map[*ast.FuncDecl]bool{}
	for _, f := range way.frames[max(0, way.from):] {
		if !t.IsUser(f) {
			break
		}
		body := bodyAt(in.code, f)
		if body == nil || f.Func == "main.main" {
			break
		}
		if s, ok := opensIn(in.code, f.File, body, f.Line); ok {
			return s, true
		}
		if s, ok := stateIn(in.code, f.File, body, statement, known, seen, 0); ok {
			return s, true
		}
	}
	return s, false
}

// bodyAt is that of the function around a line, the innermost one.
func bodyAt(c *code, f stack.Frame) *ast.BlockStmt {
	if fn := c.scopeAt(f); fn != nil {
		return fn.body
	}
	return nil
}

// preparedLiteral is the text of a statement as far as the line that prepares it tells: that of a literal or a constant.
func preparedLiteral(c *code, way byHandWay) (text string, known bool) {
	for _, call := range c.lineCalls(way.at) {
		if !strings.HasPrefix(calledName(call), "Prepare") {
			continue
		}
		for _, x := range call.Args {
			if id, ok := x.(*ast.Ident); ok {
				if fn := c.scopeAt(way.at); fn != nil && fn.made(id.Name) != nil {
					x = fn.made(id.Name)
				}
			}
			if text, ok := constantText(c, x, 0); ok {
				return text, true
			}
		}
	}
	return "", false
}

// stateIn looks for a query in a body that makes a temporary table which the statement names, or changes the state of the
// connection; and in the functions of the program that are given what runs queries.
func stateIn(c *code, file string, body *ast.BlockStmt, statement string, known bool, seen map[*ast.FuncDecl]bool, depth int) (s preparedState, ok bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		call, is := n.(*ast.CallExpr)
		if !is || ok {
			return !ok
		}
		if slices.Contains(sessionMethods, calledName(call)) {
			if text := sessionQuery(c, call); sessionTexts.MatchString(text) && needsState(text, statement, known) {
				line, _ := c.parse(file).lines(call)
				s, ok = preparedState{at: codeLine{file, line}, text: text}, true
			}
			return !ok
		}
		to, found := onlyDeclared(c, calledName(call))
		if found && !seen[to.FuncDecl] && depth < 3 && handsConnection(call, to) {
			seen[to.FuncDecl] = true
			s, ok = stateIn(c, to.file, to.Body, statement, known, seen, depth+1)
		}
		return !ok
	})
	return s, ok
}

// sessionQuery is the text of the query that a call runs; empty where it is not known.
func sessionQuery(c *code, call *ast.CallExpr) string {
	for _, x := range call.Args {
		if text, ok := constantText(c, x, 0); ok {
			return text
		}
		if printed, ok := x.(*ast.CallExpr); ok && types.ExprString(printed.Fun) == "fmt.Sprintf" && len(printed.Args) > 0 {
			if text, ok := constantText(c, printed.Args[0], 0); ok {
				return text
			}
		}
		if b, ok := x.(*ast.BinaryExpr); ok {
			if text, ok := constantText(c, leftmost(b), 0); ok {
				return text
			}
		}
	}
	return ""
}

// needsState tells whether a statement depends on what a query makes: a temporary table whose name is in its text. A setting of a
// connection, and what is not known, it may depend on.
func needsState(query, statement string, known bool) bool {
	name := temporaryName.FindStringSubmatch(query)
	if name == nil || !known || strings.Contains(query, "%") {
		return true
	}
	words := regexp.MustCompile(`(?i)(^|[^\w#])` + regexp.QuoteMeta(name[1]) + `($|[^\w])`)
	return words.MatchString(statement)
}

// handsConnection tells of a call of a function of the program that something which runs queries is given: by the name of the
// type of a parameter.
func handsConnection(call *ast.CallExpr, to declaration) bool {
	if len(call.Args) == 0 {
		return false
	}
	return slices.ContainsFunc(to.Type.Params.List, func(p *ast.Field) bool {
		of := strings.TrimPrefix(types.ExprString(p.Type), "*")
		return strings.HasSuffix(of, ".Tx") || strings.HasSuffix(of, ".Conn") || strings.HasSuffix(of, ".DB") || strings.Contains(strings.ToLower(of), "exec") || strings.Contains(strings.ToLower(of), "quer")
	})
}

// opensIn finds a call before a line of a body that opens a database for this use alone, and one that closes it.
func opensIn(c *code, file string, body *ast.BlockStmt, line int) (s preparedState, ok bool) {
	eachAssigned(body, func(lhs, rhs ast.Expr) {
		call, is := ast.Unparen(rhs).(*ast.CallExpr)
		if !is || ok || !isIdent(lhs) {
			return
		}
		name := types.ExprString(call.Fun)
		first, _ := c.parse(file).lines(call)
		opens := slices.Contains([]string{"sql.Open", "sql.OpenDB", "sqlx.Open", "sqlx.Connect", "sqlx.MustConnect"}, name)
		if opens && first <= line && closesNamed(body, types.ExprString(lhs)) {
			s, ok = preparedState{at: codeLine{file, first}, opens: true}, true
		}
	})
	return s, ok
}

// closesNamed tells whether a body closes a variable.
func closesNamed(body *ast.BlockStmt, name string) (closes bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		closes = closes || ok && sel.Sel.Name == "Close" && types.ExprString(sel.X) == name
		return !closes
	})
	return closes
}

// takesDirectly tells whether the sources show that the connection takes queries with their arguments as they are.
func takesDirectly(c *code, way byHandWay) bool {
	t, ok := connOf(c, way.conn)
	query, known := t.hasAny(ok, directMethods[false])
	exec, both := t.hasAny(ok, directMethods[true])
	return known && both && query && exec
}

// tell says what to do about a statement that cannot be prepared at the start.
func (s preparedState) tell(in *Input, f *Finding, way byHandWay, turns bool) {
	if !takesDirectly(in.code, way) {
		f.Severity = Info
	}
	f.Doubts = slices.DeleteFunc(f.Doubts, func(d string) bool { return d == keptDoubt })
	const direct = "Run it directly, with the text and its arguments, if the driver takes these in one round trip (the connection's QueryContext and ExecContext)."
	if s.opens {
		f.Advice = direct
		if turns {
			f.Advice += " Or, where the same text is prepared in each turn of a loop, prepare it once behind the call that opens the database, and close it with that."
		}
		f.Evidence = append(f.Evidence, in.code.shownAt(s.at.file, s.at.line, "the database is opened here for this use alone, and closed again"))
		f.Doubts = append(f.Doubts, fmt.Sprintf("a statement belongs to its database, which is opened at %s for each use: it cannot be prepared at the start of the program. If that is the same database each time, keep the sql.DB itself first", s.at.text()))
		return
	}
	f.Evidence = append(f.Evidence, in.code.shownAt(s.at.file, s.at.line, "this belongs to the transaction or the connection alone"))
	f.Advice = direct
	if turns {
		f.Advice += " Or prepare it once for each transaction or connection, behind the query at " + s.at.text() + " and before the loop."
	}
	f.Doubts = append(f.Doubts, fmt.Sprintf("the query at %s makes or sets what only its transaction or its connection has: without that the statement means something else, or cannot be prepared at all, so that it cannot be prepared at the start of the program", s.at.text()))
}
