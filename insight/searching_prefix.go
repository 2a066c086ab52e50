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
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

// A part of one text or slice that becomes longer in each turn, and is read from its start in
// each of them: together that is the square of its length.

// readAgain is what is done with all of a part that grows.
type readAgain int

const (
	rereadNone readAgain = iota
	rereadCount
	rereadSearch // until the first that is found
	rereadCopy
	rereadHash
	rereadSum // by a loop
	rereadParse
	rereadFold // by a function of the program
)

// rereads are functions that go through all of what they are given, or until they have found
// something; of the first two packages those that begin with a name.
func rereads(name string) readAgain {
	pkg, f, _ := strings.Cut(name, ".")
	switch pkg {
	case "strings", "bytes":
		switch {
		case strings.HasPrefix(f, "Count"), f == "Fields", f == "FieldsFunc", strings.HasPrefix(f, "Split"):
			return rereadCount
		case strings.HasPrefix(f, "Index"), strings.HasPrefix(f, "Contains"):
			return rereadSearch
		case f == "Clone", f == "Join", strings.HasPrefix(f, "To"), strings.HasPrefix(f, "Replace"):
			return rereadCopy
		}
	case "utf8":
		if strings.HasPrefix(f, "RuneCount") {
			return rereadCount
		}
	case "slices":
		switch f {
		case "Clone", "Concat":
			return rereadCopy
		case "Index", "IndexFunc", "Contains", "ContainsFunc":
			return rereadSearch
		case "Max", "Min", "MaxFunc", "MinFunc":
			return rereadCount
		}
	case "crc32", "crc64", "adler32", "md5", "sha1", "sha256", "sha512":
		if strings.HasPrefix(f, "Sum") || strings.HasPrefix(f, "Checksum") {
			return rereadHash
		}
	case "string":
		return rereadCopy
	}
	return rereadNone
}

// growing is a line that reads such a part again.
type growing struct {
	does readAgain
	by   string   // what reads it
	part ast.Expr // what it reads
	of   ast.Expr // what that is a part of
	rest bool     // it is what lies behind a place, which becomes shorter
	loop *loop    // that reads it, of rereadSum
	fn   *scope
	// state is what else may differ from turn to turn, of rereadFold.
	state foldState
}

// growingAt finds, on the line of the first frame of a way through the user's code, what reads a
// part of something again that grows.
func growingAt(c *code, way []stack.Frame) (g growing, ok bool) {
	fn := c.scopeAt(way[0])
	if fn == nil {
		return g, false
	}
	for _, call := range c.lineCalls(way[0]) {
		name := types.ExprString(call.Fun)
		args := call.Args
		does := rereads(name)
		switch {
		case name == "append" && call.Ellipsis.IsValid() && len(args) == 2:
			does, args = rereadCopy, args[1:]
		case name == "copy" && len(args) == 2:
			does, args = rereadCopy, args[1:]
		case name == "[]byte" || name == "[]rune":
			does = rereadCopy
		}
		if does == rereadNone || len(args) == 0 {
			continue
		}
		from := args[0]
		if to, ok := from.(*ast.CallExpr); ok && len(to.Args) == 1 && does != rereadCopy && (rereads(types.ExprString(to.Fun)) == rereadCopy || types.ExprString(to.Fun) == "[]byte") {
			from = to.Args[0] // of a copy
		}
		if does == rereadCopy && keptAround(c, way[0], call) {
			continue // each of them is a result
		}
		if g, ok := growingPart(c, way, fn, from); ok && !(g.rest && does == rereadSearch) && !g.changes(c, way[0]) {
			g.does, g.by, g.fn = does, name, fn
			if name == "append" || name == "[]byte" || name == "[]rune" || name == "string" {
				g.by = "a copy"
			}
			return g, true
		}
	}
	return summedAgain(c, way, fn)
}

// growingPart finds a part of something of which one end moves on.
func growingPart(c *code, way []stack.Frame, fn *scope, x ast.Expr) (g growing, ok bool) {
	cut, ok := x.(*ast.SliceExpr)
	if !ok || cut.Slice3 {
		return g, false
	}
	zero, isLit := cut.Low.(*ast.BasicLit)
	end := cut.High
	switch {
	case cut.High != nil && (cut.Low == nil || isLit && zero.Value == "0"):
	case cut.High == nil && cut.Low != nil && !isLit:
		g.rest, end = true, cut.Low
	default:
		return g, false
	}
	g.part, g.of = cut, cut.X
	m := &moving{c: c, of: cut.X, seen: map[string]bool{}}
	return g, m.moves(end, fn, way)
}

// moving tells whether a place in something moves on, by the source.
type moving struct {
	c    *code
	of   ast.Expr
	seen map[string]bool
}

// moves tells of an expression of a function that it is larger each time: the variable of a loop
// around, one to which is added, or one that is set from such a one. One that begins anew while
// what it is a place in stays the same is none: that of a buffer that is filled again.
func (m *moving) moves(end ast.Expr, fn *scope, way []stack.Frame) bool {
	for {
		b, ok := end.(*ast.BinaryExpr)
		if _, lit := safeY(b).(*ast.BasicLit); !ok || !lit || b.Op != token.ADD && b.Op != token.SUB {
			break
		}
		end = b.X
	}
	text := types.ExprString(end)
	if m.seen[text] {
		return false
	}
	m.seen[text] = true
	switch x := end.(type) {
	case *ast.Ident:
		return m.variable(x.Name, fn, way)
	case *ast.SelectorExpr:
		return m.field(x, fn)
	}
	return false
}

func safeY(b *ast.BinaryExpr) ast.Expr {
	if b == nil {
		return nil
	}
	return b.Y
}

// variable is moves of a variable of a function.
func (m *moving) variable(name string, fn *scope, way []stack.Frame) bool {
	for _, l := range loopsAround(m.c, way[0]) {
		switch n := l.stmt.(type) {
		case *ast.RangeStmt:
			if isNamed(n.Key, name) {
				return true
			}
		case *ast.ForStmt:
			if a, ok := n.Init.(*ast.AssignStmt); ok && slices.ContainsFunc(a.Lhs, func(x ast.Expr) bool { return isNamed(x, name) }) {
				return n.Post != nil && adds(n.Post, name) && !m.strides(n.Post, name, fn)
			}
		}
		if adds(l.body, name) && !m.strides(l.body, name, fn) && !m.beginsAnew(l.body, name) && !declares(l.body, name) {
			return true
		}
	}
	if i := fn.parameter(name); i >= 0 && !fn.sets(name) && len(way) > 1 && fn.name != "" {
		caller := m.c.scopeAt(way[1])
		for _, call := range m.c.lineCalls(way[1]) {
			if caller != nil && calledName(call) == fn.name && i < len(call.Args) {
				return m.moves(call.Args[i], caller, way[1:])
			}
		}
		return false
	}
	if x := fn.made(name); x != nil {
		return m.moves(x, fn, way)
	}
	return false
}

// field is moves of a field, by all that the sources do with fields of that name.
func (m *moving) field(x *ast.SelectorExpr, fn *scope) (found bool) {
	name, anew := x.Sel.Name, false
	isField := func(e ast.Expr) bool {
		s, ok := e.(*ast.SelectorExpr)
		return ok && s.Sel.Name == name
	}
	var from []*ast.SelectorExpr
	m.c.eachSource(func(_ string, s *syntax) {
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			anew = anew || f.Recv != nil && !begins(f.Name.Name) && setsName(f.Body, lastName(types.ExprString(m.of))) // a buffer that is filled again
			ast.Inspect(f.Body, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.IncDecStmt:
					found = found || n.Tok == token.INC && isField(n.X)
				case *ast.AssignStmt:
					for i, lhs := range n.Lhs {
						if !isField(lhs) {
							continue
						}
						rhs := n.Rhs[min(i, len(n.Rhs)-1)]
						if n.Tok == token.ADD_ASSIGN {
							found = true
						}
						if lit, ok := rhs.(*ast.BasicLit); ok && n.Tok == token.ASSIGN && lit.Value == "0" {
							anew = anew || !setsName(f.Body, lastName(types.ExprString(m.of)))
						}
						if s, ok := rhs.(*ast.SelectorExpr); ok && n.Tok == token.ASSIGN && s.Sel.Name != name {
							from = append(from, s)
						}
					}
				}
				return true
			})
		}
	})
	if anew {
		return false
	}
	for _, s := range from {
		if text := types.ExprString(s); !found && !m.seen[text] {
			m.seen[text] = true
			found = m.field(s, fn)
		}
	}
	return found
}

// begins tells of a method, by its name, that it begins with something new.
func begins(name string) bool {
	return slices.ContainsFunc([]string{"reset", "init", "set", "open", "start", "new", "parse", "load"}, func(p string) bool { return strings.HasPrefix(strings.ToLower(name), p) })
}

// beginsAnew tells whether statements set a variable to zero and leave what it is a place in.
func (m *moving) beginsAnew(body ast.Node, name string) (anew bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || a.Tok != token.ASSIGN {
			return true
		}
		for i, lhs := range a.Lhs {
			lit, zero := a.Rhs[min(i, len(a.Rhs)-1)].(*ast.BasicLit)
			anew = anew || isNamed(lhs, name) && zero && lit.Value == "0"
		}
		return true
	})
	return anew && !setsName(body, lastName(types.ExprString(m.of)))
}

// adds tells whether statements add to a variable.
func adds(n ast.Node, name string) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IncDecStmt:
			found = found || n.Tok == token.INC && isNamed(n.X, name)
		case *ast.AssignStmt:
			found = found || n.Tok == token.ADD_ASSIGN && isNamed(n.Lhs[0], name)
		}
		return !found
	})
	return found
}

// setsName tells whether statements set a variable or a field of a name to something else than
// itself with more behind it.
func setsName(body ast.Node, name string) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || a.Tok != token.ASSIGN && a.Tok != token.DEFINE {
			return !found
		}
		for i, lhs := range a.Lhs {
			text := types.ExprString(lhs)
			found = found || lastName(text) == name && !appendsTo(a.Rhs[min(i, len(a.Rhs)-1)], text)
		}
		return !found
	})
	return found
}

// appendsTo tells of an expression that it is append to what has a text.
func appendsTo(x ast.Expr, to string) bool {
	call, ok := x.(*ast.CallExpr)
	return ok && isNamed(call.Fun, "append") && len(call.Args) > 0 && types.ExprString(call.Args[0]) == to
}

// summedAgain finds a loop that adds up all that another one around it has put together so far:
// a part of something up to where that one is, or a slice to which it appends.
func summedAgain(c *code, way []stack.Frame, fn *scope) (g growing, ok bool) {
	loops := loopsAround(c, way[0])
	if len(loops) < 2 {
		return g, false
	}
	inner, outer := &loops[len(loops)-1], loops[len(loops)-2]
	r, ok := inner.stmt.(*ast.RangeStmt)
	if !ok || !addsUp(inner.body) || asksOutside(loops[:len(loops)-1], inner) {
		return g, false
	}
	g = growing{does: rereadSum, by: "a loop", part: r.X, of: r.X, loop: inner, fn: fn}
	if p, ok := growingPart(c, way, fn, r.X); ok {
		g.of, g.rest = p.of, p.rest
		return g, !p.changes(c, way[0])
	}
	text, grows := types.ExprString(r.X), false
	for _, s := range outer.body.List { // each time, and nowhere else
		a, ok := s.(*ast.AssignStmt)
		grows = grows || ok && a.Tok == token.ASSIGN && len(a.Lhs) == 1 && types.ExprString(a.Lhs[0]) == text && appendsTo(a.Rhs[0], text)
	}
	return g, grows && !setsName(outer.body, lastName(text)) && !declares(outer.body, rootName(r.X))
}

// asksOutside tells of a loop that adds up that what it adds, or whether it does, depends on the turn of a loop around it, as where
// each is compared with each: then there is no running total.
func asksOutside(around []loop, inner *loop) (asks bool) {
	turn := map[string]bool{}
	for _, l := range around {
		for name := range l.variables() {
			turn[name] = true
		}
		ast.Inspect(l.body, func(n ast.Node) bool {
			if n == inner.stmt {
				return false
			}
			for _, x := range givenValues(n) {
				turn[rootName(x)] = true
			}
			return true
		})
	}
	for name := range inner.variables() {
		delete(turn, name)
	}
	ast.Inspect(inner.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, x := range n.Rhs {
				asks = asks || mentionsAny(x, turn)
			}
			return false
		case *ast.IncDecStmt:
			return false
		case *ast.IfStmt:
			asks = asks || mentionsAny(n.Cond, turn)
		}
		return !asks
	})
	return asks
}

// addsUp tells of the body of a loop that all it does is to add something up or to count.
func addsUp(body *ast.BlockStmt) bool {
	if len(body.List) == 0 {
		return false
	}
	for _, s := range body.List {
		switch s := s.(type) {
		case *ast.AssignStmt:
			if s.Tok != token.ADD_ASSIGN || rootName(s.Lhs[0]) != types.ExprString(s.Lhs[0]) {
				return false
			}
		case *ast.IncDecStmt:
		case *ast.IfStmt:
			if s.Else != nil || !addsUp(s.Body) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// sameAgain says whether a way through the code reads a part of the same thing again and again:
// it stands in a loop, or its function is called in one, and what it is a part of is from outside
// of that. known is false where the source does not tell.
func (g *growing) sameAgain(c *code, way []stack.Frame) (where string, same, known bool) {
	owner := rootName(g.of)
	for i, f := range way {
		fn := c.scopeAt(f)
		if owner == "" || fn == nil {
			return "", false, false
		}
		for _, l := range slices.Backward(loopsAround(c, f)) {
			if g.loop != nil && l.stmt == g.loop.stmt || returnsAt(l, f.Line) {
				continue
			}
			if l.variables()[owner] || declares(l.body, owner) || i == 0 && setsName(l.body, lastName(types.ExprString(g.of))) || i > 0 && setsName(l.body, owner) {
				return "", false, true
			}
			line, _ := l.source.lines(l.stmt)
			return fmt.Sprintf("in each turn of the loop at %s:%d", baseName(f.File), line), true, true
		}
		k := fn.parameter(owner)
		switch {
		case owner == fn.receiver, k >= 0:
			if i+1 >= len(way) || fn.name == "" {
				return "", false, false
			}
			given := ""
			for _, call := range c.lineCalls(way[i+1]) {
				if calledName(call) != fn.name {
					continue
				}
				if s, ok := call.Fun.(*ast.SelectorExpr); ok && owner == fn.receiver {
					given = rootName(s.X)
				} else if k >= 0 && k < len(call.Args) {
					given = rootName(unrefer(call.Args[k]))
				}
			}
			owner = given
		case fn.declares(owner):
			return "", false, true // another one in each call
		case fn.name == "":
			return "", false, false
		}
	}
	return "", false, false
}

// returnsAt tells whether a line is that of a statement which leaves a loop: the loop does not
// repeat it.
func returnsAt(l loop, line int) (found bool) {
	ast.Inspect(l.body, func(n ast.Node) bool {
		r, ok := n.(*ast.ReturnStmt)
		found = found || ok && l.source.covers(r, line)
		return !found
	})
	return found
}

// rereadLine is such a line with the samples that are in it.
type rereadLine struct {
	growing
	at      stack.Frame
	way     []stack.Frame // of the heaviest stack
	samples int64
	most    int64
	under   map[string]int64 // by the function that is called on the line
}

// rereadsFromStart finds the lines that read a part of one thing again from its start each
// time, by the CPU samples.
func rereadsFromStart(r *Rule, in *Input) (found []Finding) {
	w, err := in.Facts.Weights(facts.CPU, "samples")
	if err != nil || float64(w.Total()) < r.param("samples") {
		return nil
	}
	v := in.view(w.Profile)
	var lines []*rereadLine
	by := map[stack.Frame]*rereadLine{}
	for id, n := range w.Profile.Samples(w.Index) {
		frames := v.t.Frames(id)
		i := nextUser(v, frames, 0)
		if i < 0 {
			continue
		}
		at := v.t.Frame(frames[i])
		x := by[at]
		if x == nil {
			x = &rereadLine{at: at, under: map[string]int64{}}
			by[at], lines = x, append(lines, x)
		}
		callee := ""
		if i > 0 {
			callee = v.t.Frame(frames[i-1]).Func
		}
		x.under[callee] += n
		if x.samples += n; n > x.most {
			x.most, x.way = n, x.way[:0]
			for ; i >= 0; i = nextUser(v, frames, i+1) {
				x.way = append(x.way, v.t.Frame(frames[i]))
			}
		}
	}
	for _, x := range lines {
		share := stats.Wilson(float64(x.samples), float64(w.Total()), compare.Confidence)
		if share.Low < r.param("share") {
			continue
		}
		g, ok := growingAt(in.code, x.way)
		if !ok {
			if g, ok := grownAt(in.code, x.way, x.under); ok {
				found = append(found, g.finding(r, in, w, x.at)...)
			}
			continue
		}
		x.growing = g
		where, same, known := g.sameAgain(in.code, x.way)
		if !same && known {
			continue
		}
		found = append(found, x.finding(r, in, w, share, where))
	}
	for _, x := range foldedLines(in.code, v, w) {
		share := stats.Wilson(float64(x.samples), float64(w.Total()), compare.Confidence)
		if where, same, known := x.sameAgain(in.code, x.way); share.Low >= r.param("share") && (same || !known) {
			found = append(found, x.finding(r, in, w, share, where))
		}
	}
	slices.SortFunc(found, func(a, b Finding) int { return b.Score - a.Score })
	return found[:min(len(found), 3)]
}

func (x *rereadLine) finding(r *Rule, in *Input, w *facts.Weights, share stats.Interval, where string) Finding {
	again, from := "again from the start", "grows"
	if x.rest {
		again, from = "again to the end", "begins later"
	}
	each := cmp.Or(where, "in each call")
	if onlyAtTimes(in.code, x.at) {
		each = strings.Replace(each, "in each turn", "in turns", 1)
	}
	does := "reads " + types.ExprString(x.part) + " " + again
	if x.does == rereadCopy && x.by == "a copy" {
		does = "is made of " + types.ExprString(x.part) + " again"
	}
	title, quadratic := "Quadratic: what was read before is read again each time", "quadratic time: "
	atTimes := (x.does == rereadHash || x.does == rereadCopy || x.does == rereadFold) && where != "" && onlyAtTimes(in.code, x.at)
	if where == "" || atTimes || x.state.what != "" { // it may be another text, or a few turns of one
		title, quadratic = "A part that grows is read from its start each time", ""
		if x.rest {
			title = "The rest of a text is read to its end each time"
		}
	}
	f := r.answer(Found, "%s%s %s %s, and that part %s each time: %s of the CPU time%s", quadratic, x.by, does, each, from, unit.Percent(share.Estimate), atFrame(x.at))
	f.Title, f.grows = title, quadratic != ""
	f.Impact = &Impact{share.Estimate, "share of CPU time", share.Low, share.High}
	f.Severity, f.Score = Info, score(share.Estimate, r.param("share"), 0.6)
	if share.Low >= r.param("warn") && where != "" && !atTimes && x.state.what == "" {
		f.Severity = Warning
	}
	f.Evidence = []Evidence{in.lineAt(w.Entry, x.at, "%d of %d samples", x.samples, w.Total())}
	f.Advice = map[readAgain]string{
		rereadCount:  "Go on from the last place: keep the count and how far it reaches, and count only what has been added since; or build an index once (of where each line starts, say) and find the place in it with sort.Search.",
		rereadSearch: "Go on from the last place: remember how far the search has come, and begin there next time; or build an index once.",
		rereadCopy:   "Do not copy again what was copied before: append only what is new, or pass on a slice of the same memory.",
		rereadHash:   "Keep the state of the hash (hash.Hash) and write only what is new to it.",
		rereadFold:   "Keep what it makes of the part (a total, an extreme, the state of a hash) from one turn to the next, and add only what is new.",
		rereadSum:    "Keep the running total, and add only what is new to it.",
	}[x.does]
	f.Verify = "Record again with the same input: the CPU time of this line should vanish. Twice the input should then take twice as long, not four times."
	if where == "" {
		f.Doubts = []string{"the source does not show whether it is the same text each time: if each text comes only once, reading it is the work"}
	}
	f.costs, f.saves = []cost{{file: x.at.File, line: x.at.Line}}, true
	if x.state.what != "" {
		x.state.tell(in, &f)
	}
	if atTimes {
		f.saves = false
		f.Doubts = append(f.Doubts, "the text may be short, and few of its places be read up to: then it costs no more than keeping the state")
	}
	return f
}
