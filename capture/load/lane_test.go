package load

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"loupe/format/loadlog"
)

// TestSettle: the automatic warm-up ends with two seconds that are alike.
func TestSettle(t *testing.T) {
	f := func(want int, medians ...int64) {
		t.Helper()
		w := &watcher{r: &run{Config: Config{Warmup: AutoWarmup}}}
		p := &phase{}
		p.end.Store(noEnd)
		for i, m := range medians {
			for range time.Second / liveInterval {
				w.second.Add(m)
				w.settle(p, int64(i+1))
			}
		}
		if end := p.end.Load(); end != int64(want) && (want != 0 || end != noEnd) {
			t.Errorf("%v end at second %d, want %d", medians, end, want)
		}
	}
	f(3, 1000, 500, 490)
	f(2, 1000, 1040)
	f(0, 1000, 900, 800, 700)
	f(0, 1000)
}

func TestQueue(t *testing.T) {
	var q queue
	next, out := int64(0), int64(0)
	for round := range 100 {
		for range round % 7 {
			q.push(turn{seq: next})
			next++
		}
		for range round % 6 {
			if x, ok := q.pop(); ok {
				if x.seq != out {
					t.Fatalf("turn %d comes out as number %d", x.seq, out)
				}
				out++
			}
		}
	}
	if q.len() != int(next-out) || q.len() == 0 {
		t.Errorf("%d are left of %d", q.len(), next-out)
	}
}

// TestPlain: equal failures have equal texts, whoever found them.
func TestPlain(t *testing.T) {
	from := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1234}
	to := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80}
	op := func(what string, err error) error {
		return fmt.Errorf("x: %w", &net.OpError{Op: what, Net: "tcp", Source: from, Addr: to, Err: os.NewSyscallError(what, err)})
	}
	f := func(want string, errs ...error) {
		t.Helper()
		for _, err := range errs {
			if got := plain(err); got != want {
				t.Errorf("%v is told as %q, want %q", err, got, want)
			}
		}
	}
	f(syscall.ECONNRESET.Error(), syscall.ECONNRESET, op("read", syscall.ECONNRESET), op("write", syscall.ECONNRESET))
	f("timeout", os.ErrDeadlineExceeded, errTimeout, op("dial", syscall.ETIMEDOUT))
	f("dial tcp 127.0.0.1:80: connect: "+syscall.ECONNREFUSED.Error(),
		&net.OpError{Op: "dial", Net: "tcp", Source: from, Addr: to, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)})
	f("the generator, not the service: "+syscall.EADDRNOTAVAIL.Error(), op("dial", syscall.EADDRNOTAVAIL))
	f("odd", errors.New("odd"))
}

type memoryFile struct{ *os.File }

// TestSpill: what does not fit into memory is read back from a file. Config's
// bound is too far away to be met here.
func TestSpill(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	u, _ := serve(t, hello)
	r, err := newRun(t.Context(), Config{URL: u, Requests: 20_000, Concurrency: 2, Spill: func() (loadlog.SpillFile, error) { return memoryFile{file}, nil }})
	if err != nil {
		t.Fatal(err)
	}
	r.builder.Memory = 1
	r.engine.open(t.Context())
	r.engine.carry(t.Context(), r.newPhase(true))
	r.engine.close()
	l, err := r.builder.Log(r.header())
	if info, _ := file.Stat(); err != nil || l.Len() != 20_000 || info.Size() == 0 || l.Summary().Responses != 20_000 {
		t.Errorf("%d requests, %d of them readable, %v", l.Len(), l.Summary().Responses, err)
	}
}

// BenchmarkFinish is what keeping a request costs, and whoever watches adds.
func BenchmarkFinish(b *testing.B) {
	for _, watched := range []bool{false, true} {
		b.Run(fmt.Sprintf("watched=%v", watched), func(b *testing.B) {
			r := &run{}
			l := &lane{r: r, rec: r.builder.Recorder(), phase: &phase{keep: true}}
			if watched {
				l.window = new(window)
			}
			c := &call{status: 200, bytes: 13, write: 5000}
			at := int64(0)
			for b.Loop() {
				at += 7000
				c.begin, c.sent = at-300_000-at%1000, at-300_000-at%1000
				l.finish(c, at, nil)
			}
		})
	}
}
