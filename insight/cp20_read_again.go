package insight

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

// All of a text or buffer that is read again from its start in each turn of a loop, while each
// turn adds something to it: what was read before is read as often as there are turns after it.

// spot is a variable, or a field of one, by its names: "c" and "buf" of c.buf.
type spot struct {
	root   string
	fields []string
}

func (p spot) text() string { return strings.Join(append([]string{p.root}, p.fields...), ".") }

// last is the name of the field, or of the variable.
func (p spot) last() string { return lastName(p.text()) }

// spotOf is the place that an expression names, and nothing else than that.
func spotOf(x ast.Expr) (p spot, ok bool) {
	switch x := unrefer(x).(type) {
	case *ast.Ident:
		return spot{root: x.Name}, true
	case *ast.SelectorExpr:
		p, ok = spotOf(x.X)
		return spot{p.root, append(slices.Clone(p.fields), x.Sel.Name)}, ok
	case *ast.ParenExpr:
		return spotOf(x.X)
	case *ast.StarExpr:
		return spotOf(x.X)
	}
	return p, false
}

// isSetBy tells whether giving a value to something gives it to the place as well: to itself, to a
// part of it, or to what it is a field of.
func (p spot) isSetBy(x ast.Expr) bool {
	root, fields := chain(x)
	to := spot{root, fields}.text()
	return to == p.text() || strings.HasPrefix(p.text(), to+".") || strings.HasPrefix(to, p.text()+".")
}

// wholeOf is the place of which an expression has all: itself, a conversion or a copy of it, or
// what a buffer holds. buffered tells of the last.
func wholeOf(x ast.Expr) (p spot, buffered, ok bool) {
	switch x := ast.Unparen(x).(type) {
	case *ast.SliceExpr:
		low, isLit := x.Low.(*ast.BasicLit)
		if (x.Low == nil || isLit && low.Value == "0") && (x.High == nil || types.ExprString(x.High) == "len("+types.ExprString(x.X)+")") {
			return wholeOf(x.X)
		}
		return p, false, false
	case *ast.CallExpr:
		if f, ok := x.Fun.(*ast.SelectorExpr); ok && len(x.Args) == 0 && (f.Sel.Name == "Bytes" || f.Sel.Name == "String") {
			p, ok = spotOf(f.X)
			return p, true, ok
		}
		switch types.ExprString(x.Fun) {
		case "string", "[]byte", "[]rune", "bytes.ToLower", "bytes.ToUpper", "bytes.Clone", "bytes.TrimSpace", "strings.ToLower", "strings.ToUpper", "strings.Clone", "strings.TrimSpace":
			if len(x.Args) == 1 {
				return wholeOf(x.Args[0])
			}
		}
		return p, false, false
	}
	p, ok = spotOf(x)
	return p, false, ok
}

// regrown is a line that reads all of what grows with each turn of a loop.
type regrown struct {
	does readAgain
	by   string // what reads it
	of   string // what grows
	// where says which loop it is; empty where the source does not show it.
	where string
	// file and line are those of the statement that adds to it.
	file string
	line int
	// decides tells that a search ends the loop, so that it has found nothing before.
	decides bool
	atTimes bool  // it is under a condition of its own
	samples int64 // that are in what reads it
	// expr is the regular expression that is searched for, where the source has its text.
	expr string
	// cut is where the program takes from the front what was found; it has no line where nobody does.
	cut stack.Frame
	// reads is how many bytes one read may have, where the source says so.
	reads int
	// taken are the lines that copy what they take from its front, and message how many bytes that is on average.
	taken   []stack.Frame
	message float64
}

// rereading is one thing on a line that reads all of a text.
type rereading struct {
	regrown
	x       ast.Expr   // what it reads
	needles []ast.Expr // what it looks for
	node    ast.Node
	own     ast.Node // the loop that it is, if it is one
	callees []string // the functions in which its samples are
}

// readingsAt are those of the first frame of a way through the user's code. under holds the samples by
// the function that is called on its line.
func readingsAt(c *code, way []stack.Frame, under map[string]int64) (all []rereading) {
	for _, call := range c.lineCalls(way[0]) {
		name := types.ExprString(call.Fun)
		r := rereading{regrown: regrown{by: name}, node: call}
		if name == "string" || name == "[]byte" || name == "[]rune" {
			if len(call.Args) != 1 || keptAround(c, way[0], call) {
				continue
			}
			r.does, r.by, r.x, r.callees = rereadCopy, "a conversion", call.Args[0], conversions
			all = append(all, r)
			continue
		}
		f := ""
		for of := range under {
			if lastName(of) == calledName(call) && readsAllOf(of) != rereadNone {
				f = of
			}
		}
		r.does, r.callees = readsAllOf(f), []string{f}
		if r.does == rereadNone || len(call.Args) == 0 {
			continue
		}
		r.x, r.needles = call.Args[0], call.Args[1:]
		if method, ok := call.Fun.(*ast.SelectorExpr); ok && strings.HasPrefix(f, "regexp.(") {
			r.x, r.needles = call.Args[0], []ast.Expr{method.X}
		}
		if r.does == rereadCopy && keptAround(c, way[0], call) {
			continue
		}
		all = append(all, r)
	}
	if r, ok := readingLoop(c, way[0]); ok && len(all) == 0 {
		r.callees = slices.Collect(maps.Keys(under))
		all = append(all, r)
	}
	return all
}

// conversions are what the runtime calls for those of a text.
var conversions = []string{"runtime.slicebytetostring", "runtime.stringtoslicebyte", "runtime.slicerunetostring", "runtime.stringtoslicerune"}

// readsAllOf tells of a function of the library what it does with all of its first argument, which is a
// text.
func readsAllOf(f string) readAgain {
	if strings.HasPrefix(f, "regexp.(*Regexp).") {
		switch name := lastName(f); {
		case strings.HasPrefix(name, "FindAll"), name == "Split":
			return rereadCount
		case strings.HasPrefix(name, "Match"), strings.HasPrefix(name, "Find"):
			return rereadSearch
		case strings.HasPrefix(name, "ReplaceAll"):
			return rereadCopy
		}
		return rereadNone
	}
	pkg, name := stack.Package(f), lastName(f)
	switch {
	case pkg == "slices" || pkg == "":
		return rereadNone
	case pkg == "unicode/utf8" && strings.HasPrefix(name, "Valid"):
		return rereadCount
	case (pkg == "strings" || pkg == "bytes") && (strings.HasPrefix(name, "LastIndex") || name == "Cut"):
		return rereadSearch
	case pkg == "encoding/json" && (name == "Valid" || name == "Unmarshal"), pkg == "encoding/xml" && name == "Unmarshal":
		return rereadParse
	}
	return rereads(lastOfPath(pkg) + "." + name)
}

// lastOfPath is the last part of a package's path.
func lastOfPath(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// readingLoop is the innermost loop around a line, where it goes through all of a text and does no more
// than to look at it.
func readingLoop(c *code, at stack.Frame) (r rereading, ok bool) {
	loops := loopsAround(c, at)
	if len(loops) == 0 {
		return r, false
	}
	l := loops[len(loops)-1]
	switch n := l.stmt.(type) {
	case *ast.RangeStmt:
		if n.Tok == token.ASSIGN {
			return r, false
		}
		r.x = n.X
	case *ast.ForStmt:
		init, ok := n.Init.(*ast.AssignStmt)
		if !ok || len(init.Rhs) != 1 || types.ExprString(init.Rhs[0]) != "0" {
			return r, false
		}
		if r.x = (&gone{l: l}).through(); r.x == nil {
			return r, false
		}
	}
	sets, looksFor := l.variables(), false
	if !looksOnly(l.body, sets) {
		return r, false
	}
	ast.Inspect(l.body, func(n ast.Node) bool {
		for _, x := range givenValues(n) {
			sets[rootName(x)] = true
		}
		return true
	})
	ast.Inspect(l.body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && !sets[id.Name] && id.Name != types.ExprString(r.x) {
			looksFor = looksFor || types.Universe.Lookup(id.Name) == nil && id.Name != "unicode"
		}
		if f, ok := n.(*ast.SelectorExpr); ok && (isNamed(f.X, "unicode") || types.ExprString(f) == types.ExprString(r.x)) {
			return false
		}
		return true
	})
	if looksFor {
		return r, false // for what may be another one each time
	}
	if r.does = rereadSum; mayEndEarly(l.body) {
		r.does = rereadSearch
	}
	r.by, r.node, r.own = "a loop", l.stmt, l.stmt
	return r, true
}

// mayEndEarly tells whether a loop may be left before its end.
func mayEndEarly(body ast.Node) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ReturnStmt:
			found = true
		case *ast.BranchStmt:
			found = found || n.Tok == token.BREAK || n.Tok == token.GOTO
		}
		return !found
	})
	return found
}

// looksOnly tells of statements that they do no more than to compare, to count and to set variables.
// names are the loop's own: a field of an element may change while that stays.
func looksOnly(body ast.Node, names map[string]bool) bool {
	only := true
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			switch name := types.ExprString(n.Fun); {
			case name == "len", name == "int", name == "rune", name == "byte", name == "uint32", name == "uint64", name == "min", name == "max", strings.HasPrefix(name, "unicode."):
			default:
				only = false
			}
		case *ast.SelectorExpr:
			_, indexed := n.X.(*ast.IndexExpr)
			only = only && !indexed && !names[rootName(n.X)]
		case *ast.AssignStmt:
			only = only && !slices.ContainsFunc(n.Lhs, func(x ast.Expr) bool { return !isIdent(x) })
		case *ast.IncDecStmt:
			only = only && isIdent(n.X)
		case *ast.SendStmt, *ast.GoStmt, *ast.DeferStmt, *ast.FuncLit, *ast.SelectStmt:
			only = false
		}
		return only
	})
	return only
}

// givenValues are the expressions to which a node gives a value, declarations included.
func givenValues(n ast.Node) (all []ast.Expr) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		return n.Lhs
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	case *ast.ValueSpec:
		for _, id := range n.Names {
			all = append(all, id)
		}
	case *ast.RangeStmt:
		for _, x := range []ast.Expr{n.Key, n.Value} {
			if x != nil {
				all = append(all, x)
			}
		}
	}
	return all
}

// grownAt finds, on the line of the first frame of a way through the user's code, what reads all of
// something again to which a loop around it, or around its call, adds in each turn.
func grownAt(c *code, way []stack.Frame, under map[string]int64) (g regrown, ok bool) {
	most, in := int64(0), map[string]bool{}
	for _, r := range readingsAt(c, way, under) {
		for _, f := range r.callees {
			r.samples += under[f]
		}
		p, buffered, ok := wholeOf(r.x)
		if !ok {
			continue
		}
		b := &climb{c: c, x: p, buffered: buffered, rereading: r}
		if !b.looksFor(r.needles) || !b.climbs(way) {
			continue
		}
		if g.of != "" && g.of != b.of || b.samples == 0 {
			continue
		}
		for _, f := range r.callees {
			in[f] = true
		}
		if b.samples > most {
			g, most = b.regrown, b.samples
			if fn := c.scopeAt(way[0]); len(r.needles) == 1 && isRegexp(r.callees) {
				g.expr = expression(c, fn, r.needles[0])
			}
		}
	}
	g.samples = 0
	for f := range in {
		g.samples += under[f]
	}
	return g, g.of != ""
}

// climb follows what a line reads from its function to those that call it, up to a loop that adds
// to it.
type climb struct {
	rereading
	c        *code
	x        spot
	buffered bool
	needles  []spot
	grows    bool // a function further in adds to it, in each call
	given    bool // it decides, as far as the functions further in show
}

// looksFor notes what the values come from that are looked for; false where that may be another one
// each time.
func (b *climb) looksFor(needles []ast.Expr) bool {
	known := true
	for _, x := range needles {
		ast.Inspect(x, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.CallExpr:
				switch types.ExprString(n.Fun) {
				case "string", "[]byte", "byte", "rune", "len":
				default:
					known = false
				}
			case *ast.SelectorExpr:
				if p, ok := spotOf(n); ok {
					b.needles = append(b.needles, p)
					return false
				}
			case *ast.Ident:
				b.needles = append(b.needles, spot{root: n.Name})
			}
			return known
		})
	}
	return known
}

// climbs goes up a way and tells whether it has come to such a loop.
func (b *climb) climbs(way []stack.Frame) bool {
	b.given = true
	for i := range way[:min(len(way), 4)] {
		fn := b.c.scopeAt(way[i])
		if fn == nil {
			return false
		}
		for _, l := range slices.Backward(loopsAround(b.c, way[i])) {
			if l.stmt == b.own || !within(l.body, b.node) && !(l.cond != nil && within(l.cond, b.node)) {
				continue
			}
			found, goes := b.inLoop(way[i], fn, l)
			if found || !goes {
				return found
			}
		}
		if found, goes := b.inFunction(way[i:], fn); found || !goes {
			return found
		}
	}
	return false
}

// inLoop looks at a loop around: found tells that it is the one, goes that another one around it
// may be.
func (b *climb) inLoop(at stack.Frame, fn *scope, l loop) (found, goes bool) {
	if !b.resolves(fn, l.body) || l.variables()[b.x.root] || declares(l.body, b.x.root) || !b.known(at.File, l.body) {
		return false, false
	}
	t := &turn{c: b.c, file: at.File, body: l.body, x: b.x, node: b.node, loop: true}
	if fewTurns(b.c, fn, l) || t.once() || t.resets() {
		return false, false
	}
	grows := t.grows()
	if !grows && !b.grows {
		// The same search for one of some after the other.
		r, ok := l.stmt.(*ast.RangeStmt)
		if !ok || b.changesNeedle(l.body) {
			return false, false
		}
		vars := l.variables()
		b.needles = slices.DeleteFunc(b.needles, func(p spot) bool { return vars[p.root] })
		return false, b.looksFor([]ast.Expr{r.X})
	}
	if vars := l.variables(); b.changesNeedle(l.body) || slices.ContainsFunc(b.needles, func(p spot) bool { return vars[p.root] }) {
		return false, false
	}
	if grows {
		b.file, b.line = t.grewIn, t.grewAt
	}
	b.atTimes = b.atTimes || t.atTimes
	b.decides = b.given && (t.decides() || l.cond != nil && endsWhen(l.cond, b.node, nil) == 1)
	line, _ := l.source.lines(l.stmt)
	b.of, b.where = b.x.text(), "in each turn of the loop at "+fileLine(at.File, line)
	b.cut, b.reads = frontCut(b.c, at.File, l.body, b.x), readSize(b.c, b.file, b.line)
	b.taken = frontCopies(b.c, at.File, l.body, b.x)
	return true, false
}

// fewTurns tells of a loop that it ends after a few turns by what the source says.
func fewTurns(c *code, fn *scope, l loop) bool {
	few := func(x ast.Expr) bool {
		lit, ok := x.(*ast.BasicLit)
		n, err := 0, error(nil)
		if ok {
			n, err = strconv.Atoi(lit.Value)
		}
		return ok && err == nil && n <= 2*fewElements
	}
	switch n := l.stmt.(type) {
	case *ast.RangeStmt:
		size := literalSize(c, fn, n.X)
		return few(n.X) || size > 0 && size <= 2*fewElements
	case *ast.ForStmt:
		b, ok := n.Cond.(*ast.BinaryExpr)
		return ok && n.Post != nil && (b.Op == token.LSS || b.Op == token.LEQ) && few(b.Y)
	}
	return false
}

// resolves follows a variable that is made anew in each turn to what it has all of.
func (b *climb) resolves(fn *scope, body *ast.BlockStmt) bool {
	for range 3 {
		if len(b.x.fields) > 0 || !declares(body, b.x.root) || fn.sets(b.x.root) {
			return true
		}
		made := fn.made(b.x.root)
		if made == nil {
			return true
		}
		p, buffered, ok := wholeOf(made)
		if !ok || p.text() == b.x.text() {
			return false
		}
		b.x, b.buffered = p, b.buffered || buffered
	}
	return false
}

// known tells of what Bytes or String is called on that it is a buffer of the library, all of which it
// returns.
func (b *climb) known(file string, body ast.Node) bool {
	return !b.buffered || !plainText(b.c, file, body, b.x)
}

// changesNeedle tells whether statements give what is looked for another value.
func (b *climb) changesNeedle(body ast.Node) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		for _, x := range givenValues(n) {
			found = found || slices.ContainsFunc(b.needles, func(p spot) bool { return p.isSetBy(x) })
		}
		return !found
	})
	return found
}

// inFunction looks at a function without a loop around the line, and goes on with its call.
func (b *climb) inFunction(way []stack.Frame, fn *scope) (found, goes bool) {
	if !b.resolves(fn, fn.body) || fn.name == "" || b.changesNeedle(fn.body) {
		return false, false
	}
	param := fn.parameter(b.x.root)
	field := b.x.root == fn.receiver && len(b.x.fields) > 0
	if declares(fn.body, b.x.root) || param >= 0 && fn.sets(b.x.root) {
		return false, false
	}
	t := &turn{c: b.c, file: way[0].File, body: fn.body, x: b.x, node: b.node}
	if b.x.root != fn.receiver && param < 0 && !b.known(way[0].File, fn.body) {
		return false, false
	}
	if param < 0 || len(b.x.fields) > 0 || b.buffered {
		if t.resets() {
			return false, false
		}
		if t.grows() {
			b.grows, b.file, b.line = true, t.grewIn, t.grewAt
			b.atTimes = b.atTimes || t.atTimes
		}
	}
	b.given = b.given && t.decides()
	if len(way) > 1 {
		for _, call := range b.c.lineCalls(way[1]) {
			if calledName(call) == fn.name && b.translates(call, fn) {
				b.node = call
				return false, true
			}
		}
	}
	given := slices.ContainsFunc(b.needles, func(p spot) bool { return fn.declares(p.root) })
	if b.grows && field && !given { // called by the library
		b.of, b.decides = b.x.text(), b.given
		b.cut, b.taken = frontCut(b.c, way[0].File, fn.body, b.x), frontCopies(b.c, way[0].File, fn.body, b.x)
		return true, false
	}
	return false, false
}

// translates says the places of a function by the names that its caller has for them.
func (b *climb) translates(call *ast.CallExpr, fn *scope) bool {
	to := func(p spot) (spot, bool) {
		var x ast.Expr
		if k := fn.parameter(p.root); k >= 0 && k < len(call.Args) {
			x = call.Args[k]
		} else if p.root == fn.receiver && p.root != "" {
			x = receiverOf(call)
		} else {
			return p, !fn.declares(p.root)
		}
		if _, ok := x.(*ast.BasicLit); ok {
			return spot{}, true
		}
		q, ok := spotOf(x)
		return spot{q.root, append(slices.Clone(q.fields), p.fields...)}, ok
	}
	k := fn.parameter(b.x.root)
	if k >= 0 && k < len(call.Args) && len(b.x.fields) == 0 {
		p, buffered, ok := wholeOf(call.Args[k])
		if !ok {
			return false
		}
		b.x, b.buffered = p, b.buffered || buffered
	} else {
		p, ok := to(b.x)
		if !ok {
			return false
		}
		b.x = p
	}
	for i, p := range b.needles {
		q, ok := to(p)
		if !ok {
			return false
		}
		b.needles[i] = q
	}
	return true
}

// sure tells that the source shows the loop, that each turn reads, and that a search has found nothing
// in the turns before; and nothing of what speaks for few turns.
func (g *regrown) sure() bool {
	return g.where != "" && !g.atTimes && (g.does != rereadSearch || g.decides) && !g.fewReads()
}

// fewReads tells whether the source shows that a loop may end after a read or two: what is behind the
// match stays for the next, or one read may have very much.
func (g *regrown) fewReads() bool {
	return !g.manyReads() && (g.cut.Line > 0 || g.reads >= largeRead)
}

// manyReads tells whether what is taken from its front is many times as large as one read is at most.
func (g *regrown) manyReads() bool { return g.reads > 0 && g.message >= manyTurns*float64(g.reads) }

// manyTurns is how many reads of one message are many. Chosen: all that came before is then read sixteen times on
// average.
const manyTurns = 32

// largeRead is a size of one read that is likely to have all of a message. Source: chosen, twice what
// io.Copy reads.
const largeRead = 64 << 10

// finding says what such a line costs; it is empty where the share is too small.
func (g *regrown) finding(r *Rule, in *Input, w *facts.Weights, at stack.Frame) []Finding {
	share := stats.Wilson(float64(g.samples), float64(w.Total()), compare.Confidence)
	if share.Low < r.param("share") {
		return nil
	}
	for _, at := range g.taken {
		g.message = max(g.message, facts.MeanAt(in.Facts, at))
	}
	does := "reads"
	if g.does == rereadSearch {
		does = "searches"
	}
	title, quadratic := "All that was read so far is "+map[bool]string{true: "searched", false: "read"}[g.does == rereadSearch]+" again each time", ""
	if g.sure() {
		title, quadratic = "Quadratic: a"+title[1:], "quadratic time: "
	}
	f := r.answer(Found, "%s%s %s all of %s again %s, and %s grows each time: %s of the CPU time%s", quadratic, g.by, does, g.of, cmp.Or(g.where, "in each call"), g.of, unit.Percent(share.Estimate), atFrame(at))
	if g.cut.Line > 0 {
		f.Summary = fmt.Sprintf("%s %s all of %s again %s, which adds to it; what was found is cut off at %s: %s of the CPU time%s", g.by, does, g.of, cmp.Or(g.where, "in each call"),
			fileLine(g.cut.File, g.cut.Line), unit.Percent(share.Estimate), atFrame(at))
	}
	if g.manyReads() {
		f.Summary += fmt.Sprintf("; what is taken from it has %s on average, and came in reads of %s at most", unit.BytesOf(g.message), unit.BytesOf(float64(g.reads)))
	}
	f.Title = title
	f.Impact = &Impact{share.Estimate, "share of CPU time", share.Low, share.High}
	f.Severity, f.Score = Info, score(share.Estimate, r.param("share"), 0.6)
	if share.Low >= r.param("warn") && g.sure() {
		f.Severity = Warning
	}
	f.Evidence = []Evidence{in.lineAt(w.Entry, at, "%d of %d samples", g.samples, w.Total()), in.code.shownAt(g.file, g.line, "%s grows here", g.of)}
	if g.cut.Line > 0 {
		f.Evidence = append(f.Evidence, in.code.shownAt(g.cut.File, g.cut.Line, "%s loses its front here", g.of))
	}
	f.Advice = g.advice()
	f.Verify = "Record again with the same input: the CPU time of this line should be less."
	if g.sure() {
		f.Verify = "Record again with the same input: the CPU time of this line should vanish. Twice the input should then take twice as long, not four times."
	}
	switch {
	case g.where == "":
		f.Doubts = []string{"the source does not show what calls this: if each call has a buffer of its own, all of it is new"}
	case g.manyReads():
		f.Doubts = []string{"most messages may be shorter than the average: for these, little is read again"}
	case g.cut.Line > 0:
		f.Doubts = []string{"how many reads one message takes is not known: with one or two, little is read again, and the time is that of going through what has come; with many, it grows with the square of their number"}
	case g.does == rereadSearch && !g.decides:
		f.Doubts = []string{"a search ends at the first match: if there is one near the start, it does not read all again"}
	case g.atTimes:
		f.Doubts = []string{"it is read under a condition: if that holds only once or twice, little is read again"}
	case g.fewReads():
		f.Doubts = []string{"one read may have " + unit.BytesOf(float64(g.reads)) + ": if the loop ends after a turn or two, little is read again, and the time is that of going through what has come; after many, it grows with the square of their number"}
	default:
		f.Doubts = []string{"if the loop ends after a turn or two, as when everything comes in one read, little is read again"}
	}
	f.costs, f.saves, f.grows = []cost{{file: at.File, line: at.Line}}, g.sure(), g.sure()
	return []Finding{f}
}

// advice is what to do instead of reading all again.
func (g *regrown) advice() string {
	switch g.does {
	case rereadSearch:
		switch {
		case g.by == "a loop":
			return "Go through only what is new: keep what the loop has found out so far (a count, a depth, a state) with the place where it has ended, and go on from there in the next turn."
		case strings.Contains(g.by, ".Index") || strings.Contains(g.by, ".Contains") || strings.HasSuffix(g.by, ".Cut") || strings.Contains(g.by, ".LastIndex"):
			return "Search only what is new: remember how far the last search has come, and begin there in the next turn. As a match may begin in what came before, begin earlier by the length of what is searched for, less one. " +
				"Where only the end decides (a prompt, a terminator), search the last line, or the last N bytes, of " + g.of + "."
		}
		shape := shapeOf(g.expr)
		return shape.from(g.of)
	case rereadCount:
		return "Process only what is new: remember how far it has been processed, and go on from there. Keep an unfinished last piece for the next turn."
	case rereadCopy:
		return "Do not copy again what was copied before: convert only what is new, or convert all once after the loop."
	case rereadHash:
		return "Keep the state of the hash (hash.Hash) and write only what is new to it."
	case rereadParse:
		return "Parse once it is complete: let a decoder read the stream (json.NewDecoder, xml.NewDecoder), which stops at the end of a value, or read up to a length or a line break first."
	}
	return "Keep what the loop has found out so far and the place where it has ended, and go on from there in the next turn."
}
