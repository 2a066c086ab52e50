package e2e

import (
	"expvar"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"path/filepath"
	"testing"
)

// TestVariables: a variable that a service publishes has a lane by its name, which is text.
func TestVariables(t *testing.T) {
	orders := expvar.NewInt("orders <b>now</b>")
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/vars", func(w http.ResponseWriter, r *http.Request) {
		orders.Add(1) // it grows as it is read
		expvar.Handler().ServeHTTP(w, r)
	})
	s := httptest.NewServer(mux)
	defer s.Close()
	rec := filepath.Join(t.TempDir(), "rec")
	loupe(t, "attach", "-quiet", "-phases", "bare:3s", "-interval", "200ms", "-o", rec, s.URL)
	address := serve(t, rec)
	for _, scheme := range []string{"light", "dark"} {
		b := open(t, address+"#/1/overview", 1280, 900, scheme)
		b.until("[...document.querySelectorAll('.lane')].some(e => e.innerText.includes('orders <b>now</b>'))")
		b.settled()
		b.accessible()
		b.fits()
		b.picture("variables-" + scheme)
	}
}
