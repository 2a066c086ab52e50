package insight

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/format/exectrace"
	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// store is a source in which locks are held, with and without waiting.
const store = `package store

import (
	"net/http"
	files "os"
)

func (c *cache) get(key string) page {
	c.mu.Lock() // line 9
	defer c.mu.Unlock()
	if p, ok := c.pages[key]; ok {
		return p // line 12
	}
	return c.fetch(key) // line 14
}

func (c *cache) better(key string) page {
	c.mu.RLock() // line 18
	if p, ok := c.pages[key]; ok {
		c.mu.RUnlock() // line 20
		return log(p) // line 21
	}
	c.mu.RUnlock() // line 23
	p := c.fetch(key) // line 24
	c.mu.Lock() // line 25
	c.pages[key] = p
	c.mu.Unlock()
	return p
}

func (c *cache) early(key string) page {
	c.mu.Lock() // line 32
	if p, ok := c.pages[key]; ok {
		c.mu.Unlock() // line 34
		return c.refresh(p) // line 35
	}
	if c.stale {
		c.mu.Unlock() // line 38
		c.fetch(key)  // line 39
		c.mu.Lock()   // line 40
	}
	p := c.fetch(key) // line 42
	c.mu.Unlock()
	return p
}

func (c *cache) save(p page) {
	c.disk.Lock() // line 48
	go func() {
		http.Get(c.url)
	}()
	files.WriteFile(c.name, p.text, 0o600) // line 52
	c.disk.Unlock()
	files.Remove(c.name)
	http.Get(c.url)
}

func (c *cache) hand() {
	switch {
	case c.full:
		c.mu.Lock() // line 61, let go elsewhere
	}
}

func (c *cache) function() {
	c.mu.Lock() // line 66
	defer func() {
		c.n++
		c.mu.Unlock()
	}()
	c.fetch("x") // line 71
}
`

// stored is a recording with the source above.
func stored() *recordingtest.Recording {
	return recordingtest.New("title x\ntarget package ./shop module=shop\nphase bare 0s..10s\nphase block 10s..12s profiler=block\n" +
		"-- source/store/store.go source from=/src/store.go --\n" + store)
}

// TestHeld reads where a lock is held.
func TestHeld(t *testing.T) {
	in := NewInput(session.New(stored().Open()))
	f := func(line int, want string) {
		t.Helper()
		h, ok := in.code.heldAt(stack.Frame{File: "/src/store.go", Line: line})
		got := "nowhere"
		if ok {
			var lines []string
			for n := range 100 {
				if h.has(n) {
					lines = append(lines, fmt.Sprint(n))
				}
			}
			got = h.lock + " " + strings.Join(lines, " ")
			for _, c := range h.io {
				got += fmt.Sprintf(" %s:%d", c.name, c.line)
			}
		}
		if got != want {
			t.Errorf("line %d: %s, want %s", line, got, want)
		}
	}
	f(9, "c.mu.Lock 10 11 12 13 14 15")
	f(18, "c.mu.RLock 19 20 22")
	f(25, "c.mu.Lock 26")
	f(32, "c.mu.Lock 33 34 36 37 38 41 42")
	f(48, "c.disk.Lock 49 50 51 52 files.WriteFile:52")
	f(61, "nowhere")
	f(66, "c.mu.Lock 67 68 69 70 71 72")
	f(10, "nowhere")
	if _, ok := in.code.heldAt(stack.Frame{File: "/src/other.go", Line: 9}); ok {
		t.Error("a lock is held in a file that is not there")
	}
}

// column is a stack of a picture: frames from the root to the leaf, and values.
type column struct {
	frames string // separated by blanks
	values []int64
}

// picture puts stacks side by side.
func picture(columns ...column) string {
	depth, values := 0, 0
	for _, c := range columns {
		depth, values = max(depth, len(strings.Fields(c.frames))), len(c.values)
	}
	var b strings.Builder
	for n := range depth {
		for _, c := range columns {
			frame := "."
			if f := strings.Fields(c.frames); n < len(f) {
				frame = f[n]
			}
			fmt.Fprintf(&b, "%-70s  ", frame)
		}
		b.WriteByte('\n')
	}
	for n := range values {
		b.WriteString("=")
		for _, c := range columns {
			fmt.Fprintf(&b, " %d", c.values[n])
		}
		b.WriteByte('\n')
	}
	return strings.ReplaceAll(b.String(), ".  ", "   ")
}

const (
	lockAt9  = "shop.serve:/src/shop.go:3 shop/store.(*cache).get:/src/store.go:9 sync.(*Mutex).Lock"
	fetch14  = "shop.serve:/src/shop.go:3 shop/store.(*cache).get:/src/store.go:14 shop/store.fetch:/src/fetch.go:5 net/http.Get net/http.(*persistConn).roundTrip runtime.selectgo"
	lock18   = "shop.serve:/src/shop.go:3 shop/store.(*cache).better:/src/store.go:18 sync.(*RWMutex).RLock"
	fetch24  = "shop.serve:/src/shop.go:3 shop/store.(*cache).better:/src/store.go:24 shop/store.fetch:/src/fetch.go:5 net/http.Get net/http.(*persistConn).roundTrip runtime.selectgo"
	idle     = "net/http.(*persistConn).writeLoop runtime.selectgo"
	pollRead = " net/http.Get net.(*conn).Read internal/poll.runtime_pollWait runtime.gopark"
)

// blocking adds a block profile of two seconds to a recording: the values of a
// stack are waits and how long they took together.
func blocking(r *recordingtest.Recording, columns ...column) *recordingtest.Recording {
	data := profiletest.Encode(picture(columns...), profiletest.Options{Types: []string{"contentions/count", "delay/nanoseconds"}})
	return r.Put(recording.Entry{Path: "block.pb.gz", Kind: recording.Block, Phase: "block"}, data)
}

// looking adds a goroutine profile.
func looking(r *recordingtest.Recording, columns ...column) *recordingtest.Recording {
	return r.Put(recording.Entry{Path: "goroutine.pb.gz", Kind: recording.Goroutine}, profiletest.Encode(picture(columns...), profiletest.Options{Types: []string{"goroutine/count"}}))
}

func values(count int64, wait time.Duration) []int64 { return []int64{count, int64(wait)} }

func TestLK02(t *testing.T) {
	wait, work := column{lockAt9, values(100, 20*time.Second)}, column{fetch14, values(100, 2*time.Second)}
	other := column{idle, values(10, 60*time.Second)}
	f := expect(t, "a stampede", blocking(stored(), other, wait, work), "LK02", Found, "waited 20.0 s for c.mu.Lock at store.go:9, in 2.00 s (100 waits)", "waits in http.Get at store.go:14")
	severity(t, "a stampede", f, Warning)
	near(t, "a stampede", f, 10)
	if e := f.Evidence; len(e) != 2 || e[0].Short != "store/store.go" || e[0].Line != 9 || e[0].Source != "c.mu.Lock() // line 9" || e[1].Line != 14 || len(e[1].Stack) != 6 || e[1].Span == nil {
		t.Errorf("evidence = %+v", e)
	}
	severity(t, "some wait", expect(t, "some wait", blocking(stored(), other, column{lockAt9, values(100, 400*time.Millisecond)}, work), "LK02", Found, "400 ms"), Info)
	// Its clean twin fetches as long, but not under the lock, as a look shows.
	expect(t, "let go before", looking(blocking(stored(), other, column{lock18, values(100, 20*time.Second)}, column{fetch24, values(100, 2*time.Second)}), column{fetch24, []int64{1}}), "LK02", Fine,
		"cache).better at store.go:18", "20.0 s, in 2.00 s", "not seen held")
	expect(t, "hardly any wait", blocking(stored(), column{lockAt9, values(100, 20*time.Millisecond)}, work), "LK02", Fine)
	expect(t, "few", blocking(stored(), column{lockAt9, values(9, 20*time.Second)}, work), "LK02", TooLittle, "only 9 goroutines waited", "10 are needed")
	expect(t, "no lock", blocking(stored(), other, work), "LK02", Fine, "no goroutine waited for a mutex of the program")
	// Others' locks are not the program's to change.
	expect(t, "a lock of net/http", blocking(stored(), column{"shop.serve net/http.(*Transport).queue:/go/t.go:3 sync.(*Mutex).Lock", values(100, time.Minute)}, work), "LK02", Fine)
	expect(t, "nothing", recordingtest.New("title x"), "LK02", NotApplicable, "no block profile", "no goroutine profile")
	damaged := stored().Put(recording.Entry{Path: "block.pb.gz", Kind: recording.Block}, []byte("cut off"))
	expect(t, "damaged", damaged, "LK02", TooLittle, "block.pb.gz")
}

// TestLK02Source: where no stack shows the wait, the source may.
func TestLK02Source(t *testing.T) {
	save := column{"shop.serve shop/store.(*cache).save:/src/store.go:48 sync.(*Mutex).Lock", values(100, 20*time.Second)}
	f := expect(t, "a file", blocking(stored(), save), "LK02", Found, "its holder calls files.WriteFile at store.go:52")
	severity(t, "a file", f, Info)
	doubted(t, f, "no stack shows")
	// And without it the lines after the lock may be under it.
	r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase block 10s..12s profiler=block")
	f = expect(t, "no source", blocking(r, column{lockAt9, values(100, 20*time.Second)}, column{fetch14, values(100, time.Second)}), "LK02", Found, "for the lock at store.(*cache).get at store.go:9")
	doubted(t, f, "without the source")
}

// TestLK02Mutex: the profile has the line that lets go.
func TestLK02Mutex(t *testing.T) {
	mutex := func(line int) *recordingtest.Recording {
		unlock := column{fmt.Sprintf("shop.serve shop/store.(*cache).early:/src/store.go:%d sync.(*Mutex).Unlock", line), values(100, 20*time.Second)}
		data := profiletest.Encode(picture(unlock), profiletest.Options{Types: []string{"contentions/count", "delay/nanoseconds"}})
		return stored().Put(recording.Entry{Path: "mutex.pb.gz", Kind: recording.Mutex, Phase: "block"}, data)
	}
	held := column{"shop.serve shop/store.(*cache).early:/src/store.go:42 shop/store.fetch" + pollRead, []int64{1}}
	free := column{"shop.serve shop/store.(*cache).early:/src/store.go:39 shop/store.fetch" + pollRead, []int64{1}}
	f := expect(t, "held", looking(mutex(43), held), "LK02", Found, "waited 20.0 s for c.mu.Lock at store.go:32", "http.Get at store.go:42")
	if e := f.Evidence; e[0].Text != "unlocked here" || e[1].Path != "goroutine.pb.gz" {
		t.Errorf("evidence = %+v", e)
	}
	expect(t, "let go meanwhile", looking(mutex(43), free), "LK02", Fine)
}

// TestLK02Look counts goroutines in one look.
func TestLK02Look(t *testing.T) {
	stand := func(n int64) column { return column{lockAt9 + " runtime.gopark", []int64{n}} }
	hold := column{"shop.serve:/src/shop.go:3 shop/store.(*cache).get:/src/store.go:14 shop/store.fetch" + pollRead, []int64{1}}
	f := expect(t, "a crowd", looking(stored(), stand(39), hold), "LK02", Found, "39 goroutines waited for c.mu.Lock at store.go:9", "http.Get at store.go:14")
	severity(t, "a crowd", f, Warning)
	near(t, "a crowd", f, 39)
	expect(t, "two", looking(stored(), stand(2), hold), "LK02", TooLittle, "one goroutine snapshot")
	expect(t, "nobody", looking(stored(), hold), "LK02", TooLittle, "no goroutine was waiting")
	f = expect(t, "both", looking(blocking(stored(), column{lockAt9, values(100, 20*time.Second)}), stand(15), hold), "LK02", Found, "in one snapshot 15 waited there, and 1 held such a lock, while")
	near(t, "both", f, 10)
	// One line may take one of many locks: who waits there does not wait for all who hold one.
	six := column{hold.frames, []int64{6}}
	f = expect(t, "several locks", looking(blocking(stored(), column{lockAt9, values(100, 20*time.Second)}), stand(15), six), "LK02", Found, "in one snapshot 15 waited there, and 6 each held such a lock: there are several, and each wait is for one of them")
	bare := recordingtest.New("title x\ntarget package ./shop module=shop\nphase block 10s..12s profiler=block")
	expect(t, "behind the line", looking(blocking(bare, column{lockAt9, values(100, 20*time.Second)}), stand(15), six), "LK02", Found, "15 waited there, and 6 had gone on behind that line")
	f = expect(t, "nobody waits in the snapshot", looking(blocking(stored(), column{lockAt9, values(100, 20*time.Second)}), hold), "LK02", Found, "while its holder waits in http.Get at store.go:14")
	if strings.Contains(f.Summary, "snapshot") {
		t.Error(f.Summary)
	}
}

func TestLK02Traced(t *testing.T) {
	f := func(line string, state State, words ...string) {
		t.Helper()
		s := locking(t, 1000, 2*ms, "*Mutex).Lock")
		s.block("main.serve", exectrace.NameNetwork, 100, 10*ms, s.stack("internal/poll.runtime_pollWait", "net.(*conn).Read", "shop/cache.Get:/src/cache/cache.go:"+line, "main.serve:/src/main.go:3"), 0)
		s.expect("LK02", state, words...)
	}
	f("22", Found, "goroutines waited 2.00 s for the lock at cache.Get at cache.go:20", "waits in net.(*conn).Read at cache.go:22", "under the lock: waits 1.00 s")
	f("19", Fine, "cache.Get at cache.go:20")
}

func TestLK06(t *testing.T) {
	const query = "shop.serve:/src/shop.go:3 shop/store.find:/src/find.go:8 database/sql.(*DB).QueryRow database/sql.(*DB).conn "
	wait := func(count int64, d time.Duration) column { return column{query + "runtime.selectgo", values(count, d)} }
	other := column{idle, values(10, 9*time.Second)}
	f := expect(t, "a small pool", blocking(stored(), other, wait(100, 3*time.Second)), "LK06", Found, "queries waited 3.00 s for a connection to the database, 25.0% of the blocked time, in 2.00 s: 100 waits, 30.0 ms on average")
	severity(t, "a small pool", f, Warning)
	near(t, "a small pool", f, 0.25)
	if e := f.Evidence[0]; e.File != "/src/find.go" || e.Line != 8 || e.Path != "block.pb.gz" {
		t.Errorf("evidence = %+v", e)
	}
	severity(t, "sometimes", expect(t, "sometimes", blocking(stored(), other, wait(100, time.Second)), "LK06", Found, "10.0%"), Info)
	expect(t, "hardly", blocking(stored(), other, wait(100, 400*time.Millisecond)), "LK06", Fine, "4.26%")
	// Its clean twin waits as long for a mutex of the pool.
	expect(t, "a mutex", blocking(stored(), other, column{query + "sync.(*Mutex).Lock", values(100, 3*time.Second)}), "LK06", Fine, "queries waited 0")
	expect(t, "few", blocking(stored(), other, wait(9, 3*time.Second)), "LK06", TooLittle, "9 cases", "10 are needed")
	expect(t, "empty", blocking(stored(), column{idle, values(0, 0)}), "LK06", TooLittle, "nobody waiting")
	expect(t, "nothing", recordingtest.New("title x"), "LK06", NotApplicable, "no block profile")

	s := locking(t, 1000, 2*ms, "*Mutex).Lock")
	s.block("main.serve", exectrace.NameSelect, 100, 100*ms, s.stack("runtime.selectgo", "database/sql.(*DB).conn", "database/sql.(*DB).Query", "shop/cache.Get:/src/cache/cache.go:30"), 0)
	s.block("main.serve", exectrace.NameNetwork, 100, time.Minute, s.stack("internal/poll.runtime_pollWait"), 0)
	s.expect("LK06", Found, "queries waited 10.0 s", "100 waits, 10")
}

// TestLK06Holders: what those wait for who have the connections is told where it is not the database.
func TestLK06Holders(t *testing.T) {
	waits := accounttest.In(poolWait+"@sql.go:1", "database/sql.(*DB).Conn@sql.go:2", "main.handle@main.go:7")
	lets := accounttest.In("database/sql.(*DB).putConnDBLocked@sql.go:3", "database/sql.(*DB).putConn@sql.go:4", "main.handle@main.go:9")
	peer := accounttest.In("net.(*conn).Read@net.go:1", "main.ask@main.go:20", "main.handle@main.go:8")
	query := accounttest.In("net.(*conn).Read@net.go:1", "main.(*driver).QueryContext@driver.go:20", "database/sql.(*DB).QueryContext@sql.go:5", "main.handle@main.go:8")
	for inside, told := range map[string]bool{peer: true, query: false} {
		f := answers(t, traceOfProgram(t, oneByOneAt("select", waits, lets, inside)), "LK06")[0]
		if f.State != Found || strings.Contains(f.Summary, "who has one meanwhile is mostly waiting for a peer's answer in main.ask at main.go:20") != told ||
			strings.Contains(f.Advice, "Hold no connection while waiting for something else: get it after what is done at main.go:20") != told {
			t.Errorf("told %v: %s %s: %s", told, f.State, f.Summary, f.Advice)
		}
	}
}
