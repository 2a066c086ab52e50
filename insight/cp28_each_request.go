package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/analysis/repetition"
	"loupe/value/stack"
	"loupe/value/unit"
)

var cp28 = &Rule{
	ID: "CP28", Title: "Each request computes the same again",
	About: "The run that counts calls shows which functions returned the same for all requests. Where the source shows that nothing of a request is among their arguments, it is not the load that asked for the same again: " +
		"the result could be kept from one request to the next. Where a loop sends one value to several goroutines, it shows what each of them computes of it again.",
	Asks: []facts.Question{facts.Repetition},
	Params: []Param{
		{"share", 0.10, "share of the time of what is around", "chosen: as CP26"},
		{"warn", 0.20, "share of the time of what is around", "chosen: as CP26"},
		{"outside", 0.25, "share of the waits for others", "chosen: then what is asked may have to be up to date"},
	},
	Check: checkSameForAll,
}

func checkSameForAll(r *Rule, in *Input) []Finding {
	all, err := repetition.EverywhereIn(in.Session)
	if err != nil {
		return []Finding{r.answer(TooLittle, "%v", err)}
	}
	told, _, _ := repetition.In(in.Session)
	var parts, open []repetition.Everywhere // what was told, or repeats within a request; what could not be judged
	found := computedByEach(r, in)
	for _, x := range all {
		if x.Share < r.param("share") || slices.ContainsFunc(parts, x.PartOf) {
			continue
		}
		if slices.ContainsFunc(told, func(c repetition.Call) bool { return c.Func == x.Func && c.Share >= x.Share/2 }) {
			parts = append(parts, x)
			continue
		}
		if k, ok := newKeepable(in, x); ok && len(found) < 3 {
			if withoutLocks(&k); k.all.Share < r.param("share") {
				continue
			}
			parts = append(parts, x)
			found = append(found, k.finding(r, in))
		} else {
			open = append(open, x)
		}
	}
	if len(found) == 0 {
		return []Finding{r.answer(Fine, "of no function that takes much of the time of requests the source shows that it returned the same for all of them, from arguments that are no request's%s", notFollowed(open))}
	}
	return found
}

// sameForRequests tells of a line that what it calls is told to return the same for each request, as a warning.
func sameForRequests(in *Input, at stack.Frame) bool {
	return slices.ContainsFunc(checkSameForAll(cp28, in), func(f Finding) bool {
		return f.State == Found && f.Severity == Warning && len(f.Evidence) > 0 && f.Evidence[0].File == at.File && f.Evidence[0].Line == at.Line
	})
}

// notFollowed names the functions that returned the same for all requests, of which the source leaves open what they are given: at most two, those
// that take most.
func notFollowed(open []repetition.Everywhere) string {
	if len(open) == 0 {
		return ""
	}
	var names []string
	for _, x := range open[:min(2, len(open))] {
		names = append(names, fmt.Sprintf("%s (%s of the time of %s)", stack.Short(x.Func.Name), unit.Percent(x.Share), stack.Short(x.Unit.Name)))
	}
	which := "its arguments are"
	if len(names) > 1 {
		which = "their arguments are"
	}
	return fmt.Sprintf("; %s returned the same for the same arguments, but the source does not show whether %s a request's", andList(names), which)
}

// keepable is a function whose result could be kept from one request to the next.
type keepable struct {
	repeatedCall
	all  repetition.Everywhere
	call sameCall
}

// newKeepable looks at the source of the call: not ok where an argument depends on the request, or where it is not known where it is
// called.
func newKeepable(in *Input, x repetition.Everywhere) (k keepable, ok bool) {
	c := repetition.Call{Entry: x.Entry, Func: x.Func, Within: x.Unit, Unit: x.Unit, Share: x.Share, Inner: x.Outer, Outer: x.Outer, Loaded: true}
	c.Inner.Traits = x.All.Traits
	k = keepable{repeatedCall: *newRepeated(in, c, true), all: x}
	decl := stack.Frame{Func: x.Func.Name, File: x.Func.File, Line: x.Func.Line}
	way := k.way
	if len(way) < 2 {
		if k.site.Func == "" || x.Func.Caller != "" {
			return k, false
		}
		way = []stack.Frame{decl, k.site}
	}
	way = append([]stack.Frame{way[0]}, ownFrames(in, way[1:])...) // what a library calls was there before the request
	if len(way) < 2 {
		return k, false
	}
	call, from := fixedCall(in.code, way[1:], way[0].Func)
	if call == nil || slices.ContainsFunc(call.Args, isContext) && carriesContext(in.code.function(decl)) {
		return k, false
	}
	if x.Func.Caller == "" && x.All.Distinct > 1 && calledOtherwise(in.code, way[1], way[0].Func, call) {
		return k, false // the counts are of all calls together
	}
	k.site = way[1]
	k.call = sameCall{at: way[1], callee: way[0].Func}
	return k, k.call.judge(in.code, call, from, way, 1)
}

// withoutLocks takes from the share of a function what it waits for locks, by the trace: that is what others do under them, and takes as long
// however little the function computes.
func withoutLocks(k *keepable) {
	k.all.Share *= 1 - partOfRows(k.rows, func(row *facts.UnitRow) bool { return row.Kind.Key() == "lock" })
}

// calledOtherwise tells of a function whose call on a line is made of constants alone, and which had more than one argument, that other lines call it as
// well: what these give it is not known.
func calledOtherwise(c *code, at stack.Frame, callee string, call *ast.CallExpr) bool {
	if len(call.Args) == 0 {
		return false
	}
	for _, a := range call.Args {
		if _, known := constantText(c, a, 0); !known && !isConstant(a) {
			return false
		}
	}
	return slices.ContainsFunc(callsNamed(c, ownName(callee)), func(from callFrom) bool {
		line, _ := c.parse(from.in.file).lines(from.call)
		return from.in.file != at.File || line != at.Line
	})
}

// asksOthers tells whether much of the waits within the function are for what is outside of the program, files aside.
func (k keepable) asksOthers(r *Rule) bool {
	return partOfRows(k.rows, func(row *facts.UnitRow) bool { return row.Kind.Outside() && row.Kind.Key() != "file_call" }) >= r.param("outside")
}

func (k keepable) finding(r *Rule, in *Input) Finding {
	x, name, around := k.all, k.called(), stack.Short(k.all.Unit.Name)
	same := "the same arguments"
	if x.All.Distinct > 1 {
		same = fmt.Sprintf("%s different arguments", unit.Count(x.All.Distinct))
	}
	if k.unsure {
		same = "arguments that look the same"
		if x.All.Distinct > 1 {
			same = fmt.Sprintf("%s arguments that look different", unit.Count(x.All.Distinct))
		}
	}
	again := "and returned the same each time"
	if x.All.Vague {
		again = "and returned what looks the same each time"
	}
	f := r.answer(Found, "%s of %s had %s, none of them of a request by the source, %s: all but the first take %s of the time of %s", unit.Plural(x.All.Calls, "call"), name, same, again, unit.Percent(x.Share), around)
	f.Severity, f.Score = Info, score(x.Share, r.param("share"), 0.40)
	f.Impact = exactly(x.Share, "share of the time of "+around)
	if x.Share >= r.param("warn") {
		f.Severity = Warning
	}
	which := "which returns the same for each request"
	if x.Func.Caller != "" {
		which = ""
	}
	k.loop = 0 // it is the request that repeats the call
	k.evidence(in, &f, x.Entry, stack.Frame{Func: x.Func.Name, File: x.Func.File, Line: x.Func.Line},
		fmt.Sprintf("%s, %s of them %s", unit.Plural(x.All.Calls, "call"), unit.Count(x.All.Again), k.hadBeenThere()), which)
	f.Advice = fmt.Sprintf("Call %s once and keep the result where all requests find it: a field of what serves them, or sync.OnceValue. If what it is made of can change, make it again when that does, or after a time for which users may see the old one, on one goroutine alone.", name)
	if row := givesRows(in.code, x.Func.Name, stack.Frame{Func: x.Func.Name, File: x.Func.File, Line: x.Func.Line}); row != "" {
		f.Advice = fmt.Sprintf("Ask once, scan what %s returns, and keep the values that were scanned where all requests find them, never the *%s itself: it can be read once, and has a connection until then. "+
			"Ask again when what is in the table changes, or after a time for which users may see the old values, on one goroutine alone.", name, row)
	}
	if k.unsure {
		f.Advice = onlyIfSame(f.Advice)
	}
	f.Verify = "Record again under the same load: the number of calls, and the share, should fall (-phases repeats)."
	f.costs, f.waits, f.saves, f.part = k.costs, k.rows, true, partAgain(x.All.AgainTime, x.All.Time)
	if x.Func.Caller == "" {
		k.hold(in, &f)
	} else {
		k.holdLine(in, &f)
	}
	remark := func(doubt string) {
		f.Severity = Info
		f.Doubts = append(f.Doubts, doubt)
	}
	k.weigh(r, in, &f, remark)
	k.call.tellOneUser(in.code, &f)
	k.tellCompared(&f)
	if x.All.Large {
		remark(comparedAtFirst)
	}
	f.Doubts = append(f.Doubts, "the run that counts lasts for seconds: what changes less often than that looks the same")
	return f
}

// givesRows is the type of the rows that a function returns, which can be read once: "sql.Row"; empty where it returns something else.
func givesRows(c *code, name string, at stack.Frame) string {
	if stack.Package(name) == "database/sql" {
		switch method := strings.TrimSuffix(ownName(name), "Context"); method {
		case "QueryRow":
			return "sql.Row"
		case "Query":
			return "sql.Rows"
		}
		return ""
	}
	if fn := c.function(at); fn != nil && fn.Type.Results != nil {
		for _, field := range fn.Type.Results.List {
			if of := strings.TrimPrefix(types.ExprString(field.Type), "*"); slices.Contains([]string{"sql.Row", "sql.Rows", "sqlx.Row", "sqlx.Rows", "pgx.Row", "pgx.Rows"}, of) {
				return of
			}
		}
	}
	return ""
}

// forItsTime are names of functions that are called for the time that they take.
var forItsTime = lazily(`(?i)dummy|decoy|fake|noop|warm|burn|spin|probe|bench|self_?test`)

// weigh says what else than the counts speaks against one result for all.
func (k keepable) weigh(r *Rule, in *Input, f *Finding, remark func(doubt string)) {
	x, name := k.all, ownName(k.call.callee)
	if k.call.unsure != "" {
		remark(k.call.unsure)
	}
	if k.asksOthers(r) {
		remark("it asks others, whose answer may have to be up to date for each request")
	}
	if x.Func.Caller == "" {
		why, files := unsteadyCall(in.code, k.call.at, stack.Frame{Func: x.Func.Name, File: x.Func.File, Line: x.Func.Line})
		if why != "" {
			remark("another request may need another result: " + why)
		} else if files {
			f.Doubts = append(f.Doubts, "it reads files: what is kept is of the time before they change")
		}
	}
	if where := changesResult(in.code, k.call.at, name); where != "" {
		remark("what it returns may be changed, or is handed on, at " + where + ": whoever changes it needs a copy of his own")
	}
	if forItsTime.MatchString(name) || isTimed(in.code, k.call.at, name) {
		remark("its name, a clock around it, or a result that is not used says that it may be called for the time that it takes")
	}
}
