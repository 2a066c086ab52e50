package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestUnclosed: what is kept until it is closed, and never is, is told as that; what is closed, returned, stored or handed on is not, nor
// what the collector closes.
func TestUnclosed(t *testing.T) {
	const prepare, stmt = "database/sql.(*DB).PrepareContext", "\tst, err := s.db.PrepareContext(ctx, q)"
	for _, c := range []struct {
		name, library, line, rest string
		advises                   string // "" is something else
		callers                   string // more of the source, whose function calls the first
	}{
		{"a statement", prepare, stmt, "return st.QueryRowContext(ctx).Scan(&s.n)", "Close it on every path (defer st.Close(), behind the check of the error): until then the sql.DB keeps it, and the database too. Or prepare it once", ""},
		{"a statement that is checked and used in a closure", prepare, stmt, "if st == nil {\nreturn\n}\nfunc() { st.Exec() }()", "defer st.Close()", ""},
		{"dropped", prepare, "\t_, err := s.db.PrepareContext(ctx, q)", "return err", "defer what it returns.Close()", ""},
		{"of a connection", "database/sql.(*Conn).PrepareContext", "\tst, err := s.conn.PrepareContext(ctx, q)", "st.Exec()", "its connection keeps it", ""},
		{"a transaction", "database/sql.(*DB).BeginTx", "\ttx, err := s.db.BeginTx(ctx, nil)", "tx.Exec(q)", "End it on every path (Commit, or defer tx.Rollback(), which does nothing after that)", ""},
		{"a response", "net/http.(*Client).Do", "\tresp, err := s.c.Do(req)", "if resp.StatusCode != 200 {\nreturn\n}\njson.NewDecoder(resp.Body).Decode(&s.n)", "defer resp.Body.Close()", ""},
		{"a client", "google.golang.org/grpc.NewClient", "\tcc, err := grpc.NewClient(a)", "cc.Invoke(ctx)", "make one at the start and use it for all", ""},
		{"the caller never closes it", prepare, stmt, "return st, err", "defer x.Close()", "func (s *store) g() {\nx, err := s.f(ctx, q)\nx.Exec()\n}"},
		{"the caller of one that returns the call", prepare, "\treturn s.db.PrepareContext(ctx, q)", "", "defer x.Close()", "func (s *store) g() {\nx, err := s.f(ctx, q)\nx.Exec()\n}"},
		{"the caller closes it", prepare, stmt, "return st, err", "", "func (s *store) g() {\nx, err := s.f(ctx, q)\ndefer x.Close()\nx.Exec()\n}"},
		{"nobody knows the caller", prepare, stmt, "return st, err", "", ""},
		{"closed", prepare, stmt, "defer st.Close()", "", ""},
		{"closed in a closure", prepare, stmt, "defer func() { st.Close() }()", "", ""},
		{"its Close is kept", prepare, stmt, "s.ends = append(s.ends, st.Close)", "", ""},
		{"stored", prepare, stmt, "s.st = st", "", ""},
		{"in a map", prepare, stmt, "s.all[q] = st", "", ""},
		{"in a literal", prepare, stmt, "return &query{st: st}", "", ""},
		{"handed on", prepare, stmt, "finish(st)", "", ""},
		{"sent", prepare, stmt, "s.out <- st", "", ""},
		{"a field", prepare, "\ts.st, err = s.db.PrepareContext(ctx, q)", "", "", ""},
		{"a variable of the package", prepare, "\tkept, err = s.db.PrepareContext(ctx, q)", "", "", ""},
		{"of a transaction, which ends it", "database/sql.(*Tx).PrepareContext", "\tst, err := s.tx.PrepareContext(ctx, q)", "st.Exec()", "", ""},
		{"a transaction that is ended", "database/sql.(*DB).BeginTx", "\ttx, err := s.db.BeginTx(ctx, nil)", "tx.Commit()", "", ""},
		{"a response that is read to its end", "net/http.(*Client).Do", "\tresp, err := s.c.Do(req)", "io.ReadAll(resp.Body)", "", ""},
		{"a response whose body somebody has", "net/http.(*Client).Do", "\tresp, err := s.c.Do(req)", "return parse(resp.Body)", "", ""},
		{"a response that is closed", "net/http.(*Client).Do", "\tresp, err := s.c.Do(req)", "defer resp.Body.Close()", "", ""},
		{"a file, which the collector closes", "os.Open", "\tf, err := os.Open(q)", "f.Read(b)", "", ""},
		{"another function of the name", "shop/cache.(*DB).PrepareContext", stmt, "st.Exec()", "", ""},
	} {
		r := recordingtest.New("title x")
		source := "package main\n\nfunc (s *store) f(ctx context.Context, q string) (any, error) {\n" + c.line + "\n" + c.rest + "\n}\n" + c.callers + "\n\nvar kept *sql.Stmt\n"
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte(source))
		in := NewInput(session.New(r.Open()))
		at := stack.Frame{Func: "main.(*store).f", File: "a.go", Line: 4}
		frames := []stack.Frame{{Func: "runtime.newobject", File: "malloc.go", Line: 1}, {Func: c.library, File: "library.go", Line: 1}, at}
		if c.callers != "" {
			frames = append(frames, stack.Frame{Func: "main.(*store).g", File: "a.go", Line: 1 + strings.Count(source[:strings.Index(source, "x, err :=")], "\n")})
		}
		f := Finding{}
		tellHolder(in, &f, at, frames, "otherwise")
		switch told := strings.Contains(f.Summary, "is never closed"); {
		case c.advises == "" && told:
			t.Errorf("%s: %s: %s", c.name, f.Summary, f.Advice)
		case c.advises != "" && (!told || !strings.Contains(f.Advice, c.advises)):
			t.Errorf("%s: %s: %s\nwant %q", c.name, f.Summary, f.Advice, c.advises)
		}
	}
}
