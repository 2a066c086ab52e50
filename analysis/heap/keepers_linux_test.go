//go:build linux && (amd64 || arm64)

package heap

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// lengths are those of arrays, which are as append makes them.
var lengths = regexp.MustCompile(`\[\d+\]`)

// keepersOf reads the keepers of heaptest/kept, by the names of their roots.
func keepersOf(t *testing.T, least int64) (all map[string]Keeper, found *Keeping) {
	t.Helper()
	source, err := os.ReadFile("heaptest/kept/main.go")
	if err != nil {
		t.Fatal(err)
	}
	mem, bin, bias := stopped(t, buildSource(t, "go", string(source)))
	g, err := openUnwound(t, mem, bin, bias).Graph()
	if err != nil {
		t.Fatal(err)
	}
	found, err = Keepers(g, least)
	if err != nil {
		t.Fatal(err)
	}
	all = map[string]Keeper{}
	for _, k := range found.Keepers {
		name := k.Root.Name
		if k.Root.Kind == Goroutine {
			name = k.Root.Func
		}
		for _, s := range k.Steps {
			name += " " + s.Field
		}
		if _, twice := all[name]; twice {
			t.Errorf("%s is there twice", name)
		}
		all[name] = k
	}
	return all, found
}

// TestKeepers finds where the memory of a program piles up that was written for it.
func TestKeepers(t *testing.T) {
	all, found := keepersOf(t, 400<<10)
	f := func(name, types, want string) {
		t.Helper()
		k, ok := all[name]
		if !ok {
			t.Errorf("no keeper %q", name)
			return
		}
		var steps []string
		for _, s := range k.Steps {
			steps = append(steps, lengths.ReplaceAllString(s.Type, "[N]"))
		}
		if got := strings.Join(steps, " > "); got != types {
			t.Errorf("%s: %s, want %s", name, got, types)
		}
		if got := fmt.Sprintf("%s:%s %d×%s shared=%t goroutines=%d", k.Frame, k.Variable, k.Objects[0].Count, k.Objects[0].Type, k.Shared, k.Goroutines); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		delete(all, name)
	}
	// The map, and neither its tables nor what leads to it.
	f("*main.shop .orders", "map[string]*main.order", ": 20000×main.order shared=false goroutines=0")
	// A list is held by its first link.
	f("main.chain ", "main.link", ": 20000×main.link shared=false goroutines=0")
	// So is a tree, though it has several ways on.
	f("main.tree ", "main.branch", ": 32767×main.branch shared=false goroutines=0")
	// A thing within another of its type is no list.
	f("main.routes  .serve .byNumber", "main.router > func main.route.func1 > map[int64]*main.order", ": 10000×main.order shared=false goroutines=0")
	// Two caches in one variable are two keepers.
	f("main.pair .left .rows", "main.side > [N]*main.order", ": 10000×main.order shared=false goroutines=0")
	f("main.pair .right .rows", "main.side > [N]*main.order", ": 10000×main.order shared=false goroutines=0")
	// A variable holds by itself.
	f("main.cells", "", ": 5000×main.order shared=false goroutines=0")
	f("main.blob", "", ": 1×[N]uint8 shared=false goroutines=0")
	// A stack, and those of many goroutines that began at one function.
	f("main.main.gowrap1 ", "[N][]uint8", "main.collector:seen 1000×[N]uint8 shared=false goroutines=0")
	f("main.main.gowrap2 ", "[N][]uint8", "main.serve: 2000×[N]uint8 shared=false goroutines=100")
	// Two variables lead to it: each of them is one way only.
	f("main.first  .rows", "main.side > [N]*main.order", ": 10000×main.order shared=true goroutines=0")
	// What two maps lead to, entry by entry, has no keeper.
	for name, k := range all {
		t.Errorf("%q keeps %d bytes: %+v", name, k.Bytes, k.Steps)
	}
	var sum int64
	for _, n := range found.Sizes {
		sum += n
	}
	if sum != found.Reached {
		t.Errorf("%d bytes by size, %d in all", sum, found.Reached)
	}
}
