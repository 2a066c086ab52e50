package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"loupe/analysis/facts"
	"loupe/value/stack"
)

// What a call fetches and decodes may be more than its caller looks at: a page of a list that comes whole.

// partUse is a call of whose result the source uses a part and its length alone.
type partUse struct {
	call   stack.Frame
	callee string
	line   codeLine // that takes the part
	text   string   // "rows[lo:hi]"
}

// partTitle is the title of work for a list of which a part is used.
const partTitle = "All of a list is made for a part of it"

// partUsed finds, of the program's frames of a stack, the innermost first, a call whose list is used so.
func partUsed(c *code, frames []stack.Frame) (p partUse, ok bool) {
	for i, f := range frames {
		fn := c.scopeAt(f)
		if i == 0 || fn == nil {
			continue
		}
		for _, call := range c.lineCalls(f) {
			if calledName(call) != ownName(frames[i-1].Func) {
				continue
			}
			name := ""
			ast.Inspect(fn.body, func(n ast.Node) bool {
				a, is := n.(*ast.AssignStmt)
				if is && a.Tok == token.DEFINE && len(a.Rhs) == 1 && a.Rhs[0] == ast.Expr(call) {
					name = types.ExprString(a.Lhs[0])
				}
				return name == ""
			})
			if name == "" || name == "_" {
				continue
			}
			u := listParts{c: c}
			if u.look(fn.body, f.File, name, 0); !u.other && u.parts == 1 {
				return partUse{f, frames[i-1].Func, u.at, u.text}, true
			}
		}
	}
	return p, false
}

// listParts follows a list through a function, and those that it is given to.
type listParts struct {
	c     *code
	parts int
	at    codeLine
	text  string
	other bool // something else is done with it
}

// look follows the variable of a name.
func (u *listParts) look(body ast.Node, file, name string, depth int) {
	s := u.c.parse(file)
	eachNode(body, func(n ast.Node, around []ast.Node) {
		id, ok := n.(*ast.Ident)
		if !ok || id.Name != name || len(around) == 0 || u.other {
			return
		}
		switch p := around[len(around)-1].(type) {
		case *ast.AssignStmt:
			u.other = p.Tok != token.DEFINE || !slices.Contains(p.Lhs, ast.Expr(id))
		case *ast.SelectorExpr:
			u.other = p.X == ast.Expr(id)
		case *ast.KeyValueExpr:
			u.other = p.Value == ast.Expr(id)
		case *ast.BinaryExpr:
			u.other = !isNamed(p.X, "nil") && !isNamed(p.Y, "nil")
		case *ast.SliceExpr:
			_, constant := numberOf(orZero(p.High))
			u.other = p.X != ast.Expr(id) || p.High == nil || constant || slices.ContainsFunc(around, isLoop)
			line, _ := s.lines(p)
			u.parts, u.at, u.text = u.parts+1, codeLine{file, line}, types.ExprString(p)
		case *ast.CallExpr:
			u.given(p, id, depth)
		default:
			u.other = true
		}
	})
}

// given follows a list into a function that it is given to.
func (u *listParts) given(call *ast.CallExpr, list *ast.Ident, depth int) {
	if isNamed(call.Fun, "len") {
		return
	}
	of := u.c.functions()[ownCallName(call)]
	at := slices.Index(call.Args, ast.Expr(list))
	if u.other = len(of) != 1 || of[0].Body == nil || at < 0 || depth > 2; u.other {
		return
	}
	if names := fieldNames(of[0].Type.Params); at < len(names) && len(names) == len(call.Args) {
		u.look(of[0].Body, of[0].file, names[at], depth+1)
		return
	}
	u.other = true
}

// tell says it of a finding about the work for the list.
func (p partUse) tell(in *Input, f *Finding) {
	f.Title = partTitle
	f.Summary += fmt.Sprintf("; of what %s returns to %s, the source uses %s (%s) and its length alone", stack.Short(stack.FoldGenerics(p.callee)), fileLine(p.call.File, p.call.Line), p.text, p.line.text())
	f.Advice = fmt.Sprintf("Ask at %s for the part alone (a limit and an offset, a range of keys, a cursor), and for the number by a count where it is needed: then what nobody looks at is neither fetched nor decoded.", fileLine(p.call.File, p.call.Line))
	putFirst(f, in.code.shownAt(p.call.File, p.call.Line, "all is asked for here; %s at %s is used", p.text, p.line.text()))
	f.Doubts = append(f.Doubts, "if most calls ask for most of it, or what answers cannot give a part, there is little to gain")
}

// through is the part of the weight of a hit whose stacks have a line on them.
func (h *hit) through(at stack.Frame) float64 {
	sum := int64(0)
	for id, w := range h.p.Samples(h.index) {
		frames := facts.Frames(h.p.Stacks, id)
		if slices.ContainsFunc(frames, func(f stack.Frame) bool { return f.File == at.File && f.Line == at.Line }) &&
			slices.ContainsFunc(frames, func(f stack.Frame) bool { return inSet(h.set, f.Func) }) {
			sum += w
		}
	}
	return float64(sum) / float64(max(1, h.weight))
}
