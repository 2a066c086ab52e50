package leak

import (
	"slices"
	"strings"
	"testing"

	"loupe/source"
)

// TestOrder: names that a shell has put in its own order are put in that of their numbers, and what
// was named in another order stays so.
func TestOrder(t *testing.T) {
	f := func(named, want, by string, known bool) {
		t.Helper()
		var inputs []*source.Input
		for name := range strings.FieldsSeq(named) {
			inputs = append(inputs, &source.Input{Name: name})
		}
		ordered, o := inOrder(inputs)
		var got []string
		for _, in := range ordered {
			got = append(got, in.Name)
		}
		if !slices.Equal(got, strings.Fields(want)) || !strings.Contains(o.By, by) || o.Known != known || o.Against != "" {
			t.Errorf("%s: %v, %+v", named, got, o)
		}
	}
	f("d1 d10 d11 d2 d3", "d1 d2 d3 d10 d11", "numbers", true)
	f("d1 d2 d3 d10", "d1 d2 d3 d10", "numbers", true)
	f("a/9.txt b/10.txt", "a/9.txt b/10.txt", "of their names", false)
	f("d3 d1 d2", "d3 d1 d2", "named in", true)
	f("d2 d10 d1", "d2 d10 d1", "named in", true)
	f("monday thursday tuesday", "monday thursday tuesday", "of their names", false)
	f("monday tuesday friday", "monday tuesday friday", "named in", true)
	f("heap.007 heap.08 heap.9", "heap.007 heap.08 heap.9", "numbers", true)
	f("x-100.pb.gz x-2.pb.gz x-99999999999999999999.pb.gz", "x-2.pb.gz x-100.pb.gz x-99999999999999999999.pb.gz", "numbers", true)
}
