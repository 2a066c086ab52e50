package insight

import (
	"strings"
	"testing"

	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestGroupCommit: where a lock is held while a database of the program commits what one request writes, the advice is to commit for several at once; not where several things are
// committed already, where something is read, and where the database is a server.
func TestGroupCommit(t *testing.T) {
	const head = "package main\n\nimport (\n\t\"database/sql\"\n\t\"sync\"\n)\n\ntype svc struct {\n\tmu sync.Mutex\n\tdb *sql.DB\n\tbolt *DB\n\tn int\n}\n\nfunc (s *svc) do(v string, all []string) error {\n\ts.mu.Lock() // lock\n\tdefer s.mu.Unlock()\n"
	const (
		begin  = "\ttx, err := s.db.Begin()\n\tif err != nil {\n\t\treturn err\n\t}\n"
		insert = "\tif _, err := tx.Exec(`INSERT INTO t (v) VALUES (?)`, v); err != nil {\n\t\treturn err\n\t}\n"
		commit = "\treturn tx.Commit() // call\n"
		lite   = "modernc.org/libc.Xfsync modernc.org/sqlite/lib.Xsqlite3_step modernc.org/sqlite.(*tx).Commit database/sql.(*Tx).Commit"
		exec   = "modernc.org/libc.Xfsync modernc.org/sqlite/lib.Xsqlite3_step modernc.org/sqlite.(*conn).ExecContext database/sql.(*DB).Exec"
		bolt   = "syscall.Fdatasync go.etcd.io/bbolt.(*Tx).Commit go.etcd.io/bbolt.(*DB).Update"
	)
	for _, c := range []struct {
		name, body, calls string
		want              string // of the advice; empty where it is another one
	}{
		{"one insert in one transaction", begin + insert + commit, lite, "Commit several requests together (group commit)"},
		{"a statement by itself", "\t_, err := s.db.Exec(`INSERT INTO t (v) VALUES (?)`, v) // call\n\treturn err\n", exec, "commit once (now at main.(*svc).do at a.go:18)"},
		{"bolt", "\treturn s.bolt.Update(func(tx *Tx) error { // call\n\t\treturn tx.Bucket(v).Put(v, v)\n\t})\n", bolt, "DB.Batch does that"},
		{"tried again", "\tfor range 3 {\n" + strings.Replace(begin+insert, "return err", "continue", 2) + "\t\tif tx.Commit() == nil { // call\n\t\t\treturn nil\n\t\t}\n\t}\n\treturn nil\n", lite, "only then answer them"},
		{"what is asked decides", begin + "\tvar n int\n\ttx.QueryRow(`SELECT n FROM t WHERE v = ?`, v).Scan(&n)\n\tif n > 9 {\n\t\treturn nil\n\t}\n" + insert + commit, lite, "Commit several requests together"},

		{"all in one transaction", begin + "\tfor _, v := range all {\n" + insert + "\t}\n" + commit, lite, ""},
		{"all in one function of bolt", "\treturn s.bolt.Update(func(tx *Tx) error { // call\n\t\tfor _, v := range all {\n\t\t\ttx.Bucket(v).Put(v, v)\n\t\t}\n\t\treturn nil\n\t})\n", bolt, ""},
		{"a statement of a transaction", begin + strings.Replace(insert, "err != nil {", "err != nil { // call", 1) + strings.Replace(commit, " // call", "", 1), strings.Replace(exec, "DB", "Tx", 1), ""},
		{"a query", "\treturn s.db.QueryRow(`SELECT n FROM t WHERE v = ?`, v).Scan(&s.n) // call\n", strings.Replace(exec, "(*DB).Exec", "(*Row).Scan", 1), ""},
		{"a server", begin + insert + commit, "net.(*conn).Read github.com/lib/pq.(*conn).Commit database/sql.(*Tx).Commit", ""},
	} {
		text := head + c.body + "}\n"
		at := func(mark string) stack.Frame {
			return stack.Frame{Func: "main.(*svc).do", File: "a.go", Line: 1 + strings.Count(text[:strings.Index(text, mark)], "\n")}
		}
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1")
		withSource(r, "a.go", text)
		in := NewInput(session.New(r.Open()))
		var work []stack.Frame
		for _, name := range strings.Fields(c.calls) {
			work = append(work, stack.Frame{Func: name})
		}
		h := heldAcrossCall{at: at("// lock"), waiter: []stack.Frame{{Func: "sync.(*Mutex).Lock"}, at("// lock")}, work: append(work, at("// call"))}
		f := Finding{Severity: Warning}
		tellLock(in, h).tell(&f)
		if told := strings.Contains(f.Advice, "group commit)"); told != (c.want != "") && !(c.want == "" && strings.Contains(f.Advice, syncAdvice)) || !strings.Contains(f.Advice, c.want) {
			t.Errorf("%s: %s", c.name, f.Advice)
		}
		h.background = true
		if commits := tellLock(in, h).commits; commits {
			t.Errorf("%s: told of a goroutine in the background", c.name)
		}
	}
}
