package insight

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"math"
	"slices"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/analysis/repetition"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

var cp26 = &Rule{
	ID: "CP26", Title: "The same call gives the same result again and again",
	About: "A run of its own counts the calls of the program's functions with hashes of their arguments and results: it shows which are called again, during one request, one task or one run, " +
		"with the arguments of an earlier call, and return what that returned; and which files are written again with what they have.",
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
	for i := range all {
		all[i] = ofOutermost(set, all[i])
	}
	slices.SortStableFunc(all, func(a, b repetition.Call) int { return cmp.Compare(b.Share, a.Share) })
	found := append(append(repeatsWithin(r, in), walksAgain(r, in)...), rewrittenFiles(r, in)...)
	for _, x := range all {
		if x.Share >= r.param("share") && len(found) < 3 {
			c := newRepeated(in, x, false)
			if x.Func.Caller == "" {
				c.withinUnit(in, set.Functions[x.Outer.In].Name)
				c.ofLine(in)
			}
			found = append(found, c.finding(r, in))
		}
	}
	if len(found) == 0 {
		return []Finding{r.answer(Fine, "%s", noneAgain(r, set))}
	}
	return found
}

// noneAgain says what was compared, where no call was seen to be made again, and what could not be judged.
func noneAgain(r *Rule, set *repetition.Set) string {
	calls := int64(0)
	for _, f := range set.Functions {
		calls += f.Calls
	}
	unjudged := repetition.UnjudgedOf(set)
	unjudged = slices.DeleteFunc(unjudged, func(u repetition.Unjudged) bool { return u.Share < r.param("share") })
	which := "no function"
	if len(unjudged) > 0 {
		which = "no function of which that can be judged"
	}
	text := fmt.Sprintf("%s of %s were counted: %s takes much of the time with calls that had the arguments and the result of an earlier one of the same request, task or run",
		unit.Plural(calls, "call"), unit.Plural(int64(len(set.Functions)), "function"), which)
	if cut := set.Cut(); cut > 0 {
		text += fmt.Sprintf("; %s of them were too cheap to be counted to the end: of these it is true of the time before", unit.Count(cut))
	}
	if len(unjudged) > 0 {
		u := unjudged[0]
		had, others := "the arguments of an earlier one", ""
		if u.Outer.Partial {
			had = "arguments that look like those of an earlier one"
		}
		if n := len(unjudged) - 1; n > 0 {
			others = fmt.Sprintf(" (nor can %s)", unit.Plural(int64(n), "other"))
		}
		text += fmt.Sprintf("; %s, with %s of the time of %s, cannot be judged%s: of %s with %s, ", stack.Short(u.Func.Name), unit.Percent(u.Share), stack.Short(u.Unit.Name), others, unit.Plural(u.Outer.Again, "call"), had)
		switch {
		case u.Outer.Differ == 0:
			text += fmt.Sprintf("each took %s on average, too little to be timed one by one", unit.Duration(u.Outer.Time/time.Duration(max(1, u.Outer.Calls))))
		case u.Outer.Partial:
			text += fmt.Sprintf("%s returned something else than the first of them: what they lead to may have changed in between, or differ in what was not compared", unit.Count(u.Outer.Differ))
		default:
			text += fmt.Sprintf("%s returned something else than the first of them: it may read something that changes", unit.Count(u.Outer.Differ))
		}
	}
	return text
}

// repeatedCall is a function that repeats itself.
type repeatedCall struct {
	repetition.Call
	countedCall
	unsure bool // whether its arguments are the same, as they were not compared as a whole
	// linePart is the part of the time of the costs that calls which repeat take, where these are of one line of several; else 0.
	linePart float64
	// open are the lines that make the calls, where it is not known which of them those come from that repeat.
	open []callLine
}

// newRepeated is a function that repeats itself; every tells that the counts are of all its calls.
func newRepeated(in *Input, x repetition.Call, every bool) *repeatedCall {
	if x.Func.Caller != "" {
		return &repeatedCall{Call: x, countedCall: newCountedLine(in, x), unsure: x.Inner.Partial}
	}
	c := newCounted(in, stack.Frame{Func: x.Func.Name, File: x.Func.File, Line: x.Func.Line}, stack.Frame{Func: x.Within.Name, File: x.Within.File, Line: x.Within.Line}, every)
	return &repeatedCall{Call: x, countedCall: c, unsure: x.Inner.Partial && !ofReceiver(in, x)}
}

// byContentDoubt is said of a function of which all that it is given are pointers, and which had different arguments.
const byContentDoubt = "its arguments are pointers, and were compared by what they lead to: what is kept has to be found by that again, not by the pointer, behind which something else may be by then"

// onlyPointers tells of a counted function that all which it is given, its receiver too, are pointers.
func onlyPointers(in *Input, of stack.Frame) bool {
	fn := in.code.function(of)
	if fn == nil {
		return false
	}
	given := 0
	for _, list := range []*ast.FieldList{fn.Recv, fn.Type.Params} {
		if list == nil {
			continue
		}
		for _, field := range list.List {
			if _, points := field.Type.(*ast.StarExpr); !points {
				return false
			}
			given++
		}
	}
	return given > 0
}

// ofReceiver tells of arguments that were not compared as a whole that this is the receiver alone, of which it was compared where it is.
func ofReceiver(in *Input, x repetition.Call) bool {
	of, t := x.Func, x.Inner.Traits
	fn := in.code.function(stack.Frame{Func: of.Name, File: of.File, Line: of.Line})
	if !t.First || t.Others || t.Large || fn == nil || fn.Recv == nil || len(givenNames(fn.Recv)) != 1 || givenNames(fn.Recv)["_"] {
		return false
	}
	_, points := fn.Recv.List[0].Type.(*ast.StarExpr)
	return points
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
		if first, _ := l.source.lines(l.stmt); countsTurns(derivationsOf(in.code), l.stmt) {
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
		if _, points := n.X.(*ast.StarExpr); points && n.Key == nil && d.t.typeOf(n.X) == nil {
			return true // a flag
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

// how says how often the function is called and with how many arguments.
func (r *repeatedCall) how() string {
	w := r.Inner
	calls, kinds := float64(w.Calls)/float64(w.Around), float64(w.Distinct)/float64(w.Around)
	about := ""
	if w.Sampled {
		about = "about "
	}
	same := "with the same arguments"
	switch several := kinds >= 1.5; {
	case several && r.unsure:
		same = fmt.Sprintf("with %s%s arguments that look different", about, unit.Count(int64(math.Round(kinds))))
	case several:
		same = fmt.Sprintf("with %s%s different arguments", about, unit.Count(int64(math.Round(kinds))))
	case r.unsure:
		same = "with arguments that look the same"
	}
	times, around := unit.Count(int64(math.Round(calls))), "each call"
	switch {
	case r.Func.Cut: // counting ended within one of those around, or before it
		times, around = "at least "+unit.Count(w.Most), "one call"
	case calls < 10 && calls != math.Round(calls):
		times = unit.Number(calls)
	}
	return fmt.Sprintf("%s times in %s of %s, %s", times, around, stack.Short(r.Within.Name), same)
}

// longCall is the mean time of a call from which on counting calls does not change what part of the time of others it takes. Chosen.
const longCall = 5 * time.Millisecond

func (r *repeatedCall) finding(rule *Rule, in *Input) Finding {
	w, name := r.Inner, r.called()
	again := "and returns the same each time"
	if w.Vague {
		again = "and returns what looks the same each time"
	}
	f := rule.answer(Found, "%s is called %s, %s: the calls after the first take %s of the time of %s", name, r.how(), again, unit.Percent(r.Share), stack.Short(r.Unit.Name))
	f.Impact = exactly(r.Share, "share of the time of "+stack.Short(r.Unit.Name))
	share := r.Share
	if r.Func.Cut {
		if cpu, ok := r.profiled(in); ok {
			share = cpu.Low
			f.Impact = &Impact{cpu.Estimate, "share of CPU time", cpu.Low, cpu.High}
			f.Summary = fmt.Sprintf("%s is called %s, %s: the calls after the first take %s of the CPU time", name, r.how(), again, unit.Percent(cpu.Estimate))
		} else {
			f.Summary += ", as far as they were counted"
		}
	}
	f.Severity, f.Score = Info, score(f.Impact.Value, 0.10, 0.40)
	if share >= rule.param("warn") {
		f.Severity = Warning
	}
	which := "which is called again"
	if r.Func.Caller != "" {
		which = ""
	}
	shown := r.countedCall
	if len(r.open) > 0 {
		shown.site, shown.loop = stack.Frame{}, 0 // no line as certain
	}
	shown.evidence(in, &f, r.Entry, stack.Frame{Func: r.Func.Name, File: r.Func.File, Line: r.Func.Line},
		fmt.Sprintf("%s calls in %s of %s, %s of them %s", unit.Count(w.Calls), unit.Plural(w.Around, "call"), stack.Short(r.Within.Name), r.about()+unit.Count(w.Again), r.hadBeenThere()), which)
	once := "once"
	if float64(w.Distinct)/float64(w.Around) >= 1.5 {
		once = "once for each argument"
	}
	f.Advice = fmt.Sprintf("Call %s %s in %s and hand the result on, or keep the results by their arguments for as long as a call of %s lasts. What is kept longer has to be made again when what it was made of changes.",
		name, once, stack.Short(r.Within.Name), stack.Short(r.Within.Name))
	f.costs, f.waits, f.saves, f.part = r.costs, r.rows, true, r.againPart()
	f.again = mostAgain(r.Call)
	f.waitsInside = !r.Func.Cut && w.Time >= longCall*time.Duration(max(1, w.Calls))
	r.remaining(in, &f)
	r.tellLines(in, &f)
	f.Verify = "Record again: the number of calls, and the share, should fall (-phases repeats)."
	r.doubts(rule, in, &f)
	return f
}

// What is said of arguments that were not compared as a whole.
const (
	comparedInPart  = "was compared as far as it can be seen: not what maps and channels hold, or what a connection or a file has, nor more than 600 values behind a pointer"
	comparedAtFirst = "some of its arguments are large: of each the first 600 values were compared, or the ends of what has more than 1 MiB"
)

// onlyIfSame is advice for calls whose arguments were not compared as a whole.
func onlyIfSame(advice string) string {
	return "See first whether the arguments are the same in what was not compared as well. Only then: " + strings.ToLower(advice[:1]) + advice[1:]
}

// tellCompared says how far the arguments were compared, where that was in part.
func (r *repeatedCall) tellCompared(f *Finding) {
	switch {
	case r.unsure:
		f.Doubts = append(f.Doubts, "what it is given "+comparedInPart)
	case r.Inner.Partial:
		f.Doubts = append(f.Doubts, "its receiver was the same one, and what it leads to "+comparedInPart)
	}
}

// hadBeenThere says of the arguments of calls that an earlier one had the same.
func (r *repeatedCall) hadBeenThere() string {
	if r.unsure {
		return "with arguments that look as if they had been there"
	}
	return "with arguments that had been there"
}

// partAgain is the part of the time of some calls that those take which had been made before; 0 where that is not known.
func partAgain(again, all time.Duration) float64 {
	return min(1, float64(again)/float64(max(1, all)))
}

// quicker is the part of their share of the calls below which the time of those that repeat shows that they are answered from memory: chosen.
const quicker = 0.25

// againPart is the part of the time of the costs that those calls take which had been made before. Where counting ended, the times are those of the first
// calls: if all have the same arguments, it is then the part of the calls, as all that follow repeat, unless these times say that those which repeat take
// much less than the others.
func (r *repeatedCall) againPart() float64 {
	if r.linePart > 0 {
		return r.linePart
	}
	w := r.Outer
	part := partAgain(w.AgainTime, w.Time)
	alike := 2*w.Distinct <= 3*w.Around
	if calls := float64(w.Again) / float64(max(1, w.Calls)); r.Func.Cut && alike && part >= quicker*calls {
		part = max(part, calls)
	}
	return part
}

// profiled is what the calls that repeat take of the CPU time, by the samples in the function; not ok where too few tell. Counts that ended early know
// only the beginning of a run.
func (r *repeatedCall) profiled(in *Input) (share stats.Interval, ok bool) {
	s := spentOf(in)
	if s == nil || s.total < enoughOfCPU {
		return share, false
	}
	m := s.mark(r.costs)
	if m == nil {
		return share, false
	}
	share = s.interval(m)
	part := r.againPart()
	share.Estimate, share.Low, share.High = part*share.Estimate, part*share.Low, part*share.High
	return share, share.Estimate >= r.Share // what waits is not in the samples
}

// doubts says what could make each of the calls necessary.
func (r *repeatedCall) doubts(rule *Rule, in *Input, f *Finding) {
	w, name := r.Inner, r.called()
	if r.Func.Caller == "" {
		r.hold(in, f)
	} else {
		r.holdLine(in, f)
	}
	if w.Changed > 0 {
		f.Advice = fmt.Sprintf("If what changes in a result of %s is only what it remembers for later, make it once in %s and hand it on; otherwise keep what is costly in it, and give each user a value of his own that is made of that.",
			name, stack.Short(r.Within.Name))
	}
	if r.unsure {
		f.Title = "Calls that look the same give the same result again and again"
		f.Advice = onlyIfSame(f.Advice)
	}
	r.tellCompared(f)
	if onlyPointers(in, stack.Frame{Func: r.Func.Name, File: r.Func.File, Line: r.Func.Line}) && !w.Partial && w.Distinct > w.Around {
		f.Doubts = append(f.Doubts, byContentDoubt)
	}
	if r.tellKept(in, f); w.Large {
		f.Severity = Info
		f.Doubts = append(f.Doubts, comparedAtFirst)
	}
	if line := r.rounds(in); line > 0 {
		f.Severity = Info
		f.Doubts = append(f.Doubts, fmt.Sprintf("the loop at %s only counts: if it repeats the whole work on purpose, as a benchmark does, there is nothing to save", fileLine(r.Within.File, line)))
	}
	seen := "here none returned anything else"
	if w.Vague {
		seen += ", as far as that was compared"
	}
	r.tellReleased(in, f)
	f.Doubts = append(f.Doubts, "if it asks something that changes (a file, a clock, a peer), and has to see that, each call is needed: "+seen)
	if r.Func.Cut {
		f.Doubts = append(f.Doubts, "counting ended before the run did, as it took too long: the numbers of calls are of its beginning, and of later calls one in 64 was looked at")
	}
}

// about says that figures are estimates.
func (r *repeatedCall) about() string {
	if r.Inner.Sampled {
		return "about "
	}
	return ""
}
