package insight

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/recording"
	"loupe/value/stack"
)

// TestOwnTransactions: statements that a loop executes in a database within the program, each of which is committed by itself, are told; those of a
// transaction, batches, tries, statements that read, and those of an ORM or a server are not. What tells somebody of each is a remark.
func TestOwnTransactions(t *testing.T) {
	const (
		lite   = "modernc.org/libc.___syscall_cp@l.go:1;modernc.org/libc.Xfsync@l.go:2;modernc.org/sqlite/lib._vdbeCommit@s.go:3;modernc.org/sqlite.(*stmt).ExecContext@q.go:4;"
		write  = "modernc.org/libc.___syscall_cp@l.go:1;modernc.org/libc.Xpwrite@l.go:2;modernc.org/sqlite/lib._pagerStress@s.go:3;modernc.org/sqlite.(*stmt).ExecContext@q.go:4;"
		inC    = "github.com/mattn/go-sqlite3._Cfunc__sqlite3_step_row_internal@c.go:1;github.com/mattn/go-sqlite3.(*SQLiteStmt).exec@c.go:2;"
		exec   = "database/sql.(*DB).ExecContext@sql.go:5;database/sql.(*DB).Exec@sql.go:6"
		stmt   = "database/sql.(*Stmt).ExecContext@sql.go:5;database/sql.(*Stmt).Exec@sql.go:6"
		insert = "\"INSERT INTO words VALUES (?)\""
		direct = "for _, w := range words {\ndb.Exec(" + insert + ", w) // A\n}"
	)
	prepared := func(by string) string {
		return "s, _ := " + by + ".Prepare(" + insert + ")\nfor _, w := range words {\ns.Exec(w) // A\nn++\n}"
	}
	for _, c := range []struct {
		name, body, leaf string
		severity         Severity // "" is not told
		says, advises    string
	}{
		{"a prepared statement", prepared("db"), lite + stmt, Warning, "each INSERT of the loop at a.go:9 is a transaction of its own, which the database (modernc.org/sqlite) commits to its file before the next one begins; of the time in these system calls, 100% is in commits and 100% in fsync", "prepare the statement on it"},
		{"a statement", direct, lite + exec, Warning, "each INSERT of the loop", "execute the statements of the loop on it"},
		{"in C", direct, inC + exec, Warning, "each INSERT of the loop", "Begin one transaction before the loop"},
		{"in C, prepared", prepared("db"), inC + stmt, Warning, "each INSERT of the loop", "prepare the statement on it"},
		{"a statement that the source does not show", "for _, w := range words {\ndb.Exec(w) // A\n}", lite + exec, Warning, "the statements of the loop at a.go:8 are in no transaction that the program has begun: what each of them changes, the database (modernc.org/sqlite) commits", "Begin one transaction"},
		{"a line of a helper", "for _, w := range words {\nsave(w)\n}\n}\n\nfunc save(w string) {\ndb.Exec(" + insert + ", w) // A", lite + exec, "", "", ""},
		{"told to a peer", "for _, w := range words {\ndb.Exec(" + insert + ", w) // A\nconn.Write(ok)\n}", lite + exec, Info, "each INSERT", "only then do that for each (group commit)"},
		{"what comes through a channel", "for w := range queue {\ndb.Exec(" + insert + ", w) // A\n}", lite + exec, Warning, "each INSERT", "Gather what has come"},

		{"a transaction, in C", "tx, _ := db.Begin()\n" + prepared("tx"), inC + stmt, "", "", ""},
		{"a transaction that spills its cache", "tx, _ := db.Begin()\n" + prepared("tx"), write + stmt, "", "", ""},
		{"a transaction, by its type", "for _, w := range words {\ntx.Exec(" + insert + ", w) // A\n}", inC + strings.ReplaceAll(exec, "(*DB)", "(*Tx)"), "", "", ""},
		{"begun by a statement, in C", "db.Exec(\"BEGIN\")\n" + direct, inC + exec, "", "", ""},
		{"commits of several", "for _, w := range words {\ndb.Exec(\"COMMIT\") // A\n}", lite + exec, "", "", ""},
		{"batches", "for part := range slices.Chunk(words, 50) {\ndb.Exec(" + insert + ", part) // A\n}", lite + exec, "", "", ""},
		{"tries", "for range 10 {\n_, err := db.Exec(" + insert + ", words[0]) // A\nif err == nil {\nbreak\n}\n}", lite + exec, "", "", ""},
		{"no loop", "db.Exec(" + insert + ", words[0]) // A", lite + exec, "", "", ""},
		{"it reads", "for _, w := range words {\ndb.Query(\"SELECT a FROM words WHERE w = ?\", w) // A\n}", lite + strings.ReplaceAll(exec, "Exec", "Query"), "", "", ""},
		{"a statement that reads, in C", "for _, w := range words {\ndb.Exec(\"SELECT a FROM words WHERE w = ?\", w) // A\n}", inC + exec, "", "", ""},
		{"an ORM", "for _, w := range words {\norm.Exec(" + insert + ", w) // A\n}", lite + exec + ";gorm.io/gorm.(*DB).Exec@o.go:7", "", "", ""},
		{"a server", direct, "github.com/lib/pq.(*conn).send@pq.go:1;" + exec, "", "", ""},
	} {
		source := "package main\n\nimport (\"database/sql\"; \"net\"; \"slices\")\n\nvar ( n int; words []string; ok []byte )\n\nfunc handle(db *sql.DB, tx *sql.Tx, conn net.Conn, queue chan string, orm *odd.DB) {\n" + c.body + "\n}\n"
		at := fmt.Sprintf("main.handle@a.go:%d", sourceLine(source, "A"))
		r := served(t, 20, func(p *accounttest.Program) {
			for range 20 {
				p.Call(2*time.Millisecond, accounttest.In(append(strings.Split(c.leaf, ";"), at)...))
			}
		})
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte(source))
		f := answers(t, r, "WT02")[0]
		told := f.Title == ownTransactionsTitle
		if told != (c.severity != "") || told && (f.Severity != c.severity || !strings.Contains(f.Summary, c.says) || !strings.Contains(f.Advice, c.advises)) {
			t.Errorf("%s: %s %s %q: %s\nadvice: %s", c.name, f.State, f.Severity, f.Title, f.Summary, f.Advice)
		}
		if unseen := strings.Contains(fmt.Sprint(f.Doubts), "is not seen"); told && unseen != strings.HasPrefix(c.name, "in C") {
			t.Errorf("%s: %q", c.name, f.Doubts)
		}
	}
}

// TestLineReached: how often a line was come to is that of its block, less the turns that have ended before; what was not counted is not known.
func TestLineReached(t *testing.T) {
	const text = "package main\n\nfunc f(src source) {\n\tfor {\n\t\te, err := src.next()\n\t\tif err != nil {\n\t\t\treturn\n\t\t}\n\t\tif _, err := save(e); err != nil { // A\n\t\t\treturn\n\t\t}\n\t}\n\tg(func() {\n\t\tg(nil) // B\n\t})\n\tg(func() {\n\t\tg(func() { g(nil) }) // C\n\t})\n}\n"
	c := sourceOf(text)
	if _, ok := lineReached(c, stack.Frame{Func: "main.f", File: "a.go", Line: sourceLine(text, "A")}); ok {
		t.Error("known without counts")
	}
	c.turns = countedBlocks(c, func(line, _ int) int64 {
		return map[int]int64{3: 1, 4: 5001, 6: 1, 9: 0, 13: 7, 16: 8, 17: 900}[line]
	})
	for _, want := range []struct {
		fn, mark string
		n        int64
	}{{"main.f", "A", 5000}, {"main.f.func1", "B", 7}, {"main.f.func2", "C", 8}, {"main.f.func2.1", "C", 900}} {
		if n, ok := lineReached(c, stack.Frame{Func: want.fn, File: "a.go", Line: sourceLine(text, want.mark)}); !ok || n != want.n {
			t.Errorf("%s: %d, %v", want.mark, n, ok)
		}
	}
}
