package insight

import (
	"slices"
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/analysis/facts"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// What package database/sql does for one query, from the driver to the handler, by what the driver's code is.
const (
	prepareFrames = "database/sql.ctxDriverPrepare@ctxutil.go:1;database/sql.(*DB).queryDC.func2@sql.go:1;database/sql.withLock@sql.go:2;database/sql.(*DB).queryDC@sql.go:3;database/sql.(*DB).QueryContext@sql.go:4"
	runFrames     = "database/sql.ctxDriverStmtQuery@ctxutil.go:2;database/sql.rowsiFromStatement@sql.go:5;database/sql.(*DB).queryDC@sql.go:6;database/sql.(*DB).QueryContext@sql.go:4"
	closeFrames   = "database/sql.(*driverStmt).Close@sql.go:7;database/sql.(*Rows).close@sql.go:8;database/sql.(*Rows).Close@sql.go:9;database/sql.(*Rows).Next@sql.go:10"
	directFrames  = "database/sql.ctxDriverQuery@ctxutil.go:3;database/sql.(*DB).queryDC.func1@sql.go:11;database/sql.withLock@sql.go:2;database/sql.(*DB).queryDC@sql.go:12;database/sql.(*DB).QueryContext@sql.go:4"
	ownPrepare    = "database/sql.ctxDriverPrepare@ctxutil.go:1;database/sql.(*driverConn).prepareLocked@sql.go:13;database/sql.(*DB).prepareDC.func2@sql.go:14;database/sql.withLock@sql.go:2;database/sql.(*DB).prepareDC@sql.go:15;database/sql.(*DB).PrepareContext@sql.go:16"
	ownRun        = "database/sql.ctxDriverStmtQuery@ctxutil.go:2;database/sql.rowsiFromStatement@sql.go:5;database/sql.(*Stmt).QueryContext.func1@sql.go:17;database/sql.(*Stmt).QueryContext@sql.go:18"
	ownClose      = "database/sql.(*driverStmt).Close@sql.go:7;database/sql.(*DB).noteUnusedDriverStatement@sql.go:19;database/sql.(*Stmt).finalClose@sql.go:20;database/sql.(*Stmt).Close@sql.go:21"
	execPrepare   = "database/sql.ctxDriverPrepare@ctxutil.go:1;database/sql.(*DB).execDC.func3@sql.go:22;database/sql.withLock@sql.go:2;database/sql.(*DB).execDC@sql.go:23;database/sql.(*DB).ExecContext@sql.go:24"
	execRun       = "database/sql.ctxDriverStmtExec@ctxutil.go:4;database/sql.resultFromStatement@sql.go:25;database/sql.(*DB).execDC@sql.go:26;database/sql.(*DB).ExecContext@sql.go:24"
	execClose     = "database/sql.(*driverStmt).Close@sql.go:7;database/sql.(*DB).execDC.deferwrap1@sql.go:27;database/sql.(*DB).execDC@sql.go:28;database/sql.(*DB).ExecContext@sql.go:24"
)

// round is one round trip of a driver's function for package database/sql, at a line of the handler.
func round(p *accounttest.Program, d time.Duration, driver, sql, line string) {
	ask(p, d, driver, sql, "main.handle@main.go:"+line)
}

const (
	ms11         = time.Millisecond
	ownConn      = "main.(*conn).Prepare@conn.go:8"
	ownStmt      = "main.(*stmt).Query@conn.go:20"
	ownEnd       = "main.(*stmt).Close@conn.go:30"
	mysqlPrepare = "github.com/go-sql-driver/mysql.(*mysqlConn).PrepareContext@connection.go:1"
	mysqlQuery   = "github.com/go-sql-driver/mysql.(*mysqlStmt).QueryContext@statement.go:1"
	wrapping     = "package main\nimport \"database/sql/driver\"\ntype conn struct { // 3\n\tdriver.Conn\n\tn int\n}\n\nfunc (c *conn) Prepare(q string) (driver.Stmt, error) { return c.Conn.Prepare(q) }\n"
)

// prepared makes queries each of which is prepared, run and closed.
func prepared(p *accounttest.Program) {
	round(p, 2*ms11, ownConn, prepareFrames, "7")
	round(p, 2*ms11, ownStmt, runFrames, "7")
	round(p, 2*ms11, ownEnd, closeFrames, "9")
}

func TestWT11(t *testing.T) {
	starts := true
	for _, c := range []struct {
		name     string
		do       func(p *accounttest.Program)
		source   string   // of conn.go
		severity Severity // "" is fine
		says     string
		advises  string
		not      string // that the advice may not say
	}{
		{"a wrapper without the method", prepared, wrapping, Warning, "prepares a statement for each query in main.handle at main.go:7, and closes it again: 4.00 ms of 6.01 ms on average over 60 (66.6%), in 2 waits for one query; to run the queries, 2.00 ms, is not part of it; by the source, the driver's connection, main.conn, has no QueryContext",
			"Implement driver.QueryerContext (and driver.ExecerContext) on conn, and pass the call on", "mysql"},
		{"a driver without the method", prepared, "package main\nimport \"database/sql/driver\"\ntype conn struct{ n int }\n\n\n\n\nfunc (c *conn) Prepare(q string) (driver.Stmt, error) { return nil, nil }\n", Warning, "main.conn, has no QueryContext", "send the query with its arguments in one message", "pass the call on"},
		{"it has the method", prepared, wrapping + "func (c *conn) QueryContext() error { return driver.ErrSkip }\n", Warning, "of 6.01 ms", "its QueryContext returns driver.ErrSkip", "Implement"},
		{"the method of what it has in it", prepared, strings.Replace(wrapping, "\tn int", "\tdriver.QueryerContext", 1), Warning, "of 6.01 ms", "returns driver.ErrSkip", "Implement"},
		{"of another type of the package", prepared, strings.Replace(wrapping, "\tdriver.Conn\n", "\tbase\n", 1) + "type base struct{ driver.Conn }\nfunc (b base) QueryContext() error { return nil }\n", Warning, "of 6.01 ms", "returns driver.ErrSkip", "Implement"},
		{"of a type that the sources do not have", prepared, strings.Replace(wrapping, "\tn int", "\tother.Conn", 1), Warning, "of 6.01 ms", "returns driver.ErrSkip", "Implement"},
		{"without the source", prepared, "", Warning, "of 6.01 ms", "Find out why the driver's connection (main.conn)", "Implement"},
		{"a driver of another module, without a wait for the close", func(p *accounttest.Program) {
			round(p, 2*ms11, mysqlPrepare, prepareFrames, "7")
			round(p, 2*ms11, mysqlQuery, runFrames, "7")
		}, "", Warning, "prepares a statement for each query in main.handle at main.go:7: 2.00 ms of 4.01 ms on average over 60 (49.9%), in one wait for one query", "interpolateParams=true", "Implement"},
		{"a wrapper that no frame shows", func(p *accounttest.Program) {
			round(p, 2*ms11, mysqlPrepare, prepareFrames, "7")
			round(p, 2*ms11, mysqlQuery, runFrames, "7")
		}, "package main\nimport \"database/sql/driver\"\ntype counted struct { driver.Conn }\n", Warning, "of 4.01 ms", "If counted wraps the connection here, implement driver.QueryerContext", ""},
		{"what returns no rows", func(p *accounttest.Program) {
			round(p, 2*ms11, ownConn, execPrepare, "7")
			round(p, 2*ms11, "main.(*stmt).Exec@conn.go:20", execRun, "7")
			round(p, 2*ms11, ownEnd, execClose, "7")
		}, wrapping + "func (c *conn) QueryContext() error { return nil }\n", Warning, "main.conn, has no ExecContext", "Implement driver.ExecerContext", ""},
		{"a sixth of the time", func(p *accounttest.Program) {
			round(p, ms11, ownConn, prepareFrames, "7")
			round(p, 5*ms11, ownStmt, runFrames, "7")
		}, wrapping, Info, "(16.6%)", "Implement", ""},
		{"a twentieth", func(p *accounttest.Program) {
			round(p, ms11, ownConn, prepareFrames, "7")
			round(p, 19*ms11, ownStmt, runFrames, "7")
		}, wrapping, "", "of its time", "", ""},
		{"too short to be felt", func(p *accounttest.Program) {
			round(p, ms11/10, ownConn, prepareFrames, "7")
			round(p, ms11/10, ownStmt, runFrames, "7")
			p.Respond(5)
			p.Pass(2 * ms11)
			p.Arrive(5)
		}, wrapping, "", "of its time", "", ""},
		{"a statement is kept", func(p *accounttest.Program) { round(p, 2*ms11, ownStmt, ownRun, "8") }, wrapping, "", "waits for no statement", "", ""},
		{"the driver takes queries", func(p *accounttest.Program) {
			round(p, 2*ms11, "main.(*conn).QueryContext@conn.go:40", directFrames, "8")
		}, wrapping, "", "waits for no statement", "", ""},
		{"at the start alone", func(p *accounttest.Program) {
			if starts {
				prepared(p)
			}
			starts = false
			round(p, 5*ms11, ownStmt, ownRun, "8")
		}, wrapping, "", "of its time", "", ""},
	} {
		r := served(t, 60, c.do)
		if c.source != "" {
			withSource(r, "conn.go", c.source)
		}
		f := answers(t, r, "WT11")[0]
		state := Found
		if c.severity == "" {
			state = Fine
		}
		if shown := slices.ContainsFunc(f.Evidence, func(e Evidence) bool { return strings.Contains(e.Text, "the connection has QueryContext: it returns") }); shown != (c.name == "it has the method") {
			t.Errorf("%s: the method is shown: %v", c.name, shown)
		}
		if f.State != state || f.Severity != c.severity || !strings.Contains(f.Summary, c.says) || !strings.Contains(f.Advice, c.advises) || c.not != "" && strings.Contains(f.Advice, c.not) {
			t.Errorf("%s: %s %s: %s\nadvice: %s\nwant %q and %q", c.name, f.State, f.Severity, f.Summary, f.Advice, c.says, c.advises)
		}
	}
}

// TestWT11Wrapped: to hand queries on is of use only where the wrapped connection takes them.
func TestWT11Wrapped(t *testing.T) {
	const inner = "func (c *Conn) Prepare(q string) (driver.Stmt, error) { return nil, nil }\ntype Conn struct{ n int }\n"
	for more, want := range map[string]string{
		"":                               "Implement driver.QueryerContext (and driver.ExecerContext) on both conn and the connection that it wraps, Conn",
		"func (c *Conn) QueryContext()":  "and pass the call on to the connection that it wraps",
		"func (c *Conn) SomethingElse()": "on both conn and",
	} {
		if more != "" {
			more += " {}\n"
		}
		r := served(t, 60, func(p *accounttest.Program) {
			ask(p, 2*ms11, "main.(*Conn).Prepare@conn.go:9", ownConn, prepareFrames, "main.handle@main.go:7")
		})
		withSource(r, "conn.go", wrapping+inner+more)
		if f := answers(t, r, "WT11")[0]; !strings.Contains(f.Advice, want) {
			t.Errorf("%q: %s", more, f.Advice)
		}
	}
}

// TestWT11First: the card of such queries has what else is said of their waits on it; many queries, and the queue for
// connections, have cards of their own behind it.
func TestWT11First(t *testing.T) {
	row := &facts.UnitRow{Time: time.Second}
	other := &facts.UnitRow{Time: time.Second}
	queue := &facts.UnitRow{Time: time.Second}
	row.Site.Frame.Func = "main.roundTrip"
	queue.Cause.Kind, queue.Cause.Site = row.Kind, row.Site
	about := func(rule string, s Severity, share float64, rows ...*facts.UnitRow) Finding {
		f := seenAt(rule, s, 50, "/src/"+rule+".go", 3)
		f.Impact, f.waits = exactly(share, "share of the time of requests"), rows
		return f
	}
	first := func(s Severity) Finding {
		f := about("WT11", s, 0.5, row)
		f.Title = wt11.Title
		return f
	}
	lock := func(leaf ...string) Finding {
		f := seenAt("LK04", Warning, 90, "/src/mutex.go", 3)
		for _, name := range leaf {
			f.Evidence[0].Stack = append(f.Evidence[0].Stack, Frame{Function: name})
		}
		return f
	}
	for _, c := range []struct {
		name string
		all  []Finding
		want string
	}{
		{"the same waits", []Finding{about("WT01", Warning, 0.9, row), about("WT03", Warning, 0.7, row), first(Warning)}, "WT11(WT01 WT03)"},
		{"other waits", []Finding{about("WT03", Warning, 0.7, other), first(Warning)}, "WT03 WT11"},
		{"a remark", []Finding{about("WT03", Warning, 0.7, row), first(Info)}, "WT03 WT11"},
		{"many queries", []Finding{about("WT02", Warning, 0.9, row), first(Warning)}, "WT11 WT02"},
		{"a queue for connections", []Finding{about("LK06", Warning, 0.9, queue), first(Warning)}, "WT11 LK06"},
		{"the goroutine of the rows", []Finding{lock("sync.(*RWMutex).Lock", "database/sql.(*Rows).close", "database/sql.(*Rows).awaitDone"), first(Warning)}, "WT11(LK04)"},
		{"another lock meanwhile", []Finding{lock("sync.(*Mutex).Lock", "main.put", "database/sql.(*Rows).close", "database/sql.(*Rows).awaitDone"), first(Warning)}, "LK04 WT11"},
		{"another lock", []Finding{lock("sync.(*RWMutex).Lock", "main.put"), first(Warning)}, "LK04 WT11"},
	} {
		cards := Cards(NewInput(session.New(working("10s").Open())), c.all)
		if got := drawn(c.all, cards); got != c.want && !(c.want == "LK04 WT11" && got == "WT11 LK04") {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestWT11CPU: without a trace, a CPU profile tells of a database within the program.
func TestWT11CPU(t *testing.T) {
	const user = "runtime.main main.main:/src/main.go:5 "
	for _, c := range []struct {
		name            string
		prepares, other int64
		by              string
		state           State
		severity        Severity
	}{
		{"a third", 100, 200, "database/sql.(*DB).queryDC database/sql.withLock database/sql.(*DB).queryDC.func2", Found, Warning},
		{"a sixth", 100, 500, "database/sql.(*DB).queryDC database/sql.withLock database/sql.(*DB).queryDC.func2", Found, Info},
		{"little", 10, 500, "database/sql.(*DB).queryDC database/sql.withLock database/sql.(*DB).queryDC.func2", Fine, ""},
		{"few samples", 20, 20, "database/sql.(*DB).queryDC database/sql.withLock database/sql.(*DB).queryDC.func2", TooLittle, ""},
		{"the program prepares", 100, 200, "database/sql.(*DB).prepareDC database/sql.withLock database/sql.(*DB).prepareDC.func2 database/sql.(*driverConn).prepareLocked", Fine, ""},
	} {
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
		withProfile(r, recording.CPU, "cpu", column{user + c.by + " database/sql.ctxDriverPrepare main.(*conn).Prepare:/src/conn.go:8 main.parse:/src/conn.go:9", []int64{c.prepares}}, column{user + "main.work:/src/main.go:9", []int64{c.other}})
		if f := answers(t, r, "WT11")[0]; f.State != c.state || f.Severity != c.severity {
			t.Errorf("%s: %s %s: %s", c.name, f.State, f.Severity, f.Summary)
		}
	}
}

// TestOwnStatements: the frames of package database/sql tell its own statements from those of the program.
func TestOwnStatements(t *testing.T) {
	for frames, want := range map[string]facts.UnitStatement{prepareFrames: facts.PreparesToQuery, execPrepare: facts.PreparesToQuery, runFrames: facts.RunsStatement, execRun: facts.RunsStatement,
		closeFrames: facts.ClosesAfterQuery, execClose: facts.ClosesAfterQuery, directFrames: facts.NoStatement, ownPrepare: facts.ProgramPrepares, ownRun: facts.ProgramRuns, ownClose: facts.ProgramCloses, txPrepare: facts.ProgramPrepares,
		txClose: facts.ProgramCloses, keptPrepare: facts.NoStatement, connClose: facts.NoStatement} {
		var all []stack.Frame
		for f := range strings.SplitSeq(frames, ";") {
			name, _, _ := strings.Cut(f, "@")
			all = append(all, stack.Frame{Func: name})
		}
		if got := facts.StatementOf(all); got != want {
			t.Errorf("%s: %v, want %v", frames, got, want)
		}
	}
}

// TestWT11Counted: that a query is prepared, run and closed makes it no three calls.
func TestWT11Counted(t *testing.T) {
	for n, want := range map[int]string{2: "2 times", 6: "makes the same call to a peer 6 times, one after another, in main.(*conn).ask at conn.go:50, called in main.handle at main.go:5 in a loop: 99.9% of its time, 6.00 ms each"} {
		r := served(t, 20, func(p *accounttest.Program) {
			for range n {
				for _, way := range [][2]string{{ownConn, prepareFrames}, {ownStmt, runFrames}, {ownEnd, closeFrames}} {
					ask(p, 2*ms11, "main.(*conn).ask@conn.go:50", way[0], way[1], "main.handle@main.go:5")
				}
			}
		})
		withSource(r, "main.go", "package main\n\nfunc handle() {\n\tfor _, id := range ids {\n\t\tdb.QueryRow(text, id).Scan(&n)\n\t}\n}\n")
		if f := answers(t, r, "WT02")[0]; !strings.Contains(f.Summary, want) || (f.State == Found) != (n == 6) {
			t.Errorf("%d: %s: %s", n, f.State, f.Summary)
		}
	}
}
