package load

import (
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"loupe/capture/load/target"
)

// TestList: a list is sent from its beginning in each run, and behind a warm-up.
func TestList(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		var mu sync.Mutex
		var order []string
		u, _ := serve(t, func(_ http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, r.URL.Path)
		})
		s := &Series{}
		for _, warmup := range []time.Duration{0, 30 * time.Millisecond, 40 * time.Millisecond} {
			var list []target.Target
			for _, name := range []string{"/login", "/ask", "/ask", "/read", "/logout"} {
				list = append(list, target.Target{URL: u + name + "?{{seq}}"})
			}
			do(t, Config{Targets: list, List: true, Engine: engine, Requests: 7, Concurrency: 1, Series: s, Warmup: warmup})
			mu.Lock()
			got := order[len(order)-7:]
			if !slices.Equal(got, []string{"/login", "/ask", "/ask", "/read", "/logout", "/login", "/ask"}) {
				t.Errorf("warm-up %v: %v", warmup, got)
			}
			mu.Unlock()
		}
	})
}
