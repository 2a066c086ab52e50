package insight

import (
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
)

// TestThrough: the innermost line that several hot functions have in common is named where it has
// most of the CPU time and none of them has, and not where that says no more than that the program runs.
func TestThrough(t *testing.T) {
	const main = "runtime.main main.main:/src/main.go:5 "
	for _, c := range []struct {
		name    string
		columns []column
		at      int // the line; 0 is none
	}{
		{"two below one line", []column{{main + "main.run:/src/main.go:10 main.feed:/src/main.go:20 main.next:/src/main.go:30", []int64{43}}, {main + "main.run:/src/main.go:10 main.feed:/src/main.go:20 main.join:/src/main.go:40", []int64{45}}, {main + "main.run:/src/main.go:11", []int64{12}}}, 20},
		{"below two lines", []column{{main + "main.run:/src/main.go:10 main.next:/src/main.go:30", []int64{49}}, {main + "main.run:/src/main.go:11 main.join:/src/main.go:40", []int64{49}}, {"net.poll", []int64{2}}}, 0},
		{"one of them has most", []column{{main + "main.run:/src/main.go:10 main.feed:/src/main.go:20 main.next:/src/main.go:30", []int64{70}}, {main + "main.run:/src/main.go:10 main.feed:/src/main.go:20 main.join:/src/main.go:40", []int64{30}}}, 30},
		{"with the closure that it gives to one that goes through all", []column{{main + "main.run:/src/main.go:10 main.page:/src/main.go:20 main.each:/src/main.go:30", []int64{33}}, {main + "main.run:/src/main.go:10 main.page:/src/main.go:20 main.each:/src/main.go:31 main.page.func1:/src/main.go:21", []int64{19}}, {main + "main.run:/src/main.go:11 main.write:/src/main.go:40", []int64{48}}}, 20},
		{"with what it gives to a library", []column{{main + "main.run:/src/main.go:10 main.page:/src/main.go:20 slices.SortFunc main.page.func1:/src/main.go:21", []int64{30}}, {main + "main.run:/src/main.go:10 main.page:/src/main.go:20 slices.SortFunc", []int64{25}}, {main + "main.run:/src/main.go:11 main.write:/src/main.go:40", []int64{45}}}, 20},
		{"who goes through all does so for others as well", []column{{main + "main.run:/src/main.go:10 main.scan:/src/main.go:60 main.each:/src/main.go:30", []int64{33}}, {main + "main.run:/src/main.go:10 main.page:/src/main.go:20 main.each:/src/main.go:31 main.page.func1:/src/main.go:21", []int64{19}}, {main + "main.run:/src/main.go:11 main.write:/src/main.go:40", []int64{48}}}, 0},
		{"a goroutine of its own", []column{{"main.run.func1:/src/main.go:21", []int64{30}}, {main + "main.run:/src/main.go:10", []int64{25}}, {main + "main.run:/src/main.go:11 main.write:/src/main.go:40", []int64{45}}}, 0},
		{"all of main", []column{{main + "main.next:/src/main.go:30", []int64{48}}, {main + "main.join:/src/main.go:40", []int64{49}}, {main, []int64{3}}}, 0},
		{"it has less than half", []column{{main + "main.run:/src/main.go:10 main.feed:/src/main.go:20 main.next:/src/main.go:30", []int64{24}}, {main + "main.run:/src/main.go:10 main.feed:/src/main.go:20 main.join:/src/main.go:40", []int64{24}}, {"net.poll", []int64{52}}}, 0},
	} {
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
		withProfile(r, recording.CPU, "cpu", c.columns...)
		if got := throughLine(r); got != c.at {
			t.Errorf("%s: at line %d, want %d", c.name, got, c.at)
		}
	}
}

// TestThroughHandlers: a line that all requests go through because it hands them on tells nothing; the function below it that has most of the
// time is named, and none where the work divides there. What works itself besides is named as it is.
func TestThroughHandlers(t *testing.T) {
	const source = `package main

func logged(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		count(r)
		h.ServeHTTP(w, r)
	})
}

func wrapped(next func(c *ctx) error) func(c *ctx) error {
	return func(c *ctx) error {
		return next(c)
	}
}

func each(f func(n int), list []int) {
	for _, n := range list {
		f(n + 1)
	}
}
`
	const logged, mux, wrapped, each = "net/http.(*conn).serve main.logged.func1:/src/main.go:6 ", "net/http.(*ServeMux).ServeHTTP ", "net/http.(*conn).serve main.wrapped.func1:/src/main.go:12 ", "runtime.main main.main:/src/main.go:40 main.each:/src/main.go:18 "
	const get, list, find = "main.get:/src/main.go:50 main.load:/src/main.go:60 ", "main.list:/src/main.go:70 main.fetch:/src/main.go:65 ", "main.list:/src/main.go:71 main.find:/src/main.go:80 "
	for _, c := range []struct {
		name    string
		columns []column
		at      int // the line; 0 is none
	}{
		{"handlers below it have parts", []column{{logged + mux + get, []int64{30}}, {logged + mux + list, []int64{30}}, {"net.poll", []int64{40}}}, 0},
		{"a handler below it has most", []column{{logged + mux + get, []int64{10}}, {logged + mux + list, []int64{30}}, {logged + mux + find, []int64{40}}, {"net.poll", []int64{20}}}, 71},
		{"of a framework", []column{{wrapped + get, []int64{30}}, {wrapped + find, []int64{30}}, {"net.poll", []int64{40}}}, 0},
		{"it works itself", []column{{"net/http.(*conn).serve main.logged.func1:/src/main.go:5 main.count:/src/main.go:90 ", []int64{10}}, {logged + mux + get, []int64{30}}, {logged + mux + find, []int64{35}}, {"net.poll", []int64{25}}}, 6},
		{"a loop that calls a function for each", []column{{each + get, []int64{30}}, {each + find, []int64{30}}, {"net.poll", []int64{40}}}, 18},
	} {
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
		withProfile(r, recording.CPU, "cpu", c.columns...)
		if got := throughLine(r); got != c.at {
			t.Errorf("%s: at line %d, want %d", c.name, got, c.at)
		}
	}
}

// throughLine is the line that the cards of a recording say most of the CPU time goes through; 0 is none.
func throughLine(r *recordingtest.Recording) int {
	in := NewInput(session.New(r.Open()))
	line := 0
	for _, card := range Cards(in, Run(in)) {
		if card.Through != nil {
			line = card.Through.At.Line
		}
	}
	return line
}
