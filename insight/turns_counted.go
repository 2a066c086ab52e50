package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"loupe/analysis/repetition"
	"loupe/value/stack"
)

// How many turns of a loop do more than look, by the counts of its blocks: a turn looks if it goes on with the next one and has only set variables of
// its own.

// countedTurns reads loops so.
type countedTurns struct {
	d      *derivations
	blocks *repetition.Blocks
}

// blockCountsOf are those of a recording; nil where it has none.
func blockCountsOf(c *code) *countedTurns {
	if c.turns == nil {
		if blocks, err := repetition.BlocksIn(c.session); err == nil {
			c.turns = newCountedTurns(c, blocks)
		}
	}
	return c.turns
}

func newCountedTurns(c *code, blocks *repetition.Blocks) *countedTurns {
	return &countedTurns{derivationsWith(c, nil), blocks}
}

// derivationsWith are those in which reading files, and what changes nothing though it may give something else each time, count as computing: those of the counts,
// where there are any.
func derivationsWith(c *code, counts *countedTurns) *derivations {
	if counts != nil {
		return counts.d
	}
	d := newDerivations(c)
	d.files, d.effects = true, true
	return d
}

// turnCounts are those of a loop.
type turnCounts struct {
	all, acting int64
	// decides is the condition that most turns end at, in the sense in which a turn goes on; holds is in how many of asked turns it did, and at its line.
	decides      ast.Expr
	asks         *ast.IfStmt
	holds, asked int64
	at           codeLine
	// acts are the lines in which turns do more.
	acts [][2]int
}

// of counts the turns of a loop of a function. It is false where they were not counted, or where each turn does something.
func (c *countedTurns) of(in frameCode, stmt ast.Stmt) (t turnCounts, ok bool) {
	return c.ofBody(in, bodyOfLoop(stmt), stmt)
}

// ofBody counts the turns of a loop's body, or the calls of a function without a name: then there is no loop, and a turn that returns nothing but
// constants goes on with the next one.
func (c *countedTurns) ofBody(in frameCode, body *ast.BlockStmt, stmt ast.Stmt) (t turnCounts, ok bool) {
	n, ok := c.entered(body.Lbrace)
	if !ok || n == 0 {
		return t, false
	}
	w := &turnWalk{countedTurns: c, in: in, body: body, stmt: stmt, ratio: 1}
	w.all = n
	if w.list(body.List, n); w.unknown || w.decides == nil {
		return t, false
	}
	return w.turnCounts, true
}

// entered is how often the block of a brace or a colon was entered.
func (c *countedTurns) entered(at token.Pos) (int64, bool) {
	file, _, offset := c.d.t.at(at)
	return c.blocks.Entered(file, offset)
}

// loopAt is what a loop went through.
func (c *countedTurns) loopAt(stmt ast.Stmt) (repetition.Loop, bool) {
	file, _, offset := c.d.t.at(stmt.Pos())
	return c.blocks.LoopAt(file, offset)
}

// loopsAt are the loops of a frame's function around its line, the outermost first, those of functions within it left out.
func (c *countedTurns) loopsAt(f stack.Frame) (in frameCode, loops []ast.Stmt, ok bool) {
	if in, ok = c.d.at(f); !ok {
		return in, nil, false
	}
	ast.Inspect(in.body(), func(n ast.Node) bool {
		if lit, is := n.(*ast.FuncLit); is && lit != in.lit {
			return false
		}
		if bodyOfLoop(n) != nil && coversLine(c.d, n, f.Line) {
			loops = append(loops, n.(ast.Stmt))
		}
		return true
	})
	return in, loops, true
}

// turnWalk goes through the statements of a loop's body.
type turnWalk struct {
	*countedTurns
	turnCounts
	in      frameCode
	body    *ast.BlockStmt
	stmt    ast.Stmt // the loop; nil for a function
	ratio   float64  // of the condition that decides: how many of the turns that come to it go on
	unknown bool
}

// list goes through statements to which n turns come, and is how many of these go on behind them.
func (w *turnWalk) list(list []ast.Stmt, n int64) int64 {
	for _, s := range list {
		if n <= 0 || w.unknown {
			return 0
		}
		n = w.one(s, n)
	}
	return n
}

func (w *turnWalk) one(s ast.Stmt, n int64) int64 {
	switch s := s.(type) {
	case *ast.IfStmt:
		return w.branches(s, n)
	case *ast.SwitchStmt:
		return w.clauses(s, n)
	case *ast.BlockStmt:
		return w.list(s.List, n)
	case *ast.BranchStmt:
		if s.Tok == token.CONTINUE && (s.Label == nil || w.isOf(s.Label)) {
			return 0
		}
	case *ast.ReturnStmt:
		if w.stmt == nil && !slices.ContainsFunc(s.Results, func(x ast.Expr) bool { return !isNamed(x, "nil") && w.d.t.info.Types[x].Value == nil }) {
			return 0
		}
	case *ast.EmptyStmt:
		return n
	}
	if !leavesPlace(s) && w.looks(s) {
		return n
	}
	w.act(s, n)
	return 0
}

// isOf tells of a label that it is the loop's.
func (w *turnWalk) isOf(label *ast.Ident) bool {
	found := false
	ast.Inspect(w.in.decl, func(n ast.Node) bool {
		l, ok := n.(*ast.LabeledStmt)
		found = found || ok && l.Label.Name == label.Name && l.Stmt == w.stmt
		return !found
	})
	return found
}

func (w *turnWalk) act(s ast.Stmt, n int64) {
	w.acting += n
	_, first, _ := w.d.t.at(s.Pos())
	_, last, _ := w.d.t.at(s.End())
	w.acts = append(w.acts, [2]int{first, last})
}

// looks tells of a piece of the body that it sets variables of the turn alone.
func (w *turnWalk) looks(n ast.Node) bool {
	check := unneededWork{s: &unneededScan{d: w.d}, in: w.in}
	touched, ok := check.harmless(w.d, n)
	if !ok || writesBehind(w.d, n) {
		return false
	}
	ofTurn := func(v types.Object) bool { return v == nil || w.body.Pos() <= v.Pos() && v.Pos() < w.body.End() }
	for v := range touched {
		if !ofTurn(v) {
			return false
		}
	}
	return !hasAny(n, func(x ast.Node) bool {
		for _, lhs := range givenValues(x) {
			if id, ok := innermost(lhs).(*ast.Ident); !ok || id.Name != "_" && !ofTurn(w.d.variable(id)) {
				return true
			}
		}
		return false
	})
}

// branches goes through an if statement.
func (w *turnWalk) branches(s *ast.IfStmt, n int64) int64 {
	if s.Init != nil && !w.looks(s.Init) || !w.looks(s.Cond) {
		w.act(s, n)
		return 0
	}
	then, ok := w.entered(s.Body.Lbrace)
	if !ok {
		w.unknown = true
		return 0
	}
	then = min(then, n)
	rest, before := n-then, w.acting
	left := w.list(s.Body.List, then)
	switch acted := w.acting > before; {
	case acted || then == 0 && !onlyGoesOn(s.Body.List):
		w.decide(s, s.Cond, n, then)
	case left == 0 && s.Else == nil:
		w.decide(s, opposite(s.Cond), n, rest)
	}
	switch e := s.Else.(type) {
	case *ast.BlockStmt:
		rest = w.list(e.List, rest)
	case *ast.IfStmt:
		rest = w.branches(e, rest)
	}
	return left + rest
}

// onlyGoesOn tells of statements that they are nothing but continue.
func onlyGoesOn(list []ast.Stmt) bool {
	if len(list) != 1 {
		return false
	}
	b, ok := list[0].(*ast.BranchStmt)
	return ok && b.Tok == token.CONTINUE
}

// decide notes a condition that ends more turns than others do.
func (w *turnWalk) decide(s *ast.IfStmt, cond ast.Expr, n, holds int64) {
	if asksFailure(w.d, w.in.decl, s.Cond) {
		return // what fails is not selected
	}
	if ratio := float64(holds) / float64(n); ratio < w.ratio {
		w.ratio, w.decides, w.asks, w.holds, w.asked, w.at = ratio, cond, s, holds, n, w.d.placeOf(s)
	}
}

// asksFailure tells of a condition in a function that it asks for nothing but whether something has failed: for an error, or for the truth value
// that a call returns last. Whether a map has an entry, and what a value is, select.
func asksFailure(d *derivations, decl *ast.FuncDecl, cond ast.Expr) bool {
	isErr := func(x ast.Expr) bool {
		t := d.t.info.TypeOf(x)
		return t != nil && isErrorType(t) || isError(lastName(types.ExprString(x)))
	}
	switch x := ast.Unparen(cond).(type) {
	case *ast.UnaryExpr:
		return x.Op == token.NOT && asksFailure(d, decl, x.X)
	case *ast.BinaryExpr:
		switch x.Op {
		case token.LAND, token.LOR:
			return asksFailure(d, decl, x.X) && asksFailure(d, decl, x.Y)
		case token.EQL, token.NEQ:
			return isErr(x.X) || isErr(x.Y)
		}
	case *ast.CallExpr:
		return failureAsked.MatchString(types.ExprString(x.Fun)) && len(x.Args) > 0 && isErr(x.Args[0])
	case *ast.Ident:
		v := d.variable(x)
		return v != nil && hasAny(decl.Body, func(n ast.Node) bool {
			set, ok := n.(*ast.AssignStmt)
			if !ok || len(set.Rhs) != 1 || len(set.Lhs) < 2 || d.variable(set.Lhs[len(set.Lhs)-1]) != v {
				return false
			}
			_, call := ast.Unparen(set.Rhs[0]).(*ast.CallExpr)
			return call
		})
	}
	return false
}

// failureAsked are the functions that ask what an error is.
var failureAsked = lazily(`^(errors\.(Is|As)|os\.Is\w+)$`)

// clauses goes through a switch.
func (w *turnWalk) clauses(s *ast.SwitchStmt, n int64) int64 {
	if s.Init != nil && !w.looks(s.Init) || s.Tag != nil && !w.looks(s.Tag) {
		w.act(s, n)
		return 0
	}
	left, none := int64(0), n
	for _, c := range s.Body.List {
		clause := c.(*ast.CaseClause)
		for _, x := range clause.List {
			if !w.looks(x) {
				w.act(s, n)
				return 0
			}
		}
		m, ok := w.entered(clause.Colon)
		if !ok {
			w.unknown = true
			return 0
		}
		m = min(m, none)
		none -= m
		left += w.list(clause.Body, m)
	}
	return left + none
}

// opposite is a condition that is true where another one is not.
func opposite(cond ast.Expr) ast.Expr {
	turned := map[token.Token]token.Token{token.EQL: token.NEQ, token.NEQ: token.EQL, token.LSS: token.GEQ, token.GEQ: token.LSS, token.GTR: token.LEQ, token.LEQ: token.GTR}
	switch x := ast.Unparen(cond).(type) {
	case *ast.BinaryExpr:
		if op, ok := turned[x.Op]; ok {
			return &ast.BinaryExpr{X: x.X, OpPos: x.OpPos, Op: op, Y: x.Y}
		}
		switch x.Op {
		case token.LAND:
			return &ast.BinaryExpr{X: opposite(x.X), OpPos: x.OpPos, Op: token.LOR, Y: opposite(x.Y)}
		case token.LOR:
			return &ast.BinaryExpr{X: opposite(x.X), OpPos: x.OpPos, Op: token.LAND, Y: opposite(x.Y)}
		}
	case *ast.UnaryExpr:
		if x.Op == token.NOT {
			return ast.Unparen(x.X)
		}
	}
	return &ast.UnaryExpr{OpPos: cond.Pos(), Op: token.NOT, X: cond}
}

// reaches is how often a node is come to, of which the nodes around it are given, the outermost first: those that enter the
// innermost block around it, less those that a statement before it in that block ends.
func (c *countedTurns) reaches(around []ast.Node, n ast.Node) (reached int64, ok bool) {
	for i := len(around) - 1; i >= 0; i-- {
		var list []ast.Stmt
		switch block := around[i].(type) {
		case *ast.BlockStmt:
			list = block.List
		case *ast.CaseClause:
			list = block.Body
		case *ast.CommClause:
			list = block.Body
		default:
			continue
		}
		reached, ok = c.entered(openOf(around[i]))
		for _, s := range list {
			if s.End() > n.Pos() || !ok {
				break
			}
			ended, known := c.ends(s)
			reached, ok = reached-ended, known
		}
		return reached, ok
	}
	return 0, false
}

// ends is how many turns of the innermost loop around a statement end in it.
func (c *countedTurns) ends(s ast.Node) (n int64, ok bool) {
	ok = true
	ast.Inspect(s, func(x ast.Node) bool {
		var list []ast.Stmt
		switch x := x.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ForStmt, *ast.RangeStmt:
			ok = ok && !leavesPlace(x)
			return false
		case *ast.BranchStmt:
			ok = ok && x.Label == nil && x.Tok != token.GOTO
		case *ast.BlockStmt:
			list = x.List
		case *ast.CaseClause:
			list = x.Body
		case *ast.CommClause:
			list = x.Body
		}
		if !ok || len(list) == 0 || !endsThisTurn(list[len(list)-1]) {
			return ok
		}
		ended, counted := c.entered(openOf(x))
		n, ok = n+ended, counted
		return false
	})
	return n, ok
}
