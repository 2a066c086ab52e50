package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestStableSortAppended: where a stable sort keeps equal elements in the order in which they came, the place of a new one is behind them; that
// of an unstable one is any.
func TestStableSortAppended(t *testing.T) {
	const head = "package main\n\nimport (\n\t\"slices\"\n\t\"sort\"\n)\n\ntype task struct{ n int }\ntype byN []task\ntype queue struct{ tasks []task }\n\n"
	const pop = "func (q *queue) pop() task {\n\tt := q.tasks[0]\n\tq.tasks = q.tasks[1:]\n\treturn t\n}\n\n"
	const plain = "insert that at the place which a binary search finds (slices.BinarySearchFunc, slices.Insert)"
	for _, c := range []struct {
		name, sort, callee, more string
		stable                   bool
		says                     string
	}{
		{"sort.SliceStable", "sort.SliceStable(q.tasks, func(i, j int) bool { return q.tasks[i].n < q.tasks[j].n })", "sort.SliceStable", "", true, "insert that behind all that compare equal to it, as sort.SliceStable does: sort.Search finds the first that is greater"},
		{"sort.Stable", "sort.Stable(byN(q.tasks))", "sort.Stable", "", true, "behind all that compare equal"},
		{"slices.SortStableFunc", "slices.SortStableFunc(q.tasks, func(a, b task) int { return a.n - b.n })", "slices.SortStableFunc[...]", "", true, "as slices.SortStableFunc does"},
		{"stable, and taken out", "sort.Stable(byN(q.tasks))", "sort.Stable", pop, true, "if its Less compares a running number"},
		{"sort.Slice", "sort.Slice(q.tasks, func(i, j int) bool { return q.tasks[i].n < q.tasks[j].n })", "sort.Slice", "", false, plain},
		{"slices.SortFunc", "slices.SortFunc(q.tasks, func(a, b task) int { return a.n - b.n })", "slices.SortFunc[...]", "", false, plain},
		{"unstable, and taken out", "sort.Sort(byN(q.tasks))", "sort.Sort", pop, false, "as a heap (container/heap), whose Push and Pop do log n comparisons each in place of a sort. Where"},
	} {
		source := head + "func (q *queue) push(t task) {\n\tq.tasks = append(q.tasks, t)\n\t" + c.sort + " // A\n}\n\n" + c.more + "func main() {\n\tq := &queue{}\n\tfor {\n\t\tq.push(task{}) // B\n\t}\n}\n"
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
		withProfile(r, recording.CPU, "cpu", column{stackAt(source, "main.main@B main.(*queue).push@A") + " " + c.callee, []int64{280}}, column{"main.main:/src/main.go:40 main.other:/src/other.go:3", []int64{120}})
		f := answers(t, r, "CP19")[0]
		if f.State != Found || !strings.Contains(f.Advice, c.says) || strings.Contains(f.Advice, "equal") != c.stable {
			t.Errorf("%s: %s: %s, want %s", c.name, f.Summary, f.Advice, c.says)
		}
	}
}
