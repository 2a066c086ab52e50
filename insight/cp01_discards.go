package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/analysis/repetition"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

// A reader is opened at its start for each item of a loop, and what comes before the item is read and thrown away: all items together read the square of
// what there is. A reader that somebody keeps goes on from where it is.

// discarded is a reader that a function has opened, of which it throws away the first part.
type discarded struct {
	decl   *ast.FuncDecl
	n      ast.Node      // what reads and throws away
	amount string        // how much of it, by the source
	open   *ast.CallExpr // what opens it
	plain  bool          // it can go to a place by itself: nothing unpacks it
}

// beginners are functions that begin at the start of something that is there before and behind, overReaders those that read what they are given.
var (
	beginners   = lazily(`^(Open|OpenFile|OpenReader|OpenRaw|NewSectionReader)$`)
	overReaders = lazily(`^New\w*Reader\w*$|^New(Scanner|Decoder)$|^(LimitReader|TeeReader|NopCloser)$`)
)

// mostBeginners is how many functions deep what opens a reader is looked for.
const mostBeginners = 3

// openedBy finds the call that opens what an expression reads, within a function; plain tells that nothing unpacks that.
func openedBy(d *derivations, decl *ast.FuncDecl, x ast.Expr, deep int) (open *ast.CallExpr, plain bool) {
	if deep > mostBeginners {
		return nil, false
	}
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		v := d.variable(x)
		if defs := d.definitions(decl)[v]; v != nil && isLocal(decl, v) && !isGiven(decl, v) && len(defs) == 1 && defs[0].x != nil && !defs[0].ranged && !defs[0].part && !defs[0].unknown {
			return openedBy(d, decl, defs[0].x, deep)
		}
	case *ast.CallExpr:
		name, text := ownCallName(x), types.ExprString(x.Fun)
		switch {
		case text == "bytes.NewReader", text == "strings.NewReader", text == "bytes.NewBuffer", text == "bytes.NewBufferString", text == "os.Open", beginners.MatchString(name) && d.t.callee(x) == nil:
			return x, true
		case d.t.callee(x) != nil:
			for _, fn := range d.declsOf(d.t.callee(x)) {
				if fn.Body == nil || fn == decl {
					return nil, false
				}
				found, all := false, true
				hasNode(fn.Body, func(n ast.Node) bool {
					switch n := n.(type) {
					case *ast.FuncLit:
						all = false
					case *ast.ReturnStmt:
						if len(n.Results) == 0 {
							all = false
						} else if !isNamed(n.Results[0], "nil") {
							o, p := openedBy(d, fn, n.Results[0], deep+1)
							found, all, plain = true, all && o != nil, p
						}
					}
					return false
				})
				if !found || !all {
					return nil, false
				}
			}
			return x, plain
		case overReaders.MatchString(name) && len(x.Args) > 0:
			o, p := openedBy(d, decl, x.Args[0], deep)
			return o, p && (text == "bufio.NewReader" || text == "bufio.NewReaderSize" || text == "bufio.NewScanner" || text == "io.LimitReader")
		}
	}
	return nil, false
}

// discardsIn are those of a function.
func discardsIn(d *derivations, decl *ast.FuncDecl) (all []discarded) {
	eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
		reader, amount := thrownAway(d, n)
		if reader == nil || amount == nil || fixedAmount(d, amount) {
			return
		}
		v := d.variable(reader)
		open, plain := openedBy(d, decl, reader, 0)
		if v == nil || open == nil {
			return
		}
		// It is opened in each turn in which it is skipped: every block around the one is around the other.
		at := d.definitions(decl)[v][0].at
		for _, outer := range around {
			if covers := outer.Pos() <= at && at < outer.End(); !covers && isLoop(outer) {
				return // it goes on in the next turn
			}
		}
		inside := true
		eachNode(decl.Body, func(m ast.Node, outside []ast.Node) {
			if m != ast.Node(open) && !(m.Pos() <= at && at < m.End()) {
				return
			}
			if _, ok := m.(*ast.IfStmt); ok && !(m.Pos() <= n.Pos() && n.Pos() < m.End()) && !inInit(m, at) {
				inside = false // only where it is needed
			}
		})
		if inside {
			all = append(all, discarded{decl, n, types.ExprString(amount), open, plain})
		}
	})
	return all
}

// inInit tells whether a position is in what an if begins with.
func inInit(n ast.Node, at token.Pos) bool {
	x, ok := n.(*ast.IfStmt)
	return ok && x.Init != nil && x.Init.Pos() <= at && at < x.Init.End()
}

// fixedAmount tells of an expression that it is the same in all calls: a header, say.
func fixedAmount(d *derivations, x ast.Expr) bool {
	constant := true
	ast.Inspect(x, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if ok && d.variable(id) != nil && !ofPackage(d.variable(id)) {
			constant = false
		}
		return true
	})
	return constant
}

// thrownAway finds that a node reads so much from a reader, and throws it away.
func thrownAway(d *derivations, n ast.Node) (reader, amount ast.Expr) {
	toNothing := func(x ast.Expr) bool {
		text := types.ExprString(x)
		return text == "io.Discard" || text == "ioutil.Discard"
	}
	switch n := n.(type) {
	case *ast.CallExpr:
		text := types.ExprString(n.Fun)
		switch {
		case text == "io.CopyN" && len(n.Args) == 3 && toNothing(n.Args[0]):
			return n.Args[1], n.Args[2]
		case text == "io.Copy" && len(n.Args) == 2 && toNothing(n.Args[0]):
			if limit, ok := ast.Unparen(n.Args[1]).(*ast.CallExpr); ok && types.ExprString(limit.Fun) == "io.LimitReader" && len(limit.Args) == 2 {
				return limit.Args[0], limit.Args[1]
			}
		case isMethodCall(n) && ownCallName(n) == "Discard" && len(n.Args) == 1 && d.t.callee(n) == nil:
			return n.Fun.(*ast.SelectorExpr).X, n.Args[0]
		}
	case *ast.ForStmt:
		cond, ok := n.Cond.(*ast.BinaryExpr)
		if ok && (cond.Op == token.LSS || cond.Op == token.LEQ || cond.Op == token.GTR || cond.Op == token.NEQ) {
			amount = cond.Y
			if cond.Op == token.GTR {
				amount = cond.X
			}
			return readsAlone(n.Body), amount
		}
	case *ast.RangeStmt:
		return readsAlone(n.Body), n.X
	}
	return nil, nil
}

// readsAlone is the reader from which the body of a loop reads, where it does nothing else: what it reads it does not look at. Nil where there is none.
func readsAlone(body *ast.BlockStmt) (reader ast.Expr) {
	reads := func(x ast.Expr) bool {
		if not, ok := ast.Unparen(x).(*ast.UnaryExpr); ok && not.Op == token.NOT {
			x = not.X
		}
		call, ok := ast.Unparen(x).(*ast.CallExpr)
		if !ok || !isMethodCall(call) || !movesOn.MatchString(ownCallName(call)) || len(call.Args) > 1 {
			return false
		}
		reader = call.Fun.(*ast.SelectorExpr).X
		return true
	}
	counts := map[string]bool{}
	for _, s := range body.List {
		switch s := s.(type) {
		case *ast.ExprStmt:
			if !reads(s.X) {
				return nil
			}
		case *ast.AssignStmt:
			if len(s.Rhs) != 1 || s.Tok != token.DEFINE && s.Tok != token.ASSIGN {
				if s.Tok == token.ADD_ASSIGN || s.Tok == token.SUB_ASSIGN {
					continue // it counts
				}
				return nil
			}
			call, ok := s.Rhs[0].(*ast.CallExpr)
			first := types.ExprString(s.Lhs[0])
			if !ok || !reads(call) || first != "_" && first != "err" && ownCallName(call) != "Read" {
				return nil
			}
			counts[first] = true
		case *ast.IfStmt:
			if s.Init != nil {
				set, ok := s.Init.(*ast.AssignStmt)
				if !ok || len(set.Rhs) != 1 || !reads(set.Rhs[0]) || types.ExprString(set.Lhs[0]) != "_" && types.ExprString(set.Lhs[0]) != "err" {
					return nil
				}
			} else if !errorCheck(s.Cond) && !reads(s.Cond) {
				return nil
			}
			if s.Else != nil || !leavesLoop(s.Body.List) {
				return nil
			}
		case *ast.IncDecStmt:
		default:
			return nil
		}
	}
	return reader
}

// discardsOn finds on a stack, the innermost frame first, that a function reads up to a place in what it has just opened, and is called in a loop:
// way are the frames from that function outward to the one with the loop.
func discardsOn(c *code, d *derivations, frames []stack.Frame) (x discarded, way []stack.Frame, ok bool) {
	for i, f := range frames {
		in, found := d.at(f)
		if !found || in.lit != nil {
			continue
		}
		for _, x := range discardsIn(d, in.decl) {
			_, first, _ := d.t.at(x.n.Pos())
			_, last, _ := d.t.at(x.n.End())
			if f.Line < first || f.Line > last {
				continue
			}
			for j, g := range frames[i:] {
				loops := slices.DeleteFunc(loopsAround(c, g), func(l loop) bool {
					from, to := l.source.lines(l.stmt)
					return j == 0 && from >= first && to <= last // the one that skips
				})
				if len(loops) > 0 {
					return x, frames[i : i+j+1], true
				}
			}
		}
	}
	return x, nil, false
}

// sameOpened tells what is known of what is opened: how many calls, with how many different arguments, or by the source that it is the same each time.
func sameOpened(in *Input, d *derivations, x discarded, way []stack.Frame) (text string, same bool) {
	if fn := d.t.callee(x.open); fn != nil {
		for _, decl := range d.declsOf(fn) {
			at := d.placeOf(decl)
			calls, distinct, ok := repetition.AskedAgain(in.Session, at.file, at.line)
			if ok && calls >= 2*distinct {
				return fmt.Sprintf("%s is called %s times, with %s", ownCallName(x.open), unit.Count(calls), unit.Plural(distinct, "different argument")), true
			}
			if ok {
				return "", false
			}
		}
	}
	given := slices.Clone(x.open.Args)
	if sel, ok := ast.Unparen(x.open.Fun).(*ast.SelectorExpr); ok {
		given = append(given, sel.X)
	}
	given = slices.DeleteFunc(given, func(g ast.Expr) bool { // the receiver too: each item may have one of its own
		return !hasNode(g, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			return ok && isLocal(x.decl, d.variable(id))
		})
	})
	if !sameInLoop(in.code, d, x, given, way) {
		return "", false
	}
	return "by the source it is the same each time", true
}

// tellDiscards says of a hot function that it reads what it opens up to a place, and throws that away, for each item of a loop.
func tellDiscards(in *Input, d *derivations, w *facts.Weights, h *hotFunction, f *Finding) bool {
	v, at := in.view(w.Profile), h.line.Caller
	var x discarded
	var way []stack.Frame
	samples, most, seen := w.Profile.Samples(w.Index), int64(0), map[string]bool{}
	for id, n := range samples {
		frames := v.ownLines(id)
		if len(frames) == 0 || frames[0].Func != at.Func || n <= most {
			continue
		}
		key := fmt.Sprint(frames)
		if seen[key] {
			continue
		}
		seen[key] = true
		if one, out, ok := discardsOn(in.code, d, frames); ok {
			x, way, most = one, out, n
		}
	}
	if most == 0 {
		return false
	}
	line, loop := way[0], way[len(way)-1]
	below, total := int64(0), int64(0)
	for id, n := range samples {
		total += n
		if slices.ContainsFunc(v.ownLines(id), func(f stack.Frame) bool { return f.File == line.File && coversLine(d, x.n, f.Line) }) {
			below += n
		}
	}
	share := stats.Wilson(float64(below), float64(total), compare.Confidence)
	if share.Low < dominates {
		return false
	}
	how, same := sameOpened(in, d, x, way)
	f.Title = "Each item is found by reading from the start again"
	f.Summary = fmt.Sprintf("%s of the CPU time goes into reading and throwing away what comes before the place that is wanted: by the source %s reads up to %s from the start of what it has just opened with %s, and a loop in %s comes to it in each turn",
		unit.Percent(share.Estimate), stack.Short(line.Func), x.amount, ownCallName(x.open), place(loop))
	if how != "" {
		f.Summary += "; " + how
	}
	f.Advice = "Keep the reader, and go on from where it is: go through the items in the order of their places, and open anew only where the next one is behind it. Or read what is opened once, and keep that for as long as items of it are wanted (a cache of what was unpacked last)."
	if x.plain {
		f.Advice = "Go to the place in one step instead of reading up to it (Seek, an io.SectionReader from there, a part of the slice), or keep the reader and go on from where it is, with the items in the order of their places."
	}
	f.Evidence = []Evidence{in.code.shownAt(line.File, d.placeOf(x.n).line, "it reads up to here, and throws that away; %d of %d samples are below this line", below, total)}
	open := d.placeOf(x.open)
	f.Evidence = append(f.Evidence, in.code.shownAt(open.file, open.line, "it is opened here"))
	if loop != line {
		f.Evidence = append(f.Evidence, in.code.shownAt(loop.File, loop.Line, "it is called here for each item"))
	}
	for i := range f.Evidence {
		f.Evidence[i].Function, f.Evidence[i].Path, f.Evidence[i].Phase = line.Func, w.Entry.Path, w.Entry.Phase
	}
	if len(f.Evidence) > 2 {
		f.Evidence[2].Function = loop.Func
	}
	f.Impact = &Impact{share.Estimate, cpuSamples, share.Low, share.High}
	f.Severity, f.Score = Warning, score(share.Estimate, 0.20, 0.60)
	f.Doubts = append(f.Doubts, "if items are asked for in any order, or by several at once, one kept reader serves those that come behind its place; the others need an index of places to begin at")
	if !same {
		f.Severity = Info
		f.Doubts = append(f.Doubts, "nothing shows that the same is opened again: if each turn opens something else, each has to be read up to the place once")
	}
	f.costs = []cost{{file: line.File, line: line.Line}}
	f.saves, f.grows = same, same
	return true
}
