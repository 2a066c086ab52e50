package cli

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"loupe/pprof"
	"loupe/profile"
	"loupe/profile/profiletest"
)

// pagesOf serves a small profile with a name that would like to be a script.
func pagesOf(t *testing.T) *pprofPages {
	t.Helper()
	p, err := profile.Decode(profiletest.Profile(`
		main.main                  main.main
		main.<script>alert</script>  main.write
		= 3                        1`), profile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { null.Close() })
	e := &env{ctx: t.Context(), stderr: null}
	s := &pprofSession{e: e, flags: &pprofFlags{config: pprof.Defaults(), http: "localhost:8080"}, p: p, binaries: map[string]*openBinary{}}
	return &pprofPages{s: s, token: "secret", host: "127.0.0.1:8080"}
}

func TestPagesRefuse(t *testing.T) {
	h := pagesOf(t)
	f := func(want int, method, url, host string) {
		t.Helper()
		r := httptest.NewRequest(method, url, nil)
		r.Host = host
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%s %s of %s: %d, want %d: %s", method, url, host, w.Code, want, w.Body)
		}
	}
	f(http.StatusOK, "GET", "/secret/", "localhost:8080")
	f(http.StatusOK, "HEAD", "/secret/top", "127.0.0.1:8080")
	f(http.StatusOK, "GET", "/secret/top", "[::1]:8080")
	f(http.StatusForbidden, "GET", "/secret/", "evil.example:8080")
	f(http.StatusForbidden, "GET", "/secret/", "localhost:8081")
	f(http.StatusForbidden, "GET", "/secret/", "192.0.2.7:8080")
	f(http.StatusForbidden, "GET", "/", "localhost:8080")
	f(http.StatusForbidden, "GET", "/guess/top", "localhost:8080")
	f(http.StatusMethodNotAllowed, "POST", "/secret/top", "localhost:8080")
	f(http.StatusNotFound, "GET", "/secret/nowhere", "localhost:8080")
	f(http.StatusBadRequest, "GET", "/secret/top?focus=(", "localhost:8080")
	f(http.StatusBadRequest, "GET", "/secret/peek", "localhost:8080")
	f(http.StatusBadRequest, "GET", "/secret/?divide_by=0", "localhost:8080")
	// Bound to all addresses, any of them will do, but no name of others.
	h.open = true
	f(http.StatusOK, "GET", "/secret/", "192.0.2.7:8080")
	f(http.StatusForbidden, "GET", "/secret/", "evil.example:8080")
}

// TestPages opens every page and wants hostile names in none as they are.
func TestPages(t *testing.T) {
	h := pagesOf(t)
	for _, p := range append(pages, page{kind: html}) {
		for _, query := range []string{"?function=script", "?function=script&sort=cum&unit=<script>alert"} {
			if p.Name == "disasm" {
				continue // there is no binary
			}
			r := httptest.NewRequest("GET", "/secret/"+p.Name+strings.ReplaceAll(query, "<", "%3C"), nil)
			r.Host = "localhost:8080"
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != http.StatusOK || w.Header().Get("Content-Type") != p.kind {
				t.Errorf("%q: %d %s: %s", p.Name, w.Code, w.Header(), w.Body)
			}
			if p.kind != plain && strings.Contains(w.Body.String(), "<script>alert") {
				t.Errorf("%q has the name of a function as a script", p.Name)
			}
		}
	}
}

// TestPagesTogether asks for several pages at a time.
func TestPagesTogether(t *testing.T) {
	h := pagesOf(t)
	var wait sync.WaitGroup
	for range 2 {
		for _, p := range pages {
			wait.Go(func() {
				r := httptest.NewRequest("GET", "/secret/"+p.Name+"?function=main", nil)
				r.Host = "localhost"
				h.ServeHTTP(httptest.NewRecorder(), r)
			})
		}
	}
	wait.Wait()
}
