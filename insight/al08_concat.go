package insight

import (
	"go/ast"
	"go/token"
	"go/types"

	"loupe/analysis/facts"
	"loupe/analysis/why"
	"loupe/value/stack"
)

var al08 = &Rule{
	ID: "AL08", Title: "String concatenation in a loop",
	About: "s += t allocates a new string and copies everything so far. In a loop the work grows with the square of the length: " +
		"200 additions copied 170 KB where a strings.Builder took 5.4 KB.",
	Asks:   []facts.Question{facts.Allocations},
	Params: reasonParams("AL08", "research"),
	Check: func(r *Rule, in *Input) []Finding {
		return r.reasoned(in, "strings built by concatenation in loops", tellConcat)
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
