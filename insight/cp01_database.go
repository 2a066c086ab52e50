package insight

import (
	"cmp"
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

// A database that is part of the program runs its statements in it: a query without an index is CPU time of the line that runs it, in a library in which there
// is nothing to mend.

// rowsTitle and queryTitle are the titles of a finding about such a query: where the samples show what the engine does, and where they do not.
const (
	rowsTitle  = "A query reads many rows in the process"
	queryTitle = "A query takes much of the CPU time in the process"
)

// ofQuery tells of a finding that it is about such a query.
func ofQuery(f *Finding) bool { return f.Title == rowsTitle || f.Title == queryTitle }

// engines are packages of databases that run statements within the program.
var engines = []string{"modernc.org/sqlite", "modernc.org/ql", "github.com/mattn/go-sqlite3", "github.com/ncruces/go-sqlite3", "github.com/glebarez/go-sqlite", "github.com/glebarez/sqlite",
	"zombiezen.com/go/sqlite", "crawshaw.io/sqlite", "github.com/tailscale/sqlite", "github.com/mutecomm/go-sqlcipher", "github.com/marcboeker/go-duckdb", "github.com/duckdb/duckdb-go",
	"github.com/dolthub/go-mysql-server"}

// Names of functions of an engine: those that run a statement, those of an engine that is Go itself, and of these the ones that go from row to row.
var (
	stepsNames   = lazily(`(?i)sqlite3_?step|VdbeExec|_Cfunc_\w*(step|execute|pending)|\bstep$|\(\*Stmt\)\.Step$`)
	machineNames = lazily(`VdbeExec$`)
	// computesNames are those of functions of SQL, where the machine calls them.
	computesNames = lazily(`(?i)(func|trampoline)$`)
	walksNames    = lazily(`(?i)btree_?(next|previous|first|last)$|moveTo(Leftmost|Rightmost)$|vdbeSorter`)
)

// Limits from which on such a query is told: chosen. stepped is the share of its samples in which its statement runs: what is read row by row for the program
// spends more than the rest of it on handing rows over. manyRows are so many that it takes time to read them anyway.
const (
	stepped  = nearlyAll
	walked   = 0.25
	manyRows = 1_000
)

// queryCost are the samples of a statement.
type queryCost struct {
	call                  *ast.CallExpr // that gives the statement; nil where the source does not show it
	text                  string        // it begins with
	all, steps, walks     int64
	functions             int64 // in which it computes a function of the statement
	machine               bool  // what the engine does is seen
	line                  stack.Frame
	perCall, turns, calls int64 // rows, by the run that counts
}

// tellQuery says of a hot function that most of its time is spent in a database of the program, by one statement, which goes from row to row there.
func tellQuery(in *Input, w *facts.Weights, h *hotFunction, share stats.Interval, f *Finding) bool {
	q := heaviestQuery(in, w, h)
	if q == nil || float64(q.all) < halfOfAll*float64(h.samples) || float64(q.steps) < stepped*float64(q.all) {
		return false
	}
	walks := float64(q.walks) >= walked*float64(q.all)
	computes, given := q.machine && !walks && q.computesForRows(), computesResults(q.text)
	if q.machine && !walks && !computes {
		return false
	}
	if q.text != "" && !readingTexts.MatchString(q.text) {
		return false
	}
	low := share.Low * float64(q.all) / float64(h.samples)
	f.Title = queryTitle
	what := fmt.Sprintf("%s of its samples run the statement", unit.Percent(float64(q.steps)/float64(q.all)))
	switch {
	case computes && given:
		what += fmt.Sprintf(", %s in functions that the statement calls for rows (%s)", unit.Percent(float64(q.functions)/float64(q.all)), shortText(computedIn(q.text)[0]))
	case computes:
		f.Title = rowsTitle
		what += fmt.Sprintf(", which goes from row to row and computes %s for each of them: that takes %s", shortText(computedIn(q.text)[0]), unit.Percent(float64(q.functions)/float64(q.all)))
	case q.machine:
		f.Title = rowsTitle
		what += fmt.Sprintf(", %s in functions that go from row to row", unit.Percent(float64(q.walks)/float64(q.all)))
	}
	line := q.line
	if q.call != nil {
		p := in.code.parse(line.File)
		line.Line, _ = p.lines(q.call)
	}
	f.Summary += fmt.Sprintf("; it is spent in the database, which is within the program, by the statement of %s: %s", place(line), what)
	e := in.code.shownAt(line.File, line.Line, "%d of %d samples are below this statement", q.all, h.samples)
	if q.text != "" {
		e.Text += ": " + shortText(q.text)
	}
	e.Function, e.Path, e.Phase, e.Span = line.Func, f.Evidence[0].Path, f.Evidence[0].Phase, f.Evidence[0].Span
	if line.Line == f.Evidence[0].Line && line.File == f.Evidence[0].File {
		f.Evidence = f.Evidence[1:]
	}
	f.Evidence = slices.Insert(f.Evidence, 0, e)
	f.Advice = indexAdvice(q.text)
	f.Verify = "EXPLAIN QUERY PLAN of the statement should no longer say that it goes through the whole table (SCAN), and CPU time per request should fall (loupe run -vs)."
	f.saves, f.grows = true, true
	q.countRows(in)
	switch {
	case q.perCall >= manyRows:
		f.Summary += fmt.Sprintf("; in the run that counts, its loop took %s rows in %s", unit.About(q.turns), unit.Plural(q.calls, "call"))
		f.Doubts = append(f.Doubts, fmt.Sprintf("it gives about %s rows to each call, which have to be read anyway: an index only helps if it reads many more than that; else ask for fewer of them", unit.About(q.perCall)))
		return true
	case q.turns > 0:
		f.Summary += fmt.Sprintf("; in the run that counts, its loop took %s rows in %s", unit.About(q.turns), unit.Plural(q.calls, "call"))
	default:
		f.Doubts = append(f.Doubts, "if it gives many rows, or sums up many, these have to be read anyway")
	}
	if computes && given {
		f.Doubts = append(f.Doubts, "what it gives is computed by the same function as what it looks for: an index saves only what is computed to find the rows")
		return true
	}
	if low >= dominates && q.text != "" {
		f.Severity = Warning
	}
	return true
}

// readingTexts are the beginnings of statements that look for rows.
var readingTexts = lazily(`(?is)^\s*(?:(?:--[^\n]*\n|/\*.*?\*/)\s*)*(select|with|update|delete)\b`)

// heaviestQuery is the statement with most of the samples of a hot function; nil where none of them is in a database of the program.
func heaviestQuery(in *Input, w *facts.Weights, h *hotFunction) *queryCost {
	v := in.view(w.Profile)
	by := map[string]*queryCost{}
	var most *queryCost
	for id, n := range w.Profile.Samples(w.Index) {
		ids := v.t.Frames(id)
		at := nextUser(v, ids, 0)
		if at <= 0 || v.t.Frame(ids[at]).Func != h.line.Caller.Func {
			continue
		}
		var engine, steps, walks, machine, computes bool
		for i, x := range ids[:at] {
			f := v.t.Frame(x)
			computes = computes || i+1 < at && computesNames.MatchString(f.Func) && machineNames.MatchString(v.t.Frame(ids[i+1]).Func)
			if isOfPackages(stack.Package(f.Func), engines) {
				engine = true
				steps = steps || stepsNames.MatchString(f.Func)
				walks = walks || walksNames.MatchString(f.Func)
				machine = machine || machineNames.MatchString(f.Func)
			}
		}
		if !engine {
			continue
		}
		own := v.ownLines(id)
		call, text := queryOn(in.code, own)
		key := fileLine(own[0].File, own[0].Line)
		if call != nil {
			key = fmt.Sprint(call.Pos(), text)
		}
		q := by[key]
		if q == nil {
			q = &queryCost{call: call, text: text, line: own[0]}
			by[key] = q
		}
		q.all += n
		if steps {
			q.steps += n
		}
		if walks {
			q.walks += n
		}
		if computes {
			q.functions += n
		}
		q.machine = q.machine || machine
		if most == nil || cmp.Or(cmp.Compare(q.all, most.all), cmp.Compare(most.line.Line, q.line.Line)) > 0 {
			most = q
		}
	}
	return most
}

// queryMethods are methods by which a query is run, besides [sessionMethods].
var queryMethods = []string{"Get", "GetContext", "Select", "SelectContext", "Queryx", "QueryxContext", "QueryRowx", "QueryRowxContext", "NamedQuery", "NamedQueryContext", "Prepare", "Raw"}

// rowsMethods are those of what a query gives.
var rowsMethods = []string{"Next", "Scan", "StructScan", "MapScan", "Close", "Step"}

// queryOn is the call on the first of some lines that runs a statement, or that made the rows which are read there, and the constant text that it begins with.
func queryOn(c *code, own []stack.Frame) (call *ast.CallExpr, text string) {
	fn := c.scopeAt(own[0])
	for _, x := range c.lineCalls(own[0]) {
		name := calledName(x)
		runs := slices.Contains(sessionMethods, name) || slices.Contains(queryMethods, name)
		if !runs && fn != nil && isMethodCall(x) && slices.Contains(rowsMethods, name) {
			if made := givenBy(fn, rootName(receiverOf(x))); made != nil {
				x, runs = made, true
			}
		}
		if !runs {
			continue
		}
		if t := statementText(c, own, x); call == nil || text == "" && t != "" {
			call, text = x, t
		}
	}
	return call, text
}

// statementText is the constant text of the statement that a call runs, as far as the source shows it.
func statementText(c *code, own []stack.Frame, call *ast.CallExpr) string {
	if fn := c.scopeAt(own[0]); fn != nil && isMethodCall(call) && isIdent(receiverOf(call)) { // a statement that was prepared before
		if made := preparedAs(fn, rootName(receiverOf(call))); made != nil {
			call = made
		}
	}
	if field, ok := receiverOf(call).(*ast.SelectorExpr); ok {
		if text := preparedInField(c, field.Sel.Name); text != "" {
			return text
		}
	}
	for _, x := range call.Args {
		if text := textHanded(c, own, x); text != "" && strings.ContainsAny(text, " \t\n") {
			return text
		}
	}
	return ""
}

// givenBy is the only call whose result a function gives to a name.
func givenBy(fn *scope, name string) (made *ast.CallExpr) {
	n := 0
	ast.Inspect(fn.body, func(node ast.Node) bool {
		a, ok := node.(*ast.AssignStmt)
		if ok && len(a.Rhs) == 1 && isNamed(a.Lhs[0], name) {
			n++
			made, _ = a.Rhs[0].(*ast.CallExpr)
		}
		return true
	})
	if n != 1 {
		return nil
	}
	return made
}

// countRows counts the turns of the loop that takes the rows.
func (q *queryCost) countRows(in *Input) {
	c := blockCountsOf(in.code)
	if c == nil || q.call == nil {
		return
	}
	fn, ok := c.d.at(q.line)
	if !ok {
		return
	}
	calls, ok := c.entered(fn.body().Lbrace)
	if !ok || calls == 0 {
		return
	}
	name := ""
	ast.Inspect(fn.body(), func(n ast.Node) bool {
		if a, is := n.(*ast.AssignStmt); is && len(a.Rhs) == 1 && a.Rhs[0].Pos() == q.call.Pos() {
			name = rootName(a.Lhs[0])
		}
		if loop, is := n.(*ast.ForStmt); is && name != "" && loop.Cond != nil && hasCall(loop.Cond, func(x *ast.CallExpr) bool {
			return calledName(x) == "Next" && isNamed(receiverOf(x), name)
		}) {
			if turns, counted := c.entered(loop.Body.Lbrace); counted {
				q.turns, q.calls, q.perCall = turns, calls, turns/calls
			}
		}
		return true
	})
}

// shortText is a statement in one line, cut where it is long.
func shortText(text string) string {
	const longest = 160
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > longest {
		text = string(r[:longest]) + "..."
	}
	return text
}

// indexAdvice is what to do about a statement.
func indexAdvice(text string) string {
	table, columns := indexColumns(text)
	index := "an index for the columns of its WHERE and ORDER BY"
	if computed := computedIn(text); len(computed) > 0 {
		x, on := shortText(computed[0]), "the expression"
		if from := fromTable.FindStringSubmatch(text); from != nil && !manyParts.MatchString(text) {
			on = from[1]
		}
		index = fmt.Sprintf("an index on %s (%s), which has to be the text of the statement, or a generated column that has it, with an index, and ask for that: an index on the columns themselves does not help where it compares what it computes from them", on, x)
	} else if len(columns) > 0 {
		index = fmt.Sprintf("an index on %s (%s)", table, strings.Join(columns, ", "))
	}
	return "Have the database look up the rows, and not go through all of them: EXPLAIN QUERY PLAN of the statement says whether it goes through a table (SCAN) or uses an index (SEARCH). " +
		"Where it goes through it, make " + index + "; if there is one already, see why it is not used (a function of the column, a LIKE that begins with %, another type, old statistics: ANALYZE). Ask for no more rows and columns than are used (LIMIT)."
}

var (
	fromTable = lazily("(?is)\\b(?:from|update)\\s+[\"`\\[]?(\\w+)[\"`\\]]?(?:\\s+(?:as\\s+)?(\\w+))?")
	manyParts = lazily(`(?i)\b(join|union|or|exists|case|intersect|except|with)\b|\(\s*select\b|\bfrom\s+[^()]*?,[^()]*?\bwhere\b`)
	whereOf   = lazily(`(?is)\bwhere\b(.*?)(?:\border\s+by\b|\bgroup\s+by\b|\blimit\b|\breturning\b|;|$)`)
	orderOf   = lazily(`(?is)\border\s+by\b(.*?)(?:\blimit\b|;|$)`)
	asksEqual = lazily("(?is)^\\s*(?:\\w+\\.)?[\"`\\[]?(\\w+)[\"`\\]]?\\s*(=|==|\\bin\\b|\\bis\\b)")
	asksRange = lazily("(?is)^\\s*(?:\\w+\\.)?[\"`\\[]?([a-z_]\\w*)[\"`\\]]?\\s*(<=|>=|<|>|\\bbetween\\b)")
	orderName = lazily("(?is)^\\s*(?:\\w+\\.)?[\"`\\[]?([a-z_]\\w*)[\"`\\]]?\\s*(?:asc|desc)?\\s*$")
	andWords  = lazily(`(?i)\band\b`)
)

// indexColumns are the columns of an index for a statement of one table, those first that have to be equal to something; none where the text is not that simple.
func indexColumns(text string) (table string, columns []string) {
	from := fromTable.FindStringSubmatch(text)
	where := whereOf.FindStringSubmatch(text)
	if from == nil || where == nil || manyParts.MatchString(text) {
		return "", nil
	}
	add := func(name string) {
		if !slices.Contains(columns, name) {
			columns = append(columns, name)
		}
	}
	ranged := ""
	for _, part := range andWords.Split(where[1], -1) {
		if m := asksEqual.FindStringSubmatch(part); m != nil {
			add(m[1])
		} else if m := asksRange.FindStringSubmatch(part); m != nil && ranged == "" {
			ranged = m[1]
		}
	}
	if ranged != "" {
		add(ranged)
		return from[1], columns
	}
	if len(columns) == 0 {
		return "", nil
	}
	if order := orderOf.FindStringSubmatch(text); order != nil {
		for _, part := range strings.Split(order[1], ",") {
			m := orderName.FindStringSubmatch(part)
			if m == nil {
				break
			}
			add(m[1])
		}
	}
	return from[1], columns
}

// ofPoolWaits tells of a finding about waits for a connection of database/sql, and of a query that computes in the process, that it is this query which has the connections:
// by what those do who have one, or else as it takes most of the CPU time.
func ofPoolWaits(t two) bool {
	a, b := t.a, t.b
	if a.Rule != lk06.ID && a.Rule != wt01.ID || b.Rule != cp01.ID || !ofQuery(b) || !t.grave() || len(b.costs) == 0 {
		return false
	}
	if a.Rule == wt01.ID && (len(a.waits) == 0 || slices.ContainsFunc(a.waits, func(r *facts.UnitRow) bool { return r.Kind.Key() != "pool" })) {
		return false
	}
	var told, here int64
	for _, row := range a.waits {
		f := row.Cause.Site.Frame
		if f.Func == "" || slices.Contains([]string{"", "none", "unknown"}, row.Cause.Kind.Key()) {
			continue
		}
		if told += int64(row.Time); f.Func == b.costs[0].function {
			here += int64(row.Time)
		}
	}
	if told > 0 {
		return float64(here) >= halfOfAll*float64(told)
	}
	return b.Impact != nil && b.Impact.Low >= halfOfAll
}
