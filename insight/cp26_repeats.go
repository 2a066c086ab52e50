package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"math"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/analysis/repetition"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/unit"
)

var cp26 = &Rule{
	ID: "CP26", Title: "The same call gives the same result again and again",
	About: "A run of its own counts the calls of the program's functions with hashes of their arguments and results: it shows which are called again, during one request, one task or one run, " +
		"with the arguments of an earlier call, and return what that returned.",
	Asks: []facts.Question{facts.Repetition},
	Params: []Param{
		{"share", 0.10, "share of the time of what is around", "chosen"},
		{"warn", 0.20, "share of the time of what is around", "chosen: as for work before a check, CP24"},
	},
	Check: checkRepeats,
}

func checkRepeats(r *Rule, in *Input) []Finding {
	all, set, err := repetition.In(in.Session)
	if err != nil {
		return []Finding{r.answer(TooLittle, "%v", err)}
	}
	var found []Finding
	for _, x := range all {
		if x.Share >= r.param("share") && len(found) < 3 {
			found = append(found, newRepeated(in, x).finding(r, in))
		}
	}
	if len(found) == 0 {
		calls := int64(0)
		for _, f := range set.Functions {
			calls += f.Calls
		}
		return []Finding{r.answer(Fine, "%s of %s were counted: no function takes much of the time with calls that had the arguments and the result of an earlier one", unit.Plural(calls, "call"), unit.Plural(int64(len(set.Functions)), "function"))}
	}
	return found
}

// repeatedCall is a function that repeats itself.
type repeatedCall struct {
	repetition.Call
	countedCall
}

// countedCall is a function of which the calls were counted, with where the program calls it.
type countedCall struct {
	name  string        // of its symbol
	in    string        // the function around
	at    stack.Frame   // where that begins
	way   []stack.Frame // from the function out to what is around, as a sample has seen it; nil where none has
	costs []cost
	rows  []*facts.UnitRow
	site  stack.Frame // where it is called, as far as that is known
	loop  int         // the first line of the loop that it is called in; 0 where that is not known
}

// newCounted looks for the calls of a function within another in the samples and in the source.
func newCounted(in *Input, name string, within stack.Frame) countedCall {
	c := countedCall{name: name, in: within.Func, at: within}
	c.samples(in)
	c.waited(in)
	c.calledAt(in)
	return c
}

// newRepeated is a function that repeats itself.
func newRepeated(in *Input, x repetition.Call) *repeatedCall {
	return &repeatedCall{x, newCounted(in, x.Func.Name, stack.Frame{Func: x.Within.Name, File: x.Within.File, Line: x.Within.Line})}
}

// is tells whether a function of a stack is one of the counts: those have no type parameters.
func isCounted(frame, counted string) bool {
	return stack.FoldGenerics(frame) == counted || bareGenerics(frame) == counted
}

// bareGenerics is the name of a function without type parameters.
func bareGenerics(name string) string {
	for {
		from := strings.IndexByte(name, '[')
		if from < 0 {
			return name
		}
		to := strings.IndexByte(name[from:], ']')
		if to < 0 {
			return name
		}
		name = name[:from] + name[from+to+1:]
	}
}

// samples finds the CPU time of the function and its heaviest way.
func (r *countedCall) samples(in *Input) {
	cpu, err := in.Facts.Weights(facts.CPU, "samples")
	if err != nil {
		return
	}
	lines, most := map[cost]bool{}, int64(0)
	for id, w := range cpu.Profile.Samples(cpu.Index) {
		frames := facts.Frames(cpu.Profile.Stacks, id)
		at := slices.IndexFunc(frames, func(f stack.Frame) bool { return isCounted(f.Func, r.name) })
		if w <= 0 || at < 0 {
			continue
		}
		lines[cost{file: frames[at].File, line: frames[at].Line}] = true
		if w > most {
			most, r.way = w, frames[at:]
		}
	}
	r.costs = slices.SortedFunc(maps.Keys(lines), func(a, b cost) int { return a.line - b.line })
}

// waited finds the parts of the time of units that pass within the function, and its heaviest way among them where no
// sample has one.
func (r *countedCall) waited(in *Input) {
	t, u := in.trace(), in.Facts.Units()
	if t.Err != nil || u.Err != nil {
		return
	}
	for _, g := range u.Groups {
		for i := range g.All.Rows {
			row := &g.All.Rows[i]
			frames := t.Frames(row.Site.Stack)
			at := slices.IndexFunc(frames, func(f stack.Frame) bool { return isCounted(f.Func, r.name) })
			if at < 0 {
				continue
			}
			r.rows = append(r.rows, row)
			if r.way == nil {
				r.way = frames[at:]
			}
		}
	}
}

// calledAt finds the line that calls the function, or what calls it, in the loop that repeats it: on a way that was seen, else in
// the source of what is around.
func (r *countedCall) calledAt(in *Input) {
	for i, f := range r.way {
		if i == 0 {
			continue
		}
		if r.site.Func == "" {
			r.site = f
		}
		if loops := loopsAround(in.code, f); len(loops) > 0 && in.Session.Scope().IsUser(f) {
			r.site = f
			r.loop, _ = loops[len(loops)-1].source.lines(loops[len(loops)-1].stmt)
			return
		}
		if isCounted(f.Func, r.in) {
			return
		}
	}
	if r.site.Func != "" {
		return
	}
	fn, s := in.code.function(r.at), in.code.parse(r.at.File)
	if fn == nil {
		return
	}
	eachNode(fn.Body, func(n ast.Node, outside []ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || r.site.Func != "" || ownCallName(call) != ownName(r.name) {
			return
		}
		line, _ := s.lines(call)
		r.site = stack.Frame{Func: r.in, File: r.at.File, Line: line}
		for _, o := range slices.Backward(outside) {
			if isLoop(o) {
				r.loop, _ = s.lines(o)
				return
			}
		}
	})
}

// rounds is the first line of a loop, in the function around, that comes to the call and only counts: what it counts is used for
// nothing in it. It is 0 where there is none, or under load, where nobody writes rounds.
func (r *repeatedCall) rounds(in *Input) (line int) {
	if r.Loaded {
		return 0
	}
	at := r.site
	for _, f := range r.way {
		if isCounted(f.Func, r.Within.Name) || bareGenerics(f.Func) == r.Within.Name+"1" {
			at = f
		}
	}
	for _, l := range loopsAround(in.code, at) {
		if first, _ := l.source.lines(l.stmt); countsTurns(newDerivations(in.code), l.stmt) {
			line = first
		}
	}
	return line
}

// countsTurns tells of a loop that it counts, and uses the count for nothing.
func countsTurns(d *derivations, n ast.Node) bool {
	var body *ast.BlockStmt
	name := ""
	switch n := n.(type) {
	case *ast.ForStmt:
		body = n.Body
		if n.Init == nil && n.Post == nil {
			return n.Cond != nil && untilTime(n.Cond) // else until something is over
		}
		if set, ok := n.Init.(*ast.AssignStmt); ok && len(set.Lhs) == 1 {
			name = types.ExprString(set.Lhs[0])
		}
	case *ast.RangeStmt:
		body = n.Body
		if n.Value != nil {
			return false
		}
		b, number := d.t.typeOf(n.X).(*types.Basic)
		if lit, ok := n.X.(*ast.BasicLit); !(ok && lit.Kind == token.INT) && !(number && b.Info()&types.IsInteger != 0) {
			return false
		}
		if n.Key != nil {
			name = types.ExprString(n.Key)
		}
	default:
		return false
	}
	if name == "" || name == "_" {
		return true
	}
	return !hasNode(body, func(m ast.Node) bool {
		id, ok := m.(*ast.Ident)
		return ok && id.Name == name
	})
}

// untilTime tells of a condition that it asks the clock.
func untilTime(x ast.Expr) bool {
	return hasCall(x, func(call *ast.CallExpr) bool {
		name := types.ExprString(call.Fun)
		return strings.HasPrefix(name, "time.Since") || strings.HasPrefix(name, "time.Now") || strings.HasPrefix(name, "time.Until")
	})
}

// changesNothing are functions of the library whose names say that they write, and that only make something.
var changesNothing = []string{"bytes.Replace", "bytes.ReplaceAll", "strings.Replace", "strings.ReplaceAll", "slices.Insert", "slices.Delete", "slices.Replace", "delete"}

// how says how often the function is called and with how many arguments.
func (r *repeatedCall) how() string {
	w := r.Inner
	calls, kinds := float64(w.Calls)/float64(w.Around), float64(w.Distinct)/float64(w.Around)
	about := ""
	if w.Sampled {
		about = "about "
	}
	same := "with the same arguments"
	if kinds >= 1.5 {
		same = fmt.Sprintf("with %s%s different arguments", about, unit.Count(int64(math.Round(kinds))))
	}
	times := unit.Count(int64(math.Round(calls)))
	switch {
	case r.Func.Cut: // of the later calls around, the end was not counted
		times = "up to " + unit.Count(w.Most)
	case calls < 10 && calls != math.Round(calls):
		times = unit.Number(calls)
	}
	return fmt.Sprintf("%s times in each call of %s, %s", times, stack.Short(r.Within.Name), same)
}

func (r *repeatedCall) finding(rule *Rule, in *Input) Finding {
	w, name := r.Inner, stack.Short(r.Func.Name)
	again := "and returns the same each time"
	if w.Vague {
		again = "and returns what looks the same each time"
	}
	f := rule.answer(Found, "%s is called %s, %s: the calls after the first take %s of the time of %s", name, r.how(), again, unit.Percent(r.Share), stack.Short(r.Unit.Name))
	f.Severity, f.Score = Info, score(r.Share, 0.10, 0.40)
	f.Impact = exactly(r.Share, "share of the time of "+stack.Short(r.Unit.Name))
	if r.Share >= rule.param("warn") {
		f.Severity = Warning
	}
	r.evidence(in, &f, r.Entry, stack.Frame{Func: r.Func.Name, File: r.Func.File, Line: r.Func.Line},
		fmt.Sprintf("%s calls in %s of %s, %s of them with arguments that had been there", unit.Count(w.Calls), unit.Plural(w.Around, "call"), stack.Short(r.Within.Name), r.about()+unit.Count(w.Again)), "which is called again")
	once := "once"
	if float64(w.Distinct)/float64(w.Around) >= 1.5 {
		once = "once for each argument"
	}
	f.Advice = fmt.Sprintf("Call %s %s in %s and hand the result on, or keep the results by their arguments for as long as a call of %s lasts. What is kept longer has to be made again when what it was made of changes.",
		name, once, stack.Short(r.Within.Name), stack.Short(r.Within.Name))
	f.costs, f.waits, f.saves = r.costs, r.rows, true
	f.Verify = "Record again: the number of calls, and the share, should fall (-phases repeats)."
	r.doubts(rule, in, &f)
	return f
}

// evidence shows the call, and the function, which begins at decl, with what is said of it.
func (r *countedCall) evidence(in *Input, f *Finding, entry recording.Entry, decl stack.Frame, counts, which string) {
	if r.site.Func == "" {
		f.Evidence = []Evidence{in.fileAt(entry, decl, []stack.Frame{decl}, "%s", counts)}
		return
	}
	frames := r.way
	if len(frames) == 0 {
		frames = []stack.Frame{decl, r.site}
	}
	f.Evidence = []Evidence{in.fileAt(entry, r.site, frames, "%s", counts)}
	if r.loop > 0 {
		f.Summary += fmt.Sprintf("; the loop at %s comes to it in each turn", fileLine(r.site.File, r.loop))
	}
	f.Evidence = append(f.Evidence, in.code.shownAt(decl.File, decl.Line, "%s, %s, begins here", stack.Short(decl.Func), which))
}

// doubts says what could make each of the calls necessary.
func (r *repeatedCall) doubts(rule *Rule, in *Input, f *Finding) {
	w, name := r.Inner, stack.Short(r.Func.Name)
	r.hold(in, f)
	if w.Changed > 0 {
		f.Advice = fmt.Sprintf("If what changes in a result of %s is only what it remembers for later, make it once in %s and hand it on; otherwise keep what is costly in it, and give each user a value of his own that is made of that.",
			name, stack.Short(r.Within.Name))
	}
	if w.Partial {
		f.Doubts = append(f.Doubts, "its arguments were compared as far as they can be seen: not what maps and channels hold, or what a connection or a file has")
	}
	if line := r.rounds(in); line > 0 {
		f.Severity = Info
		f.Doubts = append(f.Doubts, fmt.Sprintf("the loop at %s only counts: if it repeats the whole work on purpose, as a benchmark does, there is nothing to save", fileLine(r.Within.File, line)))
	}
	f.Doubts = append(f.Doubts, "if it asks something that changes (a file, a clock, a peer), and has to see that, each call is needed: here none returned anything else")
	if r.Func.Cut {
		f.Doubts = append(f.Doubts, "counting ended before the run did, as it took too long: the figures are of its beginning, and of later calls one in 64 was looked at")
	}
}

// about says that figures are estimates.
func (r *repeatedCall) about() string {
	if r.Inner.Sampled {
		return "about "
	}
	return ""
}
