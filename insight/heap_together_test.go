package insight

import (
	"strings"
	"testing"

	"loupe/analysis/heap"
	"loupe/analysis/holders"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestTogether: variables that hold most of the heap with one another are named, with the module of a dependency, and as what holds what a line
// allocates only where that is sure; and never beside the advice to find out what holds it.
func TestTogether(t *testing.T) {
	root := func(name, of string) heap.Keeper {
		k := heap.Keeper{Type: of}
		k.Root = heap.Holder{Kind: heap.Global, Name: name}
		return k
	}
	const maps = "map[*net/http.Request]int"
	at := stack.Frame{Func: "main.keep", File: "a.go", Line: 9}
	for _, c := range []struct {
		name         string
		roots        []heap.Keeper
		at           stack.Frame
		own          int64 // of the objects of the line's size, the variables' own
		source       string
		says         bool
		summary      string
		has, without string
	}{
		{"two maps of a dependency", []heap.Keeper{root("example.org/lru.data", maps), root("example.org/lru.when", maps)}, at, 90, "", true, "; held by the global variables example.org/lru.data and .when together",
			"They are maps: delete each entry, from all of them|in the module example.org/lru v1.2.0, a dependency: look for its functions|WithContext", "Begin with"},
		{"which the program calls", []heap.Keeper{root("example.org/lru.data", maps), root("example.org/lru.when", maps)}, at, 90, "import gone \"example.org/lru\"\n\nfunc f() {\ngone.Clear(1)\n}\n", true, "together", "a.go:6 calls a function of it whose name says that it takes something out", "look for its functions"},
		{"keys that are no pointers", []heap.Keeper{root("example.org/lru.data", "map[string]int"), root("example.org/lru.when", "map[string]int")}, at, 90, "", true, "together", "v1.2.0", "pointer"},
		{"the program's own", []heap.Keeper{root("shop/cmd/shop.a", maps), root("shop/cmd/shop.b", maps)}, at, 90, "", true, "shop/cmd/shop.a and .b together", "They are maps", "module"},
		{"of two packages", []heap.Keeper{root("shop/in.a", maps), root("shop/out.b", "[]int")}, at, 90, "", true, "shop/in.a and shop/out.b together", "Look for what adds to them", "maps"},
		{"several parts of one", []heap.Keeper{root("shop/in.all", "")}, at, 90, "", true, "; held by the global variable shop/in.all", "in its several parts", "together"},
		{"half of the size is another's", []heap.Keeper{root("shop/in.a", maps), root("shop/in.b", maps)}, at, 50, "", true, "", "Begin with what holds most of the heap. They are maps", "held by"},
		{"nothing of that size", []heap.Keeper{root("shop/in.a", maps), root("shop/in.b", maps)}, at, 0, "", false, "", "The source was not followed", "maps are"},
		{"no line", []heap.Keeper{root("shop/in.a", maps), root("shop/in.b", maps)}, stack.Frame{}, 0, "", true, "", "Begin with what holds most of the heap. They are maps", "held by"},
	} {
		r := recordingtest.New("title x\ntarget package ./shop module=shop package=shop/cmd/shop\n")
		r.Put(recording.Entry{Path: "buildinfo.txt", Kind: recording.BuildInfo}, []byte("go\tgo1.24\npath\tshop\nmod\tshop\t(devel)\t\ndep\texample.org/lru\tv1.2.0\t\n"))
		if c.source != "" {
			withSource(r, "a.go", "package main\n\n"+c.source)
		}
		in := NewInput(session.New(r.Open()))
		held := &holders.Held{}
		held.Reached, held.Sizes = 200, map[int64]int64{16: 100, 32: 100}
		held.Together = &heap.Together{Roots: c.roots, Bytes: c.own + 60, Sizes: map[int64]int64{16: c.own, 32: 60}}
		f := Finding{Advice: heldBy, Summary: "x"}
		var sizes map[int64]int64
		sum := int64(0)
		if c.at.File != "" {
			sizes, sum = map[int64]int64{16: 90}, 90
		}
		got := heapTeller{in: in, held: held}.together(&f, c.at, sizes, sum)
		if got != c.says || !strings.Contains(f.Summary, c.summary) || c.summary == "" && f.Summary != "x" {
			t.Errorf("%s: %v %s", c.name, got, f.Summary)
		}
		for _, want := range strings.Split(c.has, "|") {
			if !strings.Contains(f.Advice, want) {
				t.Errorf("%s: %s, want %q", c.name, f.Advice, want)
			}
		}
		if strings.Contains(f.Advice+f.Summary, c.without) || c.says && strings.HasPrefix(f.Advice, heldBy) {
			t.Errorf("%s: %s: %s", c.name, f.Summary, f.Advice)
		}
	}
}
