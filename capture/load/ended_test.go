package load

import (
	"bufio"
	"context"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"loupe/format/loadlog"
)

// hanging answers so many requests, calls hung when so many more are waiting,
// and never answers those.
func hanging(t *testing.T, answers, waiting int64, hung func()) (url string) {
	var read, held atomic.Int64
	return play(t, func(c net.Conn, r *bufio.Reader) {
		for readRequest(r) != nil {
			if read.Add(1) > answers {
				if held.Add(1) == waiting {
					hung()
				}
				continue // until the client hangs up
			}
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
		}
	})
}

// TestSuiteEnded: what is under way when a run is ended does not vanish. The run
// keeps it as given up or, where it has waited no longer than an answer took,
// counts it; nothing of it is a failure.
func TestSuiteEnded(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) { ended(t, Config{Engine: engine}) })
	t.Run("no keep-alive", func(t *testing.T) { ended(t, Config{Engine: engineNet, NoKeepAlive: true}) })
	eachEngine(t, func(t *testing.T, engine string) { ended(t, Config{Engine: engine, Duration: time.Hour}) })
}

func ended(t *testing.T, c Config) {
	const conns = 7
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c.URL, c.Concurrency = hanging(t, 30, conns, cancel), conns
	if c.Duration == 0 {
		c.Requests = 1000
	}
	l, err := Run(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	s := l.Summary()
	if s.Responses > 30 || int64(s.Responses)+s.GivenUp()+s.UnderWay != 30+conns || len(s.Errors) > 1 {
		t.Errorf("of %d requests %d were answered, %d given up, %d are counted as under way: %v", 30+conns, s.Responses, s.GivenUp(), s.UnderWay, s.Errors)
	}
	for r := range l.All() {
		if r.Error != 0 && (!l.TimedOut(r) || r.Latency() <= s.Latency.MaxAnswered) {
			t.Errorf("given up after %v, and the slowest answer took %v", r.Latency(), s.Latency.MaxAnswered)
		}
	}
}

// TestEndedUnanswered: a service that never answered anything is no service of no
// requests.
func TestEndedUnanswered(t *testing.T) {
	for _, engine := range engines() {
		t.Run(engine, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			l, err := Run(ctx, Config{URL: hanging(t, 0, 3, cancel), Requests: 1000, Concurrency: 3, Engine: engine})
			if err != nil {
				t.Fatal(err)
			}
			if s := l.Summary(); s.Requests != 3 || s.Unanswered() != 3 || s.GivenUp() != 3 || s.Latency.P50 != loadlog.Never {
				t.Errorf("%+v", s)
			}
		})
	}
}
