package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/value/stack"
)

// TestSortInOrder: lists that are in order already are told by the function of the sort that their time goes into.
func TestSortInOrder(t *testing.T) {
	const source = "package main\n\ntype byKey []int\n\nfunc less(a, b int) bool { return a < b } // C\n\nfunc spawn(files []int) {\n\tsort.Sort(byKey(files)) // A\n}\n\nfunc main() {\n\tfor {\n\t\tspawn(load()) // B\n\t}\n}\n"
	for _, c := range []struct {
		name, callee string
		parts        map[string]int64 // samples by what is called for the sort, the leaf last
		want         bool
	}{
		{"in order", "sort.Sort", map[string]int64{"sort.pdqsort sort.partialInsertionSort main.less@C": 260, "sort.pdqsort sort.choosePivot sort.median": 20}, true},
		{"by a function", "sort.Slice", map[string]int64{"sort.pdqsort_func sort.partialInsertionSort_func main.less@C": 270}, true},
		{"by a generic function", "slices.SortFunc[...]", map[string]int64{"slices.pdqsortCmpFunc[...] slices.partialInsertionSortCmpFunc[...] main.less@C": 270}, true},
		{"of what is ordered", "slices.Sort[...]", map[string]int64{"slices.pdqsortOrdered[...] slices.partialInsertionSortOrdered[...]": 270}, true},
		{"a few that are not", "sort.Sort", map[string]int64{"sort.pdqsort sort.partialInsertionSort main.less@C": 220, "sort.pdqsort sort.pdqsort sort.partition main.less@C": 60}, true},
		{"in any order", "sort.Sort", map[string]int64{"sort.pdqsort sort.partition main.less@C": 140, "sort.pdqsort sort.pdqsort sort.insertionSort main.less@C": 140}, false},
		{"a tenth of it is new", "sort.Sort", map[string]int64{"sort.pdqsort sort.partialInsertionSort main.less@C": 150, "sort.pdqsort sort.insertionSort main.less@C": 130}, false},
		{"in the opposite order", "sort.Sort", map[string]int64{"sort.pdqsort sort.partialInsertionSort main.less@C": 200, "sort.pdqsort sort.reverseRange": 80}, false},
		{"a sort within the comparison", "sort.Sort", map[string]int64{"sort.pdqsort sort.partition main.less@C sort.Ints sort.pdqsort sort.partialInsertionSort": 280}, true},
		{"stable", "sort.Stable", map[string]int64{"sort.stable sort.insertionSort main.less@C": 280}, false},
		{"few samples", "sort.Sort", map[string]int64{"sort.pdqsort sort.partialInsertionSort main.less@C": 20, "main.slow@C": 260}, false},
	} {
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
		columns := []column{{"main.main:/src/main.go:40 main.other:/src/other.go:3", []int64{120}}}
		for parts, n := range c.parts {
			columns = append(columns, column{stackAt(source, "main.main@B main.spawn@A "+c.callee+" "+parts), []int64{n}})
		}
		withProfile(r, recording.CPU, "cpu", columns...)
		f := answers(t, r, "CP19")[0]
		if f.State != Found || strings.Contains(f.Summary, "only goes through lists that are in order") != c.want || c.want != strings.Contains(f.Advice, "whether its order can be kept") {
			t.Errorf("%s: %s: %s %s", c.name, f.State, f.Summary, f.Advice)
		}
	}
}

// TestElementChange: a sort by what a map or a list beside it has is not of what stays in order, where an element of that changes; that it is
// filled, and that the sort itself moves elements, is no change.
func TestElementChange(t *testing.T) {
	const head = "package main\n\nimport \"sort\"\n\ntype board struct {\n\tids    []int\n\tpoints map[int]int\n\tother  map[int]int\n}\n\nfunc (b *board) Len() int { return len(b.ids) }\n\nfunc (b *board) Less(i, j int) bool { return b.points[b.ids[i]] < b.points[b.ids[j]] }\n\nfunc (b *board) Swap(i, j int) { b.ids[i], b.ids[j] = b.ids[j], b.ids[i] }\n\n"
	const slice = "func (b *board) top() {\n\tsort.Slice(b.ids, func(i, j int) bool { return b.points[b.ids[i]] < b.points[b.ids[j]] }) // sort\n}\n\n"
	const sorter = "func (b *board) top() {\n\tsort.Sort(b) // sort\n}\n\n"
	const filled = "func load() *board {\n\tb := &board{points: map[int]int{}}\n\tfor i := range 9 {\n\t\tb.ids = append(b.ids, i)\n\t\tb.points[i] = 10 * i\n\t}\n\treturn b\n}\n\n"
	for _, c := range []struct {
		name, source, want string
	}{
		{"a count goes up", slice + filled + "func (b *board) apply(id int) {\n\tb.points[id] += 3 // change\n}\n", "points"},
		{"by a type of its own", sorter + filled + "func (b *board) apply(id int) {\n\tb.points[id] = 3 // change\n}\n", "points"},
		{"one goes away", slice + "func (b *board) apply(id int) {\n\tb.points[id]-- // change\n}\n", "points"},
		{"it is filled", slice + filled, ""},
		{"of a type of its own, filled", sorter + filled, ""},
		{"another map", slice + filled + "func (b *board) apply(id int) {\n\tb.other[id] += 3\n}\n", ""},
	} {
		text := head + c.source
		what, at := orderChange(sourceOf(text), stack.Frame{Func: "main.(*board).top", File: "a.go", Line: sourceLine(text, "sort")})
		if what != c.want || at.line != sourceLine(text, "change") {
			t.Errorf("%s: %q at %v", c.name, what, at)
		}
	}
}
