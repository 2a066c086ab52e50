package holders

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"loupe/analysis/heap"
	"loupe/recording/recordingtest"
	"loupe/session"
)

// TestOfSizes: of objects of one size, a place has for sure what others have no room for, and at
// most what it holds.
func TestOfSizes(t *testing.T) {
	h := &Held{Keeping: heap.Keeping{Sizes: map[int64]int64{96: 1000, 512: 200}, Keepers: []heap.Keeper{
		{Path: heap.Path{Root: heap.Holder{Name: "a"}}, Sizes: map[int64]int64{96: 900}},
		{Path: heap.Path{Root: heap.Holder{Name: "b"}}, Sizes: map[int64]int64{96: 100, 512: 200}},
		{Path: heap.Path{Root: heap.Holder{Name: "c"}}, Sizes: map[int64]int64{1024: 5000}},
	}}}
	f := func(sizes map[int64]int64, want string) {
		t.Helper()
		var got []string
		for _, s := range h.OfSizes(sizes) {
			got = append(got, fmt.Sprintf("%s %d..%d", s.Root.Name, s.Low, s.High))
		}
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("%v: %s, want %s", sizes, text, want)
		}
	}
	f(map[int64]int64{96: 800}, "a 700..800, b 0..100")
	f(map[int64]int64{96: 100}, "a 0..100, b 0..100")
	f(map[int64]int64{96: 1000, 512: 150}, "a 900..900, b 250..250")
	// An estimate may be more than there is.
	f(map[int64]int64{96: 2000}, "a 900..900, b 100..100")
	// Of a size that nothing in the core has.
	f(map[int64]int64{64: 100}, "")
}

// TestPlaceOf names places as a programmer would.
func TestPlaceOf(t *testing.T) {
	f := func(k heap.Keeper, want string) {
		t.Helper()
		p := PlaceOf(&k)
		if got := p.Name + "|" + p.Expr + "|" + p.Type; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	global := heap.Holder{Kind: heap.Global, Name: "example.com/shop/store.All"}
	f(heap.Keeper{Path: heap.Path{Root: global}}, "the global variable store.All|store.All|")
	f(heap.Keeper{Path: heap.Path{Root: global, Steps: []heap.Step{{Field: ".cache"}, {Field: ".entries"}}}, Type: "map[string]*example.com/shop/store.Entry"},
		"the global variable store.All.cache.entries|store.All.cache.entries|map[string]*store.Entry")
	f(heap.Keeper{Path: heap.Path{Root: heap.Holder{Kind: heap.Global, Name: "*main.shop"}, Steps: []heap.Step{{Field: ".open"}}}, Type: "map[int]*main.order"},
		"the global variable main.shop.open|main.shop.open|map[int]*main.order")
	f(heap.Keeper{Path: heap.Path{Root: global, Steps: []heap.Step{{Field: ".top", Times: 2, Through: ".child"}, {Field: ".rows", Times: 7, Through: ".next"}}}, Type: "x"},
		"the global variable store.All.top.child.rows.next…|store.All.top.child.rows.next…|x")
	deep := heap.Keeper{Path: heap.Path{Root: global}}
	for _, field := range []string{".tree", ".children[3]", ".handler", ".app", ".cache[1]", ".rows"} {
		deep.Steps = append(deep.Steps, heap.Step{Field: field})
	}
	f(deep, "the global variable store.All…cache[1].rows|store.All…cache[1].rows|")
	if p := PlaceOf(&deep).Path; p != "store.All.tree.children[3].handler.app.cache[1].rows" {
		t.Errorf("the whole path is %s", p)
	}
	stack := heap.Holder{Kind: heap.Goroutine, Name: "goroutine 7", Func: "main.main.gowrap1"}
	f(heap.Keeper{Path: heap.Path{Root: stack, Frame: "main.collect", Variable: "seen", Steps: []heap.Step{{}}}, Type: "[12]*main.order"}, "the variable seen of main.collect|seen|[12]*main.order")
	f(heap.Keeper{Path: heap.Path{Root: stack}}, "the stack of main.main.gowrap1||")
	f(heap.Keeper{Path: heap.Path{Root: stack, Frame: "main.serve"}, Goroutines: 100}, "the stack of main.serve in 100 goroutines||")
	f(heap.Keeper{Path: heap.Path{Root: heap.Holder{Kind: heap.Finalizer, Name: "main.close"}}}, "what is to be run when an object is gone (main.close)||")
}

// TestNoCore: without a core, or with one of which the program is not there, or that is none,
// the error says so.
func TestNoCore(t *testing.T) {
	f := func(what, text, want string) error {
		t.Helper()
		_, err := Of(session.New(recordingtest.New("title x\n" + text).Open()))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", what, err, want)
		}
		return err
	}
	if err := f("none", "", "-phases core"); !errors.Is(err, session.ErrNone) {
		t.Errorf("no core: %v", err)
	}
	const core = "phase core 0s..1s\n-- memory/core memory.core phase=core --\nnonsense\n"
	f("alone", core, "its program is not in the recording")
	f("nonsense", core+"-- memory/server memory.program phase=core --\nnonsense\n", "cannot read memory/core")
}
