package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

// Log calls of which nothing is written: what the logger does until it has looked at the level, such as the values that it adds to each record, is all
// that they cost. To raise the level saves nothing there.

// unwrittenTitle is the title of a finding about one.
const unwrittenTitle = "Work for log lines that are never written"

// onlyTexts are packages whose functions have names of those that write, and only make a text.
var onlyTexts = []string{"strconv", "time", "fmt", "strings", "bytes", "unicode/utf8"}

// tellUnwritten says of the heaviest line that logs that nothing of what it logs is written, if no sample shows it, and the output of the program has
// no such line; it tells whether that is so.
func tellUnwritten(h *hit, f *Finding) bool {
	if len(h.lines) == 0 {
		return false
	}
	c := logCallOn(h.in.code, h.lines[0])
	if c == nil {
		return false
	}
	if has, known := outputHas(h.in, c.message, func([]byte) bool { return false }); has || !known || c.message == "" {
		return false
	}
	if !c.neverWrites(h.in) || !c.fateOfRecords(h.in).settled() {
		return false
	}
	f.Title = unwrittenTitle
	f.Summary += fmt.Sprintf("; nothing of what %s logs at %s is written", c.text, fileLine(c.file, c.first))
	if n, counted := lineReached(h.in.code, c.at); counted {
		f.Summary += fmt.Sprintf(" (the call was made %s times in the run that counts)", unit.Count(n))
	}
	f.Summary += fmt.Sprintf(": no sample shows it, and what the program printed has no line with %q", c.message)
	f.Advice = "These lines are dropped already, by their level or by a filter: what costs is what the logger does until then. "
	switch order, inside := filterInside(h.in.code); {
	case isGoKit(h.lines[0].Callee) && inside:
		f.Advice += fmt.Sprintf("The filter is within what adds values to each line (%s), so that these are made for lines which it drops. Put it outside: level.NewFilter(log.With(logger, …), option); the depth that log.Caller is given changes with that. Or ask, before the call, for a truth value that is kept beside the logger.", order.text())
		f.Evidence = append(f.Evidence, h.in.code.shownAt(order.file, order.line, "values are added here to what the filter has been put into"))
	case isGoKit(h.lines[0].Callee):
		f.Advice += "A logger of go-kit cannot be asked for its level: keep a truth value beside it, and ask that before the call; a filter (level.NewFilter) drops a line only when the call has been made, with its arguments."
	default:
		f.Advice += onlyAsk(askFirst(h.in.code, c.file))
	}
	f.Doubts = append(f.Doubts, "it is so in this recording: with a level that lets these lines through, they are written")
	return true
}

// onlyAsk leaves out of the advice for arguments the part about giving the logger the value itself: here it is the logger that costs.
func onlyAsk(advice string) string {
	advice = askOnly(advice)
	for _, other := range []string{", or log a function", ", or add the field"} {
		advice, _, _ = strings.Cut(advice, other)
	}
	return strings.TrimSuffix(advice, ".") + "."
}

// isGoKit tells of a function that it is one of go-kit's loggers.
func isGoKit(fn string) bool {
	return ofPackagePath(stack.Package(fn), []string{"github.com/go-kit/log", "github.com/go-kit/kit/log"})
}

// logCallOn is the call that logs on a line, by the function that samples show as called; nil where the source does not show it.
func logCallOn(c *code, line *hitLine) (found *loggedFor) {
	name := ownName(stack.FoldGenerics(line.Callee))
	s := c.parse(line.Caller.File)
	s.onLine(line.Caller.Line, func(n ast.Node, around []ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || found != nil || ownCallName(call) != name {
			return
		}
		first, last := s.lines(statementOf(call, around))
		found = &loggedFor{at: line.Caller, loggers: map[stack.Frame]bool{}}
		found.logCall = logCall{file: line.Caller.File, first: first, last: last, text: types.ExprString(call.Fun), fun: call.Fun, message: messageOf(call, around)}
	})
	return found
}

// neverWrites tells that enough samples of a call were taken, and that none of them, nor of those of another profile, writes or encodes anything.
func (c *loggedFor) neverWrites(in *Input) bool {
	most := int64(0)
	for _, q := range []struct {
		of     facts.Question
		sample string
	}{{facts.CPU, "samples"}, {facts.Allocations, "alloc_space"}} {
		from, err := in.Facts.Weights(q.of, q.sample)
		if err != nil {
			continue
		}
		p := from.Profile
		counts, _ := p.Observations(from.Index)
		sum := int64(0)
		for i, id := range p.StackIDs {
			frames := p.Stacks.Frames(id)
			at := slices.IndexFunc(frames, func(x stack.FrameID) bool {
				f := p.Stacks.Frame(x)
				return f.File == c.file && c.first <= f.Line && f.Line <= c.last
			})
			if p.Values[from.Index][i] <= 0 || at <= 0 || counts == nil {
				continue
			}
			if slices.ContainsFunc(frames[:at], func(x stack.FrameID) bool { return writesLine(p.Stacks.Frame(x).Func) }) {
				return false
			}
			if f := p.Stacks.Frame(frames[at-1]); ownName(stack.FoldGenerics(f.Func)) == lastName(c.text) { // and not what makes its arguments
				c.loggers[f] = true
			}
			sum += counts[i]
		}
		most = max(most, sum)
	}
	return most >= enoughToTell
}

// writesLine tells of a function by its name that it writes a record or makes its text.
func writesLine(name string) bool {
	return writesRecord(name) && !slices.Contains(onlyTexts, stack.Package(name))
}

// fateOfRecords says what becomes of what the call is given, by the logger that samples show, and by the loggers that the program has made itself.
func (c *loggedFor) fateOfRecords(in *Input) logFate {
	g := &givenFate{d: newDerivations(in.code), seen: map[*ast.FuncDecl]bool{}}
	for at := range c.loggers {
		if in.Session.Scope().IsUser(at) {
			g.note(fateOpen, nil, "it is a function of the program's own")
		}
	}
	c.fateOf(in, g, c.file, c.first, c.last, c.fun)
	for fn, decl := range g.d.t.decls {
		if params := decl.Type.Params.List; fn.Name() == "Log" && decl.Recv != nil && len(params) == 1 {
			if _, variadic := params[0].Type.(*ast.Ellipsis); variadic {
				g.fateIn(decl, nil)
			}
		}
	}
	return g.logFate
}

// filterInside finds where the source adds values to a logger of go-kit that a filter has been put into: With of what NewFilter returns.
func filterInside(c *code) (at codeLine, ok bool) {
	d := derivationsOf(c)
	isFilter := func(x ast.Expr) bool {
		call, is := ast.Unparen(x).(*ast.CallExpr)
		return is && calledName(call) == "NewFilter" && isGoKit(d.t.fromPackage(uninstantiated(call))+".NewFilter")
	}
	for fn, decl := range d.t.decls {
		if decl.Body == nil || fn == nil {
			continue
		}
		filtered := map[types.Object]bool{}
		ast.Inspect(decl.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for i, lhs := range n.Lhs {
					if id, is := lhs.(*ast.Ident); is && i < len(n.Rhs) {
						filtered[d.variable(id)] = isFilter(n.Rhs[i])
					}
				}
			case *ast.CallExpr:
				name := calledName(n)
				if !(name == "With" || name == "WithPrefix") || len(n.Args) < 2 || !isGoKit(d.t.fromPackage(uninstantiated(n))+".With") {
					return true
				}
				id, named := ast.Unparen(n.Args[0]).(*ast.Ident)
				place := d.placeOf(n)
				count, counted := lineCounted(c, stack.Frame{Func: fn.FullName(), File: place.file, Line: place.line})
				if (isFilter(n.Args[0]) || named && filtered[d.variable(id)]) && (!counted || count > 0) && addsComputed(d, n.Args[1:]) && (!ok || place.text() < at.text()) {
					at, ok = place, true
				}
			}
			return true
		})
	}
	return at, ok
}

// addsComputed tells of values that are added to each line that some are computed for it: they come from the logger's package, as Caller and
// DefaultTimestamp, or are functions.
func addsComputed(d *derivations, values []ast.Expr) bool {
	return slices.ContainsFunc(values, func(x ast.Expr) bool {
		if call, ok := x.(*ast.CallExpr); ok {
			x = call.Fun
		}
		_, lit := x.(*ast.FuncLit)
		return lit || isGoKit(d.t.fromPackage(x)+".Valuer")
	})
}
