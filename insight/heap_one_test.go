package insight

import (
	"strings"
	"testing"

	"loupe/analysis/heap"
	"loupe/analysis/holders"
	"loupe/recording/recordingtest"
	"loupe/session"
)

// TestAgrees: what the source says of what holds memory is passed over only where a core shows that another place does.
func TestAgrees(t *testing.T) {
	const source = "package main\n\nvar queue, cache []*item\n\ntype item struct{ text []byte }\ntype store struct{ all map[int]*item }\n"
	root := func(kind heap.RootKind, name string, steps ...heap.Step) holders.Keeper {
		return holders.Keeper{Path: heap.Path{Root: heap.Holder{Kind: kind, Name: name}, Steps: steps}}
	}
	of := func(k holders.Keeper, change func(k *holders.Keeper)) holders.Keeper {
		change(&k)
		return k
	}
	global := root(heap.Global, "main.cache")
	for _, c := range []struct {
		name string
		k    holders.Keeper
		into keepsAt
		want bool
	}{
		{"the same variable", global, keepsAt{container: "cache", name: "cache", file: "a.go"}, true},
		{"an element of it", global, keepsAt{container: "cache[i]", name: "cache[i]", file: "a.go"}, true},
		{"another variable", global, keepsAt{container: "queue", name: "queue", file: "a.go"}, false},
		{"both refer to it", of(global, func(k *holders.Keeper) { k.Shared = true }), keepsAt{container: "queue", name: "queue", file: "a.go"}, true},
		{"a variable of a function, which may be the same", global, keepsAt{container: "all", name: "all", file: "a.go"}, true},
		{"a field on the way", root(heap.Global, "main.front", heap.Step{Field: ".store"}, heap.Step{Field: ".all"}), keepsAt{container: "s.all", name: "store.all", file: "a.go"}, true},
		{"a field of what it holds", of(global, func(k *holders.Keeper) { k.Objects = []heap.Row{{Type: "main.store"}} }), keepsAt{container: "s.all", name: "store.all", file: "a.go"}, true},
		{"a field of a type that is not there", of(global, func(k *holders.Keeper) { k.Objects = []heap.Row{{Type: "main.item"}} }), keepsAt{container: "s.all", name: "store.all", file: "a.go"}, false},
		{"of too many types", of(global, func(k *holders.Keeper) { k.Objects = make([]heap.Row, 5) }), keepsAt{container: "s.all", name: "store.all", file: "a.go"}, true},
		{"the source names none", global, keepsAt{}, true},
	} {
		r := recordingtest.New("title x")
		withSource(r, "a.go", source)
		in := NewInput(session.New(r.Open()))
		if got := agrees(in.code, &c.k, holding{into: c.into}); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}

// TestParted: where a core shows that the parts are most of what they keep, nobody is told to copy them; where they are little of it,
// with the room of all, the source's advice stays.
func TestParted(t *testing.T) {
	const copies = "copy the part at a.go:9"
	for _, c := range []struct {
		name          string
		parted        heap.Parted
		wastes        waste
		says, advises string
		left          waste
	}{
		{"covered", heap.Parted{Covered: heap.Total{Count: 10, Bytes: 900}, Parts: heap.Total{Count: 90, Bytes: 850}}, mayWaste, "90 parts together are most of 10 buffers", "would free hardly anything", noWaste},
		{"a few are covered", heap.Parted{Covered: heap.Total{Count: 1, Bytes: 90}}, mayWaste, "x", copies, mayWaste},
		{"with room", heap.Parted{Roomy: heap.Total{Count: 10, Bytes: 900}, Used: 20}, mayWaste, "20 B of the 900 B of 10 buffers are used", copies, wastesMuch},
		{"the source says nothing of parts", heap.Parted{Covered: heap.Total{Count: 10, Bytes: 900}}, noWaste, "x", copies, noWaste},
		{"nothing is known", heap.Parted{}, mayWaste, "x", copies, mayWaste},
	} {
		f := Finding{Title: mayHoldTitle, Severity: Warning, Summary: "x", Advice: "bound it", wastes: c.wastes, Doubts: []string{nearlyAllOfIt}}
		if c.left == c.wastes {
			f.Advice = copies
		}
		k := holders.Keeper{Parted: c.parted}
		k.Bytes = 1000
		heapTeller{in: NewInput(session.New(recordingtest.New("title x").Open()))}.tellParted(&f, &k, copies)
		if !strings.Contains(f.Summary, c.says) || !strings.Contains(f.Advice, c.advises) || f.wastes != c.left || (c.left != c.wastes) == (len(f.Doubts) > 0) || (f.Title == mayHoldTitle) == (c.name == "covered") || (f.Severity == Info) != (c.name == "covered") {
			t.Errorf("%s: %d %s\n%s %q", c.name, f.wastes, f.Summary, f.Advice, f.Doubts)
		}
	}
}
