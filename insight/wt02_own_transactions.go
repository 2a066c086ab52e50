package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/value/stack"
	"loupe/value/unit"
)

// Statements that a loop executes in a database which is a file of the program, each in a transaction of its own: each waits until the disk has what it
// has changed before the next one begins.

// ownTransactionsTitle is the title of a finding about them.
const ownTransactionsTitle = "Each statement is a transaction of its own"

// commitNames are names of functions of an engine that commit, where the samples or the trace show what it does.
var commitNames = lazily(`(?i)(vdbeCommit|CommitPhase(One|Two))$`)

// syncNames are names of functions that wait until a file is on the disk.
var syncNames = lazily(`(?i)(^|[._]|X)(fsync|fdatasync)$|^os\.\(\*File\)\.Sync$`)

// executed is a statement as a stack shows it.
type executed struct {
	of     string        // the package of the database
	called string        // the method that the program calls for it
	way    []stack.Frame // the program's frames, the line first
	commit bool          // it is committed below the call
	syncs  bool          // a file is brought to the disk below it
}

// executedOn finds the statement on a stack that is executed in a database within the program, outside of a transaction as far as the stack tells.
func executedOn(frames []stack.Frame, isUser func(stack.Frame) bool) (x executed, ok bool) {
	own := slices.IndexFunc(frames, isUser)
	if own <= 0 {
		return x, false
	}
	x.of, x.called = oneWriterIn(frames[:own]), frames[own-1].Func
	if x.of == "" || !executesAlone(x.called) {
		return x, false
	}
	x.of = oneWriter[slices.IndexFunc(oneWriter, func(p string) bool { return isOfPackages(x.of, []string{p}) })]
	for _, f := range frames[:own] {
		if strings.HasPrefix(f.Func, sqlPackage+"(*Tx).") {
			return x, false
		}
		x.commit = x.commit || isOfPackages(stack.Package(f.Func), oneWriter) && commitNames.MatchString(f.Func)
		x.syncs = x.syncs || syncNames.MatchString(f.Func)
	}
	for _, f := range frames[own:] {
		if isUser(f) {
			x.way = append(x.way, f)
		}
	}
	return x, true
}

// executesAlone tells of a method of database/sql, or of what is built on it and has the same names, that it executes a statement on what may be no transaction.
func executesAlone(fn string) bool {
	for _, pkg := range []string{"database/sql", "github.com/jmoiron/sqlx"} {
		if stack.Package(fn) == pkg {
			name := ownName(fn)
			return !strings.Contains(fn, ".(*Tx).") && (strings.HasSuffix(name, "Exec") || strings.HasSuffix(name, "ExecContext"))
		}
	}
	return false
}

// ownTransactions are the statements of one loop, each in a transaction of its own.
type ownTransactions struct {
	executed
	loop   loop
	at     stack.Frame // the line in the loop
	word   string      // that the statement begins with, "INSERT"; empty where the source does not show it
	lines  []stack.Frame
	times  int64  // how often they are executed in the run that counts; 0 is not known
	calls  int64  // how often the function of the loop is called in that run
	begins int    // the line of the loop
	comes  bool   // what they are about comes through a channel
	text   string // of the statement, as far as it is known
	open   bool   // the source does not show what they do: they may be such as cannot be part of a transaction

	// Of the trace: the time that a group waits in them, what of that passes in a commit, and in a sync.
	rows                  []*facts.UnitRow
	time                  time.Duration
	stack                 stack.ID
	inside, commits, sync time.Duration
}

// ofLoop finds out whether a statement that some line executes is one of a loop, and in no transaction by the source.
func ofLoop(c *code, x executed) (o *ownTransactions, ok bool) {
	text := executedText(c, x.way)
	if _, other := queryOn(c, x.way); text == "" {
		text = other // of one that was prepared elsewhere
	}
	o = &ownTransactions{executed: x}
	if m := writingTexts.FindStringSubmatch(text); m != nil {
		o.word = strings.ToUpper(m[1])
	}
	o.text, o.open = text, o.word == ""
	if !o.findLoop(c) {
		return nil, false
	}
	if o.word == "" && (!x.commit || transactionTexts.MatchString(text)) || !x.commit && maybeInTransaction(c, x.way) {
		return nil, false
	}
	o.begins, _ = o.loop.source.lines(o.loop.stmt)
	o.lines = []stack.Frame{x.way[0]}
	o.times, _ = lineReached(c, x.way[0])
	d := derivationsOf(c)
	if in, found := d.at(o.at); found {
		if counts := blockCountsOf(c); counts != nil {
			if counted, known := counts.d.at(o.at); known {
				o.calls, _ = calledTimes(counts, counted)
			}
		}
		o.comes = comesThrough(d, loopAroundLine(d, in.body(), o.at.Line))
	}
	return o, true
}

// findLoop finds the loop that executes the statement for each of many: none that tries it again, nor one that sends batches already.
func (o *ownTransactions) findLoop(c *code) bool {
	for l, f := range loopsOn(c, o.way) {
		callee := ownName(o.called)
		if i := slices.Index(o.way, f); i > 0 {
			callee = ownName(o.way[i-1].Func)
		}
		if slices.ContainsFunc(c.lineCalls(f), func(call *ast.CallExpr) bool { return triesUntil(l.stmt, call) }) {
			continue
		}
		o.loop, o.at = l, f
		return !l.batches(f.Line, callee)
	}
	return false
}

// comesThrough tells of a loop that each turn receives from a channel.
func comesThrough(d *derivations, stmt ast.Stmt) bool {
	if r, ok := stmt.(*ast.RangeStmt); ok {
		if of := d.t.info.TypeOf(r.X); of != nil {
			if _, is := of.Underlying().(*types.Chan); is {
				return true
			}
		}
	}
	return stmt != nil && hasNode(bodyOfLoop(stmt), func(n ast.Node) bool {
		x, ok := n.(*ast.UnaryExpr)
		return ok && x.Op == token.ARROW
	})
}

// The beginnings of statements that begin a transaction, and of those that begin or end one.
var (
	beginsTexts      = lazily(`(?i)^\s*(begin|savepoint|start\s+transaction)\b`)
	transactionTexts = lazily(`(?i)^\s*(begin|savepoint|start\s+transaction|commit|end|release|rollback)\b`)
)

// maybeInTransaction tells whether the source of a statement may have begun a transaction: one of the functions on its way does, by a method or by
// a statement, or what it is executed on is one by its type, or was prepared by one.
func maybeInTransaction(c *code, way []stack.Frame) bool {
	for _, f := range way {
		fn := c.function(f)
		if fn == nil || fn.Body == nil {
			return true
		}
		if hasNode(fn.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				name := calledName(n)
				return strings.HasPrefix(name, "Begin") || name == "RunInTx" || name == "InTx" || name == "Transaction"
			case *ast.BasicLit:
				return beginsTexts.MatchString(strings.Trim(n.Value, "\"`"))
			}
			return false
		}) {
			return true
		}
	}
	d := derivationsOf(c)
	in, ok := d.at(way[0])
	if !ok {
		return true
	}
	sure := false
	ast.Inspect(in.body(), func(n ast.Node) bool {
		call, is := n.(*ast.CallExpr)
		if !is || !coversLine(d, n, way[0].Line) || !slices.Contains(sessionMethods, calledName(call)) {
			return true
		}
		sure = sure || isHandle(d, receiverOf(call)) || preparedByDB(c, d, way[0], receiverOf(call))
		return true
	})
	return !sure
}

// isHandle tells of an expression that it is a handle of a database, and no transaction, by its type or by what opens it.
func isHandle(d *derivations, x ast.Expr) bool {
	of := libraryTypeOf(d, x, 0)
	return (of.pkg == "database/sql" || of.pkg == "github.com/jmoiron/sqlx") && slices.Contains([]string{"DB", "Open", "OpenDB", "MustOpen", "Connect", "ConnectContext", "MustConnect"}, of.name)
}

// preparedByDB tells of a statement that the function which executes it has had it prepared by a handle of the database, and not by a transaction.
func preparedByDB(c *code, d *derivations, at stack.Frame, stmt ast.Expr) bool {
	fn := c.scopeAt(at)
	if fn == nil || !isIdent(stmt) {
		return false
	}
	made := preparedAs(fn, rootName(stmt))
	if made == nil {
		return false
	}
	in, ok := d.at(at)
	if !ok {
		return false
	}
	sure := false
	ast.Inspect(in.decl.Body, func(n ast.Node) bool {
		call, is := n.(*ast.CallExpr)
		if is && types.ExprString(call) == types.ExprString(made) {
			sure = sure || isHandle(d, receiverOf(call))
		}
		return !sure
	})
	return sure
}

// waitsInside are the kinds of a group's time in which a database within the program waits for its file.
var waitsInside = []string{"system_call", "file_call", "cgo"}

// ownTransactionsOf are the statements of a group of units that take most of its time, by their loop; nil where there are none.
func ownTransactionsOf(in *Input, t *traced, g facts.UnitGroup) (most *ownTransactions) {
	type key struct {
		file string
		line int
	}
	by := map[key]*ownTransactions{}
	found := map[stack.Frame]*ownTransactions{}
	byLine := committedAt(in, t)
	for i := range g.All.Rows {
		row := &g.All.Rows[i]
		if !slices.Contains(waitsInside, row.Kind.Key()) || byLine[row.Site.Frame] == nil {
			continue
		}
		seen := byLine[row.Site.Frame]
		o := found[row.Site.Frame]
		if o == nil {
			one, ok := ofLoop(in.code, seen.executed)
			if !ok || outsideUnit(g, one) {
				continue
			}
			k := key{one.at.File, one.begins}
			if o = by[k]; o == nil {
				o, by[k] = one, one
				o.stack = seen.stack
			} else {
				o.merge(one)
			}
			o.inside, o.commits, o.sync = o.inside+seen.inside, o.commits+seen.commits, o.sync+seen.sync
			found[row.Site.Frame] = o
		}
		o.rows, o.time = append(o.rows, row), o.time+row.Time
		if most == nil || o.time > most.time {
			most = o
		}
	}
	return most
}

// merge adds the statements of another line of the same loop.
func (o *ownTransactions) merge(x *ownTransactions) {
	o.lines = append(o.lines, x.lines...)
	if o.times == 0 || x.times == 0 {
		o.times = 0
	} else {
		o.times += x.times
	}
	if x.word != o.word {
		o.word = ""
	}
	o.text, o.open = o.text+";"+x.text, o.open || x.open
	if x.at.Line > o.at.Line { // what comes after the last one comes after all
		o.at, o.way, o.called = x.at, x.way, x.called
	}
}

// outsideUnit tells of a loop that it is around the units, and not within one.
func outsideUnit(g facts.UnitGroup, o *ownTransactions) bool {
	if g.Unit.String() == "main" || g.Name == "" {
		return false
	}
	unitAt := slices.IndexFunc(o.way, func(f stack.Frame) bool { return stack.Short(f.Func) == stack.Short(g.Name) })
	return unitAt >= 0 && slices.Index(o.way, o.at) > unitAt
}

// add adds what a stack shows of a statement, with its time or its samples.
func (o *ownTransactions) add(x executed, n time.Duration) {
	if o.inside += n; x.commit {
		o.commits += n
	}
	if x.syncs {
		o.sync += n
	}
}

// committedAt are the lines of the program that execute statements outside of transactions, by all waits of the trace: with the time of these, and
// what of it is below a commit, or a sync.
func committedAt(in *Input, t *traced) map[stack.Frame]*ownTransactions {
	by := map[stack.Frame]*ownTransactions{}
	for _, b := range t.OwnBlocks(func(b *sched.Block) bool { return b.State == exectrace.Syscall }) {
		x, ok := executedOn(t.Frames(b.Stack), in.Session.Scope().IsUser)
		if !ok {
			continue
		}
		o := by[x.way[0]]
		if o == nil {
			o = &ownTransactions{executed: x, stack: b.Stack}
			by[x.way[0]] = o
		}
		if o.add(x, b.Wait.Sum); x.commit && !o.commit {
			o.executed, o.stack = x, b.Stack
		}
	}
	return by
}

// ownTransactionsFinding is what a group of units waits for so; it is false where that is little of its time.
func ownTransactionsFinding(r *Rule, in *Input, t *traced, g facts.UnitGroup) (f Finding, ok bool) {
	o := ownTransactionsOf(in, t, g)
	if o == nil {
		return f, false
	}
	share := g.All.Share(o.time)
	if share < r.param("share") || (o.time/unitCount(g)).Seconds() < r.param("each") || !o.many(r, g) {
		return f, false
	}
	at := o.lines[0]
	text := fmt.Sprintf("%s %s%s, %s of its time%s: %s", unitOf(g), o.waits(), atFrame(at), unit.Percent(share), overUnits(g), o.says())
	if known := o.below(); known != "" {
		text += "; of the time in these system calls, " + known
	}
	f = r.answer(Found, "%s", text)
	f.Title = ownTransactionsTitle
	f.Impact = exactly(ofAll(in, g, share), "share of the "+timeOfUnits(g))
	f.Score = score(share, r.param("share"), 0.9)
	f.Severity = Warning
	if share < r.param("warning") {
		f.Severity = Info
	}
	times := ""
	if o.times > 0 {
		times = fmt.Sprintf("%s times in the run that counts, ", unit.Count(o.times))
	}
	f.Evidence = []Evidence{t.seenAt(t.Frames(o.stack), at, "%s%s in system calls", times, unit.Duration(o.time/unitCount(g)))}
	for _, l := range o.lines[1:min(len(o.lines), 3)] {
		f.Evidence = append(f.Evidence, in.code.shownAt(l.File, l.Line, "and this one, in the same loop"))
	}
	f.Doubts = in.traceDoubts(t)
	f.Verify = "Record again: the waits in system calls at this line should be gone but for those of the commits behind the loop."
	f.waits = o.rows
	o.advise(in.code, &f)
	namelessDoubt(in, g, &f)
	return f, true
}

// waitsOfOne is how many system calls a commit makes at least.
const waitsOfOne = 3

// many tells whether a loop executes as many statements as the rule asks: by the counts, or else by the system calls of the trace.
func (o *ownTransactions) many(r *Rule, g facts.UnitGroup) bool {
	if o.times > 0 && o.calls > 0 {
		return float64(o.times) >= r.param("calls")*float64(o.calls)
	}
	waits := int64(0)
	for _, row := range o.rows {
		waits += row.Count
	}
	return float64(waits) >= waitsOfOne*r.param("calls")*float64(max(1, g.Wall.Count))
}

// waits is what a unit does in the statements, as far as the trace shows it.
func (o *ownTransactions) waits() string {
	switch {
	case 2*o.sync >= o.inside && o.sync > 0:
		return "waits for the disk"
	case o.rows[0].Kind.Key() == "cgo":
		return "is in the C code of its database"
	}
	return "is in system calls of its database"
}

// says is what is known of the statements, as the end of a sentence.
func (o *ownTransactions) says() string {
	often := ""
	if o.times > 1 {
		often = fmt.Sprintf(", %s in the run that counts,", unit.Count(o.times))
	}
	if o.open {
		return fmt.Sprintf("the statements of the loop at %s%s are in no transaction that the program has begun: what each of them changes, the database (%s) commits to its file before the next one begins", fileLine(o.at.File, o.begins), often, o.of)
	}
	what := "statement that writes"
	if o.word != "" {
		what = o.word
	}
	return fmt.Sprintf("each %s of the loop at %s%s is a transaction of its own, which the database (%s) commits to its file before the next one begins", what, fileLine(o.at.File, o.begins), often, o.of)
}

// below says how much of the time of its system calls is for the commit; empty where that is not seen.
func (o *ownTransactions) below() string {
	if o.commits == 0 || o.inside == 0 {
		return ""
	}
	text := unit.Percent(float64(o.commits)/float64(o.inside)) + " is in commits"
	if o.sync > 0 {
		text += fmt.Sprintf(" and %s in fsync", unit.Percent(float64(o.sync)/float64(o.inside)))
	}
	return text
}
