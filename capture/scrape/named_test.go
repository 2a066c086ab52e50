package scrape

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// TestNamed names targets after their programs: of those that do not say what it is, the address
// is the name; one that stops answering keeps its name; another program has another.
func TestNamed(t *testing.T) {
	t.Parallel()
	var line atomic.Value
	line.Store("/usr/local/bin/shop\x00-listen\x00:6060")
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/debug/pprof/cmdline" {
			t.Errorf("it was asked for %s", r.URL.Path)
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Write([]byte(line.Load().(string)))
	}))
	defer shop.Close()
	silent := httptest.NewServer(service()) // without the handler
	defer silent.Close()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write([]byte("<html>welcome</html>")) }))
	defer page.Close()
	gone := httptest.NewServer(nil)
	gone.Close()
	address := func(s *httptest.Server) string { return strings.TrimPrefix(s.URL, "http://") }
	j := Static(address(shop), address(silent), address(page), address(gone))
	want := map[string]string{address(shop): "shop", address(silent): address(silent), address(page): address(page), address(gone): address(gone)}
	f := func(when string) {
		t.Helper()
		groups, err := j.finders[0].find(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, g := range groups {
			targets, err := j.targets(g)
			if err != nil {
				t.Fatal(err)
			}
			for _, one := range targets {
				got[one.Labels["instance"]] = one.Labels[ServiceLabel]
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", when, got, want)
		}
	}
	f("at first")
	line.Store(`C:\Programs\mail.exe`)
	want[address(shop)] = "mail"
	f("another program")
	shop.Close()
	f("it has gone")
	if every := j.finders[0].every(); every != askSoon {
		t.Errorf("targets without a name are asked again after %v", every)
	}
}

// TestProgramOf reads command lines.
func TestProgramOf(t *testing.T) {
	t.Parallel()
	f := func(line, want string) {
		t.Helper()
		if got, err := programOf(line); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v, want %q", line, got, err, want)
		}
	}
	f("./newssearch\x00-addr\x00localhost:5000", "newssearch")
	f("/tmp/go-build1/b001/exe/main", "main")
	f("shop", "shop")
	f("shop.exe", "shop")
	f("", "")
	f("/", "")
	f("\x00-x", "")
	f("/proc/self/exe", "")
	f("a\nb", "")
	f("<!DOCTYPE html>", "")
	f(strings.Repeat("x", 300), "")
}
