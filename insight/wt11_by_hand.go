package insight

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

// Statements that the program prepares itself, runs and closes again: what it prepares once is a round trip less, or two, for
// each query.

// The titles of these findings, by whether the text is known to be the same each time.
const (
	byHandTitle    = "Statement prepared again and again instead of once"
	otherTextTitle = "Statement prepared for a text that may differ each time"
)

// byHand is what statements cost that the program prepares for one use.
type byHand struct {
	prepare, close, run time.Duration
	made, closed, ran   int64
	units               int64 // most that prepare by one way
	// queue is the time of waits for the lock of the DB, which is held while a statement of it is closed.
	queue time.Duration
	rows  []*facts.UnitRow
	ways  []byHandWay // by the line that prepares, the longest first
}

// byHandWay is a line that prepares.
type byHandWay struct {
	at     stack.Frame
	frames []stack.Frame
	from   int // the frame of the line
	time   time.Duration
	made   int64
	conn   stack.Frame // the method of the connection that package sql calls
}

// all is what is saved if nothing is prepared.
func (p *byHand) all() time.Duration { return p.prepare + p.close + p.queue }

// byHandIn adds up what the units of a group wait for.
func byHandIn(t *traced, g facts.UnitGroup) (p byHand) {
	lines, underLock := map[stack.Frame]bool{}, false
	for i := range g.Calls {
		c := &g.Calls[i]
		switch c.Statement {
		case facts.ProgramPrepares:
			p.prepare, p.made, p.units = p.prepare+c.Time, p.made+c.Count, max(p.units, c.Units)
			p.add(t.Frames(c.Stack), t.Scope, c)
		case facts.ProgramCloses:
			p.close, p.closed = p.close+c.Time, p.closed+c.Count
			underLock = underLock || slices.ContainsFunc(t.Frames(c.Stack), func(f stack.Frame) bool {
				return strings.HasPrefix(f.Func, "database/sql.(*DB).noteUnusedDriverStatement")
			})
		case facts.ProgramRuns:
			p.run, p.ran = p.run+c.Time, p.ran+c.Count
		default:
			continue
		}
		if len(c.Path) > 0 {
			lines[c.Path[0]] = true
		}
	}
	for i := range g.All.Rows {
		row := &g.All.Rows[i]
		switch {
		case row.Kind.Outside() && lines[row.Site.Frame]:
			p.rows = append(p.rows, row)
		case underLock && row.Kind.Key() == "lock" && locksDB(t.Frames(row.Site.Stack)):
			p.rows, p.queue = append(p.rows, row), p.queue+row.Time
		}
	}
	slices.SortStableFunc(p.ways, func(a, b byHandWay) int { return cmp.Compare(b.time, a.time) })
	return p
}

// locksDB tells of a wait for a lock that it is for the one of a DB, by the method that takes it: those of a connection and of
// rows have functions of their own.
func locksDB(frames []stack.Frame) bool {
	for _, f := range frames {
		if pkg := stack.Package(f.Func); pkg == "sync" || pkg == "internal/sync" || stack.IsRuntime(pkg) {
			continue
		}
		return strings.HasPrefix(f.Func, "database/sql.(*DB).")
	}
	return false
}

// add adds the stack of one that prepares. A function of the user that only hands the call on is not its line.
func (p *byHand) add(frames []stack.Frame, scope stack.Scope, c *facts.UnitCall) {
	i := slices.IndexFunc(frames, func(f stack.Frame) bool { return f.Func == "database/sql.ctxDriverPrepare" })
	if i <= 0 {
		return
	}
	way := byHandWay{frames: frames, from: -1, time: c.Time, made: c.Count, conn: frames[i-1]}
	for j := i + 1; j < len(frames); j++ {
		if f := frames[j]; scope.IsUser(f) {
			way.at, way.from = f, j
			if !strings.HasPrefix(ownName(f.Func), "Prepare") {
				break
			}
		} else if way.from >= 0 {
			break
		}
	}
	if way.from < 0 {
		return
	}
	if j := slices.IndexFunc(p.ways, func(x byHandWay) bool { return x.at == way.at && x.conn.Func == way.conn.Func }); j >= 0 {
		p.ways[j].time, p.ways[j].made = p.ways[j].time+way.time, p.ways[j].made+way.made
		return
	}
	p.ways = append(p.ways, way)
}

// often tells of a group that its units prepare again and again: each of them does, or the few that there are do many times.
// A goroutine that prepares once may keep the statement for all that it does.
func (p *byHand) often(r *Rule, g facts.UnitGroup) bool {
	made, n, many := float64(p.made), float64(unitCount(g)), r.param("units")
	if g.Unit.String() == "worker" && made < 2*n {
		return false
	}
	return made >= many && made >= mostUnits*n && 2*float64(p.units) >= n && (n >= many || made >= many*n)
}

// mostUnits is the part of the units that have to prepare a statement: of fewer, others may use one that is kept. Chosen.
const mostUnits = 0.9

// checkByHand looks for statements that the program prepares itself for one use.
func checkByHand(r *Rule, in *Input, t *traced, g facts.UnitGroup) (found []Finding, fine string) {
	p := byHandIn(t, g)
	if p.made == 0 || len(p.ways) == 0 {
		return nil, ""
	}
	share, n := g.All.Share(p.all()), unitCount(g)
	if share < r.param("share") || (p.all()/n).Seconds() < r.param("each") || !p.often(r, g) {
		return nil, fmt.Sprintf("%s waits %s for statements that the program prepares, %s of its time, %s", unitOf(g), unit.Duration(p.all()/n), unit.Percent(share), plurals(float64(p.made)/float64(n), "statement"))
	}
	way := p.ways[0]
	kind, made := preparedText(in.code, way)
	if kind == copyText {
		return nil, unitOf(g) + " prepares statements that copy rows, each of which is for one copy"
	}
	closes := p.closed*2 >= p.made
	kept, open := unclosed{}, false
	if !closes {
		kept, open = unclosedAlong(in.code, way.frames, 0)
	}
	if !closes && !open && !closesStatement(in.code, way.at) {
		return nil, unitOf(g) + " prepares statements which it may keep: no close of one is seen"
	}
	what := fmt.Sprintf("%s prepares %s%s%s", unitOf(g), ofStatements(float64(p.made)/float64(n)), atFrame(way.at), p.moreLines())
	if closes {
		what += ", and closes what it has prepared"
	}
	f := r.answer(Found, "%s: %s of %s%s (%s)", what, unit.Duration(p.all()/n), unit.Duration(g.All.Wall/n), overUnits(g), unit.Percent(share))
	if p.queue > 0 {
		f.Summary += fmt.Sprintf("; of that, %s are waits for the lock of the sql.DB, which is held while a statement is closed", unit.Duration(p.queue/n))
	}
	if p.run > 0 {
		f.Summary += fmt.Sprintf("; to run the statements, %s%s, is not part of it", unit.Duration(p.run/n), p.runsEach())
	}
	f.Impact = exactly(ofAll(in, g, share), "share of the "+timeOfUnits(g))
	f.Score, f.Severity = score(share, r.param("share"), 0.6), Warning
	if p.sameShare(in)*share < r.param("warning") {
		f.Severity = Info
	}
	for _, way := range p.ways[:min(3, len(p.ways))] {
		f.Evidence = append(f.Evidence, t.seenAt(way.frames, way.at, "prepares a statement, %s times in the trace, and waits %s for it each time", unit.Count(way.made), unit.Duration(way.time/time.Duration(max(1, way.made)))))
	}
	f.Verify = "Record again under the same load: no stack of a request should have database/sql.(*DB).prepareDC, and a query should be one wait (loupe trace requests)."
	f.Doubts = in.traceDoubts(t)
	turns := float64(way.made)/float64(n) > 1.05
	p.advise(in, &f, kind, made, turns)
	if state, ok := sessionOf(in, t.Scope, way); ok && kind != otherText {
		state.tell(in, &f, way, turns)
	}
	if open {
		kept.tellPrepared(in, &f)
	}
	namelessDoubt(in, g, &f)
	f.waits = p.rows
	return []Finding{f}, ""
}

// unclosedTitle is the title of statements that nobody closes.
const unclosedTitle = "Statement prepared again and again, and never closed"

// tellPrepared makes a warning of statements that nobody closes: besides the waits, each is left in the program and at the database.
func (u unclosed) tellPrepared(in *Input, f *Finding) {
	f.Title, f.Severity = unclosedTitle, Warning
	f.Summary += fmt.Sprintf("; each statement is left at the database and in the program, and both grow: %s", u.says())
	f.Advice += " Where a statement has to be prepared for one use, close it: defer " + u.missing() + "."
	if at := in.code.shownAt(u.at.File, u.at.Line, "what is prepared here is never closed"); !shows(f, evidenceLine(at)) {
		f.Evidence = append(f.Evidence, at)
	}
}

// ofStatements is how many statements a unit prepares on average.
func ofStatements(n float64) string {
	if n > 0.85 && n < 1.05 {
		return "a statement"
	}
	return timesOf(n) + " statements"
}

// runsEach says how often a statement is run, where that is more than once.
func (p *byHand) runsEach() string {
	if n := float64(p.ran) / float64(max(1, p.made)); n > 1.05 {
		return fmt.Sprintf(" for %s each", plurals(n, "run"))
	}
	return ""
}

// moreLines says how many lines there are besides the first.
func (p *byHand) moreLines() string {
	if n := len(p.ways) - 1; n > 0 {
		return fmt.Sprintf(" and at %s", unit.Plural(int64(n), "more line"))
	}
	return ""
}

// advise says what to do: if the source shows the same text each time, to keep the statement.
func (p *byHand) advise(in *Input, f *Finding, kind textKind, made codeLine, turns bool) {
	f.Title = byHandTitle
	switch kind {
	case otherText:
		f.Title = otherTextTitle
		f.Evidence = append(f.Evidence, in.code.shownAt(made.file, made.line, "makes the text of the query"))
		f.Advice = fmt.Sprintf("The text of the query is made at %s: one that differs is another statement, and cannot be kept. Have placeholders in the text for what differs, and give the values as arguments; then prepare it once, or query directly (QueryContext or ExecContext with the text and its arguments).", made.text())
		f.Doubts = append(f.Doubts, "if what is put together is the same each time, the statement can be kept as it is")
		return
	case unknownText:
		f.Doubts = append(f.Doubts, "the source does not show that the text of the query is the same each time: one that differs is another statement")
	}
	advice, ofDB := keepingAdvice(p.ways[0], turns)
	f.Advice = advice + " Or query directly, with the text and its arguments, if the driver takes these in one round trip (the connection's QueryContext and ExecContext)."
	if ofDB {
		f.Doubts = append(f.Doubts, keptDoubt)
	}
}

// keptDoubt is what speaks against a kept statement.
const keptDoubt = "a kept statement of a sql.DB is prepared once on each connection: it gains little where connections do not last (SetMaxIdleConns is 2 unless it is set)"

// sameShare is the part of the time to prepare that is for texts which are the same each time.
func (p *byHand) sameShare(in *Input) float64 {
	same, all := time.Duration(0), time.Duration(0)
	for _, way := range p.ways {
		all += way.time
		if kind, _ := preparedText(in.code, way); kind == sameText {
			same += way.time
		}
	}
	return float64(same) / float64(max(1, all))
}

// keepingAdvice says how to keep a statement, by what prepares it: turns tells that a unit does so several times. ofDB tells
// that it is one of a sql.DB that is to be kept.
func keepingAdvice(way byHandWay, turns bool) (advice string, ofDB bool) {
	for _, x := range way.frames[:way.from+1] {
		switch {
		case strings.HasPrefix(x.Func, "database/sql.(*Tx).Prepare") && turns:
			return "Prepare the statement once for the transaction, before the loop, and close it behind it (if each turn begins a transaction: keep one of the sql.DB, and run tx.StmtContext(ctx, kept)).", false
		case strings.HasPrefix(x.Func, "database/sql.(*Tx).Prepare"):
			return "Keep a statement of the sql.DB that is prepared at the start (db.Prepare), and run tx.StmtContext(ctx, kept) in the transaction; close the kept one when the program ends.", true
		case strings.HasPrefix(x.Func, "database/sql.(*Conn).Prepare") && turns:
			return "Prepare the statement once for the connection, before the loop, and close it behind it.", false
		}
	}
	return "Prepare the statement once and keep it: in a field that is set at the start (db.Prepare), or by sync.OnceValues; in a loop, before it. A sql.Stmt may be used by many goroutines at once; close it when the program ends.", true
}
