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

// Goroutines that wait for nothing but the ticks of a ticker, or for a timer: to stop one does not close its channel, so that the wait
// never ends when it is stopped.

// tickMakers are the functions of package time that make a ticker or a timer, with the type.
var tickMakers = map[string]string{"time.NewTicker": "Ticker", "time.NewTimer": "Timer", "time.Tick": "Tick"}

// ticksWaited tells what goroutines wait for at a line, where that is the channel of tickers or timers and nothing else: its text, and the
// type ("Ticker", "Timer", or "Tick" of the function).
func ticksWaited(c *code, at stack.Frame) (what, kind string) {
	s, fn := c.parse(at.File), c.scopeAt(at)
	if s == nil || fn == nil {
		return "", ""
	}
	begins := func(n ast.Node) bool { first, _ := s.lines(n); return first == at.Line }
	var from []ast.Expr
	eachNode(fn.body, func(n ast.Node, around []ast.Node) {
		if slices.ContainsFunc(around, func(a ast.Node) bool { _, ok := a.(*ast.FuncLit); return ok }) {
			return // another function, which begins on the line
		}
		switch n := n.(type) {
		case *ast.SelectStmt:
			if !begins(n) {
				return
			}
			for _, x := range n.Body.List {
				from = append(from, receivedFrom(x.(*ast.CommClause).Comm)) // nil of a send or a default
			}
		case *ast.UnaryExpr:
			inSelect := slices.ContainsFunc(around, func(a ast.Node) bool { _, ok := a.(*ast.CommClause); return ok && begins(a) })
			if n.Op == token.ARROW && begins(n) && !inSelect {
				from = append(from, n.X)
			}
		case *ast.RangeStmt:
			if begins(n) {
				from = append(from, n.X)
			}
		}
	})
	for _, x := range from {
		k := ""
		if x != nil {
			k = ticksOf(c, fn, x)
		}
		if k == "" {
			return "", ""
		}
		what, kind = types.ExprString(x), k
	}
	return what, kind
}

// ticksOf is the type of package time whose channel an expression is, by where it is made or declared; empty of others.
func ticksOf(c *code, fn *scope, x ast.Expr) string {
	switch x := ast.Unparen(x).(type) {
	case *ast.CallExpr:
		if name := types.ExprString(x.Fun); name == "time.Tick" {
			return tickMakers[name]
		}
	case *ast.Ident: // ticks := time.Tick(d), or := ticker.C
		for f := fn; f != nil; f = f.outer {
			if made := f.made(x.Name); made != nil {
				if _, again := made.(*ast.Ident); again {
					return ""
				}
				return ticksOf(c, f, made)
			}
		}
	case *ast.SelectorExpr:
		if x.Sel.Name == "C" {
			return tickTypeOf(c, fn, x.X)
		}
	}
	return ""
}

// tickTypeOf is "Ticker" or "Timer" of what is made or declared as one: a variable, a parameter or a field.
func tickTypeOf(c *code, fn *scope, x ast.Expr) string {
	if call, ok := x.(*ast.CallExpr); ok {
		return tickMakers[types.ExprString(call.Fun)]
	}
	if id, ok := x.(*ast.Ident); ok {
		for f := fn; f != nil; f = f.outer {
			if made, ok := f.made(id.Name).(*ast.CallExpr); ok {
				return tickMakers[types.ExprString(made.Fun)]
			}
			if k := declaredTicks(f.params, id.Name); k != "" {
				return k
			}
		}
		return ""
	}
	field, ok := x.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	kind := ""
	c.eachSource(func(_ string, s *syntax) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			if t, ok := n.(*ast.StructType); ok && kind == "" {
				kind = declaredTicks(t.Fields, field.Sel.Name)
			}
			return kind == ""
		})
	})
	return kind
}

// declaredTicks is the type of a ticker or a timer that a field or a parameter of a name has.
func declaredTicks(list *ast.FieldList, name string) string {
	if list == nil {
		return ""
	}
	for _, f := range list.List {
		if !isAmong(f.Names, name) {
			continue
		}
		if k, ok := strings.CutPrefix(types.ExprString(f.Type), "*time."); ok && (k == "Ticker" || k == "Timer") {
			return k
		}
	}
	return ""
}

// tickAdvice is what to do about goroutines that wait at a line for a ticker or a timer alone; empty of others.
func tickAdvice(c *code, at stack.Frame) string {
	what, kind := ticksWaited(c, at)
	const way = "Give the wait a second way out, in a select beside it: a channel that is closed, or a context that is cancelled, when the goroutine is no longer needed (case <-done: return)."
	switch kind {
	case "":
		return ""
	case "Tick":
		return fmt.Sprintf("By the source, they wait for the ticks of %s alone, which never ends. %s", what, way)
	}
	if cond, ok := endsByClock(c, at); ok {
		return fmt.Sprintf("By the source, they go on at each tick of %s, and end when their time is over (%s): see how long that is, and that nothing begins it anew for ever. To end them sooner, give the wait a second way out, in a select beside it (case <-done: return).", what, lineText(cond))
	}
	if !stoppedElsewhere(c, at, what) {
		if loops := loopsAround(c, at); len(loops) > 0 {
			if ends := loops[len(loops)-1].exits(); len(ends) > 0 && kind == "Ticker" {
				line, _ := loops[len(loops)-1].source.lines(ends[0].cond)
				return fmt.Sprintf("By the source, they go on at each tick of %s, and end when the condition at %s says so: see whether it comes true for each of them. A channel that is closed, or a context, in a select beside the tick (case <-done: return) ends them at once.", what, fileLine(at.File, line))
			}
		}
		return fmt.Sprintf("By the source, they wait for %s alone. %s", what, way)
	}
	return fmt.Sprintf("By the source, they wait for %s alone, the channel of a time.%s: %s.Stop does not close it, so that who still receives from it waits for ever once it is stopped. %s Do that where it is stopped.", what, kind, kind, way)
}
