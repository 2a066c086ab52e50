package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/account"
	"loupe/analysis/account/accounttest"
	"loupe/analysis/facts"
	"loupe/session"
)

// What package database/sql does for statements of the program, besides those of a sql.DB.
const (
	txPrepare   = "database/sql.ctxDriverPrepare@ctxutil.go:1;database/sql.(*driverConn).prepareLocked@sql.go:13;database/sql.(*DB).prepareDC.func2@sql.go:14;database/sql.withLock@sql.go:2;database/sql.(*DB).prepareDC@sql.go:15;database/sql.(*Tx).PrepareContext@sql.go:30;database/sql.(*Tx).Prepare@sql.go:31"
	txClose     = "database/sql.(*driverStmt).Close@sql.go:7;database/sql.(*Stmt).Close@sql.go:21"
	keptPrepare = "database/sql.ctxDriverPrepare@ctxutil.go:1;database/sql.(*driverConn).prepareLocked@sql.go:13;database/sql.(*Stmt).prepareOnConnLocked@sql.go:32;database/sql.(*Stmt).connStmt@sql.go:33;database/sql.(*Stmt).QueryContext.func1@sql.go:17"
	connClose   = "database/sql.(*driverStmt).Close@sql.go:7;database/sql.(*driverConn).finalClose.func2@sql.go:34;database/sql.(*driverConn).finalClose@sql.go:35"
)

// byHandSource is the source of a handler that prepares at its line 7.
func byHandSource(before, text, after string) string {
	return "package main\n\nconst users = \"select name from users where id=?\"\n\nfunc (s *store) handle(ctx context.Context, id, table string) error {\n\t" + before +
		"\n\tst, err := s.db.PrepareContext(ctx, " + text + ")\n\treturn st.QueryRowContext(ctx, id).Scan(&s.name)\n" + after + "}\n"
}

// at is a round trip below the line that a handler has for it.
func byHandAt(p *accounttest.Program, d time.Duration, driver, sql, line string) {
	ask(p, d, driver, sql, "main.(*store).handle@main.go:"+line)
}

// preparedByHand is a query with a statement of its own.
func preparedByHand(p *accounttest.Program) {
	byHandAt(p, 2*ms11, ownConn, ownPrepare, "7")
	byHandAt(p, 2*ms11, ownStmt, ownRun, "8")
	byHandAt(p, 2*ms11, ownEnd, ownClose, "8")
}

func TestWT11ByHand(t *testing.T) {
	starts, turn := true, 0
	unclosed := func(p *accounttest.Program) {
		byHandAt(p, 2*ms11, ownConn, ownPrepare, "7")
		byHandAt(p, 2*ms11, ownStmt, ownRun, "8")
	}
	for _, c := range []struct {
		name     string
		do       func(p *accounttest.Program)
		source   string
		severity Severity // "" is fine
		says     string
		advises  string
	}{
		{"a constant text", preparedByHand, byHandSource("", "users", ""), Warning, "prepares a statement in main.(*store).handle at main.go:7, and closes what it has prepared: 4.00 ms of 6.01 ms on average over 60 (66.6%); to run the statements, 2.00 ms, is not part of it", "Prepare the statement once and keep it"},
		{"a literal", preparedByHand, byHandSource("", "\"select 1\"", ""), Warning, "(66.6%)", "Or query directly"},
		{"a variable of the function", preparedByHand, byHandSource("q := users + \" limit 1\"", "q", ""), Warning, "(66.6%)", "Prepare the statement once"},
		{"a constant of the function", preparedByHand, byHandSource("const q = \"select 1\"", "q", ""), Warning, "(66.6%)", "Prepare the statement once"},
		{"one of two texts", preparedByHand, byHandSource("q := users; if id == \"\" { q = \"select 1\" }", "q", ""), Warning, "(66.6%)", "Prepare the statement once"},
		{"Sprintf of constants", preparedByHand, byHandSource("", "fmt.Sprintf(\"%s limit 1\", users)", ""), Warning, "(66.6%)", "Prepare the statement once"},
		{"Sprintf of the request", preparedByHand, byHandSource("q := fmt.Sprintf(\"select name from %s\", table)", "q", ""), Info, "(66.6%)", "The text of the query is made at main.go:6: one that differs is another statement"},
		{"joined with what is asked for", preparedByHand, byHandSource("", "\"select name from users where id=\"+id", ""), Info, "(66.6%)", "Have placeholders in the text"},
		{"grows", preparedByHand, byHandSource("q := users; for range ids { q += table }", "q", ""), Info, "(66.6%)", "Have placeholders in the text"},
		{"of a builder", preparedByHand, byHandSource("", "b.String()", ""), Info, "(66.6%)", "Have placeholders in the text"},
		{"of a call", preparedByHand, byHandSource("", "textFor(id)", ""), Info, "(66.6%)", "Prepare the statement once"},
		{"given by who is not known", preparedByHand, byHandSource("", "table", ""), Info, "(66.6%)", "Prepare the statement once"},
		{"a copy of rows", preparedByHand, byHandSource("", "pq.CopyIn(\"users\", \"name\")", ""), "", "statements that copy rows", ""},
		{"without the source", preparedByHand, "", Info, "(66.6%)", "Prepare the statement once"},
		{"closed without a wait", unclosed, byHandSource("", "users", "\tdefer st.Close()\n"), Warning, "at main.go:7: 2.00 ms of 4.01 ms", "Prepare the statement once"},
		{"not closed", unclosed, byHandSource("", "users", ""), Warning, "2.00 ms of 4.01 ms on average over 60 (49.9%); to run the statements, 2.00 ms, is not part of it; each statement is left at the database and in the program, and both grow: according to the source, a statement that s.db.PrepareContext returns at main.go:7 is never closed", "Prepare the statement once and keep it"},
		{"not closed, and the text differs", unclosed, byHandSource("", "\"select name from users where id=\"+id", ""), Warning, "is never closed", "Where a statement has to be prepared for one use, close it: defer st.Close()."},
		{"kept in a map", unclosed, byHandSource("", "users", "\ts.all[id] = st\n"), "", "which it may keep", ""},
		{"returned", unclosed, byHandSource("", "users", "\treturn st, nil\n"), "", "which it may keep", ""},
		{"closed by whoever gets it", unclosed, byHandSource("", "users", "\tfinish(st)\n"), "", "which it may keep", ""},
		{"waits for those who close", func(p *accounttest.Program) {
			preparedByHand(p)
			await(p, 4*ms11, "sync", "sync.(*Mutex).Lock@mutex.go:1", "database/sql.(*DB).putConn@sql.go:40", "database/sql.(*Stmt).QueryContext@sql.go:18", "main.(*store).handle@main.go:8")
		}, byHandSource("", "users", ""), Warning, "8.00 ms of 10.0 ms on average over 60 (79.9%); of that, 4.00 ms are waits for the lock of the sql.DB", "Prepare the statement once"},
		{"a lock of its own", func(p *accounttest.Program) {
			preparedByHand(p)
			await(p, 4*ms11, "sync", "sync.(*Mutex).Lock@mutex.go:1", "main.(*store).handle@main.go:8")
		}, byHandSource("", "users", ""), Warning, "4.00 ms of 10.0 ms on average over 60 (40.0%); to run", "Prepare the statement once"},
		{"a sixth of the time", func(p *accounttest.Program) {
			byHandAt(p, ms11, ownConn, ownPrepare, "7")
			byHandAt(p, 10*ms11, ownStmt, ownRun, "8")
			byHandAt(p, ms11, ownEnd, ownClose, "8")
		}, byHandSource("", "users", ""), Info, "(16.7%)", "Prepare the statement once"},
		{"a twentieth", func(p *accounttest.Program) {
			byHandAt(p, ms11/2, ownConn, ownPrepare, "7")
			byHandAt(p, 19*ms11, ownStmt, ownRun, "8")
			byHandAt(p, ms11/2, ownEnd, ownClose, "8")
		}, byHandSource("", "users", ""), "", "of its time", ""},
		{"in a transaction", func(p *accounttest.Program) {
			byHandAt(p, 2*ms11, ownConn, txPrepare, "7")
			byHandAt(p, 2*ms11, ownStmt, ownRun, "8")
			byHandAt(p, 2*ms11, ownEnd, txClose, "8")
		}, byHandSource("", "users", ""), Warning, "(66.6%)", "run tx.StmtContext(ctx, kept) in the transaction"},
		{"for each row", func(p *accounttest.Program) {
			for range 3 {
				byHandAt(p, 2*ms11, ownConn, txPrepare, "7")
				byHandAt(p, 2*ms11, ownStmt, ownRun, "8")
				byHandAt(p, 2*ms11, ownEnd, txClose, "8")
			}
		}, byHandSource("", "users", ""), Warning, "prepares 3 statements in main.(*store).handle at main.go:7", "once for the transaction, before the loop"},
		{"once for many rows", func(p *accounttest.Program) {
			byHandAt(p, 2*ms11, ownConn, txPrepare, "7")
			for range 40 {
				byHandAt(p, 2*ms11, ownStmt, ownRun, "8")
			}
			byHandAt(p, 2*ms11, ownEnd, txClose, "8")
		}, byHandSource("", "users", ""), "", "of its time", ""},
		{"at the start alone", func(p *accounttest.Program) {
			if starts {
				preparedByHand(p)
			}
			starts = false
			byHandAt(p, 2*ms11, ownStmt, ownRun, "8")
		}, byHandSource("", "users", ""), "", "of its time", ""},
		{"many at the start alone", func(p *accounttest.Program) {
			for turn++; turn == 1; turn++ {
				for range 60 {
					preparedByHand(p)
				}
			}
			byHandAt(p, 2*ms11, ownStmt, ownRun, "8")
		}, byHandSource("", "users", ""), "", "of its time", ""},
		{"kept, and prepared on another connection", func(p *accounttest.Program) {
			byHandAt(p, 2*ms11, ownConn, keptPrepare, "8")
			byHandAt(p, 2*ms11, ownStmt, ownRun, "8")
		}, byHandSource("", "users", ""), "", "waits for no statement", ""},
	} {
		r := served(t, 60, c.do)
		if c.source != "" {
			withSource(r, "main.go", c.source)
		}
		f := answers(t, r, "WT11")[0]
		state := Found
		if c.severity == "" {
			state = Fine
		}
		if f.State != state || f.Severity != c.severity || !strings.Contains(f.Summary, c.says) || !strings.Contains(f.Advice, c.advises) {
			t.Errorf("%s: %s %s: %s\nadvice: %s\nwant %q and %q", c.name, f.State, f.Severity, f.Summary, f.Advice, c.says, c.advises)
		}
		if f.State == Found && f.Evidence[0].Line != 7 {
			t.Errorf("%s: the first line is %d", c.name, f.Evidence[0].Line)
		}
	}
}

// TestWT11Session: a statement that needs a temporary table, a setting of its connection or a database of its own cannot be
// prepared at the start of the program; one that only stands beside such queries can.
func TestWT11Session(t *testing.T) {
	const start, direct = "prepared at the start (db.Prepare), and run tx.StmtContext", "Run it directly"
	inTx := func(p *accounttest.Program) {
		byHandAt(p, 2*ms11, ownConn, txPrepare, "7")
		byHandAt(p, 2*ms11, ownStmt, ownRun, "8")
		byHandAt(p, 2*ms11, ownEnd, txClose, "8")
	}
	for _, c := range []struct {
		name, before, text, after string
		advises                   string
	}{
		{"nothing", "", "users", "", start},
		{"a temporary table", "tx.Exec(`create temp table t_in (id int)`)", "`insert into t_in values (?)`", "", direct},
		{"of another form", "tx.ExecContext(ctx, `CREATE TEMPORARY TABLE IF NOT EXISTS t_in (id int)`)", "`insert into t_in values (?)`", "", direct},
		{"of SQL Server", "tx.Exec(`create table #t (id int)`)", "`insert into #t values (?)`", "", direct},
		{"for another statement", "tx.Exec(`create temp table t_in (id int)`)", "users", "", start},
		{"another one with the name in it", "tx.Exec(`create temp table t (id int)`)", "`insert into t_in values (?)`", "", start},
		{"a table that stays", "tx.Exec(`create table if not exists t_in (id int)`)", "`insert into t_in values (?)`", "", start},
		{"made by a function", "stage(tx)", "`insert into t_in values (?)`", "}\n\nfunc stage(tx *sql.Tx) {\n\ttx.Exec(`create temp table t_in (id int)`)\n", direct},
		{"made by a function that has no transaction", "stage(id)", "`insert into t_in values (?)`", "}\n\nfunc stage(id string) {\n\tother.Exec(`create temp table t_in (id int)`)\n", start},
		{"the schema", "tx.Exec(`set local search_path to ` + id)", "users", "", direct},
		{"a time-out", "tx.Exec(`set local statement_timeout = 100`)", "users", "", start},
		{"a database of its own", "db, _ := sql.Open(`own`, id); defer db.Close()", "users", "", direct},
		{"one that is kept", "db, _ := sql.Open(`own`, id); s.all[id] = db", "users", "", start},
	} {
		r := served(t, 60, inTx)
		withSource(r, "main.go", byHandSource(c.before, c.text, c.after))
		f := answers(t, r, "WT11")[0]
		severity := Warning
		if c.advises == direct {
			severity = Info
		}
		if f.State != Found || f.Severity != severity || !strings.Contains(f.Advice, c.advises) {
			t.Errorf("%s: %s %s: %s\nadvice: %s %q", c.name, f.State, f.Severity, f.Summary, f.Advice, f.Doubts)
		}
	}
}

// TestWT11Often: who prepares once may keep the statement.
func TestWT11Often(t *testing.T) {
	for _, c := range []struct {
		name           string
		unit           account.Unit
		n, made, units int64
		want           bool
	}{
		{"each request", account.Request, 50, 50, 50, true},
		{"few requests", account.Request, 50, 20, 20, false},
		{"one request, for all", account.Request, 50, 50, 1, false},
		{"main, for each row", account.Main, 1, 1000, 1, true},
		{"main, at the start", account.Main, 1, 3, 1, false},
		{"each job", account.Job, 50, 50, 50, true},
		{"once in each worker", account.Worker, 50, 50, 50, false},
		{"workers, for each row", account.Worker, 4, 400, 4, true},
		{"few workers, twice", account.Worker, 4, 8, 4, false},
	} {
		g := &account.Group{Unit: c.unit}
		g.Wall.Count = c.n
		p := byHand{made: c.made, units: c.units}
		if got := p.often(wt11, g); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestWT11ByHandFirst: what is said of the waits for the lock that is held while statements are closed is under the card.
func TestWT11ByHandFirst(t *testing.T) {
	row, queue := &facts.UnitRow{Time: time.Second, Kind: account.Answer}, &facts.UnitRow{Time: time.Second, Kind: account.Lock}
	lock := func(leaf ...string) Finding {
		f := seenAt("LK01", Warning, 90, "/src/mutex.go", 3)
		for _, name := range append([]string{"sync.(*Mutex).Lock"}, leaf...) {
			f.Evidence[0].Stack = append(f.Evidence[0].Stack, Frame{Function: name})
		}
		return f
	}
	first := func(s Severity, rows ...*facts.UnitRow) Finding {
		f := seenAt("WT11", s, 50, "/src/WT11.go", 3)
		f.Title, f.Impact, f.waits = byHandTitle, exactly(0.5, "share of the time of requests"), rows
		return f
	}
	for _, c := range []struct {
		name string
		all  []Finding
		want string
	}{
		{"the lock of the DB", []Finding{lock("database/sql.(*DB).putConn", "main.put"), first(Warning, row, queue)}, "WT11(LK01)"},
		{"the goroutine of the rows", []Finding{lock("database/sql.(*Rows).close", "database/sql.(*Rows).awaitDone"), first(Warning, row, queue)}, "WT11(LK01)"},
		{"no waits for it in requests", []Finding{lock("database/sql.(*DB).putConn", "main.put"), first(Warning, row)}, "LK01 WT11"},
		{"a lock of the program", []Finding{lock("main.put"), first(Warning, row, queue)}, "LK01 WT11"},
		{"a remark", []Finding{lock("database/sql.(*DB).putConn", "main.put"), first(Info, row, queue)}, "LK01 WT11"},
	} {
		cards := Cards(NewInput(session.New(working("10s").Open())), c.all)
		if got := drawn(c.all, cards); got != c.want && !(c.want == "LK01 WT11" && got == "WT11 LK01") {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestWT11Skips: the lines of the connection at which it takes no query are named, unless something may stand in between.
func TestWT11Skips(t *testing.T) {
	const method = "func (c *conn) QueryContext(args []driver.NamedValue) (driver.Rows, error) {\n\tif len(args) > 0 {\n\t\treturn nil, driver.ErrSkip\n\t}\n\treturn c.ask(args)\n}\n"
	const own = "package main\nimport \"database/sql/driver\"\ntype conn struct{ n int }\n\n\n\n\nfunc (c *conn) Prepare(q string) (driver.Stmt, error) { return nil, nil }\n"
	for _, c := range []struct{ name, source, want string }{
		{"its own", own + method, "QueryContext at conn.go:11 if len(args) > 0. Send the query with its arguments in one message there"},
		{"a wrapper", wrapping + method, "Find out why"},
		{"a type that hides it", own + method + "type counted struct{ driver.Conn }\n", "If counted wraps the connection here"},
		{"not seen in it", own + strings.Replace(method, "return nil, driver.ErrSkip", "return nil, errBusy", 1), "Find out why"},
	} {
		r := served(t, 60, prepared)
		withSource(r, "conn.go", c.source)
		if f := answers(t, r, "WT11")[0]; !strings.Contains(f.Advice, c.want) {
			t.Errorf("%s: %s", c.name, f.Advice)
		}
	}
}
