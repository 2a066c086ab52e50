package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
)

// ask returns what a form answers.
func ask(mode string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	modes[mode](w, httptest.NewRequest(http.MethodPost, "/sendjson", nil))
	return w
}

// TestModes: every form sends the same bytes, also when asked again.
func TestModes(t *testing.T) {
	want := ask("slow").Body.String()
	for mode := range modes {
		for range 2 {
			w := ask(mode)
			if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/json" || w.Body.String() != want {
				t.Errorf("%s answers %d, %s: %s, want %s", mode, w.Code, w.Header().Get("Content-Type"), w.Body, want)
			}
		}
	}
	var got answer
	if err := json.Unmarshal([]byte(want), &got); err != nil || len(got.Users) != users {
		t.Fatalf("%d users, %v, want %d", len(got.Users), err, users)
	}
	if u := got.Users[5]; u != (user{true, 1005, "user5@b.example.com", "User Number 5", 6.25}) {
		t.Errorf("a user is %+v", u)
	}
}

// TestAllocated: what the lab is about.
func TestAllocated(t *testing.T) {
	allocations := func(mode string) float64 { return testing.AllocsPerRun(50, func() { ask(mode) }) }
	if slow, fixed := allocations("slow"), allocations("fixed"); slow < 5*fixed {
		t.Errorf("slow allocates %v times a request, fixed %v: want five times less", slow, fixed)
	}
}

func BenchmarkSlow(b *testing.B)  { benchmark(b, "slow") }
func BenchmarkFixed(b *testing.B) { benchmark(b, "fixed") }

func benchmark(b *testing.B, mode string) {
	r := httptest.NewRequest(http.MethodPost, "/sendjson", nil)
	w := &sink{http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		modes[mode](w, r)
	}
}

// sink takes an answer and allocates nothing.
type sink struct{ header http.Header }

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) Write(p []byte) (int, error) { return len(p), nil }
func (s *sink) WriteHeader(int)             {}
