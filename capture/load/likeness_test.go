package load

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"loupe/capture/load/target"
	"loupe/format/loadlog"
)

// TestLikeness: the log says how much of an answer the one before had as well, whatever carries it, and
// says nothing of requests that differ.
func TestLikeness(t *testing.T) {
	var seq atomic.Int64
	same := strings.Repeat("the same for all\n", 5000) // most of it behind what is looked at
	table := func(n int64) string {
		var b strings.Builder
		for i := range 500 {
			fmt.Fprintf(&b, "pod%d %x\n", i, i*i*7919)
		}
		fmt.Fprintf(&b, "requests %d\n", n)
		return b.String()
	}
	answers := map[string]func(w http.ResponseWriter){
		"/same":    func(w http.ResponseWriter) { fmt.Fprint(w, same) },
		"/counter": func(w http.ResponseWriter) { fmt.Fprint(w, table(seq.Add(1))) },
		"/random":  func(w http.ResponseWriter) { fmt.Fprint(w, rand.Text(), rand.Text()) },
		"/chunked": func(w http.ResponseWriter) { fmt.Fprint(w, table(0)); w.(http.Flusher).Flush(); fmt.Fprint(w, "end") },
		"/failed":  func(w http.ResponseWriter) { http.Error(w, same, 500) },
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(lookEvery) // so that each of them may be looked at
		answers[r.URL.Path](w)
	}))
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetHTTP1(true)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	t.Cleanup(server.Close)
	for _, c := range []struct {
		path     string
		compared int
		from, to float64
	}{
		{"/same", 2, 1, 1}, {"/counter", 2, 0.98, 0.9999}, {"/chunked", 2, 1, 1}, {"/random", 2, 0, 0.1},
		{"/failed", 0, 0, 0}, {"/same?{{seq}}", 0, 0, 0},
	} {
		for _, engine := range append(http1Engines(), engineHTTP2) {
			t.Run(engine+c.path, func(t *testing.T) {
				t.Parallel()
				config := Config{Targets: []target.Target{{URL: server.URL + c.path}}, Engine: engine, Concurrency: 1, Requests: 3}
				if engine == engineHTTP2 {
					config.Engine, config.HTTP2 = "", true
				}
				log, err := Run(t.Context(), config)
				if err != nil {
					t.Fatal(err)
				}
				var k loadlog.Likeness
				for _, x := range log.Likeness {
					k.Join(x)
				}
				if k.Compared != c.compared || k.Share() < c.from || k.Share() > c.to || k.ShareOfFirst() < c.from || k.ShareOfFirst() > c.to {
					t.Errorf("%+v, %.4f and %.4f; want %d compared, %.4f to %.4f", k, k.Share(), k.ShareOfFirst(), c.compared, c.from, c.to)
				}
				if c.compared > 0 && k.Between < 2*lookEvery {
					t.Errorf("%v between the first and the last, want at least %v", k.Between, 2*lookEvery)
				}
			})
		}
	}
}
