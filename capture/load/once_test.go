package load

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync/atomic"
	"testing"

	"loupe/format/loadlog"
)

// dropTenth is a server that reads every tenth request and hangs up instead of
// answering; it counts what it reads.
func dropTenth(t *testing.T) (url string, seen *atomic.Int64) {
	seen = new(atomic.Int64)
	return play(t, func(c net.Conn, r *bufio.Reader) {
		for readRequest(r) != nil {
			if seen.Add(1)%10 == 0 {
				return
			}
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
		}
	}), seen
}

// TestSuiteSentOnce: no request is sent twice unless that is asked for, and then it
// is counted.
func TestSuiteSentOnce(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		for _, method := range []string{"POST", "GET"} {
			u, seen := dropTenth(t)
			l := do(t, Config{URL: u, Method: method, Engine: engine, Requests: 1000, Concurrency: 1})
			s := l.Summary()
			if seen.Load() != 1000 || s.Status[200] != 900 || s.Errors[loadlog.Dropped] != 100 || s.Resent != 0 {
				t.Errorf("%s: the server read %d, of 1,000: %v, %v, sent again %d times", method, seen.Load(), s.Status, s.Errors, s.Resent)
			}
			u, seen = dropTenth(t)
			l = do(t, Config{URL: u, Method: method, Engine: engine, Requests: 900, Concurrency: 1, Retry: 1})
			if s = l.Summary(); s.Status[200] != 900 || s.Resent == 0 || seen.Load() != 900+s.Resent {
				t.Errorf("%s with a retry: the server read %d, of 900: %v, %v, sent again %d times", method, seen.Load(), s.Status, s.Errors, s.Resent)
			}
		}
	})
}

// TestSuiteIdle: a server that closes connections between requests costs no request
// that it has read, and gets none twice.
func TestSuiteIdle(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		var seen atomic.Int64
		u := play(t, func(c net.Conn, r *bufio.Reader) {
			for range 2 {
				if readRequest(r) == nil {
					return
				}
				seen.Add(1)
				io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
			}
		})
		l := do(t, Config{URL: u, Engine: engine, Requests: 10, Concurrency: 1})
		if s := l.Summary(); int64(s.Status[200]) != seen.Load() || s.Status[200]+len(l.Connections) < 10 || s.Status[200]+s.Errors[loadlog.Dropped]+s.Errors["connection reset by peer"] != 10 {
			t.Errorf("the server read %d: %v, %v on %d connections", seen.Load(), s.Status, s.Errors, len(l.Connections))
		}
	})
}

// TestGone: a connection that the server has closed while nothing was asked is known
// before anything is written to it.
func TestGone(t *testing.T) {
	pair := httptest.NewTLSServer(http.HandlerFunc(hello))
	defer pair.Close()
	hangUp := make(chan struct{})
	u := play(t, func(c net.Conn, r *bufio.Reader) {
		readRequest(r)
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
		<-hangUp
	})
	for _, address := range []string{u, pair.URL} {
		r, err := setUp(Config{URL: address})
		if err != nil {
			t.Fatal(err)
		}
		b := &blocking{r: r, carriers: map[carrier]struct{}{}}
		k, err := b.dialHTTP1(t.Context(), r.origins[0])
		if err != nil {
			t.Fatal(err)
		}
		var c call
		c.start(r, turn{}, r.now())
		if _, more, err := k.roundTrip(t.Context(), &c); err != nil || !more {
			t.Fatalf("%s: %v", address, err)
		}
		k.(*netConn).idle = -1 << 40
		if !k.alive() {
			t.Errorf("%s: an open connection is taken for a closed one", address)
		}
		if address == u {
			close(hangUp)
		} else {
			pair.CloseClientConnections()
		}
		for k.alive() { // until the system knows
			runtime.Gosched()
			if t.Context().Err() != nil {
				t.Fatal("a closed connection is taken for an open one")
			}
		}
		k.close()
	}
}

// TestHTTP2SentOnce: net/http sends nothing again over HTTP/2 either.
func TestHTTP2SentOnce(t *testing.T) {
	var seen atomic.Int64
	s := httptest.NewUnstartedServer(nil)
	s.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, connKey{}, c)
	}
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if seen.Add(1)%10 == 0 {
			r.Context().Value(connKey{}).(net.Conn).Close()
			<-r.Context().Done()
		}
	})
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	defer s.Close()
	for _, method := range []string{"POST", "GET"} {
		seen.Store(0)
		l := do(t, Config{URL: s.URL, Method: method, HTTP2: true, Requests: 200, Concurrency: 1, Body: []byte("once")})
		if sum := l.Summary(); seen.Load() != 200 || sum.Responses != 180 || sum.Requests != 200 {
			t.Errorf("%s: the server read %d of 200: %v, %v", method, seen.Load(), sum.Status, sum.Errors)
		}
	}
}

type connKey struct{}

// TestTraceSentOnce: net/http sends again what it takes to be harmless; not here.
func TestTraceSentOnce(t *testing.T) {
	for _, method := range []string{"POST", "GET"} {
		u, seen := dropTenth(t)
		trace, err := Trace(t.Context(), Config{URL: u, Method: method, Body: []byte("once")}, 30)
		if err != nil {
			t.Fatal(err)
		}
		failed := 0
		for _, x := range trace.Exchanges {
			if x.Error != "" {
				failed++
			}
		}
		if seen.Load() != 30 || failed != 3 || len(trace.Exchanges) != 30 {
			t.Errorf("%s: the server read %d of 30, %d of %d failed", method, seen.Load(), failed, len(trace.Exchanges))
		}
		u, seen = dropTenth(t)
		if _, err = Trace(t.Context(), Config{URL: u, Retry: 1}, 30); err != nil || seen.Load() <= 30 {
			t.Errorf("with a retry the server read %d of 30, %v", seen.Load(), err)
		}
	}
}
