package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// Where the source lets a client have one connection only, calls wait for each other even if they are made at once.

// oneConnectionLimit is the line that sets it.
type oneConnectionLimit struct {
	at   codeLine
	text string
	host bool // it holds for each host
}

// connectionLimit finds the limit that holds for all calls of a series: nothing shows another client in the program.
func (s *series) connectionLimit(c *code, t *traced) (limit oneConnectionLimit, found bool) {
	if c.session == nil {
		return limit, false
	}
	queries, requests := true, true
	for _, x := range s.calls {
		frames := t.Frames(x.stack)
		queries = queries && slices.ContainsFunc(frames, func(f stack.Frame) bool { return strings.HasPrefix(f.Func, "database/sql.") })
		requests = requests && slices.ContainsFunc(frames, func(f stack.Frame) bool { return strings.HasPrefix(f.Func, "net/http.(*Client).") })
	}
	if queries == requests {
		return limit, false
	}
	d := derivationsOf(c)
	if requests {
		return limitOfTransports(d)
	}
	return limitOfDatabases(d)
}

// limitOfDatabases is that of the one database that the program opens.
func limitOfDatabases(d *derivations) (limit oneConnectionLimit, found bool) {
	opened, sets := 0, 0
	for _, x := range flowNodes(d) {
		call, ok := x.n.(*ast.CallExpr)
		if !ok {
			continue
		}
		switch name := calledName(call); {
		case d.t.fromPackage(uninstantiated(call)) == "database/sql" && (name == "Open" || name == "OpenDB"):
			opened++
		case name == "SetMaxOpenConns" && len(call.Args) == 1:
			if sets++; isOne(d, call.Args[0]) {
				limit, found = oneConnectionLimit{at: d.placeOf(call), text: types.ExprString(call)}, true
			}
		}
	}
	return limit, found && opened == 1 && sets == 1
}

// limitOfTransports is that of the one transport that the program has.
func limitOfTransports(d *derivations) (limit oneConnectionLimit, found bool) {
	made := 0
	for _, x := range flowNodes(d) {
		switch n := x.n.(type) {
		case *ast.CallExpr:
			switch text := types.ExprString(n.Fun); {
			case strings.HasPrefix(text, "http.DefaultClient."), slices.Contains([]string{"http.Get", "http.Head", "http.Post", "http.PostForm"}, text):
				made++
			}
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if strings.HasSuffix(types.ExprString(lhs), ".MaxConnsPerHost") && isOne(d, n.Rhs[min(i, len(n.Rhs)-1)]) {
					limit, found = oneConnectionLimit{d.placeOf(n), types.ExprString(lhs) + " = 1", true}, true
				}
			}
		case *ast.CompositeLit:
			switch libraryTypeNamed(d, n.Type).text() {
			case "net/http.Transport":
				made++
				for _, e := range n.Elts {
					if kv, ok := e.(*ast.KeyValueExpr); ok && isNamed(kv.Key, "MaxConnsPerHost") && isOne(d, kv.Value) {
						limit, found = oneConnectionLimit{d.placeOf(kv), "MaxConnsPerHost: 1", true}, true
					}
				}
			case "net/http.Client":
				if !slices.ContainsFunc(n.Elts, func(e ast.Expr) bool {
					kv, ok := e.(*ast.KeyValueExpr)
					return ok && isNamed(kv.Key, "Transport")
				}) {
					made += 2 // one with the default transport
				}
			}
		}
	}
	return limit, found && made <= 1
}

// isOne tells of an expression that it is always 1.
func isOne(d *derivations, x ast.Expr) bool {
	tv, ok := d.t.info.Types[x]
	return ok && tv.Value != nil && tv.Value.ExactString() == "1" || types.ExprString(x) == "1"
}

// tell makes a finding about calls one after another say that the limit comes first.
func (l oneConnectionLimit) tell(c *code, f *Finding) {
	f.Severity = Info
	f.Evidence = append(f.Evidence, c.shownAt(l.at.file, l.at.line, "one connection: %s", l.text))
	of := "the program has one connection to the database"
	if l.host {
		of = "the program has one connection to each host"
	}
	f.Advice = fmt.Sprintf("By the source, %s (%s at %s): calls there wait for each other however they are made, so that concurrent ones gain nothing. Combine them into one call, or raise that limit first if the peer permits it. After that: %s", of, l.text, l.at.text(), strings.ToLower(f.Advice[:1])+f.Advice[1:])
}
