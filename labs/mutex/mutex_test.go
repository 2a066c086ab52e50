package main

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// TestModes: every form finds the same words, each as often as it stands in
// the pages, and fetches each page once. It is also what to take a block and a
// mutex profile of.
func TestModes(t *testing.T) {
	const rounds, pages, times = 2, 3, 4
	want := table{}
	for _, path := range []string{"/0/0", "/0/1", "/0/2", "/1/0", "/1/1", "/1/2"} {
		for word := range strings.FieldsSeq(page(path)) {
			want[word] += readers * times
		}
	}
	for mode := range modes {
		var fetched atomic.Int64
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fetched.Add(1)
			w.Write([]byte(page(r.URL.Path)))
		}))
		got, err := work{server.URL, rounds, pages, times}.count(mode)
		server.Close()
		if err != nil || !maps.Equal(got, want) {
			t.Errorf("%s: %d words, %v, want %d", mode, len(got), err, len(want))
		}
		if n := fetched.Load(); n != rounds*pages {
			t.Errorf("%s fetched %d pages, want %d", mode, n, rounds*pages)
		}
	}
	if _, err := (work{}).count("none"); err == nil {
		t.Error("a form that does not exist counts")
	}
}

// TestErrors: a page that does not come is an error of every form.
func TestErrors(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	for mode := range modes {
		if _, err := (work{server.URL, 1, 2, 1}).count(mode); err == nil || !strings.Contains(err.Error(), "404") {
			t.Errorf("%s: %v, want that nothing is found", mode, err)
		}
	}
}

// TestHeld is what the lab is about: while one page is fetched, nobody gets
// another one that is there already.
func TestHeld(t *testing.T) {
	f := func(mode string, blocks bool) {
		t.Helper()
		asked, answer, got := make(chan bool), make(chan bool), make(chan bool)
		c := modes[mode].cache(func(address string) (string, error) {
			if address == "slow" {
				asked <- true
				<-answer
			}
			return address, nil
		})
		c.get("quick")
		var all sync.WaitGroup
		all.Go(func() { c.get("slow") })
		<-asked // and does not come before it is answered
		all.Go(func() {
			c.get("quick")
			close(got)
		})
		if blocks {
			// The other one cannot have it: the lock is held.
			if c.(*heldCache).mu.TryLock() {
				t.Errorf("%s does not hold its lock while it fetches", mode)
			}
		} else {
			<-got // or the test hangs
		}
		answer <- true
		all.Wait()
	}
	f("held", true)
	f("each", false)
	f("fixed", false)
}
