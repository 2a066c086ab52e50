package account_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/trace"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"loupe/analysis/account"
	"loupe/analysis/account/accounttest"
	"loupe/format/exectrace"
	"loupe/format/exectrace/fixture"
)

const (
	ms = time.Millisecond
	us = time.Microsecond
)

// accountOf makes the account of a program.
func accountOf(t *testing.T, p *accounttest.Program, o account.Options) *account.Account {
	t.Helper()
	tr, err := exectrace.Open(fixture.Trace(t, p.Text()), exectrace.Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	o.Wall = true
	a, err := account.Of(tr, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	account.Check(t, "fixture", a)
	return a
}

// rowsOf are the rows of a part in words, for how long each unit does it, without those
// of less than 100 µs.
func rowsOf(p *account.Part) (all []string) {
	for _, r := range p.Rows {
		each := r.Time / time.Duration(p.Units)
		if each < 100*us {
			continue
		}
		text := fmt.Sprintf("%s %s:%d", r.Kind.Key(), r.Site.Frame.Func, r.Site.Frame.Line)
		if r.Cause.Kind != account.None {
			text += fmt.Sprintf(" for %s %s:%d", r.Cause.Kind.Key(), r.Cause.Site.Frame.Func, r.Cause.Site.Frame.Line)
		}
		if r.What != "" {
			text += " (" + r.What + ")"
		}
		all = append(all, fmt.Sprintf("%s %v", text, each.Round(100*us)))
	}
	return all
}

// expect holds a group against its rows.
func expect(t *testing.T, a *account.Account, n int64, name string, want ...string) *account.Group {
	t.Helper()
	if len(a.Groups) == 0 || a.Groups[0].Unit != account.Request {
		t.Fatalf("there are no requests: %+v", a)
	}
	g := a.Groups[0]
	if g.Wall.Count != n || g.Name != name {
		t.Errorf("%d requests of %q, want %d of %q", g.Wall.Count, g.Name, n, name)
	}
	got := strings.Join(rowsOf(&g.All), "\n")
	if got != strings.Join(want, "\n") {
		t.Errorf("%s spends its time on\n%s\nwant\n%s", g.Name, got, strings.Join(want, "\n"))
	}
	return g
}

// TestRequests: on one connection each request ends where its response is written, and
// the wait for the next one is nobody's.
func TestRequests(t *testing.T) {
	p := accounttest.New()
	p.Connect(5)
	for range 3 {
		p.Pass(50 * ms) // nobody asks
		p.Arrive(5)
		p.Pass(2 * ms)
		p.Block("sleep", accounttest.In("time.Sleep@sleep.go:1", "main.handle@main.go:7"))
		p.Pass(7 * ms)
		p.Wake(5, "")
		p.Pass(300 * us)
		p.Start(5)
		p.Pass(ms)
		p.Respond(5)
	}
	g := expect(t, accountOf(t, p, account.Options{}), 3, "main.handle",
		"sleep main.handle:7 7ms", "running main.handle:7 3ms", "runnable main.handle:7 300µs")
	if g.Wall.Max > 11*ms {
		t.Errorf("a request took %v: the wait for it counts", g.Wall.Max)
	}
}

// TestFastRequests: a request without an event in its handler is counted, and the time
// is the handler's.
func TestFastRequests(t *testing.T) {
	p := accounttest.New()
	p.Connect(5)
	for range 4 {
		p.Pass(10 * ms)
		p.Arrive(5)
		p.Pass(3 * ms)
		p.Respond(5)
	}
	expect(t, accountOf(t, p, account.Options{}), 4, "", "running net/http.serverHandler.ServeHTTP:0 3ms")
}

// TestHandedOver: a handler gives its work to another goroutine and waits: its time is
// what that one does, also what that one waits for.
func TestHandedOver(t *testing.T) {
	p := accounttest.New()
	p.Connect(5)
	for i := range 3 {
		w := 20 + i
		p.Arrive(5)
		p.Create(w, "main.work", accounttest.In("main.handle@main.go:6"))
		p.Block("chan receive", accounttest.In("runtime.chanrecv1@chan.go:1", "main.handle@main.go:7"))
		p.Start(w)
		p.Pass(2 * ms)
		p.Block("sleep", "time.Sleep@sleep.go:1;main.work@main.go:12")
		p.Pass(5 * ms)
		p.Wake(w, "")
		p.Start(w)
		p.Pass(ms)
		p.Wake(5, "runtime.chansend1@chan.go:2;main.work@main.go:13")
		p.Pass(9 * ms) // what it does for itself behind that is nobody's
		p.End()
		p.Start(5)
		p.Respond(5)
	}
	expect(t, accountOf(t, p, account.Options{}), 3, "main.handle",
		"runnable main.handle:7 9ms", "channel main.handle:7 for sleep main.work:12 5ms",
		"channel main.handle:7 for running main.work:12 2ms", "channel main.handle:7 for running main.work:13 1ms")
}

// TestLockHolder: who waits for a lock waits for what its holder does under it, and not
// for what that one did before it took the lock.
func TestLockHolder(t *testing.T) {
	p := accounttest.New()
	p.Connect(5)
	p.Arrive(5)
	p.Create(20, "main.holder", accounttest.In("main.handle@main.go:5"))
	p.Block("sync", accounttest.In("sync.(*Mutex).Lock@mutex.go:1", "main.handle@main.go:7"))
	p.Start(20)
	p.Block("sleep", "time.Sleep@sleep.go:1;main.idle@main.go:20;main.holder@main.go:30")
	p.Pass(4 * ms)
	p.Wake(20, "")
	p.Start(20)
	p.Block("network", "internal/poll.(*FD).Read@fd.go:1;net.(*conn).Read@net.go:1;main.update@main.go:24;main.holder@main.go:31")
	p.Pass(6 * ms)
	p.Wake(20, "")
	p.Start(20)
	p.Wake(5, "sync.(*Mutex).Unlock@mutex.go:2;main.update@main.go:25;main.holder@main.go:31")
	p.End()
	p.Start(5)
	p.Respond(5)
	expect(t, accountOf(t, p, account.Options{}), 1, "main.handle",
		"lock main.handle:7 for network main.update:24 6ms", "lock main.handle:7 for unknown main.update:25 4ms")
}

// TestLetsGo: who waits for a P inside of Unlock has handed the lock over, and holds up nobody; inside of that of another lock, or before it lets
// go, it does.
func TestLetsGo(t *testing.T) {
	for _, x := range []struct{ name, at, want string }{
		{"it has let go", "runtime.goyield@proc.go:1;internal/sync.(*Mutex).unlockSlow@mutex.go:9;sync.(*Mutex).Unlock@mutex.go:2;main.update@main.go:25;main.holder@main.go:31", "lock main.handle:7 for unknown main.update:25 5ms"},
		{"of another lock", "runtime.goyield@proc.go:1;internal/sync.(*Mutex).unlockSlow@mutex.go:9;sync.(*Mutex).Unlock@mutex.go:2;main.put@main.go:45;main.update@main.go:24;main.holder@main.go:31", "lock main.handle:7 for runnable main.put:45 5ms"},
		{"it computes", "main.update@main.go:24;main.holder@main.go:31", "lock main.handle:7 for runnable main.update:24 5ms"},
	} {
		p := accounttest.New()
		p.Connect(5)
		p.Arrive(5)
		p.Create(20, "main.holder", accounttest.In("main.handle@main.go:5"))
		p.Create(21, "main.other", accounttest.In("main.handle@main.go:5"))
		p.Block("sync", accounttest.In("sync.(*Mutex).Lock@mutex.go:1", "main.handle@main.go:7"))
		p.Start(21)
		p.Block("sync", "sync.(*Mutex).Lock@mutex.go:1;main.other@main.go:60")
		p.Start(20)
		p.Pass(4 * ms)
		if strings.Contains(x.at, "nlock") {
			p.Wake(21, x.at)
		}
		p.Preempt(x.at)
		p.Pass(5 * ms)
		p.Start(20)
		p.Pass(ms)
		p.Wake(5, "sync.(*Mutex).Unlock@mutex.go:2;main.update@main.go:25;main.holder@main.go:31")
		p.End()
		p.Start(5)
		p.Respond(5)
		var rows []string
		for _, r := range accountOf(t, p, account.Options{}).Groups[0].All.Rows {
			rows = append(rows, fmt.Sprintf("%s %s:%d for %s %s:%d %s", r.Kind.Key(), r.Site.Frame.Func, r.Site.Frame.Line, r.Cause.Kind.Key(), r.Cause.Site.Frame.Func, r.Cause.Site.Frame.Line, r.Time.Round(ms)))
		}
		if !slices.Contains(rows, x.want) {
			t.Errorf("%s: %q, want %q", x.name, rows, x.want)
		}
	}
}

// TestLockChain: who waits for a lock whose holder waits for another goroutine is told both, also where the lock was let go by one that waited for it as
// long; what that one waits for when it has let the lock go, or does itself, is not.
func TestLockChain(t *testing.T) {
	const holder, worker = 20, 21
	up := ";main.up@main.go:30"
	for _, x := range []struct {
		name, waits, want string
	}{
		{"it waits under the lock", "runtime.selectgo@select.go:1;main.wait@main.go:24" + up, "main.up main.wait:24 channel"},
		{"it waits elsewhere", "runtime.selectgo@select.go:1;main.wait@main.go:24;main.before@main.go:40", ""},
		{"it works", "", ""},
	} {
		p := accounttest.New()
		for g := 5; g < 9; g++ {
			p.Connect(g)
		}
		for g := 5; g < 9; g++ {
			p.Arrive(g)
			if g == 5 {
				p.Create(holder, "main.serve", accounttest.In("main.handle@main.go:5"))
				p.Create(worker, "main.work", accounttest.In("main.handle@main.go:6"))
			}
			p.Block("sync", accounttest.In("sync.(*Mutex).Lock@mutex.go:1", "main.handle@main.go:7"))
		}
		p.Start(holder)
		if x.waits == "" {
			p.Pass(20 * ms)
		} else {
			p.Block("select", x.waits)
			p.Start(worker)
			p.Pass(20 * ms)
			p.Wake(holder, "runtime.chansend1@chan.go:2;main.work@main.go:50")
			p.End()
			p.Start(holder)
		}
		p.Wake(5, "sync.(*Mutex).Unlock@mutex.go:2;main.up@main.go:31")
		p.Block("sleep", "time.Sleep@sleep.go:1;main.serve@main.go:60")
		for g := 5; g < 9; g++ {
			p.Start(g)
			if g < 8 {
				p.Wake(g+1, accounttest.In("sync.(*Mutex).Unlock@mutex.go:2", "main.handle@main.go:9"))
			}
			p.Respond(g)
		}
		by := map[string]int64{}
		for _, r := range accountOf(t, p, account.Options{}).Groups[0].All.Rows {
			if r.Kind == account.Lock && r.By.Kind != account.None {
				by[fmt.Sprintf("%s %s:%d %s", r.By.Site.Holder, r.By.Site.Frame.Func, r.By.Site.Frame.Line, r.By.Kind.Key())] += r.Units
			}
		}
		if x.want == "" && len(by) > 0 || x.want != "" && (len(by) != 1 || by[x.want] < 4) {
			t.Errorf("%s: the holder of the lock waits at %v", x.name, by)
		}
	}
}

// TestLockQueue: in a queue for a lock that one function takes and another lets go, each waits for what those before it do
// under the lock, also where that is many pieces, and where one comes back and takes it out of turn.
func TestLockQueue(t *testing.T) {
	const first, last, rounds = 5, 16, 6
	p := accounttest.New()
	for g := first; g <= last; g++ {
		p.Connect(g)
	}
	waits := func(g int) {
		p.Arrive(g)
		p.Block("sync", accounttest.In("sync.(*Mutex).Lock@mutex.go:1", "main.take@lock.go:8", "main.handle@main.go:7"))
	}
	asks := func() {
		for i := range 10 {
			p.Call(10*us, accounttest.In("syscall.read@z.go:1", "os.(*File).Read@file.go:1", fmt.Sprintf("main.load@load.go:%d", 20+i), "main.handle@main.go:8"))
		}
		p.Block("network", accounttest.In("internal/poll.(*FD).Read@fd.go:1", "net.(*conn).Read@net.go:1", "main.ask@ask.go:3", "main.handle@main.go:9"))
	}
	answered := func(g int) {
		p.Pass(6 * ms)
		p.Wake(g, "")
		p.Start(g)
	}
	give := accounttest.In("sync.(*Mutex).Unlock@mutex.go:2", "main.give@lock.go:20", "main.handle@main.go:10")
	p.Arrive(first)
	asks()
	for g := first + 1; g <= last; g++ {
		waits(g)
	}
	const n = last - first + 1
	for i := range rounds * n {
		g, next := first+i%n, first+(i+1)%n
		answered(g)
		p.Wake(next, give)
		p.Respond(g)
		if i%n == n/2 { // it comes back before the next one runs, which waits again
			p.Arrive(g)
			asks()
			p.Start(next)
			p.Block("sync", accounttest.In("sync.(*Mutex).Lock@mutex.go:1", "main.take@lock.go:8", "main.handle@main.go:7"))
			answered(g)
			p.Wake(next, give)
			p.Respond(g)
		}
		p.Pass(ms / 2)
		waits(g)
		p.Start(next)
		asks()
	}
	g := accountOf(t, p, account.Options{}).Groups[0]
	var all, network time.Duration
	for _, r := range g.All.Rows {
		if r.Kind == account.Lock {
			all += r.Time
			if r.Cause.Kind == account.Answer && r.Cause.Site.Frame.Func == "main.ask" {
				network += r.Time
			}
		}
	}
	if all < g.Wall.Sum*3/4 || network < all*3/4 {
		t.Errorf("requests of %v wait %v for the lock, of that %v for an answer that somebody waits for who holds it:\n%s", g.Wall.Sum, all, network, strings.Join(rowsOf(&g.All), "\n"))
	}
}

// TestLibraryGoroutine: what a goroutine of a library waits for is of the line of the
// user that called it.
func TestLibraryGoroutine(t *testing.T) {
	p := accounttest.New()
	p.Connect(5)
	p.Create(20, "net/http.(*Transport).dialConn.gowrap1", "main.init@main.go:1")
	p.Start(20)
	p.Block("network", "internal/poll.(*FD).Read@fd.go:1;net/http.(*persistConn).readLoop@transport.go:1")
	for range 2 {
		p.Arrive(5)
		p.Block("select", accounttest.In("net/http.(*persistConn).roundTrip@transport.go:2", "net/http.(*Client).Get@client.go:1", "main.get@main.go:25", "main.handle@main.go:7"))
		p.Pass(8 * ms)
		p.Wake(20, "")
		p.Start(20)
		p.Pass(200 * us)
		p.Wake(5, "runtime.chansend1@chan.go:1;net/http.(*persistConn).readLoop@transport.go:3")
		p.Block("network", "internal/poll.(*FD).Read@fd.go:1;net/http.(*persistConn).readLoop@transport.go:1")
		p.Start(5)
		p.Respond(5)
	}
	expect(t, accountOf(t, p, account.Options{}), 2, "main.handle", "network main.get:25 8ms", "running main.get:25 200µs")
}

// TestStops: who waits for a P while the world is stopped waits for that.
func TestStops(t *testing.T) {
	p := accounttest.New()
	p.Connect(5)
	p.Create(6, "main.stats", Main)
	p.Start(6)
	p.Block("sleep", "time.Sleep@sleep.go:1;main.stats@main.go:40")
	p.Arrive(5)
	p.Preempt(accounttest.In("main.handle@main.go:7"))
	p.Wake(6, "")
	p.Start(6)
	p.Pass(ms)
	p.Stop("read mem stats", 2*ms, "runtime.ReadMemStats@mstats.go:1;main.stats@main.go:41")
	p.Block("sleep", "time.Sleep@sleep.go:1;main.stats@main.go:40")
	p.Start(5)
	p.Stop("all goroutines stack trace", 3*ms, accounttest.In("runtime.Stack@mprof.go:1", "main.handle@main.go:8"))
	p.Respond(5)
	expect(t, accountOf(t, p, account.Options{}), 1, "main.handle",
		"stop_the_world main.handle:8 (all goroutines stack trace) 3ms",
		"stop_the_world main.handle:7 for running main.stats:41 (read mem stats) 2ms", "runnable main.handle:7 1ms")
}

// TestDeadline: a goroutine that a timer has made, such as the end of a context, ends a
// wait that was for the timer.
func TestDeadline(t *testing.T) {
	p := accounttest.New()
	p.Connect(5)
	for i := range 2 {
		p.Arrive(5)
		p.Block("select", accounttest.In("runtime.selectgo@select.go:1", "main.handle@main.go:7"))
		p.Pass(8 * ms)
		p.Create(20+i, "context.WithDeadlineCause.func2", "")
		p.Start(20 + i)
		p.Wake(5, "runtime.closechan@chan.go:1;context.WithDeadlineCause.func2@context.go:1")
		p.End()
		p.Start(5)
		p.Respond(5)
	}
	expect(t, accountOf(t, p, account.Options{}), 2, "main.handle", "timer main.handle:7 8ms")
}

// TestTimeLimits: where the wait is for a peer, what the timer ends is the time limit of the call, and
// no answer has come; the call has been made all the same. A wait for a pool stays one.
func TestTimeLimits(t *testing.T) {
	for _, c := range []struct{ frames, want string }{
		{"net/http.(*persistConn).roundTrip@t.go:1", "time_limit"},
		{"net/http.(*Transport).getConn@t.go:1", "time_limit"},
		{"net.(*Resolver).lookupIPAddr@l.go:1", "time_limit"},
		{"net/http/internal/http2.(*ClientConn).roundTrip@h.go:1", "time_limit"},
		{"google.golang.org/grpc/internal/transport.(*recvBufferReader).readClient@t.go:1;google.golang.org/grpc.(*ClientConn).Invoke@c.go:1", "time_limit"},
		{"main.backOff@b.go:1;google.golang.org/grpc.(*ClientConn).Invoke@c.go:1", "timer"},          // between tries
		{"google.golang.org/grpc/internal/transport.(*recvBufferReader).readClient@t.go:1", "timer"}, // a stream
		{"net.(*sysDialer).dialParallel@d.go:1", "timer"},                                            // when to try the next address
		{"database/sql.(*DB).conn@s.go:1", "pool"},
	} {
		p := accounttest.New()
		p.Connect(5)
		at := accounttest.In("runtime.selectgo@select.go:1", c.frames, "main.ask@main.go:25", "main.handle@main.go:7")
		for i := range 4 {
			p.Arrive(5)
			p.Block("select", at)
			if p.Pass(8 * ms); i < 2 { // by a timer itself, as of Transport.ResponseHeaderTimeout
				p.Wake(5, "")
			} else {
				p.Create(20+i, "context.WithDeadlineCause.func2", "")
				p.Start(20 + i)
				p.Wake(5, "runtime.closechan@chan.go:1;context.(*cancelCtx).cancel@context.go:2;context.WithDeadlineCause.func2@context.go:1")
				p.End()
			}
			p.Start(5)
			p.Respond(5)
		}
		rows := rowsOf(&accountOf(t, p, account.Options{}).Groups[0].All)
		if len(rows) == 0 || !strings.HasPrefix(rows[0], c.want+" ") || !strings.Contains(rows[0], "8ms") {
			t.Errorf("%s: %q, want %s", c.frames, rows, c.want)
		}
	}
}

// TestConnectionsWithoutRequests: a connection that ends before a request came served none, whatever its goroutine does then: it logs that the handshake failed,
// or writes that this was no request.
func TestConnectionsWithoutRequests(t *testing.T) {
	for _, last := range []string{
		"log.(*Logger).output@log.go:1;net/http.(*Server).logf@server.go:7;net/http.(*conn).serve@server.go:8",
		"net.(*conn).Write@net.go:1;fmt.Fprintf@print.go:1;net/http.(*conn).serve@server.go:8",
		"net/http.(*conn).serve@server.go:8",
	} {
		p := accounttest.New()
		p.Connect(5)
		p.Arrive(5)
		p.Pass(2 * ms)
		p.Respond(5)
		p.Connect(6)
		p.Wake(6, "")
		p.Start(6)
		p.Call(ms, "syscall.read@z.go:1;crypto/tls.(*Conn).HandshakeContext@conn.go:1;net/http.(*conn).serve@server.go:8")
		p.Call(2*ms, "syscall.write@z.go:1;"+last)
		p.End()
		if g := accountOf(t, p, account.Options{}).Groups[0]; g.Unit != account.Request || g.Wall.Count != 1 {
			t.Errorf("a connection that ends in %s: %d units of %s, want a request", last, g.Wall.Count, g.Unit)
		}
	}
}

// TestStreams: requests of HTTP/2 have goroutines of their own, and the one of their
// connection serves none.
func TestStreams(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		fmt.Fprintln(w, r.Proto)
	}))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	a, sent := traced(t, func() int64 {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 10 {
					resp, err := srv.Client().Post(srv.URL, "text/plain", strings.NewReader("x"))
					if err != nil {
						t.Error(err)
						return
					}
					if text, _ := io.ReadAll(resp.Body); string(text) != "HTTP/2.0\n" {
						t.Errorf("it was served by %s", text)
					}
					resp.Body.Close()
				}
			})
		}
		wg.Wait()
		return 40
	})
	n := int64(0)
	for _, g := range a.Groups {
		if g.Unit == account.Request {
			n += g.Wall.Count
		}
	}
	// The goroutine of the last of each client may not have ended with its response.
	if n > sent || n < sent-4 {
		t.Errorf("%d requests of %d; %d are cut off", n, sent, a.Cut)
	}
}

func upstream(w http.ResponseWriter, _ *http.Request) { time.Sleep(ms); fmt.Fprintln(w, "item") }

// TestAsked: of a server that asks another one in the same process, the requests to that
// one are told from those that came from outside.
func TestAsked(t *testing.T) {
	back := httptest.NewServer(http.HandlerFunc(upstream))
	defer back.Close()
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for range 3 {
			resp, err := back.Client().Get(back.URL)
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.Copy(w, resp.Body)
			resp.Body.Close()
		}
	}))
	defer front.Close()
	// Whoever is outside does not use net/http.
	address := front.Listener.Addr().String()
	a, _ := traced(t, func() int64 {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Error(err)
			return 0
		}
		defer conn.Close()
		in := bufio.NewReader(conn)
		for range 20 {
			fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			resp, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Error(err)
				return 0
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
		return 20
	})
	for _, g := range a.Groups {
		if g.Unit == account.Request && g.Asked != strings.HasSuffix(g.Name, ".upstream") {
			t.Errorf("%d requests of %s: asked by the program itself is %v", g.Wall.Count, g.Name, g.Asked)
		}
	}
	if len(a.Groups) < 2 {
		t.Errorf("there are %d groups", len(a.Groups))
	}
}

// traced makes the account of what is done.
func traced(t *testing.T, do func() (sent int64)) (*account.Account, int64) {
	t.Helper()
	var out bytes.Buffer
	if err := trace.Start(&out); err != nil {
		t.Fatal(err)
	}
	sent := do()
	trace.Stop()
	tr, err := exectrace.Open(out.Bytes(), exectrace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := account.Of(tr, account.Options{Wall: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	account.Check(t, "real", a)
	return a, sent
}

// Main is where main is.
const Main = "main.main@main.go:1"

// TestOne: the steps of one unit are in order and without gaps.
func TestOne(t *testing.T) {
	p := accounttest.New()
	p.Connect(5)
	for i := range 3 {
		p.Arrive(5)
		for range i + 1 {
			p.Block("sleep", accounttest.In("time.Sleep@sleep.go:1", "main.handle@main.go:7"))
			p.Pass(ms)
			p.Wake(5, "")
			p.Start(5)
		}
		p.Respond(5)
	}
	a := accountOf(t, p, account.Options{ID: 2})
	if a.One == nil || a.One.ID != 2 || a.One.Name != "main.handle" {
		t.Fatalf("unit 2 is %+v", a.One)
	}
	at, sleeps := a.One.Span.Start, 0
	for _, s := range a.One.Steps {
		if s.At != at {
			t.Errorf("a step begins at %d, the one before ends at %d", s.At, at)
		}
		at = s.At.Add(s.Row.Time)
		if s.Row.Kind == account.Sleep {
			sleeps++
		}
	}
	if at != a.One.Span.End || sleeps != 2 {
		t.Errorf("the steps end at %d, the unit at %d; it sleeps %d times", at, a.One.Span.End, sleeps)
	}
	if a := accountOf(t, p, account.Options{ID: 9}); a.One != nil {
		t.Errorf("there is a unit 9: %+v", a.One)
	}
}

// TestRealPrograms: whatever a program does, the parts add up, and every request that it
// has served while it was traced is counted.
func TestRealPrograms(t *testing.T) {
	var mu sync.Mutex
	gate := make(chan struct{}, 2)
	mux := http.NewServeMux()
	srv := httptest.NewUnstartedServer(mux)
	handlers := map[string]func(r *http.Request){
		"sleep": func(*http.Request) { time.Sleep(ms) },
		"lock":  func(*http.Request) { mu.Lock(); time.Sleep(us); mu.Unlock() },
		"gate":  func(*http.Request) { gate <- struct{}{}; time.Sleep(us); <-gate },
		"many": func(*http.Request) {
			var wg sync.WaitGroup
			for i := range 5 {
				wg.Go(func() { time.Sleep(time.Duration(i) * us) })
			}
			wg.Wait()
		},
		"body":  func(r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) },
		"stats": func(*http.Request) { var m runtime.MemStats; runtime.ReadMemStats(&m); runtime.GC() },
		"fast":  func(*http.Request) {},
		"task": func(r *http.Request) {
			ctx, task := trace.NewTask(r.Context(), "work")
			done := make(chan bool)
			go func() {
				trace.WithRegion(ctx, "part", func() { runtime.Gosched() })
				task.End() // on another goroutine
				close(done)
			}()
			<-done
		},
	}
	for name, do := range handlers {
		mux.HandleFunc("/"+name, func(w http.ResponseWriter, r *http.Request) { do(r); fmt.Fprintln(w, "done") })
	}
	srv.Start()
	defer srv.Close()
	const clients, each = 4, 5
	a, sent := traced(t, func() int64 {
		ask(t, srv.URL, handlers, clients, each)
		return int64(clients * each * len(handlers))
	})
	requests, tasks := int64(0), int64(0)
	for _, g := range a.Groups {
		switch g.Unit {
		case account.Request:
			requests += g.Wall.Count
		case account.Task:
			tasks += g.Wall.Count
		}
	}
	// The last response of a connection may be on its way when tracing ends.
	if requests > sent || requests < sent-clients || tasks != clients*each {
		t.Errorf("%d requests of %d, %d tasks of %d; %d are cut off", requests, sent, tasks, clients*each, a.Cut)
	}
}

// ask sends requests on as many connections as there are clients.
func ask(t *testing.T, url string, handlers map[string]func(*http.Request), clients, each int) {
	t.Helper()
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for range each {
				for name := range handlers {
					req, err := http.NewRequestWithContext(context.Background(), "POST", url+"/"+name, strings.NewReader(strings.Repeat("x", 10_000)))
					if err != nil {
						t.Error(err)
						return
					}
					resp, err := client.Do(req)
					if err != nil {
						t.Error(err)
						return
					}
					_, _ = io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
				}
			}
		})
	}
	wg.Wait()
}
