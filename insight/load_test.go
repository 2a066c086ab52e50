package insight

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"loupe/format/loadlog"
	"loupe/format/loadlog/loadlogtest"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/value/timeline"
)

// underLoad is a program that is sent the requests of a log in its bare phase,
// a second after the recording began.
func underLoad(l *loadlog.Log, more ...string) *recordingtest.Recording {
	r := recordingtest.New("title x\nhost cpus=4\nphase bare 1s..40s user=4s\nclock load-bare.requests 1s\n" + strings.Join(more, ""))
	return r.Put(recording.Entry{Path: "load-bare.requests", Kind: recording.Load, Phase: "bare"}, loadlogtest.Encode(l))
}

// openLoop makes a log of requests that are due at the rates of some seconds, and
// take what took says for the second and the number in it.
func openLoop(rates []int, took func(second, i int) time.Duration) *loadlog.Log {
	h := loadlogtest.Log("begin late service").Header
	h.Elapsed = time.Duration(len(rates)) * time.Second
	var rows []loadlog.Request
	for s, n := range rates {
		for i := range n {
			d := took(s, i)
			rows = append(rows, loadlog.Request{Begin: timeline.Time(time.Duration(s)*time.Second + time.Duration(i)*time.Second/time.Duration(n)), Late: d - min(d, ms), Service: min(d, ms), Status: 200})
		}
	}
	return loadlog.New(h, rows)
}

func TestLD01(t *testing.T) {
	// A service that takes 0.45 ms for a request, one after the other: up to
	// 2,000/s all is well, beyond that they queue.
	rates := []int{500, 1000, 2000, 2000, 3000, 3000, 4000}
	free := time.Duration(0)
	full := openLoop(rates, func(s, i int) time.Duration {
		due := time.Duration(s)*time.Second + time.Duration(i)*time.Second/time.Duration(rates[s])
		free = max(free, due) + 450*us
		return free - due
	})
	f := expect(t, "full", underLoad(full), "LD01", Found, "the service saturates at about 2,222 answers a second", "with a load of 4,000 it answered 2,222", "99th percentile went from 450 µs to 1.")
	if len(f.Evidence) != 2 || *f.Evidence[0].Span != [2]int64{3e9, 5e9} || *f.Evidence[1].Span != [2]int64{7e9, 8e9} {
		t.Errorf("evidence = %+v", f.Evidence)
	}
	free = 0
	once := []int{500, 500, 4000}
	behind := openLoop(once, func(s, i int) time.Duration {
		due := time.Duration(s)*time.Second + time.Duration(i)*time.Second/time.Duration(once[s])
		free = max(free, due) + 450*us
		return free - due
	})
	expect(t, "one load that is too much", underLoad(behind), "LD01", Found, "the service saturates at about 2,222 answers a second", "with a load of 4,000 it answered 2,222", "99th percentile went from 450 µs to 7")
	calm := openLoop(rates, func(int, int) time.Duration { return 5 * ms })
	expect(t, "calm", underLoad(calm), "LD01", Fine, "from a load of 500 to 4")
	expect(t, "one rate", underLoad(openLoop([]int{500, 500, 500}, func(int, int) time.Duration { return ms })), "LD01", NotApplicable, "single load")
	expect(t, "slow", underLoad(openLoop([]int{50, 60, 70}, func(int, int) time.Duration { return ms })), "LD01", TooLittle)
	expect(t, "no load", recordingtest.New("title x\nphase bare 0s..10s"), "LD01", NotApplicable, "-load")
}

// collections is a program whose collections take 20 ms of marking each, some
// 100 ms apart, and a load on it: requests that meet one take long, or do not.
func collections(n int, slow bool) *recordingtest.Recording { return collectionsOver(n, slow, 0) }

// collectionsOver is the same of requests that take so much longer, to which a collection then adds a tenth.
func collectionsOver(n int, slow bool, longer time.Duration) *recordingtest.Recording {
	at := func(i int) time.Duration { return time.Duration(i)*100*ms + time.Duration(i*i*7%37)*ms }
	log := recordingtest.Cycles(200, 0, 0, func(i int, c *recordingtest.Cycle) { c.At, c.Mark = at(i)+10*ms, 20*ms })
	var rows []loadlog.Request
	h := loadlogtest.Log("begin late service").Header
	for k := range n {
		begin := time.Duration(k) * 15 * time.Second / time.Duration(n)
		q := loadlog.Request{Begin: timeline.Time(begin), Service: ms + time.Duration(k%7)*10*time.Microsecond, Status: 200}
		axis := begin + time.Second // the log begins a second after the program
		for i := max(0, int(axis/(100*ms))-1); i < 200 && slow; i++ {
			if mark := at(i) + 10*ms; axis >= mark && axis < mark+20*ms {
				q.Service = mark + 30*ms - axis
				if longer > 0 {
					q.Service = ms + q.Service/10
				}
			}
		}
		q.Service += longer
		rows = append(rows, q)
	}
	h.Elapsed = 15 * time.Second
	return underLoad(loadlog.New(h, rows), "clock stderr.log 0s error=1ms\n-- stderr.log stderr --\n"+log)
}

func TestLD02(t *testing.T) {
	f := expect(t, "gctrace", collections(10_000, true), "LD02", Found, "100% of the slowest 1.00% of 10,000 requests", "overlapped a GC mark phase", "by chance")
	severity(t, "gctrace", f, Warning)
	if f.Impact.Value != 1 || len(f.Evidence) != 4 || f.Evidence[1].Span == nil || f.Evidence[1].Span[0] < 1e9 || !strings.Contains(f.Evidence[0].Text, "clocks: the recording's clock") {
		t.Errorf("finding = %+v, evidence %+v", f.Impact, f.Evidence)
	}
	severity(t, "hardly slower than the rest", expect(t, "hardly slower", collectionsOver(10_000, true, 12*ms), "LD02", Found), Info)
	expect(t, "the slowest 10% of few", collections(2_000, true), "LD02", Found, "the slowest 10.0% of 2,000")
	expect(t, "no cause", collections(10_000, false), "LD02", Fine, "overlapped a GC mark phase", "by chance it would be")
	expect(t, "few", collections(900, true), "LD02", TooLittle, "100 are needed")
	expect(t, "nothing known of collections", underLoad(loadlogtest.Steady(5000, 5*time.Second, ms)), "LD02", TooLittle, "-phases trace")
	expect(t, "no load", recordingtest.New("title x\nphase bare 0s..10s"), "LD02", NotApplicable)
}

// closedLoop makes a log of connections that send one request after the other,
// each of which takes what took says.
func closedLoop(conns int, length time.Duration, took func(at time.Duration) time.Duration) *loadlog.Log {
	h := loadlogtest.Log("begin service").Header
	h.Concurrency, h.Elapsed = conns, length
	var rows []loadlog.Request
	for range conns {
		for at := time.Duration(0); at < length; {
			d := took(at)
			rows = append(rows, loadlog.Request{Begin: timeline.Time(at), Service: d, Status: 200})
			at += d
		}
	}
	return loadlog.New(h, rows)
}

func TestLD03(t *testing.T) {
	// A service that takes 10 ms and stalls for a second of ten: of a schedule
	// 10 % would meet it, and 1 % wait for 900 ms or more.
	stall := func(at time.Duration) time.Duration {
		if at >= 4*time.Second && at < 5*time.Second {
			return 5*time.Second - at + 10*ms
		}
		return 10 * ms
	}
	l := closedLoop(10, 10*time.Second, stall)
	f := expect(t, "a stall", underLoad(l), "LD03", Found, "99% of the requests took less than 10.0 ms", "(an estimate)")
	severity(t, "a stall", f, Warning)
	if got := time.Duration(f.Impact.Value); got < 850*ms || got > 920*ms {
		t.Errorf("the estimate is %v, want about 900 ms", got)
	}
	doubted(t, f, "the estimate")
	expect(t, "even", underLoad(closedLoop(10, 10*time.Second, func(time.Duration) time.Duration { return 10 * ms })), "LD03", Fine)
	expect(t, "a schedule", underLoad(openLoop([]int{1000, 1000}, func(s, i int) time.Duration { return time.Duration(1+s*500) * ms })), "LD03", Fine, "had a schedule")
	expect(t, "few", underLoad(closedLoop(1, 5*time.Second, stall)), "LD03", TooLittle, "1000 are needed")
	expect(t, "very few", underLoad(closedLoop(1, 500*ms, stall)), "LD03", TooLittle, "100 are needed")
}

func TestLD04(t *testing.T) {
	log := func(change func(l *loadlog.Log)) *loadlog.Log {
		l := loadlogtest.Steady(2000, 10*time.Second, ms)
		change(l)
		return l
	}
	f := expect(t, "busy", underLoad(log(func(l *loadlog.Log) { l.Busy = 0.97 })), "LD04", Found, "a lower bound on the service's capacity")
	severity(t, "busy", f, Warning)
	expect(t, "its CPU time", underLoad(log(func(l *loadlog.Log) { l.CPU, l.Threads = 19*time.Second, 2 })), "LD04", Found, "busy for 95.0%")
	much := func(l *loadlog.Log) { l.CPU, l.Threads, l.Elapsed = 24*time.Second, 4, 20*time.Second }
	full := strings.Join(strings.Split(busyHost, "\n")[:3], "\n") + "\n1s 7 0s 0s 0s 0s\n2s 7 1s 3900ms 100ms 2s\n3s 7 2s 7800ms 200ms 4s\n4s 7 3s 11700ms 300ms 6s\n"
	f = expect(t, "beside", underLoad(log(much), full), "LD04", Found, "no CPU was idle, and the generator took 30.0% of all CPUs, 85.7% of the CPU time that it and the service used together")
	severity(t, "beside", f, Info)
	expect(t, "it had a CPU whenever it wanted one", underLoad(log(func(l *loadlog.Log) {
		much(l)
		l.Engine, l.RunDelay = "http", new(100*ms)
	}), full), "LD04", Fine, "it waited 100 ms for a CPU (all its threads together)")
	// Where others keep the CPUs busy the share of both says nothing.
	expect(t, "of next to nothing", underLoad(log(func(l *loadlog.Log) { l.CPU = 6 * time.Second }), busyHost), "LD04", Fine, "60.0% of the CPU time of both")
	expect(t, "others took more", underLoad(log(much), busyHost), "LD04", Fine, "85.7% of the CPU time of both")
	// What the children of the service use is the service's.
	family := "\n-- os.ndjson os --\nt_ns pid user_ns family_ns busy_ns idle_ns self_ns\n"
	for i, sec := range []int{1, 2, 3, 10, 20, 30, 40} {
		_ = i
		family += fmt.Sprintf("%ds 7 %dms %ds %dms 0s %dms\n", sec, 100*(sec-1), sec-1, 4000*(sec-1), 1900*(sec-1))
	}
	expect(t, "children of the service", underLoad(log(much), family), "LD04", Fine, "35.8% of the CPU time of both")
	expect(t, "beside, with idle CPUs", underLoad(log(func(l *loadlog.Log) { l.CPU, l.Threads = 6*time.Second, 2 })), "LD04", Fine, "the busiest thread was 30.0% busy", "60.0% of the CPU time of both")
	expect(t, "no load", recordingtest.New("title x\nphase bare 0s..10s"), "LD04", NotApplicable)
}

// TestLD04Starved: a generator without a CPU has no time left, and what is not known
// of it is not fine.
func TestLD04Starved(t *testing.T) {
	// Of 10,000 requests 300 wait for 50 ms to be sent.
	late := func(delay *time.Duration) *recordingtest.Recording {
		h := loadlogtest.Log("begin late service").Header
		h.Elapsed, h.Duration, h.CPU, h.Threads, h.RunDelay, h.Engine = 10*time.Second, 10*time.Second, 100*ms, 1, delay, "epoll"
		var rows []loadlog.Request
		for i := range 10_000 {
			q := loadlog.Request{Begin: timeline.Time(i) * 1e6, Service: ms, Status: 200}
			if i >= 5000 && i < 5300 {
				q.Late = 50 * ms
			}
			rows = append(rows, q)
		}
		return underLoad(loadlog.New(h, rows))
	}
	of := func(d time.Duration) *time.Duration { return &d }
	f := expect(t, "starved", late(of(1970*ms)), "LD04", Found, "waited 1.97 s for a CPU in 10.0 s, in which it used 100 ms of CPU time", "the times are an upper bound on the service's")
	severity(t, "starved", f, Warning)
	if strings.Contains(f.Summary, "lower bound") {
		t.Errorf("a rate that was kept is no lower bound: %s", f.Summary)
	}
	f = expect(t, "for a moment", late(of(60*ms)), "LD04", Found, "the slowest requests spent 98.0% of their time waiting to be sent, and the generator had no CPU for 60.0 ms")
	severity(t, "for a moment", f, Info)
	expect(t, "for a connection", late(of(ms)), "LD04", Fine, "it waited 1.00 ms for a CPU", "for a connection and not for a CPU")
	expect(t, "unknown", late(nil), "LD04", TooLittle, "spent 98.0% of their time waiting to be sent", "is not known")
}

// TestLD02Blind: where collections go on nearly all the time every request meets one,
// and that says nothing.
func TestLD02Blind(t *testing.T) {
	log := recordingtest.Cycles(200, 0, 0, func(i int, c *recordingtest.Cycle) { c.At, c.Mark = time.Duration(i)*100*ms, 95*ms })
	h := loadlogtest.Log("begin late service").Header
	h.Elapsed = 15 * time.Second
	var rows []loadlog.Request
	for k := range 10_000 {
		rows = append(rows, loadlog.Request{Begin: timeline.Time(k) * 1.5e6, Service: 10*ms + time.Duration(k%97)*ms/10, Status: 200})
	}
	expect(t, "always", underLoad(loadlog.New(h, rows), "clock stderr.log 0s error=1ms\n-- stderr.log stderr --\n"+log), "LD02", TooLittle)
}

func TestLD05(t *testing.T) {
	log := func(good, status, refused, failed int) *recordingtest.Recording {
		return underLoad(loadlogtest.Log(fmt.Sprintf(`
			begin service status
			%d×   1s    1ms     200
			%d×   2s    1ms     503
			%d×   2s    1ms     404
			%d×   3s    1s      -    connection refused
		`, good, status, refused, failed)))
	}
	f := expect(t, "some", log(4980, 15, 0, 5), "LD05", Found, "20 of 5,000 requests failed (0.4", "most with: status 503")
	severity(t, "some", f, Info)
	if len(f.Evidence) != 2 || f.Evidence[1].Text != "connection refused: 5 requests, the first began 3.00 s after the start" || *f.Evidence[1].Span != [2]int64{4e9, 5e9} {
		t.Errorf("evidence = %+v", f.Evidence)
	}
	severity(t, "many", expect(t, "many", log(900, 50, 0, 50), "LD05", Found), Warning)
	severity(t, "all", expect(t, "all", log(1, 0, 0, 500), "LD05", Found, "connection refused"), Critical)
	expect(t, "none", log(5000, 0, 0, 0), "LD05", Fine, "0 of 5,000")
	expect(t, "not found", log(500, 0, 500, 0), "LD05", Fine, "500 got a status from 400 to 499")
	expect(t, "few", log(10, 10, 0, 10), "LD05", TooLittle)

	unsent := func(n int64, failed int, more ...string) *recordingtest.Recording {
		l := loadlogtest.Log(fmt.Sprintf("begin service status\n%d× 1s 1ms 200\n%d× 2s 1ms 503\n", 5000, failed))
		h := l.Header
		h.Unsent = n
		var rows []loadlog.Request
		for q := range l.All() {
			rows = append(rows, *q)
		}
		return underLoad(loadlog.New(h, rows), more...)
	}
	f = expect(t, "never sent", unsent(993, 0), "LD05", Found, "993 of 5,993 requests were due and never sent")
	if f.Title != "Requests were due and never sent" || strings.Contains(f.Advice, "rejects") {
		t.Errorf("never sent: %s: %s", f.Title, f.Advice)
	}
	severity(t, "never sent", f, Warning)
	f = expect(t, "never sent on a busy machine", unsent(993, 0, busyHost), "LD05", Found)
	if severity(t, "never sent on a busy machine", f, Info); strings.Contains(f.Advice, "The service does not keep up") {
		t.Errorf("on a busy machine: %s", f.Advice)
	}
	expect(t, "some never sent", unsent(993, 20), "LD05", Found, "993 of 6,013 requests were due and never sent", "20 more failed, most with: status 503")
	expect(t, "most failed", unsent(20, 993), "LD05", Found, "1,013 of 6,013 requests failed", "most with: status 503")
}

// connected is a load whose requests each have a connection, closed for a reason.
func connected(n int, why loadlog.Closing) *loadlog.Log {
	var b loadlog.Builder
	to := b.Recorder()
	for i := range n {
		at := timeline.Time(time.Duration(i) * ms)
		to.Add(&loadlog.Request{Begin: at, Service: ms, Dial: 200 * us, Conn: uint32(i), Status: 200})
		b.Connect(loadlog.Connection{ID: uint32(i), Opened: at, Dial: 200 * us, Requests: 1, Closed: at.Add(ms), Why: why})
	}
	h := loadlogtest.Log("begin service").Header
	h.Elapsed = time.Duration(n) * ms
	l, _ := b.Log(h)
	return l
}

// opened makes a log of requests over a few connections that are opened at some times.
func opened(n int, at ...time.Duration) *loadlog.Log {
	var b loadlog.Builder
	to := b.Recorder()
	for i := range n {
		to.Add(&loadlog.Request{Begin: timeline.Time(time.Duration(i+10) * ms), Service: ms, Status: 200, Conn: uint32(1 + i%len(at))})
	}
	for i, d := range at {
		b.Connect(loadlog.Connection{ID: uint32(1 + i), Opened: timeline.Time(d), Requests: uint32(n / len(at))})
	}
	h := loadlogtest.Log("begin service").Header
	h.Elapsed = time.Duration(n+10) * ms
	l, _ := b.Log(h)
	return l
}

func TestLD06(t *testing.T) {
	f := expect(t, "closed by the server", underLoad(connected(1000, loadlog.ByServer)), "LD06", Found, "1,000 connections for 1,000 requests", "200 µs on average")
	severity(t, "closed by the server", f, Warning)
	near(t, "closed by the server", f, 1)
	expect(t, "asked for", underLoad(connected(1000, loadlog.ByRequest)), "LD06", Fine, "was to open a connection for each request")
	expect(t, "kept", underLoad(loadlogtest.Steady(1000, time.Second, ms)), "LD06", Fine, "none of the load's 1,000 requests waited for a new connection")
	expect(t, "opened before", underLoad(opened(1000, -ms, -ms)), "LD06", Fine, "the load opened 2 connections before its start and 0 during 1,000 requests")
	expect(t, "one more later", underLoad(opened(1000, -ms, 5*ms)), "LD06", Fine, "the load opened 1 connection before its start and 1 during 1,000 requests")
	expect(t, "all later", underLoad(opened(1000, 0, 5*ms)), "LD06", Fine, "1,000 requests of the load opened 2 connections")
	expect(t, "few", underLoad(connected(50, loadlog.ByServer)), "LD06", TooLittle)
	expect(t, "no load", recordingtest.New("title x\nphase bare 0s..10s"), "LD06", NotApplicable)
}

// files are samples of a process, one a second from 1 s on.
func files(n int, open func(i int) int) string {
	text := "-- os.ndjson os --\nt_ns pid fds user_ns busy_ns idle_ns\n"
	for i := range n {
		text += fmt.Sprintf("%ds 7 %d 0s 0s 1s\n", 1+i, open(i))
	}
	return text
}

func TestLD07(t *testing.T) {
	l := loadlogtest.Steady(5000, 20*time.Second, ms)
	f := expect(t, "more and more", underLoad(l, files(21, func(i int) int { return 20 + 10*i })), "LD07", Found, "open files went from 70 to 220", "600 a minute")
	severity(t, "more and more", f, Warning)
	near(t, "more and more", f, 10)
	expect(t, "steady", underLoad(l, files(21, func(i int) int { return 100 + i%3 })), "LD07", Fine, "open files went from")
	expect(t, "all in the beginning", underLoad(l, files(21, func(i int) int { return min(20+100*i, 300) })), "LD07", Fine)
	expect(t, "few samples", underLoad(l, files(9, func(i int) int { return 20 + 50*i })), "LD07", TooLittle, "fewer than 8 samples")
	// More files because the load opens more connections are no leak.
	var b loadlog.Builder
	to := b.Recorder()
	for i := range 200 {
		to.Add(&loadlog.Request{Begin: timeline.Time(i) * timeline.Time(100*ms), Service: ms, Conn: uint32(i), Status: 200})
		b.Connect(loadlog.Connection{ID: uint32(i), Opened: timeline.Time(i) * timeline.Time(100*ms), Closed: timeline.Time(time.Minute)})
	}
	h := l.Header
	growing, _ := b.Log(h)
	expect(t, "of the load", underLoad(growing, files(21, func(i int) int { return 20 + 10*i })), "LD07", Fine)
}

// TestLD07Recorded: connections that are opened in a trace, and wait when it ends
// for somebody to close the body.
func TestLD07Recorded(t *testing.T) {
	reason, wait := "select", "runtime.selectgo@/go/select.go:1;net/http.(*persistConn).readLoop@/go/transport.go:2441"
	leak := func(n int, end bool, more ...string) *recordingtest.Recording {
		d := newDrama()
		a := d.thread(1)
		for i := range n {
			g := 10 + i
			a.create(us, g, "net/http.(*persistConn).readLoop@/go/transport.go:2300", "shop/feed.fetch@/src/feed/x.go:20")
			a.block(us, "sleep", "time.Sleep@/go/sleep.go:1;main.main@/src/cmd/shop/main.go:9")
			a.run(us, g)
			a.block(us, reason, wait)
			a.wake(10*ms, 1, "")
			a.run(us, 1)
			if end {
				a.wake(us, g, "shop/feed.fetch@/src/feed/x.go:25")
				a.block(us, "sleep", "time.Sleep@/go/sleep.go:1;main.main@/src/cmd/shop/main.go:9")
				a.run(us, g)
				a.act(us, "GoDestroy", "")
				a.wake(us, 1, "")
				a.run(us, 1)
			}
		}
		r := underLoad(loadlogtest.Steady(5000, 10*time.Second, ms), append([]string{"phase trace 40s..42s profiler=trace\n"}, more...)...)
		return r.Put(recording.Entry{Path: "trace.out", Kind: recording.ExecTrace, Phase: "trace"}, d.trace(t))
	}
	f := expect(t, "never closed", leak(160, false), "LD07", Found, "160 connections to other services", "none was reused or closed")
	severity(t, "never closed", f, Warning)
	if e := f.Evidence[0]; e.Line != 2441 || !strings.Contains(e.Text, "[40 40 40 40]") {
		t.Errorf("evidence = %+v", e)
	}
	if strings.Contains(f.Advice, "idle") {
		t.Errorf("advice = %s", f.Advice)
	}
	expect(t, "not more for longer", leak(160, false, files(11, func(i int) int { return 700 + 100*(i%2) })), "LD07", Fine, "160 connections to other services", "they close later")
	expect(t, "more in the longer phase, too", leak(160, false, files(11, func(i int) int { return 700 + 40*i })), "LD07", Found, "open files went from")
	expect(t, "more, if slowly", leak(160, false, files(11, func(i int) int { return 700 + 2*i })), "LD07", Found, "160 connections to other services")
	expect(t, "closed", leak(160, true), "LD07", TooLittle, "fewer than 8 samples")
	expect(t, "a few", leak(80, false), "LD07", TooLittle)
	reason, wait = "network", "internal/poll.(*FD).Read@/go/fd.go:1;net/http.(*persistConn).readLoop@/go/transport.go:2300"
	if f := expect(t, "idle", leak(160, false), "LD07", Found, "160 connections to other services"); !strings.Contains(f.Advice, "IdleConnTimeout") || strings.Contains(f.Advice, "body of each") {
		t.Errorf("advice = %s", f.Advice)
	}
}
