//go:build linux && (amd64 || arm64)

package heap

import (
	"fmt"
	"os"
	"testing"
)

// TestPinned: of a program that keeps parts of buffers in many ways, those are told of that only small parts keep, with
// where the parts are; not what is whole, may grow, is all used by several parts, or has another pointer to it.
func TestPinned(t *testing.T) {
	source, err := os.ReadFile("heaptest/pinned/main.go")
	if err != nil {
		t.Fatal(err)
	}
	mem, bin, bias := stopped(t, buildSource(t, "go", string(source)))
	h := openUnwound(t, mem, bin, bias)
	g, err := h.Graph()
	if err != nil {
		t.Fatal(err)
	}
	found, err := Keepers(g, 400<<10)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"main.index":   "200 objects, 8192 each, 400 parts of 20 bytes, 400 strings, in main.entry.labels",
		"main.names":   "200 objects, 8192 each, 200 parts of 20 bytes, 200 strings, in a map[string]int",
		"main.limited": "200 objects, 8192 each, 200 parts of 20 bytes, 0 strings, in []uint8",
		"main.pairs":   "200 objects, 8192 each, 400 parts of 20 bytes, 0 strings, in main.pair.key",
		"main.last":    "200 objects, 8192 each, 200 parts of 20 bytes, 200 strings, in ",
	}
	none := []string{"main.whole", "main.grown", "main.behind", "main.lines", "main.halves", "main.cells", "main.both"}
	parted := map[string]string{
		"main.grown": "0 covered by 0, 200 with room, 4000 in use",
		"main.lines": "200 covered by 81800, 0 with room, 0 in use",
	}
	seen := map[string]bool{}
	for _, k := range found.Keepers {
		if x := k.Parted; x != (Parted{}) || parted[k.Root.Name] != "" {
			if got := fmt.Sprintf("%d covered by %d, %d with room, %d in use", x.Covered.Count, x.Parts.Count, x.Roomy.Count, x.Used); got != parted[k.Root.Name] {
				t.Errorf("%s: %s, want %q", k.Root.Name, got, parted[k.Root.Name])
			}
		}
		got := ""
		if p := k.Pinned; p != nil {
			got = fmt.Sprintf("%d objects, %d each, %d parts of %d bytes, %d strings, in %s", p.Objects.Count, p.Objects.Bytes/p.Objects.Count, p.Parts.Count, p.Parts.Bytes/p.Parts.Count, p.Strings, p.Where)
		}
		if got != want[k.Root.Name] {
			t.Errorf("%s: %q, want %q", k.Root.Name, got, want[k.Root.Name])
		}
		seen[k.Root.Name] = true
	}
	for name := range want {
		none = append(none, name)
	}
	for _, name := range none {
		if !seen[name] {
			t.Errorf("%s is no keeper", name)
		}
	}
	if p := h.Pinned(); p == nil || p.Objects.Count != 1000 || p.Parts.Count != 1400 {
		t.Errorf("in all: %+v", p)
	}
	for _, r := range h.Histogram() {
		if r.Type == PinnedType && r.Count != 1000 {
			t.Errorf("%d objects of the type %s", r.Count, r.Type)
		}
	}
	if all := g.Largest(PinnedType, 3); len(all) != 3 || all[0].Bytes != 8192 {
		t.Errorf("the largest of them are %+v", all)
	}
	for _, w := range g.Ways(PinnedType) {
		if w.Count == 0 {
			t.Errorf("a way without objects: %+v", w)
		}
	}
}
