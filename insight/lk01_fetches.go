package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"loupe/value/stack"
	"loupe/value/unit"
)

// Who waits for a lock under which a value is fetched needs the one that is being fetched only if that call succeeds, and what it gives still
// holds when the next one looks. Otherwise each of those who wait fetches for itself, one after another. The counts of blocks tell which it is.

// fetching is what a lock is held for.
type fetching struct{ *underlying }

// fetchCounts are, of the calls of a function that looks for a value under its lock and fetches it where there is none, how many fetched it, how
// many of these failed, and how many found it.
type fetchCounts struct {
	name                   string
	fetched, found, failed int64
}

// leastFetches is how many calls have to fetch before anything is said about what the others do. Chosen.
const leastFetches = 10

// each tells that those who wait mostly fetch for themselves: most of the calls fetch, or most of what is fetched fails.
func (n fetchCounts) each() bool {
	return n.fetched >= leastFetches && (n.fetched >= n.found || n.fails())
}

func (n fetchCounts) fails() bool { return 2*n.failed >= n.fetched }

// fetches counts the calls of the function that takes the lock. It is false where they were not counted.
func (u fetching) fetches() (n fetchCounts, ok bool) {
	counts := blockCountsOf(u.c)
	if counts == nil {
		return n, false
	}
	in, ok := counts.d.at(stack.Frame{File: u.file, Line: u.call})
	if !ok {
		return n, false
	}
	x := &fetchScan{u: u.underlying, counts: counts, known: true}
	_, line, _ := counts.d.t.at(in.decl.Pos())
	x.ended, _ = counts.blocks.Called(u.file, line)
	x.name = in.decl.Name.Name
	eachNode(in.decl.Body, x.look)
	if x.within {
		x.found = x.looked - x.fetched
		if x.ended > 0 {
			x.found = min(x.looked, x.ended) - x.fetched
		}
	} else if x.ended > 0 { // others still wait for the lock
		x.fetched = min(x.fetched, x.ended-x.found)
	}
	x.found, x.failed = max(0, x.found), min(x.failed, x.fetched)
	return x.fetchCounts, x.known && x.called && x.fetched > 0
}

// fetchScan goes through that function.
type fetchScan struct {
	fetchCounts
	u      *underlying
	counts *countedTurns
	// ended is how many calls of the function ended, 0 where that is not known; looked is how many asked, where the call is within what asks.
	ended, looked         int64
	within, called, check bool
	known                 bool
}

func (x *fetchScan) lines(n ast.Node) (first, last int) {
	_, first, _ = x.counts.d.t.at(n.Pos())
	_, last, _ = x.counts.d.t.at(n.End())
	return first, last
}

func (x *fetchScan) look(n ast.Node, around []ast.Node) {
	s, isStmt := n.(ast.Stmt)
	if !isStmt {
		return
	}
	first, last := x.lines(n)
	switch s := s.(type) {
	case *ast.IfStmt:
		x.branch(s, around)
	case *ast.ForStmt, *ast.RangeStmt:
		if x.u.lock < first && first <= x.u.call && x.u.call <= last {
			x.known = false // it may fetch several times
		}
	case *ast.AssignStmt, *ast.ExprStmt, *ast.ReturnStmt:
		if x.called || first > x.u.call || x.u.call > last {
			return
		}
		if slices.ContainsFunc(around, func(n ast.Node) bool { _, lit := n.(*ast.FuncLit); return lit }) {
			x.ended = 0 // that is of the function around it
			x.known = x.known && !x.within
		}
		reached, ok := x.counts.reaches(around, s)
		x.fetched, x.called, x.known = reached, true, x.known && ok
	}
}

// branch looks at an if: what asks before the call, or whether that failed.
func (x *fetchScan) branch(s *ast.IfStmt, around []ast.Node) {
	first, last := x.lines(s)
	bodyFirst, bodyLast := x.lines(s.Body)
	entered, counted := x.counts.entered(s.Body.Lbrace)
	fails := errorCheck(s.Cond)
	switch {
	case first <= x.u.lock:
	case fails && !x.check && (last > x.u.call && (first > x.u.call || first == x.u.call && x.u.call <= bodyFirst)):
		x.check = true
		if x.failed = entered; asksError(s.Cond, token.EQL) {
			reached, ok := x.counts.reaches(around, s)
			x.failed, counted = reached-entered, counted && ok
		}
		x.known = x.known && counted
	case fails:
	case last < x.u.call && leavesLoop(s.Body.List):
		x.found, x.known = x.found+entered, x.known && counted
	case first <= x.u.call && x.u.call <= last:
		reached, ok := x.counts.reaches(around, s)
		x.known = x.known && ok && !x.within && bodyFirst <= x.u.call && x.u.call <= bodyLast
		x.looked, x.within = reached, true
	}
}

// tellEach makes what is said of such a lock tell that each of those who wait fetches for itself, where the counts show that.
func (u fetching) tellEach(p *protected) bool {
	n, ok := u.fetches()
	return ok && n.each() && u.tellFetches(n, p)
}

// tellFailing does so where most of what is fetched fails. Of values that have a key, and of those that are looked for before the lock, too, more
// calls than not may fetch in any case.
func (u fetching) tellFailing(p *protected) {
	if n, ok := u.fetches(); ok && n.each() && n.fails() {
		u.tellFetches(n, p)
	}
}

func (u fetching) tellFetches(n fetchCounts, p *protected) bool {
	p.says += "; " + n.text()
	p.advice, p.doubt, p.info, p.title = u.shareAdvice(n), "", false, ""
	if !n.fails() {
		p.doubt = "if what is fetched may be used only once (a nonce, a one-time token), it cannot be shared"
	}
	return true
}

// text says what the counts show.
func (n fetchCounts) text() string {
	text := "by the counts, " + n.fetchedText()
	if n.fails() {
		return text + ": each of those who wait asks again, one after another"
	}
	return text + ": what is stored does not count any more when the next one looks, so each of those who wait fetches for itself, one after another"
}

// fetchedText says how many fetched it, and how many of these failed where most did.
func (n fetchCounts) fetchedText() string {
	text := fmt.Sprintf("%s of %s of %s fetched it under the lock", unit.Count(n.fetched), unit.Plural(n.fetched+n.found, "call"), n.name)
	if n.fails() {
		text += fmt.Sprintf(", and %s of these failed", unit.Count(n.failed))
	}
	return text
}

// shareAdvice is what to do about that.
func (u fetching) shareAdvice(n fetchCounts) string {
	g := givenByCaller(u.underlying)
	if g.text(g.entry) != "" {
		return g.shareAdvice(n.fails())
	}
	advice := "Let all who wait share the call that is under way, and its error as well: golang.org/x/sync/singleflight around it (or a channel for each call, closed when it ends), with the lock held only to look and to store. "
	if n.fails() {
		advice += "After an error, do not ask again at once: return that error for a moment (a second, say), or pause between the calls."
	} else {
		advice += "Let what was fetched be valid for longer, too, where it may be."
	}
	if g.ends {
		advice += ownContext
	}
	return advice
}

// onceLooked is the line before the lock at which a function looks for a value and leaves if it is there, where nothing looks again under the
// lock: whoever has waited fetches what was fetched meanwhile.
func (u oneValue) onceLooked(place string, levels []*underlying) (at int, ok bool) {
	text := func(n ast.Node) bool {
		return hasNode(n, func(n ast.Node) bool {
			x, is := n.(ast.Expr)
			return is && types.ExprString(x) == place
		})
	}
	taken := map[string]bool{} // variables that have it
	inside(u.fn.body, func(n ast.Node) {
		first, last := u.s.lines(n)
		switch n := n.(type) {
		case *ast.AssignStmt:
			if last >= u.lock {
				return
			}
			for i, x := range n.Lhs {
				if isIdent(x) && types.ExprString(x) != "_" && text(n.Rhs[min(i, len(n.Rhs)-1)]) {
					taken[types.ExprString(x)] = true
				}
			}
		case *ast.IfStmt:
			leaves := leavesLoop(n.Body.List)
			switch has := func(n ast.Node) bool {
				return text(n) || hasNode(n, func(n ast.Node) bool { id, is := n.(*ast.Ident); return is && taken[id.Name] })
			}; {
			case errorCheck(n.Cond):
			case last < u.lock && leaves && (has(n.Cond) || has(n.Body)):
				at, ok = first, true
			}
		}
	})
	return at, ok && !slices.ContainsFunc(levels, asksUnder)
}

// asksUnder tells of a function that leads to the call that it asks something before, under the lock.
func asksUnder(u *underlying) bool {
	return hasNode(u.fn.body, func(n ast.Node) bool {
		if n == nil {
			return false
		}
		first, _ := u.s.lines(n)
		if first <= u.lock || first > u.call {
			return false
		}
		switch n := n.(type) {
		case *ast.IfStmt:
			_, last := u.s.lines(n)
			return !errorCheck(n.Cond) && (last < u.call || first < u.call)
		case *ast.SwitchStmt, *ast.SelectStmt, *ast.ForStmt:
			return true
		}
		return false
	})
}

// lookAgain is what is said of a value that is looked for before the lock alone.
func (u oneValue) lookAgain(place string, look, stored int) *protected {
	g := givenByCaller(u.underlying)
	p := &protected{
		says: fmt.Sprintf("the lock guards one value, %s, which is looked for before the lock (%s), and not again under it: by the source, each of those who wait fetches what another one has fetched meanwhile", place, fileLine(u.file, look)),
		advice: fmt.Sprintf("Look for %s again behind the Lock at %s, and fetch only if it still has to be: then those who wait take what was fetched meanwhile. "+
			"So that they need not wait either, fetch the next one in the background before the old one expires. If the call fails, each still asks for itself: let them share the one that is under way, its error as well (golang.org/x/sync/singleflight).", place, fileLine(u.file, u.lock)) + g.beside(),
		evidence: []Evidence{u.c.shownAt(u.file, look, "looked for before the lock"), u.c.shownAt(u.file, stored, "stored here: %s", place)},
	}
	return p
}
