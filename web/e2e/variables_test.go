package e2e

import (
	"expvar"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"os"
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

// TestVariablesOfRun: those of a program that loupe has started have lanes too, though it
// serves none of them.
func TestVariablesOfRun(t *testing.T) {
	main, rec := filepath.Join(t.TempDir(), "main.go"), filepath.Join(t.TempDir(), "rec")
	if err := os.WriteFile(main, []byte(`package main

import (
	"expvar"
	"time"
)

func main() {
	orders := expvar.NewInt("orders")
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		orders.Add(1)
	}
}
`), 0o644); err != nil {
		t.Fatal(err)
	}
	loupe(t, "run", "-quiet", "-diagnostics=false", "-phases", "bare", "-interval", "100ms", "-o", rec, main)
	b := open(t, serve(t, rec)+"#/1/overview", 1280, 900, "dark")
	b.until("[...document.querySelectorAll('.lane')].some(e => e.innerText.includes('orders'))")
	b.settled()
	b.accessible()
	b.picture("variables-of-run")
}
