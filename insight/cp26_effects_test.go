package insight

import "testing"

// TestEffectOfCall: what a call does besides returning something is found through methods of interfaces and other
// names; what stays within it is none.
func TestEffectOfCall(t *testing.T) {
	for _, c := range []struct {
		name, source string
		given        bool
		want         string
	}{
		{"a sum", "func call(xs []int) int {\nsum := 0\nfor _, x := range xs {\nsum += x\n}\nreturn sum\n}", true, ""},
		{"a value of its own", "type parser struct{ at int }\nfunc (p *parser) next() int { p.at++; return p.at }\nfunc call(s string) int {\np := &parser{}\nreturn p.next()\n}", true, ""},
		{"a map of its own", "func call(s string) map[string]int {\nm := map[string]int{}\nm[s] = 1\nreturn m\n}", true, ""},
		{"a slice of its own, by a helper", "func fill(xs []int) { xs[0] = 1 }\nfunc call(s string) []int {\nxs := make([]int, 1)\nfill(xs)\nreturn xs\n}", true, ""},
		{"the address of a value that it is given", "func call(v reflect.Value) reflect.Value { p := v; if p.CanAddr() { p = p.Addr() }; return p.MethodByName(\"x\") }", true, ""},
		{"parts of one", "func call(v reflect.Value) int { if v.Kind() == reflect.Pointer { v = v.Elem() }; return v.Field(0).Index(1).NumField() + v.MapIndex(key).Len() }", true, ""},
		{"a part of one that is set", "func call(v reflect.Value, n int64) bool { v.Elem().Field(0).SetInt(n); return true }", true, "changes v.Elem().Field(0) by v.Elem().Field(0).SetInt"},
		{"one that is set", "func call(v reflect.Value, n int64) bool { v.SetInt(n); return true }", true, "changes v by v.SetInt"},
		{"text in memory", "func call(s string) string {\nvar b strings.Builder\nb.WriteString(s)\nreturn b.String()\n}", true, ""},
		{"a WaitGroup", "func call(s string) int {\nvar wg sync.WaitGroup\nwg.Add(1)\nwg.Wait()\nreturn 1\n}", true, ""},
		{"it waits for an end", "func call(ctx context.Context) bool {\nselect {\ncase <-ctx.Done():\nreturn true\ndefault:\n}\nreturn false\n}", true, ""},
		{"a variable of the package", "var n int\nfunc call(s string) int { n++; return 1 }", false, "changes n"},
		{"behind a pointer to it", "type world struct{ t int }\nvar w world\nfunc call(s string) int {\np := &w\np.t++\nreturn 1\n}", false, "changes p.t"},
		{"behind an interface", "type eng interface{ move(int) }\ntype euler struct{}\nvar steps int\nfunc (euler) move(n int) { steps += n }\nvar e eng = euler{}\nfunc call(n int) bool { e.move(n); return true }", false, "changes steps"},
		{"an element that it goes through", "type part struct{ x int }\nvar ps []*part\nfunc call(n int) bool {\nfor _, p := range ps {\np.x += n\n}\nreturn true\n}", false, "changes p.x"},
		{"what it is given, looked for by the run", "type t struct{ n int }\nfunc call(x *t) int { x.n++; return 1 }", false, ""},
		{"what it is given, not to be seen", "type t struct{ n int }\nfunc call(x *t) int { x.n++; return 1 }", true, "changes x.n"},
		{"in a helper", "type t struct{ m map[int]int }\nfunc (x *t) put(n int) { x.m[n] = n }\nfunc call(x *t) int { x.put(1); return 1 }", true, "changes x.m[n]"},
		{"a counter", "type t struct{ n atomic.Int64 }\nfunc call(x *t) bool { return x.n.Add(1) < 5 }", true, "counts or stores in x.n"},
		{"a map of package sync", "type t struct{ m sync.Map }\nfunc call(x *t) string { n, _ := x.m.LoadOrStore(1, 2); return n.(string) }", true, "counts or stores in x.m"},
		{"a channel", "func call(q chan int) int { return <-q }", true, "receives from a channel"},
		{"time", "func call(s string) bool { time.Sleep(5); return true }", true, "lets time pass"},
		{"an insert", "func call(tx *sql.Tx, s string) int { insert(tx, s); return 1 }\nfunc insert(tx *sql.Tx, s string) { tx.ExecContext(ctx, s) }", true, "by the name of ExecContext changes something"},
		{"what a context has", "type tx struct{ rows int }\nfunc call(ctx context.Context) bool {\nt, _ := ctx.Value(key).(*tx)\nt.rows++\nreturn true\n}", false, "changes t.rows"},
		{"output", "func call(s string) int { fmt.Println(s); return 1 }", true, "writes"},
		{"output of the process", "func call(s string) int { fmt.Fprintln(os.Stdout, s); return 1 }", true, "writes"},
		{"a logger in a variable", "var logger = slog.New(slog.NewTextHandler(os.Stderr, nil))\nfunc call(s string) int { logger.Info(\"x\", \"s\", s); return 1 }", false, "writes"},
		{"a logger in a field", "type t struct{ log *log.Logger }\nfunc call(x *t) int { x.log.Printf(\"x\"); return 1 }", true, "writes"},
		{"a logger that is given on", "var logger = slog.Default()\nfunc call(s string) int { return add(logger, s) }\nfunc add(l *slog.Logger, s string) int { l.With(\"a\", 1).Warn(s); return 1 }", false, "writes"},
		{"one made of another", "var logger = slog.Default()\nfunc call(s string) *slog.Logger { return logger.With(\"s\", s) }", false, ""},
		{"a function in a variable", "var on func(string)\nvar n int\nfunc main() { on = func(string) { n++ } }\nfunc call(s string) int { on(s); return 1 }", false, "changes n"},
		{"what such a one has around it", "var on func(string)\nfunc main() { n := 0; on = func(string) { n++ }; call(\"\"); print(n) }\nfunc call(s string) int { on(s); return 1 }", false, "changes n"},
		{"one that only computes", "var less func(a, b int) bool\nfunc main() { less = func(a, b int) bool { return a < b } }\nfunc call(xs []int) bool { return less(xs[0], xs[1]) }", false, ""},
		{"a list of them", "type bus struct{ subs []func(string) }\nvar events bus\nvar n, m int\nfunc main() { events.subs = append(events.subs, func(string) { n++ }, func(string) { m++ }) }\nfunc call(s string) int { for _, f := range events.subs { f(s) }; return 1 }", false, "calls f, which may be the function that changes n (a.go:36),"},
		{"one that nothing here sets", "var on func(string)\nfunc call(s string) int { on(s); return 1 }", false, "calls on, which may be any function,"},
		{"one of its own", "func call(xs []int) int { n := 0; add := func(x int) { n += x }; for _, x := range xs { add(x) }; return n }", true, ""},
		{"one that it gives to another", "func call(xs []int) int { n := 0; each(xs, func(x int) { n += x }); return n }\nfunc each(xs []int, f func(int)) { for _, x := range xs { f(x) } }\nvar sum int\nvar keep = func(x int) { sum += x }", true, ""},
		{"one that it is given", "func call(xs []int, f func(int) bool) int { if f(xs[0]) { return 1 }; return 2 }\nfunc main() { n := 0; call(nil, func(x int) bool { n++; return true }); print(n) }", false, "changes n"},
		{"a list of the library", "var queue = list.New()\nfunc call(s string) int { queue.PushBack(s); return 1 }", false, "changes queue by queue.PushBack"},
		{"the length of one", "var queue = list.New()\nfunc call(s string) int { return queue.Len() }", false, ""},
		{"one of its own", "func call(s string) int { q := list.New(); q.PushBack(s); return q.Len() }", true, ""},
		{"a heap", "var due prio\ntype prio []int\nfunc call(s string) int { heap.Push(&due, s); return 1 }", false, "changes due by heap.Push"},
		{"a sum of all", "var sum = fnv.New64a()\nfunc call(s string) int { sum.Write([]byte(s)); return 1 }", false, "changes sum by sum.Write"},
		{"a sum of its own", "func call(s string) uint64 { d := fnv.New64a(); d.Write([]byte(s)); return d.Sum64() }", true, ""},
		{"a map of the package", "var state = map[string]int{}\nfunc call(s string) int { maps.Copy(state, map[string]int{s: 1}); return 1 }", false, "changes state by maps.Copy"},
		{"a map of its own, copied into", "var state = map[string]int{}\nfunc call(s string) map[string]int { m := map[string]int{}; maps.Copy(m, state); return m }", false, ""},
		{"a large number", "var total = big.NewInt(0)\nfunc call(n int64) int { total.Add(total, big.NewInt(n)); return 1 }", false, "changes total by total.Add"},
		{"published counters", "var hits = expvar.NewMap(\"hits\")\nfunc call(s string) int { hits.AddFloat(s, 1); return 1 }", false, "calls hits.AddFloat"},
		{"a counter with labels", "type t struct{ hits *prom.CounterVec }\nfunc call(x *t) int { x.hits.WithLabelValues(\"a\").Inc(); return 1 }", true, "calls x.hits.WithLabelValues(\"a\").Inc"},
		{"compressed in memory", "func call(s string) []byte { var buf bytes.Buffer; zw := gzip.NewWriter(&buf); io.WriteString(zw, s); zw.Close(); return buf.Bytes() }", true, ""},
		{"compressed into a pipe of its own", "func call(r io.Reader) io.Reader {\npr, pw := io.Pipe()\ngo func() {\nzw, err := gzip.NewWriterLevel(pw, level)\nif err != nil { return }\nio.Copy(zw, r)\nzw.Close()\n}()\nreturn pr\n}", false, ""},
		{"compressed over a buffered one in memory", "func call(s string) []byte { var buf bytes.Buffer; zw := gzip.NewWriter(bufio.NewWriterSize(&buf, 4096)); io.WriteString(zw, s); zw.Close(); return buf.Bytes() }", true, ""},
		{"compressed into what it is given", "func call(w io.Writer, s string) int { zw := gzip.NewWriter(w); io.WriteString(zw, s); zw.Close(); return 1 }", true, "writes"},
		{"compressed into a file of the package", "var file, _ = os.Create(\"x\")\nfunc call(s string) int { zw := gzip.NewWriter(bufio.NewWriter(file)); io.WriteString(zw, s); return 1 }", false, "writes"},
		{"compressed into a buffer and a file", "func call(s string) int { var buf bytes.Buffer; f := open(s); zw := gzip.NewWriter(io.MultiWriter(&buf, f)); io.WriteString(zw, s); return 1 }", false, "writes"},
		{"rows for all", "var buf bytes.Buffer\nvar rows = csv.NewWriter(&buf)\nfunc call(s string) int { rows.Write([]string{s}); return 1 }", false, "writes"},
		{"values for all", "var buf bytes.Buffer\nvar enc = json.NewEncoder(&buf)\nfunc call(s string) int { if err := enc.Encode(s); err != nil { return 0 }; return 1 }", false, "calls enc.Encode"},
		{"a buffer of the package", "var outbox bytes.Buffer\nfunc call(s string) int { fmt.Fprintf(&outbox, s); return 1 }", false, "writes"},
		{"a buffer of its own", "func call(s string) string { out := &bytes.Buffer{}; fmt.Fprintf(out, s); return out.String() }", true, ""},
		{"a checksum that goes on", "func call(s string) uint32 { return crc32.Update(1, crc32.IEEETable, []byte(s)) }", true, ""},
		{"a day", "type clock interface{ Now() time.Time }\ntype t struct{ c clock }\nfunc call(x *t) int { return x.c.Now().Truncate(24*time.Hour).Day() }", true, ""},
		{"a file", "func call(f *os.File) int { f.Truncate(0); return 1 }", true, "writes"},
		{"headers of its own", "func call(s string) http.Header { h := http.Header{}; h.Set(\"a\", s); return h }", true, ""},
		{"a pool", "var pool = sync.Pool{New: func() any { return new([64]byte) }}\nfunc call(s string) int { b := pool.Get().(*[64]byte); n := copy(b[:], s); pool.Put(b); return n }", false, ""},
		{"a lock", "type t struct{ mu sync.Mutex; n int }\nfunc call(x *t) int { x.mu.Lock(); defer x.mu.Unlock(); return x.n }", true, ""},
		{"a query", "type t struct{ db *sql.DB }\nfunc call(x *t) int { var n int; if err := x.db.QueryRow(\"a\").Scan(&n); err != nil { return 0 }; return n }", true, ""},
		{"an answer of a peer", "var client = &http.Client{}\nfunc call(s string) int { r, err := client.Get(s); if err != nil { return 0 }; defer r.Body.Close(); return r.StatusCode }", false, ""},
		{"a file that is written", "func call(s string) int { if err := os.WriteFile(s, nil, 0); err != nil { return 0 }; return 1 }", true, "changes files or settings by os.WriteFile"},
	} {
		source := "package main\n\nimport (\n\"bufio\"\n\"bytes\"\n\"compress/gzip\"\n\"io\"\n\"container/heap\"\n\"container/list\"\n\"context\"\n\"database/sql\"\n\"encoding/csv\"\n\"encoding/json\"\n\"expvar\"\n\"fmt\"\n\"hash/crc32\"\n\"hash/fnv\"\n\"log\"\n\"log/slog\"\n\"maps\"\n\"math/big\"\n\"net/http\"\n\"os\"\n\"reflect\"\n\"strings\"\n\"sync\"\n\"sync/atomic\"\n\"time\"\n\nprom \"example.com/prom\"\n)\n\n" + c.source + "\n"
		_, what := effectOfCall(codeOf(source), lineWith(source, "func call("), c.given)
		if what != c.want {
			t.Errorf("%s: %q, want %q", c.name, what, c.want)
		}
	}
}
