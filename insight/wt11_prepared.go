package insight

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"loupe/analysis/facts"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/unit"
)

var wt11 = &Rule{
	ID: "WT11", Title: "Each query is prepared, run and closed: three round trips instead of one",
	About: "Package database/sql gives a query to the connection of the driver as it is, if that has QueryContext (ExecContext for what returns no rows). Where a wrapper of the driver hides these methods, or they " +
		"return driver.ErrSkip, it prepares a statement for each query, runs it and closes it: a database at the other end of a connection answers two or three times instead of once. A program that prepares by hand for one use pays the same.",
	Asks: []facts.Question{facts.Doing},
	Params: []Param{
		{"share", 0.1, "share of the time", "chosen: less is rarely the first thing to change"},
		{"warning", 0.2, "share of the time", "chosen: a fifth of the time of a request is felt"},
		{"each", 200e-6, "s", "chosen: a unit's waits for it; less is scheduler and kernel overhead"},
		{"samples", 100, "samples of a CPU profile", "chosen: where there is no trace; of fewer a tenth is a matter of chance"},
		unitsParam,
		groupParam,
	},
	Part:  true,
	Check: checkPrepared,
}

func checkPrepared(r *Rule, in *Input) []Finding {
	var waits []Finding
	if len(in.Session.Manifest().Of(recording.ExecTrace)) > 0 {
		waits = onUnits(checkStatements)(r, in)
		if slices.ContainsFunc(waits, func(f Finding) bool { return f.State == Found }) {
			return waits
		}
	}
	if f := checkPreparedCPU(r, in); f.State == Found || len(waits) == 0 {
		return []Finding{f}
	}
	return waits
}

// preparing is what queries cost that are prepared for themselves alone.
type preparing struct {
	time    time.Duration // to prepare and to close
	query   time.Duration // to run
	made    int64         // statements
	closed  int64         // of these, with a wait
	ways    []preparedWay // by the line that queries, the longest first
	queries bool          // some return rows
	execs   bool          // some return none
}

// preparedWay is a line whose queries are prepared.
type preparedWay struct {
	at     stack.Frame
	frames []stack.Frame
	time   time.Duration
	conn   stack.Frame // the method of the connection that package sql calls
	more   []stack.Frame
}

// preparedIn adds up what the units of a group wait for.
func preparedIn(t *traced, g facts.UnitGroup) (p preparing) {
	for i := range g.Calls {
		c := &g.Calls[i]
		switch c.Statement {
		case facts.PreparesToQuery:
			p.time, p.made = p.time+c.Time, p.made+c.Count
			p.add(t.Frames(c.Stack), t.Scope, c.Time)
		case facts.ClosesAfterQuery:
			p.time, p.closed = p.time+c.Time, p.closed+c.Count
		case facts.RunsStatement:
			p.query += c.Time
		}
	}
	slices.SortStableFunc(p.ways, func(a, b preparedWay) int { return cmp.Compare(b.time, a.time) })
	return p
}

// add adds the stack of one that prepares.
func (p *preparing) add(frames []stack.Frame, scope stack.Scope, d time.Duration) {
	i := slices.IndexFunc(frames, func(f stack.Frame) bool { return f.Func == "database/sql.ctxDriverPrepare" })
	if i <= 0 {
		return
	}
	way := preparedWay{frames: frames, time: d, conn: frames[i-1], more: frames[:i-1]}
	for _, f := range frames[i+1:] {
		p.queries = p.queries || f.Func == "database/sql.(*DB).queryDC"
		p.execs = p.execs || f.Func == "database/sql.(*DB).execDC"
		if scope.IsUser(f) || way.at.Func == "" && scope.IsOutsideStandard(f) {
			way.at = f
		}
		if scope.IsUser(f) {
			break
		}
	}
	if way.at.Func == "" {
		way.at = frames[len(frames)-1]
	}
	if j := slices.IndexFunc(p.ways, func(x preparedWay) bool { return x.at == way.at && x.conn.Func == way.conn.Func }); j >= 0 {
		p.ways[j].time += d
		return
	}
	p.ways = append(p.ways, way)
}

// checkStatements looks for both: statements of package database/sql, and those of the program.
func checkStatements(r *Rule, in *Input, t *traced, g facts.UnitGroup) (found []Finding, fine string) {
	found, fine = checkPreparedUnits(r, in, t, g)
	own, why := checkByHand(r, in, t, g)
	if why != "" && preparedIn(t, g).made == 0 {
		fine = why
	}
	return append(found, own...), fine
}

func checkPreparedUnits(r *Rule, in *Input, t *traced, g facts.UnitGroup) (found []Finding, fine string) {
	p := preparedIn(t, g)
	share := g.All.Share(p.time)
	switch {
	case p.made == 0 || len(p.ways) == 0:
		return nil, unitOf(g) + " waits for no statement that package database/sql prepares by itself"
	case share < r.param("share") || (p.time/unitCount(g)).Seconds() < r.param("each"):
		return nil, fmt.Sprintf("%s waits %s for statements that package database/sql prepares for single queries, %s of its time", unitOf(g), unit.Duration(p.time/unitCount(g)), unit.Percent(share))
	}
	n, way := unitCount(g), p.ways[0]
	made, waits := float64(p.made)/float64(n), float64(p.made+p.closed)/float64(n)
	again := ""
	if p.closed > 0 {
		again = ", and closes it again"
	}
	text := fmt.Sprintf("%s prepares a statement for each query%s%s: %s of %s%s (%s), in %s for %s", unitOf(g), atFrame(way.at)+p.otherLines(), again,
		unit.Duration(p.time/n), unit.Duration(g.All.Wall/n), overUnits(g), unit.Percent(share), plurals(waits, "wait"), queriesOf(made))
	if p.query > 0 {
		text += fmt.Sprintf("; to run the queries, %s, is not part of it", unit.Duration(p.query/n))
	}
	f := r.answer(Found, "%s", text)
	if p.closed == 0 {
		f.Title = preparedOnlyTitle
	}
	f.Impact = exactly(ofAll(in, g, share), "share of the "+timeOfUnits(g))
	f.Score = score(share, r.param("share"), 0.6)
	f.Severity = Warning
	if share < r.param("warning") {
		f.Severity = Info
	}
	for _, way := range p.ways[:min(3, len(p.ways))] {
		f.Evidence = append(f.Evidence, t.seenAt(way.frames, way.at, "waits %s in each for a statement to be prepared, by %s", unit.Duration(way.time/n), stack.Short(way.conn.Func)))
	}
	f.Verify = "Record again under the same load: no stack of a query should have database/sql.ctxDriverPrepare, and a query should be one wait (loupe trace requests)."
	f.Doubts = in.traceDoubts(t, preparingDoubt)
	tellConnection(in, &p, &f)
	namelessDoubt(in, g, &f)
	f.waits = rowsOfStatements(g)
	return []Finding{f}, ""
}

// otherLines says how many lines there are besides the first.
func (p *preparing) otherLines() string {
	if n := len(p.ways) - 1; n > 0 {
		return fmt.Sprintf(" and at %s", unit.Plural(int64(n), "more line"))
	}
	return ""
}

// queriesOf is how many queries a unit makes on average.
func queriesOf(n float64) string {
	if n > 0.95 && n < 1.05 {
		return "one query"
	}
	return timesOf(n) + " queries"
}

// preparedOnlyTitle is the title where nobody waits for the end of a statement.
const preparedOnlyTitle = "Each query is prepared before it is run: two round trips instead of one"

// preparingDoubt is what speaks against the whole gain.
const preparingDoubt = "what the database itself does to prepare a statement it does as well for a query that comes as it is: that part of the time is not saved"

// rowsOfStatements are the parts of a group's time that go into preparing and closing, at the lines of such calls.
func rowsOfStatements(g facts.UnitGroup) (rows []*facts.UnitRow) {
	lines := map[stack.Frame]bool{}
	for i := range g.Calls {
		c := &g.Calls[i]
		if slices.Contains([]facts.UnitStatement{facts.PreparesToQuery, facts.RunsStatement, facts.ClosesAfterQuery}, c.Statement) && len(c.Path) > 0 {
			lines[c.Path[0]] = true
		}
	}
	for i := range g.All.Rows {
		if row := &g.All.Rows[i]; row.Kind.Outside() && lines[row.Site.Frame] {
			rows = append(rows, row)
		}
	}
	return rows
}

// checkPreparedCPU looks for the same in a CPU profile, which does not show waits: a database within the program, or a driver
// that works much for each statement.
func checkPreparedCPU(r *Rule, in *Input) Finding {
	if in.Facts.Part {
		return r.answer(NotApplicable, "the CPU profile does not tell of a part of its time")
	}
	s := spentOf(in)
	if s == nil {
		return r.answer(NotApplicable, "no CPU profile has samples")
	}
	if float64(s.total) < r.param("samples") {
		return r.short("the CPU profile has %d samples; %g are needed", s.total, r.param("samples"))
	}
	var p preparing
	marked, some := make([]bool, len(s.stacks)), false
	for i, id := range s.stacks {
		var frames []stack.Frame
		for _, f := range s.v.t.Frames(id) {
			frames = append(frames, s.v.t.Frame(f))
		}
		switch facts.StatementOf(frames) {
		case facts.PreparesToQuery:
			p.made += s.counts[i]
			p.add(frames, in.Session.Scope(), time.Duration(s.counts[i]))
		case facts.ClosesAfterQuery:
			p.closed += s.counts[i]
		default:
			continue
		}
		marked[i], some = true, true
	}
	if !some || len(p.ways) == 0 {
		return r.answer(Fine, "no CPU time went into statements that package database/sql prepares for single queries; waits are in an execution trace alone")
	}
	share := s.interval(marked)
	if share.Low < r.param("share") {
		return r.answer(Fine, "%s of the CPU time went into statements that package database/sql prepares for single queries; waits for them are in an execution trace alone", unit.Percent(share.Estimate))
	}
	slices.SortStableFunc(p.ways, func(a, b preparedWay) int { return cmp.Compare(b.time, a.time) })
	f := r.answer(Found, "package database/sql prepares a statement for each query%s and closes it again: %s of the CPU time; to run the queries is not part of it, and waits do not show in a CPU profile",
		atFrame(p.ways[0].at), unit.Percent(share.Estimate))
	f.Title = "Each query is prepared before it is run, and the statement is closed after it"
	f.Impact = &Impact{share.Estimate, cpuSamples, share.Low, share.High}
	f.Score, f.Severity = score(share.Low, r.param("share"), 0.6), Info
	if share.Low >= r.param("warning") {
		f.Severity = Warning
	}
	w, _ := in.Facts.Weights(facts.CPU, "samples")
	for _, way := range p.ways[:min(3, len(p.ways))] {
		f.Evidence = append(f.Evidence, in.fileAt(w.Entry, way.at, way.frames, "%d of %d samples prepare a statement, by %s", int64(way.time), s.total, stack.Short(way.conn.Func)))
	}
	f.Verify = "Record again under the same load: no stack of a query should have database/sql.ctxDriverPrepare, and the CPU time per request should fall."
	f.Doubts = append(in.doubts(), preparingDoubt)
	tellConnection(in, &p, &f)
	return f
}
