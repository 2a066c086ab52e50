package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"loupe/analysis/facts"
	"loupe/analysis/why"
	"loupe/value/stack"
	"loupe/value/unit"
)

var al08 = &Rule{
	ID: "AL08", Title: "String concatenation in a loop",
	About: "s += t allocates a new string and copies everything so far. In a loop the work grows with the square of the length: " +
		"200 additions copied 170 KB where a strings.Builder took 5.4 KB.",
	Asks:   []facts.Question{facts.Allocations},
	Params: reasonParams("AL08", "research"),
	Check: func(r *Rule, in *Input) []Finding {
		return ofOneText(in.code, r.reasoned(in, "strings built by concatenation in loops", tellConcat))
	},
}

// isConcat tells whether strings are joined.
func isConcat(_ *allocSite, c *why.Cause) bool { return c.Mechanism == why.Concat }

// growingText names the variable that a line adds to in a loop; empty when it
// does not, or when the recording has no source of it.
func (c *code) growingText(s *allocSite) string {
	if s.at != s.Frames[0] {
		return ""
	}
	name := c.parse(s.at.File).growsText(s.at.Line)
	if name != "" && typedOf(c).addsNumbers(s.at) {
		return ""
	}
	return name
}

// addsNumbers tells whether all that a line adds something to are no texts by their types.
func (t *typed) addsNumbers(at stack.Frame) bool {
	numbers, others := 0, 0
	for _, f := range t.files {
		if f.name != at.File {
			continue
		}
		ast.Inspect(f.file, func(n ast.Node) bool {
			a, ok := n.(*ast.AssignStmt)
			if !ok || len(a.Lhs) != 1 || a.Tok != token.ADD_ASSIGN && a.Tok != token.ASSIGN {
				return true
			}
			if _, line, _ := t.at(a.Pos()); line != at.Line {
				return true
			}
			of := t.typeOf(a.Lhs[0])
			if of == nil {
				others++
			} else if basic, ok := of.Underlying().(*types.Basic); ok && basic.Info()&types.IsNumeric != 0 {
				numbers++
			} else {
				others++
			}
			return true
		})
	}
	return numbers > 0 && others == 0
}

func tellConcat(in *Input, _ *reasons, g *reasonLine, f *Finding) {
	f.Summary += "; " + in.code.growingText(g.sites[0]) + " is copied in every iteration of the loop"
	f.Advice = "Write to a strings.Builder (with Grow where the length is known), or collect the parts and call strings.Join once."
	f.Doubts = append(f.Doubts, "loops of two or three iterations have little to gain")
}

// ofOneText makes one finding of those about lines that add to the same variable in the same loop, as branches do: one builder replaces them all.
func ofOneText(c *code, found []Finding) (out []Finding) {
	texts := map[grownText]int{}
	for _, f := range found {
		x, ok := grownText{}, f.State == Found && len(f.Evidence) > 0 && f.Evidence[0].File != "" && f.Impact != nil
		if ok {
			x, ok = c.growsIn(f.Evidence[0])
		}
		i, known := texts[x]
		if !ok || !known || out[i].Impact.Unit != f.Impact.Unit || out[i].Advice != f.Advice {
			if ok && !known {
				texts[x] = len(out)
			}
			out = append(out, f)
			continue
		}
		g, all := &out[i], min(1, out[i].Impact.Value+f.Impact.Value)
		g.Summary += fmt.Sprintf("; line %d adds to it in the same loop, too (%s): %s together", f.Evidence[0].Line, unit.Percent(f.Impact.Value), unit.Percent(all))
		g.Impact = &Impact{all, g.Impact.Unit, min(1, g.Impact.Low+f.Impact.Low), min(1, g.Impact.High+f.Impact.High)}
		g.Score, g.costs = max(g.Score, f.Score), append(g.costs[:len(g.costs):len(g.costs)], f.costs...)
		g.Evidence = append(g.Evidence, f.Evidence...)
	}
	return out
}

// grownText is a variable that grows in a loop: of the file, with the place where the outermost loop begins in which it is the same.
type grownText struct {
	file, name string
	loop       token.Pos
}

// growsIn is what a line adds to; false where that is not one variable.
func (c *code) growsIn(e Evidence) (x grownText, ok bool) {
	s := c.parse(e.File)
	name := s.growsText(e.Line)
	if name == "" {
		return x, false
	}
	s.onLine(e.Line, func(n ast.Node, around []ast.Node) {
		a, is := n.(*ast.AssignStmt)
		if !is || len(a.Lhs) != 1 || types.ExprString(a.Lhs[0]) != name {
			return
		}
		for len(around) > 0 {
			i := innermostLoop(around)
			if i < 0 || declares(bodyOfLoop(around[i]), rootName(a.Lhs[0])) {
				return
			}
			x, ok = grownText{e.File, name, around[i].Pos()}, true
			around = around[:i]
		}
	})
	return x, ok
}

// joinsArgument tells whether each text that a line joins is an argument of a call, other than of a
// conversion or of an append.
func joinsArgument(c *code, at stack.Frame) bool {
	joins, arguments := 0, 0
	for _, call := range c.lineCalls(at) {
		for _, arg := range call.Args {
			if x, ok := ast.Unparen(arg).(*ast.BinaryExpr); ok && x.Op == token.ADD && !isNamed(call.Fun, "append") && !isNamed(call.Fun, "string") {
				arguments++
			}
		}
	}
	c.parse(at.File).onLine(at.Line, func(n ast.Node, around []ast.Node) {
		x, ok := n.(*ast.BinaryExpr)
		if !ok || x.Op != token.ADD {
			return
		}
		if outer, inside := around[len(around)-1].(*ast.BinaryExpr); !inside || outer.Op != token.ADD {
			joins++
		}
	})
	return joins > 0 && joins == arguments
}
