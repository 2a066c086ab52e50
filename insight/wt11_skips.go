package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"
)

// skipLine is where a method of a connection tells package database/sql to prepare the query.
type skipLine struct {
	codeLine
	method string
	when   string // the condition right around it; empty where there is none
}

// skips are the lines of a method of the type that return driver.ErrSkip.
func (t connType) skips(method string) (all []skipLine) {
	for _, d := range t.c.functions()[method] {
		s := t.c.parse(d.file)
		if folderOf(d.file) != t.folder || receiverType(d.FuncDecl) != t.name || s == nil {
			continue
		}
		eachNode(d.Body, func(n ast.Node, around []ast.Node) {
			r, ok := n.(*ast.ReturnStmt)
			if !ok || len(r.Results) != 2 || ofDriver(s.file, r.Results[1]) != "ErrSkip" {
				return
			}
			first, _ := s.lines(r)
			skip := skipLine{codeLine: codeLine{d.file, first}, method: method}
			for _, n := range around {
				if cond, ok := n.(*ast.IfStmt); ok && cond.Body.Pos() <= r.Pos() && r.End() <= cond.Body.End() {
					skip.when = types.ExprString(cond.Cond)
				}
			}
			all = append(all, skip)
		})
	}
	return all
}

// tellSkips says where the connection's own methods return driver.ErrSkip, if each of those that would take the queries does
// in its source: nothing else makes package database/sql prepare then.
func (t connType) tellSkips(p *preparing, f *Finding) bool {
	var all []skipLine
	for _, exec := range []bool{false, true} {
		if !exec && !p.queries || exec && !p.execs {
			continue
		}
		skips := t.skips(directMethods[exec][0])
		if len(skips) == 0 {
			return false
		}
		all = append(all, skips...)
	}
	var where []string
	var shown []Evidence
	for _, s := range all[:min(3, len(all))] {
		when := ""
		if s.when != "" {
			when = " if " + s.when
		}
		where = append(where, fmt.Sprintf("%s at %s%s", s.method, s.text(), when))
		shown = append(shown, t.c.shownAt(s.file, s.line, "%s of the connection returns driver.ErrSkip here%s, so package database/sql prepares the query", s.method, when))
	}
	f.Summary += fmt.Sprintf("; by the source, the driver's connection, %s, returns driver.ErrSkip for such queries", typeOfMethod(p.ways[0].conn.Func))
	f.Evidence = append(shown, f.Evidence...)
	f.Advice = fmt.Sprintf("The driver's connection returns driver.ErrSkip: %s. Send the query with its arguments in one message there, if the database can take it so.", strings.Join(where, "; "))
	return true
}
