package clickhouse

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"loupe/format/profile"
	"loupe/store"
	"loupe/value/stack"
)

// fake answers as ClickHouse does, by the beginning of a statement.
type fake struct {
	*httptest.Server
	mu       sync.Mutex
	asked    []string // statements, with the data behind them
	headers  []http.Header
	settings []string
	answer   func(w http.ResponseWriter, statement string) bool // true when it has answered
}

func newFake(t *testing.T) *fake {
	f := &fake{}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		statement := string(body)
		if q := r.URL.Query().Get("query"); q != "" {
			statement = q + "\n" + statement
		}
		f.mu.Lock()
		f.asked = append(f.asked, statement)
		f.headers = append(f.headers, r.Header.Clone())
		f.settings = append(f.settings, r.URL.RawQuery)
		answer := f.answer
		f.mu.Unlock()
		if answer != nil && answer(w, statement) {
			return
		}
		if strings.Contains(statement, "version()") {
			w.Write(binary.LittleEndian.AppendUint64(nil, 26))
		}
	}))
	t.Cleanup(f.Close)
	return f
}

// statements returns those that begin so.
func (f *fake) statements(begin string) (out []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.asked {
		if strings.HasPrefix(s, begin) {
			out = append(out, s)
		}
	}
	return out
}

// impatient options give up at once.
var impatient = Options{Every: time.Nanosecond, Patience: time.Nanosecond, Settle: time.Second}

func (f *fake) open(t *testing.T, opt Options) *Engine {
	t.Helper()
	at, err := ParseAddress("clickhouse://ada:se%40cret@" + strings.TrimPrefix(f.URL, "http://") + "/fleet")
	if err != nil {
		t.Fatal(err)
	}
	e, err := Open(t.Context(), at, opt)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// one makes a profile of one stack.
func one(id string) *store.Profile {
	p := &profile.Profile{Stacks: new(stack.Table), Values: [][]int64{{3}, {30}}}
	frame := p.Stacks.InternFrame(stack.Frame{Func: "main.it's\ta\\name", System: "main", File: "main.go", Line: 7, StartLine: 5})
	p.StackIDs = []stack.ID{p.Stacks.Intern([]stack.FrameID{frame})}
	cpu := func(sample, unit string) store.Type {
		return store.Type{Name: "process_cpu", Sample: sample, Unit: unit, Period: "cpu", PeriodUnit: "nanoseconds"}
	}
	return &store.Profile{ID: store.IDOf([]byte(id)), Labels: store.LabelsOf(store.ServiceLabel, "shop", "pod", "a\"b"), Time: time.Date(2026, 3, 14, 12, 0, 0, 5, time.UTC),
		Duration: 10 * time.Second, Types: []store.Type{cpu("samples", "count"), cpu("cpu", "nanoseconds")}, Samples: p}
}

// TestWriteOrder holds the order in which things are inserted: the claim to an ID, what a
// profile refers to, and the profile; a second profile sends nothing again.
func TestWriteOrder(t *testing.T) {
	f := newFake(t)
	e := f.open(t, impatient)
	for _, id := range []string{"1", "2", "1"} {
		if err := e.Write(t.Context(), []*store.Profile{one(id)}); err != nil {
			t.Fatal(err)
		}
	}
	var order []string
	for _, s := range f.statements("INSERT INTO fleet.") {
		order = append(order, strings.Fields(s)[2])
	}
	want := "fleet.seen fleet.locations fleet.stacks fleet.names fleet.kinds fleet.profiles fleet.seen fleet.profiles"
	if got := strings.Join(order, " "); got != want {
		t.Errorf("tables are written in the order\n%s, want\n%s", got, want)
	}
	rows := f.statements("INSERT INTO fleet.profiles")
	fields := strings.Split(strings.TrimSuffix(strings.SplitN(rows[0], "\n", 2)[1], "\n"), "\t")
	if len(fields) != 16 || fields[0] != "2026-03-14" || fields[1] != "shop" || fields[4] != "1773489600000000005" || strings.Join(fields[7:], " ") != "0 10000000000 1 1 1 3 [0] [3] []" {
		t.Errorf("the row is %q", fields)
	}
	if got := f.statements("INSERT INTO fleet.locations")[0]; !strings.Contains(got, `['main.it\'s\ta\\name']`+"\t['main.go']\t[5]\t[7]\n") {
		t.Errorf("the location is %q", got)
	}
	for i, h := range f.headers {
		if h.Get("X-ClickHouse-User") != "ada" || h.Get("X-ClickHouse-Key") != "se@cret" || !strings.Contains(f.settings[i], "wait_end_of_query=1") || strings.Contains(f.settings[i], "cret") {
			t.Errorf("request %d has %v and %s", i, h, f.settings[i])
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// holdFirst keeps the first insert of profiles waiting: begun is closed when it has come, and it
// goes on when goOn is closed.
func (f *fake) holdFirst() (begun, goOn chan bool) {
	begun, goOn = make(chan bool), make(chan bool)
	var first sync.Once
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answer = func(w http.ResponseWriter, statement string) bool {
		if strings.HasPrefix(statement, "INSERT INTO fleet.profiles") {
			first.Do(func() {
				close(begun)
				<-goOn
			})
		}
		return false
	}
	return begun, goOn
}

// TestGroup writes from many sides: what comes while an insert is under way is one insert.
func TestGroup(t *testing.T) {
	f := newFake(t)
	e := f.open(t, Options{Every: time.Nanosecond})
	begun, goOn := f.holdFirst()
	var writers sync.WaitGroup
	write := func(id string) {
		writers.Go(func() {
			if err := e.Write(t.Context(), []*store.Profile{one(id)}); err != nil {
				t.Error(err)
			}
		})
	}
	write("first")
	<-begun
	for i := range 50 {
		write(fmt.Sprint(i))
	}
	for waits := 0; waits < 50; { // until all of them are in line
		e.w.mu.Lock()
		waits = len(e.w.waiting)
		e.w.mu.Unlock()
		runtime.Gosched()
	}
	close(goOn)
	writers.Wait()
	inserts := f.statements("INSERT INTO fleet.profiles")
	if len(inserts) != 2 || strings.Count(inserts[1], "\n") != 51 {
		t.Errorf("51 profiles came in %d inserts", len(inserts))
	}
}

// TestGiveUp takes a profile back that still waits for its turn: nothing of it is written.
func TestGiveUp(t *testing.T) {
	f := newFake(t)
	e := f.open(t, Options{Every: time.Nanosecond})
	begun, goOn := f.holdFirst()
	done := make(chan error)
	go func() { done <- e.Write(context.Background(), []*store.Profile{one("first")}) }()
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() { gone <- e.Write(ctx, []*store.Profile{one("second")}) }()
	for waits := 0; waits < 1; {
		e.w.mu.Lock()
		waits = len(e.w.waiting)
		e.w.mu.Unlock()
		runtime.Gosched()
	}
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("who gives up is told %v", err)
	}
	close(goOn)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if n := len(f.statements("INSERT INTO fleet.profiles")); n != 1 {
		t.Errorf("there are %d inserts, want that of the other alone", n)
	}
}

// TestErrors holds what is said of errors: what, where, what to do, and never a secret.
func TestErrors(t *testing.T) {
	f := newFake(t)
	host := strings.TrimPrefix(f.URL, "http://")
	e := f.open(t, impatient)
	fail := func(status int, text string) func(http.ResponseWriter, string) bool {
		return func(w http.ResponseWriter, statement string) bool {
			w.WriteHeader(status)
			io.WriteString(w, text)
			return true
		}
	}
	for _, c := range []struct {
		answer func(http.ResponseWriter, string) bool
		want   []string
	}{
		{fail(500, "Code: 241, e.displayText() = DB::Exception: Memory limit exceeded, e.what() = DB::Exception"), []string{host, "Memory limit exceeded (code 241)", "select fewer series"}},
		{fail(500, "Code: 241. DB::Exception: Memory limit exceeded. (MEMORY_LIMIT_EXCEEDED) (version 26.9)"), []string{host, "(code 241)", "select fewer series"}},
		{fail(401, "Code: 516. DB::Exception: ada: Authentication failed"), []string{"Authentication failed", "check user and password in -store"}},
		{fail(404, "404 page not found"), []string{"404 page not found", "is this the HTTP interface, port 8123?"}},
		{fail(500, ""), []string{"500 Internal Server Error"}},
		{fail(307, ""), []string{"307"}},
		{func(w http.ResponseWriter, _ string) bool {
			w.Header().Set("Content-Length", "1000")
			w.Write(make([]byte, 10))
			return true
		}, []string{host, "its answer was cut", "unexpected EOF"}},
		{func(w http.ResponseWriter, _ string) bool { panic(http.ErrAbortHandler) }, []string{"cannot ask ClickHouse at " + host}},
		{func(w http.ResponseWriter, _ string) bool {
			w.Write([]byte{200, 1, 'x'})
			return true
		}, []string{"cannot read the answer", "row 1", "ends in the middle of a row"}},
		{func(w http.ResponseWriter, _ string) bool {
			w.Write(bytes.Repeat([]byte{255}, 40))
			return true
		}, []string{"cannot read the answer", "64 bits"}},
	} {
		f.mu.Lock()
		f.answer = c.answer
		f.mu.Unlock()
		_, err := e.Pins(t.Context())
		text := fmt.Sprint(err)
		for _, want := range c.want {
			if err == nil || !strings.Contains(text, want) {
				t.Errorf("got %q, want %q in it", text, want)
			}
		}
		if strings.Contains(text, "cret") || strings.Contains(text, "SELECT") {
			t.Errorf("an error tells too much: %q", text)
		}
	}
	f.Close()
	if _, err := e.Pins(t.Context()); !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "does it run there") {
		t.Errorf("a server that is gone: %v", err)
	}
}

// TestUnsure answers a write with an error in the middle. What the server said has ended is
// tried again at once; after a connection that broke, the same profile waits.
func TestUnsure(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer func(http.ResponseWriter)
		waits  bool
	}{
		{"ended", func(w http.ResponseWriter) {
			w.WriteHeader(500)
			io.WriteString(w, "Code: 252, e.displayText() = DB::Exception: Too many parts, e.what() = DB::Exception")
		}, false},
		{"broken", func(w http.ResponseWriter) { panic(http.ErrAbortHandler) }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t)
			e := f.open(t, impatient)
			p := one("1")
			claims := []byte{}
			failing := true
			f.mu.Lock()
			f.answer = func(w http.ResponseWriter, statement string) bool {
				f.mu.Lock()
				defer f.mu.Unlock()
				switch {
				case strings.HasPrefix(statement, "INSERT INTO fleet.profiles") && failing:
					c.answer(w)
					return true
				case strings.HasPrefix(statement, "INSERT INTO fleet.seen"):
					for line := range strings.Lines(strings.SplitN(statement, "\n", 2)[1]) {
						var id, day string
						var token, state uint64
						var ts int64
						fmt.Sscan(line, &id, &token, &state, &day, &ts)
						claims = append(append(claims, byte(len(id))), id...)
						for _, v := range []uint64{token, state, 0, uint64(ts)} {
							claims = binary.LittleEndian.AppendUint64(claims, v)
						}
					}
				case strings.HasPrefix(statement, "SELECT toString(id), token"):
					w.Write(claims)
					return true
				}
				return false
			}
			f.mu.Unlock()
			if err := e.Write(t.Context(), []*store.Profile{p}); err == nil || !strings.HasPrefix(err.Error(), "cannot write to clickhouse://") {
				t.Errorf("a write that fails: %v", err)
			}
			f.mu.Lock()
			failing = false
			f.mu.Unlock()
			err := e.Write(t.Context(), []*store.Profile{p})
			if got := errors.Is(err, errWait); got != c.waits || !got && err != nil {
				t.Errorf("the second time: %v", err)
			}
			n := len(f.statements("INSERT INTO fleet.profiles"))
			if want := map[bool]int{true: 1, false: 2}[c.waits]; n != want {
				t.Errorf("there are %d inserts, want %d", n, want)
			}
		})
	}
}

// TestAddress reads addresses; errors have no password.
func TestAddress(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		a, err := ParseAddress(in)
		got := a.String()
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) || strings.Contains(got, "hunter") {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
	f("clickhouse://db", "clickhouse://db:8123/loupe")
	f("clickhouses://u:hunter2@db/x", "clickhouses://db:8443/x")
	f("clickhouse://u:hunter2@a:1,b:2/x?cluster=c", "clickhouse://a:1,b:2/x?cluster=c")
	f("clickhouse://u:hun%40ter@[::1]:9/x?secure=true", "clickhouses://[::1]:9/x")
	f("clickhouse://u:p@ss@db", "clickhouse://db:8123/loupe")
	f("clickhouse://u:hunter%zz@db", "write %25 for a %")
	f("clickhouse://u:hunter2@", "names no host")
	f("clickhouse://u:hunter2@a,b", "several hosts and no cluster")
	f("clickhouse://u:hunter2@a/b;DROP", `"b;DROP" is no name`)
	f("clickhouse://u:hunter2@a/b?cluster=x'y", "is no name")
	f("clickhouse://u:hunter2@a/b?clustr=x", `no option "clustr"`)
	f("http://u:hunter2@a", "does not begin with clickhouse://")
	for in, want := range map[string]string{"clickhouse://db": "eve hunter3", "clickhouse://ada:hunter2@db": "ada hunter2", "clickhouse://ada@db": "ada "} {
		a, err := ParseAddress(in)
		if a = a.Login("eve", "hunter3"); err != nil || a.user+" "+a.password != want {
			t.Errorf("%s is asked as %q %q, %v", in, a.user, a.password, err)
		}
	}
}

// TestLabelsText writes labels and kinds and reads them again.
func TestLabelsText(t *testing.T) {
	l := store.LabelsOf(store.ServiceLabel, "a\"b\\c\n\t'\xff{},=", "odd name", "x", "dotted.name", "y")
	if back, err := parseLabels(labelsText(l)); err != nil || back != l {
		t.Errorf("got %v, %v", back, err)
	}
	k := &kind{types: []store.Type{{Name: "a\n", Sample: "b \"", Unit: "\xff", Period: "", PeriodUnit: "c"}, {Name: "d", Sample: "e"}}, times: []int64{1, 10_000_000}}
	if back, err := parseKind(k.text()); err != nil || fmt.Sprint(back) != fmt.Sprint(k) {
		t.Errorf("got %v, %v", back, err)
	}
}

// FuzzRows reads an answer as every type, with a bound on what it allocates.
func FuzzRows(f *testing.F) {
	f.Add([]byte{3, 'a', 'b', 'c', 1, 1, 0, 0, 0})
	f.Add([]byte{255, 255, 255, 31, 'a'})
	f.Add(bytes.Repeat([]byte{0x80}, 12))
	f.Fuzz(func(t *testing.T, data []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r := newRows(bytes.NewReader(data))
		for n := 0; r.next() && n < 1000; n++ {
			r.text()
			r.uint32s(nil)
			r.texts()
			r.int64s(nil)
			r.uint64()
		}
		runtime.ReadMemStats(&after)
		if grown, most := after.TotalAlloc-before.TotalAlloc, uint64(1<<20+200*len(data)); grown > most {
			t.Errorf("%d bytes make it allocate %d", len(data), grown)
		}
		if r.n > int64(len(data)) {
			t.Errorf("it has read %d bytes of %d", r.n, len(data))
		}
	})
}
