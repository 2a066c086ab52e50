package insight

import (
	"slices"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestStepOfSizes: sizes that grow by the same amount are told from those that grow by a factor.
func TestStepOfSizes(t *testing.T) {
	by := func(n int, next func(int64) int64) (all []int64) {
		for size := int64(4096); len(all) < n; size = next(size) {
			all = append(all, (size+1023)/1024*1024) // as the allocator rounds
		}
		return slices.Compact(all)
	}
	for _, c := range []struct {
		name  string
		sizes []int64
		even  bool
	}{
		{"a fixed amount", by(60, func(n int64) int64 { return n + 16384 }), true},
		{"one element of 24 bytes, rounded", by(900, func(n int64) int64 { return n + 24 }), true},
		{"doubling", by(20, func(n int64) int64 { return 2 * n }), false},
		{"a quarter, as append", by(40, func(n int64) int64 { return n + n/4 + 192 }), false},
		{"a tenth", by(60, func(n int64) int64 { return n + n/10 }), false},
		{"few", by(5, func(n int64) int64 { return n + 16384 }), false},
		{"hardly larger", by(30, func(n int64) int64 { return n + 100 }), false},
	} {
		if _, even := stepOfSizes(c.sizes); even != c.even {
			t.Errorf("%s: %v of %v", c.name, even, c.sizes[:min(len(c.sizes), 8)])
		}
	}
}

// TestStepGrowthAt: a slice that replaces what is copied into it, and whose length is made of that one's, is one that grows.
func TestStepGrowthAt(t *testing.T) {
	for _, c := range []struct {
		name, body string
		of         string
		adds       bool
	}{
		{"a ring", "n := make([]int, q.next(len(q.all)))\ncopy(n, q.all[q.head:])\ncopy(n[3:], q.all[:q.head])\nq.all = n", "q.all", false},
		{"a constant more", "n := make([]int, len(q.all)+64)\ncopy(n, q.all)\nq.all = n", "q.all", true},
		{"append into a new one", "n := make([]int, 0, cap(q.all)+q.step)\nn = append(n, q.all...)\nq.all = n", "q.all", true},
		{"a length that is set before", "n := make([]int, size)\ncopy(n, q.all)\nq.all = n", "q.all", false},
		{"twice as long", "n := make([]int, 2*len(q.all))\ncopy(n, q.all)\nq.all = n", "q.all", false},
		{"as long as is needed", "n := make([]int, want)\ncopy(n, q.all)\nq.all = n", "", false},
		{"a copy for the caller", "n := make([]int, len(q.all)+1)\ncopy(n, q.all)\nq.last = n", "", false},
		{"of something else", "n := make([]int, len(q.all)+1)\ncopy(n, in)\nq.all = n", "", false},
	} {
		source := "package main\n\nfunc (q *queue) put(want int, in []int) {\nsize := len(q.all) + want\n_ = size\n" + c.body + "\n}\n"
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nphase cpu 0s..5s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
		in := NewInput(session.New(r.Open()))
		g, ok := stepGrowthAt(in.code, stack.Frame{Func: "main.(*queue).put", File: "/src/main.go", Line: 6})
		if ok != (c.of != "") || g.of != c.of || g.adds != c.adds {
			t.Errorf("%s: %v %+v", c.name, ok, g)
		}
	}
}

// TestKeptBeside: a slice that others keep as it was is told from one that only its owner has.
func TestKeptBeside(t *testing.T) {
	const grow = "func (d *doc) add(x int) {\nnext := make([]int, len(d.ops)+1)\ncopy(next, d.ops)\nd.ops = next\n"
	for _, c := range []struct {
		name, source string
		kept         bool
	}{
		{"versions", grow + "d.versions = append(d.versions, next)\n}\n", true},
		{"a snapshot of the field", grow + "}\nfunc (d *doc) save() { d.all = append(d.all, d.ops) }\n", true},
		{"it is handed out", grow + "}\nfunc (d *doc) list() []int { return d.ops }\n", true},
		{"nobody", grow + "}\nfunc (d *doc) sum() (n int) {\nfor _, x := range d.ops {\nn += x\n}\nreturn n\n}\n", false},
		{"its elements are", grow + "}\nfunc (d *doc) some() []int { return append([]int(nil), d.ops...) }\n", false},
		{"a local name", grow + "}\nfunc (d *doc) first() int {\nops := d.ops\nreturn ops[0]\n}\n", false},
	} {
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nphase cpu 0s..5s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte("package main\n\n"+c.source))
		in := NewInput(session.New(r.Open()))
		if _, kept := keptBeside(in.code, stack.Frame{Func: "main.(*doc).add", File: "/src/main.go", Line: 4}, "ops"); kept != c.kept {
			t.Errorf("%s: %v", c.name, kept)
		}
	}
}
