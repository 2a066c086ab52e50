package load

import (
	"net/http"
	"sync"
	"testing"
	"time"
)

// TestSnapshots: what whoever watches is told adds up to what the run has, on
// every engine, with the reasons of the failures.
func TestSnapshots(t *testing.T) {
	u, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/none" {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(http.StatusTeapot)
	})
	for _, engine := range engines() {
		var mu sync.Mutex
		var last Snapshot
		var latencies uint64
		c := Config{URL: u, Requests: 300, Concurrency: 3, Engine: engine, Timeout: time.Minute}
		c.Live = func(s Snapshot) {
			mu.Lock()
			defer mu.Unlock()
			last = s
			latencies += s.Latency.Count()
		}
		if _, err := Run(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		f := Failure{Status: http.StatusTeapot, Count: 300}
		if last.Requests != 300 || last.Errors != 0 || latencies != 300 || len(last.Failures) != 1 || last.Failures[0] != f {
			t.Errorf("%s: %d latencies, and at the end %+v", engine, latencies, last)
		}
		if last.Busy < 0 || last.Busy > 1 {
			t.Errorf("%s: busy %v", engine, last.Busy)
		}
		c.URL += "/none"
		if _, err := Run(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		if last.Errors != 300 || len(last.Failures) != 1 || last.Failures[0].Count != 300 || last.Failures[0].Error == "" {
			t.Errorf("%s: without answers %+v", engine, last)
		}
	}
}

// engines are those that can carry plain HTTP/1.1 here.
func engines() []string {
	if haveEpoll {
		return []string{engineEpoll, engineNet}
	}
	return []string{engineNet}
}
