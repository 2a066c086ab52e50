package insight

import "testing"

// TestStatementTold: what may tell somebody that a statement has stored something is found: it leaves the program, or is kept where others read it. What only
// logs, counts for the function itself or says what comes next is none.
func TestStatementTold(t *testing.T) {
	const (
		head = "package main\n\nimport (`database/sql`; `fmt`; `io`; `log`; `os`; `bufio`; `strings`; `sync`; `sync/atomic`; `net`)\n\nvar ( db *sql.DB; done atomic.Int64; mark *os.File; total int; mu sync.Mutex; wg sync.WaitGroup )\n\n"
		exec = "if _, err := db.Exec(`INSERT`, e); err != nil { /*1*/\nreturn err\n}\n"
	)
	loop := func(before, after string) string {
		return "func f(evs []string) error {\nn := 0\nfor i, e := range evs {\n" + before + exec + after + "}\nreturn nil\n}\n"
	}
	for _, c := range []struct {
		name, body, want string
		next             bool
	}{
		{"nothing", loop("", ""), "", false},
		{"it counts", loop("", "n++\n"), "", false},
		{"it logs", loop("", "log.Printf(`%d`, i)\n"), "", false},
		{"on stderr", loop("", "fmt.Fprintf(os.Stderr, `%d`, i)\n"), "", false},
		{"on stdout", loop("", "fmt.Printf(`ACK %d`, i)\n"), "fmt.Printf", false},
		{"on stdout, by a helper", loop("", "done.Add(0)\nAdd(i)\n") + "func Add(i int) { fmt.Println(i) }\n", "Add", false},
		{"a helper that counts", loop("", "Add(i)\n") + "func Add(i int) { total += i }\n", "", false},
		{"an empty line on stdout", loop("", "fmt.Println()\n") + "", "fmt.Println", false},
		{"another statement and an answer", "func f(evs []string, c net.Conn) {\nfor _, e := range evs {\n" + exec + "db.Exec(`UPDATE`)\nc.Write(ok)\n}\n}\n", "c.Write", false},
		{"another statement", loop("", "db.Exec(`UPDATE`, i)\n"), "", false},
		{"if it failed", loop("", "if err != nil {\nfmt.Println(err)\n}\n"), "", false},
		{"if somebody waits", "func f(evs []ev) {\nfor _, e := range evs {\n" + exec + "if e.reply != nil {\ne.reply <- 1\n}\n}\n}\n", "a send on e.reply", false},

		{"an atomic that another one reads", loop("", "done.Store(int64(i + 1))\n") + "func tell() { fmt.Println(done.Load()) }\n", "a store to done", false},
		{"an atomic that a goroutine reads", "func f(evs []string) error {\nvar at atomic.Int64\ngo func() { tell(at.Load()) }()\nfor i, e := range evs {\n" + exec + "at.Store(int64(i))\n}\nreturn nil\n}\n", "a store to at", false},
		{"an atomic that nobody reads", loop("", "done.Store(int64(i + 1))\n"), "", false},
		{"an atomic that is only reset", loop("", "done.Store(int64(i + 1))\n") + "func reset() { done.Store(0) }\n", "", false},
		{"a function of package atomic", "var at int64\n" + loop("", "atomic.StoreInt64(&at, int64(i))\n") + "func tell() { fmt.Println(atomic.LoadInt64(&at)) }\n", "a store to &at", false},
		{"a variable that others read", loop("", "mu.Lock()\ntotal = i\nmu.Unlock()\n") + "func tell() int { return total }\n", "a store to total", false},
		{"a variable that a constant is put into", loop("", "total = 0\n") + "func tell() int { return total }\n", "", false},
		{"a field that others read", "type T struct{ at int; db *sql.DB }\nfunc (t *T) tell() int { return t.at }\nfunc (t *T) f(evs []string) error {\nfor i, e := range evs {\n" + exec + "t.at = i\n}\nreturn nil\n}\n", "a store to t.at", false},
		{"a field that nobody reads", "type T struct{ at int; db *sql.DB }\nfunc f(t *T, evs []string) error {\nfor i, e := range evs {\n" + exec + "t.at = i\n}\nreturn nil\n}\n", "", false},
		{"a field of the item", "type T struct{ safe bool }\nfunc tell(t *T) bool { return t.safe }\nfunc f(evs []*T) error {\nfor _, e := range evs {\n" + exec + "e.safe = true\n}\nreturn nil\n}\n", "a store to e.safe", false},
		{"what the caller gave", "func f(evs []string, at *int) error {\nfor i, e := range evs {\n" + exec + "*at = i\n}\nreturn nil\n}\n", "a store to *at", false},
		{"an error that others read", "var lastErr error\n" + loop("", "lastErr = nil\n") + "func tell() error { return lastErr }\n", "", false},
		{"a group that somebody waits for", "func f(evs []string) {\nfor _, e := range evs {\n" + exec + "wg.Done()\n}\n}\nfunc end() { wg.Wait() }\n", "a store to wg", false},

		{"a mark of what was done, at the top", "func f() {\nn := 0\nfor i := 0; i < 9; i++ {\nput(n)\n" + exec + "n = i + 1\n}\n}\nfunc put(n int) { fmt.Fprintf(mark, `%d`, n) }\n", "put", true},
		{"a mark of how many turns there were", "func f() {\nfor i := 0; i < 9; i++ {\nfmt.Fprintf(mark, `%d`, i)\n" + exec + "}\n}\n", "fmt.Fprintf", true},
		{"a store of that", loop("done.Store(int64(i))\n", "") + "func tell() int64 { return done.Load() }\n", "a store to done", true},
		{"what comes next, at the top", loop("fmt.Println(`store`, e, i)\n", "n++\n"), "", false},
		{"an answer of before, at the top", loop("fmt.Println(`stored`, n)\n", "n++\n"), "fmt.Println", true},
		{"the text of the statement", "func f() {\nn := 0\nfor i := 0; i < 9; i++ {\nvar sb strings.Builder\nfmt.Fprintf(&sb, `%d`, n)\n" + exec + "n = i\n}\n}\n", "", false},
		{"the loop of the tries is not the one", "func f(evs []string) error {\nfor i, e := range evs {\nfor try := 0; try < 3; try++ {\n_, err := db.Exec(`INSERT`, e) /*1*/\nif err == nil {\nbreak\n}\n}\nfmt.Println(i)\n}\nreturn nil\n}\n", "fmt.Println", false},
		{"behind the loop", "func f(evs []string) error {\nfor _, e := range evs {\n" + exec + "}\nfmt.Println(len(evs))\nreturn nil\n}\n", "", false},
	} {
		text := head + c.body
		e, next, ok := statementTold(sourceOf(text), numbered(text))
		if e.name != c.want || ok != (c.want != "") || next != c.next {
			t.Errorf("%s: %+v, %v, want %q, %v", c.name, e, next, c.want, c.next)
		}
	}
}

// TestSyncTold: what follows a sync is told as what follows a statement is; but what is written to a file before a sync is what that is for.
func TestSyncTold(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"an answer on stdout", "for sc.Scan() {\ndb.Update(func(tx *Tx) error { return tx.Put(sc.Text()) }) /*1*/\nseen = append(seen, sc.Text())\nfmt.Println(`+OK`, sc.Text())\n}", "fmt.Println"},
		{"an answer on stdout, behind several lines", "for sc.Scan() {\nif err := db.Update(func(tx *Tx) error { /*1*/\nfmt.Println(`storing`)\nreturn tx.Put(sc.Text())\n}); err != nil {\nlog.Fatal(err)\n}\nfmt.Println(`+OK`, sc.Text())\n}", "fmt.Println"},
		{"no answer", "for sc.Scan() {\ndb.Update(func(tx *Tx) error { return tx.Put(sc.Text()) }) /*1*/\nseen = append(seen, sc.Text())\n}", ""},
		{"the data itself", "at := 0\nfor i, x := range all {\nfmt.Fprintf(w, `%d`, at)\nw.WriteAt(x, i)\nw.Sync() /*1*/\nat += len(x)\n}", ""},
	} {
		text := "package main\n\nimport (`fmt`; `log`; `os`; `bufio`)\n\nfunc f(sc *bufio.Scanner, w *os.File, all [][]byte) {\nvar seen []string\n" + c.body + "\n}\n"
		if e, _, _ := syncTold(sourceOf(text), numbered(text)); e.name != c.want {
			t.Errorf("%s: %+v, want %q", c.name, e, c.want)
		}
	}
}
