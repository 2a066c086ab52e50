package insight

import (
	"fmt"
	"go/ast"
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

// What package database/sql does while it makes a connection, and the goroutine that each
// handle (sql.DB) has from its opening on.
const (
	sqlPackage = "database/sql."
	sqlConn    = "database/sql.(*DB).conn"
	sqlOpens   = "database/sql.(*DB).openNewConnection"
	sqlOpener  = "database/sql.(*DB).connectionOpener"
)

// databases looks at what the program does for connections to databases while it is traced.
func databases(r *Rule, in *Input) (found []Finding) {
	t := in.trace()
	if t.Err != nil || t.Length() < facts.MinTrace {
		return nil
	}
	if f, ok := handles(r, in, t); ok {
		return []Finding{f}
	}
	if f, ok := dialsOfPool(r, in, t); ok {
		return []Finding{f}
	}
	return nil
}

// handles finds handles that are opened again and again.
func handles(r *Rule, in *Input, t *traced) (f Finding, ok bool) {
	var most *sched.Group
	made := int64(0)
	for _, g := range t.Creators {
		if t.Reader.Name(g.Name) == sqlOpener {
			if made += g.Created; most == nil || g.Created > most.Created {
				most = g
			}
		}
	}
	if most == nil || float64(made) < r.param("requests") {
		return f, false
	}
	f = r.answer(Found, "%s database handles (sql.DB) were opened in %s, each with its own connections", unit.Count(made), unit.Duration(t.Length()))
	f.Severity, f.Score = Warning, score(t.Rate(made), 10, 1000)
	f.Impact = exactly(t.Rate(made), "handles a second")
	f.Evidence = []Evidence{t.seen(most.Creator, "opened here %s times", unit.Count(most.Created))}
	f.Advice = "Open it once and share one handle (sql.Open at startup): it is a connection pool, safe for concurrent use, and keeps connections open between uses. Close it when the program ends, if at all."
	f.Verify = "Record a trace under the same load: it should show no handle being opened."
	f.Doubts = in.traceDoubts(t)
	switch (connSources{in.code}).opensWith(t.Frames(most.Creator)) {
	case dsnOther:
		f.Advice = "According to the source, the database name (the DSN) may differ each time: keep one handle per name in use; or one handle for all, if the query can choose (a schema, a column). One handle is a connection pool and safe for concurrent use."
		f.Verify = "Record a trace under the same load: it should show hardly any handles being opened."
	case dsnUnknown:
		f.Doubts = append(f.Doubts, "if the database name (the DSN) differs each time, each name needs its own handle: keep those")
	}
	tellProbe(in, &f, t.Frames(most.Creator))
	return f, true
}

// dialsOfPool finds connections to databases that are made while requests wait for them.
func dialsOfPool(r *Rule, in *Input, t *traced) (f Finding, ok bool) {
	var most *sched.Block
	var making, all time.Duration
	waits := int64(0)
	for _, b := range t.Blocks {
		if b.State != exectrace.Waiting {
			continue
		}
		switch opens, driver := throughSQL(in, t.Frames(b.Stack)); {
		case opens && driver:
			waits, making, all = waits+b.Wait.Count, making+b.Wait.Sum, all+b.Wait.Sum
			if most == nil || b.Wait.Sum > most.Wait.Sum {
				most = b
			}
		case driver:
			all += b.Wait.Sum
		}
	}
	share := float64(making) / float64(max(1, all))
	if most == nil || float64(waits) < r.param("requests") || share < r.param("databases") {
		return f, false
	}
	f = r.answer(Found, "of the time that goroutines waited for databases, %s was spent on new connections: %s in %s waits", unit.Percent(share), unit.Duration(making), unit.Count(waits))
	f.Title = "Connections to databases are opened again and again"
	f.Severity, f.Score = Warning, score(share, r.param("databases"), 0.8)
	f.Impact = exactly(share, "share of the waits for databases")
	frames := t.Frames(most.Stack)
	f.Evidence = []Evidence{t.seenAt(frames, aboveSQL(in, frames), "%s waits for a new connection", unit.Count(most.Wait.Count))}
	sources := connSources{in.code}
	set := sources.idleSettings()
	if !slices.ContainsFunc(set, func(x connSetting) bool { return x.sure }) {
		f.Evidence = append(f.Evidence, in.code.callsIn("SetMaxIdleConns", func(_ *ast.File, call *ast.CallExpr) bool {
			return strings.HasSuffix(types.ExprString(call.Fun), ".SetMaxIdleConns")
		})...)
	}
	f.Advice = "Keep as many idle connections as are in use at once (SetMaxIdleConns; it is 2 unless the program sets it), bound how many there may be (SetMaxOpenConns), and let them live (SetConnMaxLifetime and SetConnMaxIdleTime of minutes). " + statsAdvice
	f.Verify = "Record a trace under the same load: it should show hardly any new connections."
	f.Doubts = in.traceDoubts(t)
	tellIdleSettings(&f, sources, frames, set, t.Share(all))
	tellNeverSet(in.code, set, &f)
	tellOpening(in, &f, cost{callee: sqlConn}, cost{callee: sqlOpens})
	return f, true
}

// opensDatabase are calls that make a handle.
var opensDatabase = []string{"sql.Open", "sql.OpenDB", "sqlx.Open", "sqlx.Connect", "sqlx.ConnectContext", "sqlx.MustConnect", "sqlx.MustOpen", "stdlib.OpenDB", "stdlib.OpenDBFromPool"}

// handlesIn are the first calls in the sources that make a handle.
func handlesIn(c *code) []Evidence {
	return c.callsIn("", func(_ *ast.File, call *ast.CallExpr) bool {
		return slices.Contains(opensDatabase, types.ExprString(call.Fun))
	})
}

// tellNeverSet says where the only handle of the source is made, if nothing there says how many idle connections it may keep.
func tellNeverSet(c *code, set []connSetting, f *Finding) {
	opens := handlesIn(c)
	sets := c.callsIn("", func(_ *ast.File, call *ast.CallExpr) bool { return calledName(call) == "SetMaxIdleConns" })
	if len(set) > 0 || len(sets) > 0 || len(opens) != 1 {
		return
	}
	at := opens[0]
	at.Text = "it is opened here, and nothing calls SetMaxIdleConns"
	f.Evidence = append(f.Evidence, at)
	f.Advice = fmt.Sprintf("The source never calls SetMaxIdleConns, so that the handle which is opened at %s:%d keeps two: call it there. ", baseName(at.File), at.Line) + f.Advice
}

// statsAdvice is how to find out what ends the connections of a handle.
const statsAdvice = "DB.Stats tells which limit closes them (MaxIdleClosed, MaxLifetimeClosed, MaxIdleTimeClosed); if none of these grows, the driver gives them up (driver.ErrBadConn) or the server ends them, and no limit helps."

// tellIdleSettings tells what the source lets a handle keep, and what to do about it by how many connections are in use at once, on average.
func tellIdleSettings(f *Finding, c connSources, frames []stack.Frame, all []connSetting, inUse float64) {
	some, named := c.settingsOn(frames, all)
	i := slices.IndexFunc(some, func(x connSetting) bool { return named && !x.branch && !x.sure })
	if i < 0 {
		tellSettings(f, c, frames, slices.DeleteFunc(slices.Clone(all), func(x connSetting) bool { return !x.sure }))
		tellOnlyCall(f, c, all)
		return
	}
	x := some[i]
	f.Evidence = append(f.Evidence, x.at)
	keeps := fmt.Sprintf("the source %s (%s:%d)", x.does, baseName(x.at.File), x.at.Line)
	const raise = "Raise the limit of idle connections (SetMaxIdleConns) to as many as may be open (SetMaxOpenConns): %s, and at least %s are in use at once on average; each one above the limit is closed after its use, and the next query opens another. "
	const otherEnds = "If no more are in use at once, that is enough, and something else ends them: "
	const lifetimes = " A lifetime (SetConnMaxLifetime, SetConnMaxIdleTime) should be minutes."
	switch {
	case x.keeps.sure() && float64(x.keeps.most()) < inUse:
		f.Advice = fmt.Sprintf(raise, keeps, unit.Number(inUse)) + statsAdvice + lifetimes
	case !x.keeps.sure() && x.keeps.known() && float64(x.keeps.least()) < inUse:
		f.Advice = fmt.Sprintf(raise, keeps, unit.Number(inUse)) + "That is so where it is " + unit.Count(x.keeps.least()) + "; otherwise something else ends them: " + statsAdvice + lifetimes
	default:
		f.Advice = "T" + keeps[1:] + ". " + otherEnds + statsAdvice + lifetimes + " If more are in use at once, raise the limit."
	}
}

// tellOnlyCall names the line that sets how many idle connections there may be where it is the only one in the source, as the handle is, and it is not known
// what it sets: the advice begins with it.
func tellOnlyCall(f *Finding, c connSources, all []connSetting) {
	if len(all) != 1 || all[0].sure || len(handlesIn(c.code)) != 1 {
		return
	}
	at, otherwise := all[0].at, ""
	if all[0].branch {
		otherwise = ", on a condition; without it, it stays two"
	}
	f.Advice = fmt.Sprintf("The source calls SetMaxIdleConns at %s:%d%s: see how many that is. ", baseName(at.File), at.Line, otherwise) + f.Advice
}

// throughSQL tells whether a stack goes through package database/sql into a driver, and whether that
// is to make a connection.
func throughSQL(in *Input, frames []stack.Frame) (opens, driver bool) {
	inner := slices.IndexFunc(frames, func(f stack.Frame) bool { return strings.HasPrefix(f.Func, sqlPackage) })
	if inner < 0 {
		return false, false
	}
	scope := in.Session.Scope()
	driver = slices.ContainsFunc(frames[:inner], func(f stack.Frame) bool {
		return scope.Of(f) == stack.User || scope.Of(f) == stack.Dependency
	})
	return slices.ContainsFunc(frames, func(f stack.Frame) bool { return f.Func == sqlConn || f.Func == sqlOpens }), driver
}

// aboveSQL is the line of the user that calls package database/sql: the driver may be of the
// user, too.
func aboveSQL(in *Input, frames []stack.Frame) stack.Frame {
	last := 0
	for i, f := range frames {
		if strings.HasPrefix(f.Func, sqlPackage) {
			last = i
		}
	}
	return facts.SiteOf(in.Session.Scope(), frames[last:])
}
