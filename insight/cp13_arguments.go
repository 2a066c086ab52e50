package insight

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/format/profile"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

// withArguments puts what is made for log calls before what logging costs by itself.
func withArguments(rest func(*Rule, *Input) []Finding) func(*Rule, *Input) []Finding {
	return func(r *Rule, in *Input) []Finding {
		all := rest(r, in)
		var found []Finding
		for _, l := range []*look{
			{of: facts.CPU, sample: "samples", limit: "cpu", warn: "warn"},
			{of: facts.Allocations, sample: "alloc_space", limit: "bytes", warn: "warn"},
		} {
			if in.Facts.Missing(l.of) == "" {
				found = append(found, l.arguments(r, in)...)
			}
		}
		if len(found) == 0 {
			return all
		}
		return append(oneEach(found), slices.DeleteFunc(all, func(f Finding) bool { return f.State != Found })...)
	}
}

// oneEach puts what is said of the same line twice together: CPU time, which comes first, counts.
func oneEach(found []Finding) (out []Finding) {
	for _, f := range found {
		i := slices.IndexFunc(out, func(o Finding) bool { return sameLine(o, f) })
		if i < 0 {
			out = append(out, f)
			continue
		}
		out[i].Evidence = append(out[i].Evidence, Evidence{Text: "also " + f.Summary, Path: f.Evidence[0].Path, Phase: f.Evidence[0].Phase})
	}
	return out[:min(len(out), 3)]
}

// loggedFor is what is made for the arguments of one log call.
type loggedFor struct {
	logCall
	at      stack.Frame // the function with the call
	weight  int64
	samples int64
	callees map[string]int64
	costs   []cost
	heavy   []stack.Frame // the heaviest stack, from what is made up
	below   int           // how many of its frames are below the call
	most    int64
	written int64                // samples in which the call writes
	itself  int64                // samples of what the call does, beside making its arguments
	loggers map[stack.Frame]bool // what samples show as called by it
	// flowEnds are all calls that get what is made, where that goes through variables and functions; none where it is an
	// argument of the call itself.
	flowEnds
}

// logs tells of a line that it is one of the calls.
func (c *loggedFor) logs(at stack.Frame) bool {
	if slices.ContainsFunc(c.sinks, func(s textSink) bool { return s.file == at.File && s.first <= at.Line && at.Line <= s.last }) {
		return true
	}
	return c.file == at.File && c.first <= at.Line && at.Line <= c.last
}

// enoughToTell is how many samples of making arguments show that nothing is written, where none is
// of writing. Chosen: writing a text costs no less than a tenth of making it.
const enoughToTell = 30

// arguments finds the log calls for whose arguments much of a profile is spent.
func (l *look) arguments(r *Rule, in *Input) (found []Finding) {
	from, err := in.Facts.Weights(l.of, l.sample)
	if err != nil {
		return nil
	}
	p, counts := from.Profile, []int64(nil)
	if counts, _ = p.Observations(from.Index); counts == nil {
		return nil
	}
	calls, total, all := l.logged(in, p, from.Index, counts)
	if all < int64(r.param("samples")) {
		return nil
	}
	for _, c := range calls {
		part := float64(c.weight) / float64(max(1, total))
		share := stats.Wilson(part*float64(all), float64(all), compare.Confidence)
		if share.Low < r.param(l.limit) || c.samples < minHits || !c.thrownAway() || c.written == 0 && c.isPrinted(in) {
			continue
		}
		found = append(found, c.finding(r, in, l, from.Entry.Path, from.Entry.Phase, share, all))
	}
	return found
}

// isPrinted tells of the calls that the program's output has the message of one of them: its level was on, at least for a while.
func (c *loggedFor) isPrinted(in *Input) bool {
	has, _ := inOutput(in, c.message)
	for _, s := range c.sinks {
		there, _ := inOutput(in, s.message)
		has = has || there
	}
	return has
}

// logged adds up a profile by the log call that something is made for, the heaviest first.
func (l *look) logged(in *Input, p *profile.Profile, index int, counts []int64) (calls []*loggedFor, total, all int64) {
	type asked struct{ at, callee stack.FrameID }
	v, known, by, texts := in.view(p), map[asked]*loggedFor{}, map[codeLine]*loggedFor{}, newTextScan(in.code)
	kept := facts.StillInUse(p)
	for i, id := range p.StackIDs {
		w := p.Values[index][i]
		if w <= 0 {
			continue
		}
		total, all = total+w, all+counts[i]
		if kept(i) {
			continue
		}
		frames := p.Stacks.Frames(id)
		for n := len(frames) - 1; n > 0; n-- {
			if v.origins[frames[n]] != stack.User {
				continue
			}
			key := asked{frames[n], frames[n-1]}
			call, ok := known[key]
			if !ok {
				at, callee := p.Stacks.Frame(frames[n]), stack.FoldGenerics(p.Stacks.Frame(frames[n-1]).Func)
				c, is := logsAround(in.code, at, callee)
				var ends flowEnds
				if !is {
					if ends, is = texts.logged(at, callee); is {
						to := ends.sinks[0]
						c = logCall{file: to.file, first: to.first, last: to.last, text: types.ExprString(to.fun), fun: to.fun, message: to.message}
					}
				}
				if is {
					of := codeLine{c.file, c.first}
					if call = by[of]; call == nil {
						call = &loggedFor{logCall: c, at: at, callees: map[string]int64{}}
						by[of], calls = call, append(calls, call)
					}
					call.join(ends)
					call.costs = append(call.costs, cost{file: at.File, line: at.Line, callee: callee})
				}
				known[key] = call
			}
			if call != nil {
				call.add(p, id, n, w, counts[i])
				break
			}
		}
	}
	if len(calls) > 0 {
		countWritten(p, index, counts, calls)
		l.countDirect(v, p, index, counts, calls)
	}
	slices.SortStableFunc(calls, func(a, b *loggedFor) int { return cmp.Compare(b.weight, a.weight) })
	return calls, total, all
}

// countDirect adds what a call's own lines allocate: a profile of allocations does not show the conversion or the
// concatenation that does.
func (l *look) countDirect(v *view, p *profile.Profile, index int, counts []int64, calls []*loggedFor) {
	if l.of != facts.Allocations {
		return
	}
	kept := facts.StillInUse(p)
	for i, id := range p.StackIDs {
		frames := p.Stacks.Frames(id)
		if p.Values[index][i] <= 0 || kept(i) || len(frames) == 0 || v.origins[frames[0]] != stack.User {
			continue
		}
		at := p.Stacks.Frame(frames[0])
		if c := slices.IndexFunc(calls, func(c *loggedFor) bool { return c.logs(at) }); c >= 0 {
			calls[c].weight, calls[c].samples = calls[c].weight+p.Values[index][i], calls[c].samples+counts[i]
			if one := (cost{file: at.File, line: at.Line}); !slices.Contains(calls[c].costs, one) {
				calls[c].costs = append(calls[c].costs, one)
			}
		}
	}
}

// join adds the calls that get what is made on another line.
func (c *loggedFor) join(ends flowEnds) {
	for _, s := range ends.sinks {
		if !slices.ContainsFunc(c.sinks, func(o textSink) bool { return o.file == s.file && o.first == s.first }) {
			c.sinks = append(c.sinks, s)
		}
	}
	if ends.fails.line > 0 {
		c.fails = ends.fails
	}
	c.answers = c.answers || ends.answers
}

// thrownAway tells of a call of which only the source says that it may do nothing that it does nothing: no sample writes.
func (c *loggedFor) thrownAway() bool {
	return c.guard.line == 0 || c.samples >= enoughToTell && c.written == 0 && float64(c.itself) < usesLittle*float64(c.samples)
}

// usesLittle is the part of the samples of making arguments that a call may have which only asks. Chosen: writing a
// text costs no less than a tenth of making it.
const usesLittle = 0.05

// add counts a stack whose frame n has the log call.
func (c *loggedFor) add(p *profile.Profile, id stack.ID, n int, weight, samples int64) {
	frames := p.Stacks.Frames(id)
	c.weight, c.samples = c.weight+weight, c.samples+samples
	c.callees[stack.FoldGenerics(p.Stacks.Frame(frames[n-1]).Func)] += weight
	if weight > c.most {
		c.most, c.heavy, c.below = weight, facts.Frames(p.Stacks, id), n
	}
}

// writing are the names of functions that a logger calls for a record that is written; one that only gives the
// handler, the writer or the encoder is none.
var writing = lazily(`^((?i:write|handle|output|print|encode|fire|emit|export)([^r]|$)|(append|format)[A-Z])`)

// writesRecord tells of a function by its name that it writes a record; what the runtime writes while it allocates is none.
func writesRecord(name string) bool {
	return !stack.IsRuntime(stack.Package(name)) && writing.MatchString(lastName(name))
}

// countWritten counts for each call the samples in which it writes something: those of the call
// itself that have such a function below.
func countWritten(p *profile.Profile, index int, counts []int64, calls []*loggedFor) {
	for i, id := range p.StackIDs {
		if p.Values[index][i] <= 0 {
			continue
		}
		frames := p.Stacks.Frames(id)
		for n := len(frames) - 1; n > 1; n-- {
			f := p.Stacks.Frame(frames[n])
			at := slices.IndexFunc(calls, func(c *loggedFor) bool {
				return c.logs(f) && c.callees[stack.FoldGenerics(p.Stacks.Frame(frames[n-1]).Func)] == 0
			})
			if at < 0 {
				continue
			}
			logs := ownName(p.Stacks.Frame(frames[n-1]).Func) == lastName(calls[at].text) // and not what the values are put into for it
			if (logs || len(calls[at].sinks) == 0) && slices.ContainsFunc(frames[:n-1], func(id stack.FrameID) bool { return writesRecord(p.Stacks.Frame(id).Func) }) {
				calls[at].written += counts[i]
			}
			if logs {
				if calls[at].loggers == nil {
					calls[at].loggers = map[stack.Frame]bool{}
				}
				calls[at].loggers[p.Stacks.Frame(frames[n-1])] = true
				calls[at].itself += counts[i]
			}
			break
		}
	}
}

// finding says what is made for the call, and whether that is of any use.
func (c *loggedFor) finding(r *Rule, in *Input, l *look, path, phase string, share stats.Interval, all int64) Finding {
	f := r.answer(Found, "%s of the %s went into making arguments for %s: %s:%d in %s, calling %s", unit.Percent(share.Estimate), ofUnit[l.sample],
		c.text, baseName(c.file), c.first, stack.Short(stack.FoldGenerics(c.at.Func)), stack.Short(byWeight(c.callees)[0].name))
	e := Evidence{Text: fmt.Sprintf("%d of %d samples", c.samples, all), Path: path, Phase: phase, File: c.file, Line: c.first, Function: c.at.Func,
		Source: in.code.text(c.file, c.first), Stack: evidenceStack(c.heavy[c.below:])}
	if len(c.sinks) > 0 {
		at := c.heavy[c.below]
		f.Summary = fmt.Sprintf("%s of the %s went into texts that only %s is given (%s): the most at %s:%d in %s, calling %s", unit.Percent(share.Estimate), ofUnit[l.sample],
			c.text, c.sinkLines(), baseName(at.File), at.Line, stack.Short(stack.FoldGenerics(at.Func)), stack.Short(stack.FoldGenerics(c.heavy[c.below-1].Func)))
		e.File, e.Line, e.Function, e.Source = at.File, at.Line, at.Func, in.code.text(at.File, at.Line)
	}
	f.Severity, f.Score = Info, score(share.Estimate, 0.10, 0.40)
	if share.Low >= r.param(l.warn) {
		f.Severity = Warning
	}
	f.Impact = &Impact{share.Estimate, "share of " + ofUnit[l.sample], share.Low, share.High}
	if p, ok := in.Session.Manifest().PhaseNamed(phase); ok {
		e.Span = span(p.Span)
	}
	f.Evidence = []Evidence{e}
	for _, s := range c.sinks {
		f.Evidence = append(f.Evidence, in.code.shownAt(s.file, s.first, "given to a log call here"))
	}
	isUser := in.Session.Scope().IsUser
	if i := slices.IndexFunc(c.heavy[:c.below], isUser); i >= 0 {
		at := c.heavy[i]
		f.Evidence = append(f.Evidence, in.code.shownAt(at.File, at.Line, "made here, in %s", stack.Short(at.Func)))
	}
	f.costs, f.saves, f.arguments = c.costs, true, true
	f.Verify = "Record again under the same load: the share should fall below " + unit.Percent(r.param(l.limit)) + "."
	if c.guard.line > 0 {
		c.tellThrownAway(in, &f)
	} else {
		c.tellLogged(in, &f)
	}
	c.tellChanges(in, &f)
	return f
}

// sinkLines names the lines of the calls that get the texts.
func (c *loggedFor) sinkLines() string {
	var all []string
	for _, s := range c.sinks {
		all = append(all, fileLine(s.file, s.first))
	}
	return andList(all)
}

// tellLogged says of a call of a logger what becomes of its arguments, and what to do.
func (c *loggedFor) tellLogged(in *Input, f *Finding) {
	first := askFirst(in.code, c.file)
	if c.changedLater(in) {
		first = askOnly(first)
	}
	keeps, kept := keepsGiven(in.code, methodsOf(in.code, in.code.function(c.at), c.fun))
	switch {
	case kept && c.written == 0:
		f.Severity, f.saves = Info, false
		f.Summary += fmt.Sprintf("; it keeps or sends what it is given (%s:%d), whatever the level", baseName(keeps.File), keeps.Line)
		f.Evidence = append(f.Evidence, keeps)
		f.Advice = "If few of them are ever read, keep what identifies it (an ID, a count, a digest), or a copy of the few values that matter, and make the text when somebody reads it."
	case c.written > 0:
		f.Summary += "; the call passes them on to be written"
		f.Advice = "Log less of it: what identifies it (an ID, a count, a digest), on a level that is off in production, or one in many. The arguments are made whether the level is on or not. " + first + " A handler that drops most records of a level that is on, such as a sampler, is asked too late for that: decide it before the call."
	case c.unsettled(in, f):
	case c.samples >= enoughToTell:
		f.Title = "Work for a log call whose level is off"
		f.Summary += "; no sample shows the call writing anything, so its level is off and they are thrown away"
		if _, known := inOutput(in, c.message); known {
			f.Evidence = append(f.Evidence, Evidence{Text: fmt.Sprintf("what the program printed has no line with %q", c.message)})
		}
		f.Advice = "The arguments are made before the logger looks at its level. " + first
	default:
		f.Severity = Info
		f.Summary += "; too few samples tell whether its level is on"
		f.Advice = "The arguments are made before the logger looks at its level. " + first
	}
}

// tellChanges says of arguments whose making changes something, by the source, what has to stay.
func (c *loggedFor) tellChanges(in *Input, f *Finding) {
	made := c.heavy[max(0, c.below-1)]
	if fn := in.code.function(made); fn != nil && c.below > 0 {
		what, at := changesOther(in.code, declaration{fn, made.File})
		if what == "" {
			what, at = changesByValue(in.code, made)
		}
		if what != "" {
			tellLeftOut(in, f, fn.Name.Name, "changes "+what, at)
			return
		}
	}
	if c.tellArgumentEffect(in, f) {
		return
	}
	switch {
	case c.answers:
		f.Severity, f.saves = Info, false
		f.Doubts = append(f.Doubts, fmt.Sprintf("where making them fails, the function says so to its caller (%s): that goes with it, and has to stay if somebody relies on it", c.fails.text()))
	case c.fails.line > 0:
		f.Doubts = append(f.Doubts, fmt.Sprintf("where making them fails, the function leaves (%s): what it does after that is then done, too", c.fails.text()))
	}
	if name := stack.FoldGenerics(made.Func); strings.HasPrefix(name, "net/http/httputil.Dump") {
		f.Doubts = append(f.Doubts, fmt.Sprintf("%s also reads the body, if told to, and puts a copy in its place: without it, the body is read from the connection later, and nothing may rely on its being in memory, or on the error that comes with reading it", stack.Short(name)))
		return
	}
	f.Doubts = append(f.Doubts, "if making them also changes something that is needed later, that has to stay")
}

// changesOther is what a function assigns to that is not its own: a field, an element or a variable of the package,
// and the line.
func changesOther(c *code, fn declaration) (what string, at codeLine) {
	own, s := scopeOf(fn.FuncDecl), c.parse(fn.file)
	note := func(lhs ast.Expr) {
		if what != "" {
			return
		}
		root := rootName(lhs)
		_, bare := lhs.(*ast.Ident)
		mine := own.declares(root) && root != own.receiver && own.parameter(root) < 0
		if root == "" || root == "_" || mine || bare && (root == own.receiver || own.parameter(root) >= 0) {
			return
		}
		what, at.file = types.ExprString(lhs), fn.file
		at.line, _ = s.lines(lhs)
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				if n.Tok != token.DEFINE {
					note(lhs)
				}
			}
		case *ast.IncDecStmt:
			note(n.X)
		}
		return what == ""
	})
	return what, at
}

// changesByValue is the same of the functions that a frame's function, and what that calls, may call as values.
func changesByValue(c *code, f stack.Frame) (what string, at codeLine) {
	d := newDerivations(c)
	in, ok := d.at(f)
	if !ok {
		return "", at
	}
	reached := d.reached(in.decl, in.body())
	for _, f := range valueFuncs(d) {
		if _, is := reached[f.decl]; !is || what != "" {
			continue
		}
		ast.Inspect(f.decl.Body, func(n ast.Node) bool {
			for _, x := range changedBy(n) {
				if v := d.variable(innermost(x)); what == "" && (v == nil || !isLocal(f.decl, v)) {
					what, at = types.ExprString(x), d.placeOf(x)
				}
			}
			return what == ""
		})
	}
	return what, at
}

// tellThrownAway says of a function of the program's own where it asks, and what to do.
func (c *loggedFor) tellThrownAway(in *Input, f *Finding) {
	f.Evidence = append(f.Evidence, in.code.shownAt(c.guard.file, c.guard.line, "asked here, when the arguments are made already"))
	lazily := "or give it a function that makes the value, or the value itself with a method that is called only where it is used (slog.LogValuer, fmt.Stringer)."
	switch {
	case c.unsettled(in, f):
		return
	case c.changedLater(in):
		lazily = "and make them only where it is on."
	}
	if c.guard.level {
		f.Title = "Work for a log call whose level is off"
		f.Summary += "; no sample shows the call writing anything, so its level is off and they are thrown away"
		f.Advice = "The arguments are made before the logger looks at its level. Ask for the level before the call (if log.Enabled(level)), " + lazily
		return
	}
	f.Title = "Work for the arguments of a call that does not use them"
	f.Summary += fmt.Sprintf("; that returns before it uses them (%s:%d), and no sample shows it using them, so they are thrown away", baseName(c.guard.file), c.guard.line)
	f.Advice = "The arguments are made before the function asks whether it needs them. Ask for the same before the call, " + lazily
}
