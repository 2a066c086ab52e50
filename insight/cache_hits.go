package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/analysis/repetition"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

// How often a cache has what it is asked for, by the counts of the branches behind the question.

// cacheHits are such counts, with what the source shows of the cache.
type cacheHits struct {
	asked, had int64
	check      codeLine
	name       string   // the map, or what has the method that is asked
	empties    codeLine // where all of it is thrown away; no line where nothing does
	does       string   // what is done there
	puts, asks string   // the keys, where what is put in and what is asked for are not written the same
	leaves     codeLine // where one entry is taken out, by a type of the program's own
	anew       codeLine // where it is made again and again, by what runs later than the start
}

// Limits of a cache that hardly ever has what is asked for: chosen.
const (
	fewAsked  = 500
	fewAgain  = 50  // calls behind it with arguments of an earlier one, some of which fail
	mostHits  = 0.1 // of the times that it is asked
	mostKnown = 0.5 // of the calls that had the arguments of an earlier one, from which on it should have
	hardlyAny = 0.01
)

// hitsOf counts the hits of the cache that the function of a frame asks before the frame's line. It is false where that was not counted.
func hitsOf(c *countedTurns, at stack.Frame) (h cacheHits, ok bool) {
	f, found := c.d.at(at)
	if !found {
		return h, false
	}
	eachBlock(f, func(list []ast.Stmt, block ast.Node) {
		n, counted := c.entered(openOf(block))
		for i, s := range list {
			stmt, isIf := s.(*ast.IfStmt)
			if !isIf || !counted {
				continue
			}
			inside, known := c.entered(stmt.Body.Lbrace)
			if !known {
				return
			}
			if lookup, hit := lookupBefore(list, i); lookup != nil {
				if _, first, _ := c.d.t.at(lookup.Pos()); first > at.Line {
					return
				}
				h.asked, h.had, h.check = n, inside, c.d.placeOf(stmt)
				if !hit {
					h.had = max(0, n-inside)
				}
				h.of(c.d, f, lookup)
				ok = true
				return
			}
			if endsEarly(stmt.Body) {
				n = max(0, n-inside)
			}
		}
	})
	return h, ok && h.asked > 0
}

// lookupBefore is the lookup in a cache whose second result an if statement asks for; hit tells that its branch is the one in which it has something.
func lookupBefore(list []ast.Stmt, i int) (lookup ast.Expr, hit bool) {
	stmt := list[i].(*ast.IfStmt)
	name, hit := askedFirst(stmt.Cond)
	if name == "" {
		return nil, false
	}
	from := stmt.Init
	for k := i - 1; from == nil && k >= max(0, i-2); k-- { // an unlock may be between
		if _, set := list[k].(*ast.AssignStmt); set {
			from = list[k]
		}
	}
	set, ok := from.(*ast.AssignStmt)
	if !ok || len(set.Lhs) != 2 || len(set.Rhs) != 1 || !isIdentNamed(set.Lhs[1], name) {
		return nil, false
	}
	switch x := ast.Unparen(set.Rhs[0]).(type) {
	case *ast.IndexExpr:
		return x, hit
	case *ast.CallExpr:
		if name := calledName(x); len(x.Args) == 1 && (name == "Load" || name == "Get" || name == "Peek") {
			return x, hit
		}
	}
	return nil, false
}

// askedFirst is the variable that a condition asks for first, and whether it has to be true: ok, !ok, ok && !expired.
func askedFirst(cond ast.Expr) (name string, positive bool) {
	switch x := ast.Unparen(cond).(type) {
	case *ast.Ident:
		return x.Name, true
	case *ast.UnaryExpr:
		if id, ok := ast.Unparen(x.X).(*ast.Ident); ok && x.Op == token.NOT {
			return id.Name, false
		}
	case *ast.BinaryExpr:
		first, positive := askedFirst(x.X)
		if x.Op == token.LAND && positive || x.Op == token.LOR && !positive {
			return first, positive
		}
	}
	return "", false
}

// of notes what the source shows of a cache that is looked up.
func (h *cacheHits) of(d *derivations, in frameCode, lookup ast.Expr) {
	var cache types.Object
	switch x := lookup.(type) {
	case *ast.IndexExpr:
		h.name = types.ExprString(x.X)
		cache = cacheObject(d, x.X)
		asked := types.ExprString(x.Index)
		ast.Inspect(in.body(), func(n ast.Node) bool {
			eachPut(n, func(to *ast.IndexExpr) {
				if types.ExprString(to.X) == h.name && types.ExprString(to.Index) != asked {
					h.puts, h.asks = types.ExprString(to.Index), asked
				}
			})
			return true
		})
	case *ast.CallExpr:
		h.name = types.ExprString(receiverOf(x))
		h.leaves = entriesLeave(d, x)
	}
	if cache == nil {
		return
	}
	h.anew = cacheMadeAnew(d, cache)
	for _, decl := range d.t.decls {
		ast.Inspect(decl.Body, func(n ast.Node) bool {
			what := emptiedWhole(d, n, cache)
			if what != "" && h.does == "" && !derivedStartsWith(d, changing{in: decl, at: n.Pos()}) {
				h.does, h.empties = what, d.placeOf(n)
			}
			return true
		})
	}
}

// cacheMadeAnew is where a struct is made with an empty cache in it while the program runs: the cache lasts for no longer than that. No line where that is
// done at the start alone.
func cacheMadeAnew(d *derivations, cache types.Object) (at codeLine) {
	later := func(in *ast.FuncDecl, n ast.Node) bool {
		return literalAt(in, n.Pos()) != nil || !derivedStartsWith(d, changing{in: in, at: n.Pos()})
	}
	for _, x := range flowNodes(d) {
		lit, ok := x.n.(*ast.CompositeLit)
		if !ok || x.in == nil || at.line > 0 {
			continue
		}
		of := d.t.typeOf(lit)
		if of == nil || !isStruct(of) {
			continue
		}
		for i, e := range lit.Elts {
			name := ""
			if kv, keyed := e.(*ast.KeyValueExpr); keyed {
				name, e = types.ExprString(kv.Key), kv.Value
			} else if s := of.Underlying().(*types.Struct); i < s.NumFields() {
				name = s.Field(i).Name()
			}
			if name != cache.Name() || !d.makes(x.in, nil, e) || isNamed(e, "nil") || !hasField(of.Underlying().(*types.Struct), cache) {
				continue
			}
			again := later(x.in, lit)
			for _, by := range whoCalls(d, x.in) { // of one that makes it for whoever asks
				again = again || later(by.in, by.call)
			}
			if again {
				at = d.placeOf(lit)
			}
		}
	}
	return at
}

// entriesLeave is where a method of the type that a call asks takes one entry out; no line where none does.
func entriesLeave(d *derivations, asks *ast.CallExpr) (at codeLine) {
	fn := d.t.callee(asks)
	if fn == nil || d.t.decls[fn] == nil {
		return at
	}
	decl := d.t.decls[fn]
	for _, m := range allFunctions(d.c) {
		if at.line > 0 || receiverType(m.FuncDecl) == "" || receiverType(m.FuncDecl) != receiverType(decl) || folderOf(m.file) != folderOf(d.placeOf(decl).file) {
			continue
		}
		s := d.c.parse(m.file)
		ast.Inspect(m.Body, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && at.line == 0 && isNamed(call.Fun, "delete") {
				line, _ := s.lines(call)
				at = codeLine{m.file, line}
			}
			return true
		})
	}
	return at
}

// cacheObject is the field or the variable of a package that a cache is; nil for what lives no longer than a call.
func cacheObject(d *derivations, x ast.Expr) types.Object {
	switch x := ast.Unparen(x).(type) {
	case *ast.SelectorExpr:
		return d.field(x)
	case *ast.Ident:
		if v := d.variable(x); ofPackage(v) {
			return v
		}
	}
	return nil
}

// eachPut visits the entries that a statement sets.
func eachPut(n ast.Node, visit func(to *ast.IndexExpr)) {
	if set, ok := n.(*ast.AssignStmt); ok {
		for _, lhs := range set.Lhs {
			if to, ok := ast.Unparen(lhs).(*ast.IndexExpr); ok {
				visit(to)
			}
		}
	}
}

// emptiedWhole says what a node does that throws away all of a cache; empty where it does not.
func emptiedWhole(d *derivations, n ast.Node, cache types.Object) string {
	switch n := n.(type) {
	case *ast.CallExpr:
		if isNamed(n.Fun, "clear") && len(n.Args) == 1 && cacheObject(d, n.Args[0]) == cache {
			return "empties"
		}
	case *ast.AssignStmt:
		for i, lhs := range n.Lhs {
			if cacheObject(d, lhs) != cache || len(n.Rhs) != len(n.Lhs) {
				continue
			}
			switch x := ast.Unparen(n.Rhs[i]).(type) {
			case *ast.CompositeLit:
				return "replaces"
			case *ast.CallExpr:
				if isNamed(x.Fun, "make") {
					return "replaces"
				}
			}
		}
	case *ast.RangeStmt:
		one := cacheObject(d, n.X) == cache && len(n.Body.List) == 1
		if one && hasCall(n.Body.List[0], func(call *ast.CallExpr) bool { return isNamed(call.Fun, "delete") }) {
			return "empties"
		}
	}
	return ""
}

// tellHits says how often a cache had what a hot function computes. It is false where that was not counted, or is often enough.
func tellHits(in *Input, m missed, callee stack.Frame, share stats.Interval, f *Finding) bool {
	counts := blockCountsOf(in.code)
	if counts == nil {
		return false
	}
	h, ok := hitsOf(counts, m.at)
	if !ok {
		return false
	}
	rate := float64(h.had) / float64(h.asked)
	seen := in.code.shownAt(h.check.file, h.check.line, "in the run that counts, %s had it %s of %s times", h.name, unit.Count(h.had), unit.Count(h.asked))
	if !h.misses() {
		f.Evidence = append(f.Evidence, seen)
		f.Doubts = append(f.Doubts, fmt.Sprintf("the cache has what it is asked for in %s of the times", unit.Percent(rate)))
		return h.asked >= fewAsked
	}
	f.Evidence = append(f.Evidence, seen)
	f.Summary += fmt.Sprintf("; %s had what it was asked for in %s of %s times", h.name, unit.Count(h.had), unit.Count(h.asked))
	calls, counted := repetition.CallsOf(in.Session, stack.FoldGenerics(callee.Func))
	if why := staleBehind(in, m.at, callee); why != "" {
		f.Advice = fmt.Sprintf("What %s keeps is made of what changes: an entry is right only for as long as that stays the same. If a change is about some of the entries, take out these alone.", h.name)
		f.Doubts = append(f.Doubts, "entries that are kept longer may be wrong: what fills the cache: "+why)
		return true
	}
	if h.does == "" && h.anew.line > 0 {
		f.Evidence = append(f.Evidence, in.code.shownAt(h.anew.file, h.anew.line, "%s is made anew here", h.name))
		f.Advice = fmt.Sprintf("%s lasts no longer than what is made at %s, such as for one request. If that is not meant to see changes at once, keep it for longer, with a bound, and make entries again when what they are made of has changed. ", h.name, h.anew.text()) + f.Advice
		return true
	}
	if !counted || !h.lacks(calls) {
		f.Advice = "The cache hardly ever has what it is asked for: if nothing comes again, it costs memory and gains nothing; if things come again later, it has to keep more, or for longer. " + f.Advice
		return true
	}
	f.Title = missesTitle
	f.Summary += knownBefore(calls)
	f.saves = true
	if share.Low >= dominates {
		f.Severity = Warning
	}
	if again := float64(calls.Again) / float64(calls.Calls); again < mostKnown {
		f.Doubts = append(f.Doubts, fmt.Sprintf("in the run that counts only %s of the calls behind it were for what had been there; the longer a program runs, the more are", unit.Percent(again)))
	}
	f.Advice = ""
	h.advise(in.code, calls, f)
	return true
}

// staleBehind says what changes of that which a function reads whose results a cache keeps; empty where the source shows nothing.
func staleBehind(in *Input, at, callee stack.Frame) string {
	calls, counted := repetition.CallsOf(in.Session, stack.FoldGenerics(callee.Func))
	if counted && calls.Differ > 0 {
		return "it returned something else for the arguments of an earlier call"
	}
	return changedMeanwhile(in.code, at, callee)
}

// missesTitle is that of a cache that hardly ever has what comes again.
const missesTitle = "A cache hardly ever has what it is asked for, though that comes again"

// lacks tells that a cache hardly ever has what comes again: most of the calls behind it are for that, or, where much is asked for the first time, as when a
// program begins, it has hardly any of many that are not.
func (h *cacheHits) lacks(calls repetition.Counts) bool {
	return float64(calls.Again) >= mostKnown*float64(calls.Calls) || calls.Again >= fewAsked && float64(h.had) <= hardlyAny*float64(h.had+calls.Again)
}

// knownBefore says of the calls behind a cache how many were made before.
func knownBefore(calls repetition.Counts) string {
	return fmt.Sprintf(", though %s of the calls behind it had arguments that had been there before (%s different ones)", unit.Percent(float64(calls.Again)/float64(calls.Calls)), unit.About(calls.Distinct))
}

// advise puts before the advice what to do about a cache that hardly ever has what comes again.
func (h *cacheHits) advise(c *code, calls repetition.Counts, f *Finding) {
	var advice string
	switch {
	case h.does != "":
		advice = fmt.Sprintf("%s %s all of %s. Let one entry go for each new one instead, the one that was used longest ago (container/list beside the map), and let it hold more than the %s different things that are in use.", h.empties.text(), h.does, h.name, unit.About(calls.Distinct))
		f.Evidence = append(f.Evidence, c.shownAt(h.empties.file, h.empties.line, "this %s %s", h.does, h.name))
		f.Doubts = append(f.Doubts, "if entries are wrong once something has changed, take out those that it is about")
	case h.puts != "":
		advice = fmt.Sprintf("%s is asked by %s, and gets its entries by %s: put in and ask by the same key.", h.name, h.asks, h.puts)
		f.Doubts = append(f.Doubts, "if both keys are the same by then, look at when entries leave the cache")
	case calls.Fails:
		advice = fmt.Sprintf("Calls behind %s fail: look at whether it keeps that something is not there, or has failed, as well (for a time, or until that changes); else each of these asks again. Then at its size (there are %s different things in use), and when entries leave it.", h.name, unit.About(calls.Distinct))
	default:
		advice = fmt.Sprintf("Look at why %s does not have it: its size (there are %s different things in use), when entries leave it or expire, whether all results are put in (empty ones and errors, too), and whether the key is made of the same parts each time.", h.name, unit.About(calls.Distinct))
		if h.leaves.line > 0 {
			advice += fmt.Sprintf(" If it should hold them all, look at what goes at %s: where that is what was put in last, it keeps what nobody asks for.", h.leaves.text())
			f.Evidence = append(f.Evidence, c.shownAt(h.leaves.file, h.leaves.line, "an entry leaves it here"))
		}
	}
	f.Advice = strings.TrimSpace(advice + " " + f.Advice)
}

// tellMisses says of a wait for something outside that a cache is asked before it, and hardly ever has what comes again.
func tellMisses(in *Input, t *traced, w *waiting, f *Finding) {
	if w.outside() && tellMissed(in, t.Frames(w.site.Stack), f) {
		f.Severity = Warning
	}
}

// tellMissed says of what the first of some frames does that a cache is asked before it, and hardly ever has what comes again.
func tellMissed(in *Input, frames []stack.Frame, f *Finding) bool {
	counts := blockCountsOf(in.code)
	if counts == nil {
		return false
	}
	isUser := in.Session.Scope().IsUser
	for i := 1; i < len(frames); i++ {
		at, callee := frames[i], frames[i-1]
		if !isUser(at) || !isUser(callee) || len(cacheKeys(in.code, at)) == 0 || !fillsCache(in.code, counts.d, at, callee.Func) {
			continue
		}
		h, ok := hitsOf(counts, at)
		calls, counted := repetition.CallsOf(in.Session, stack.FoldGenerics(callee.Func))
		if !ok || !counted || h.does == "" && h.anew.line > 0 || staleBehind(in, at, callee) != "" || !h.misses() && (calls.Again < fewAgain || !calls.Fails) || !h.lacks(calls) {
			return false
		}
		f.Summary += fmt.Sprintf("; %s, which is asked before, had what it was asked for in %s of %s times in the run that counts", h.name, unit.Count(h.had), unit.Count(h.asked)) + knownBefore(calls)
		h.advise(in.code, calls, f)
		f.Evidence = append(f.Evidence, in.code.shownAt(h.check.file, h.check.line, "the cache is asked here"))
		return true
	}
	return false
}

// fillsCache tells of the function at a frame that what it looks up is put in by itself, or by a function that it calls.
func fillsCache(c *code, d *derivations, at stack.Frame, callee string) (found bool) {
	in, ok := d.at(at)
	if !ok {
		return false
	}
	caches := map[types.Object]bool{}
	ast.Inspect(in.body(), func(n ast.Node) bool {
		if set, ok := n.(*ast.AssignStmt); ok && len(set.Lhs) == 2 && len(set.Rhs) == 1 {
			if x, ok := ast.Unparen(set.Rhs[0]).(*ast.IndexExpr); ok {
				caches[cacheObject(d, x.X)] = true
			}
		}
		return true
	})
	if delete(caches, nil); len(caches) == 0 {
		return fillsOnce(c, at, callee)
	}
	puts := func(body ast.Node) {
		ast.Inspect(body, func(n ast.Node) bool {
			eachPut(n, func(to *ast.IndexExpr) { found = found || caches[cacheObject(d, to.X)] })
			return !found
		})
	}
	puts(in.body())
	for _, c := range d.callsOf(in.decl) {
		puts(c.callee.Body)
	}
	return found
}

// misses tells of a cache that it was asked often enough, and hardly ever had what it was asked for.
func (h *cacheHits) misses() bool {
	return h.asked >= fewAsked && float64(h.had) <= mostHits*float64(h.asked)
}

// loadedBy is the frame that a line calls on the way to a hot function: what the cache keeps the results of.
func loadedBy(v *view, frames []stack.FrameID, at stack.Frame) stack.Frame {
	i := slices.IndexFunc(frames, func(id stack.FrameID) bool { return v.t.Frame(id) == at })
	if i <= 0 {
		return stack.Frame{}
	}
	return v.t.Frame(frames[i-1])
}
