package profile_test

import (
	"fmt"
	"testing"

	"loupe/format/profile"
)

func TestObservations(t *testing.T) {
	f := func(types []string, values [][]int64, period int64, index int, want string) {
		t.Helper()
		p := &profile.Profile{Period: period, Values: values}
		for _, name := range types {
			p.SampleTypes = append(p.SampleTypes, profile.ValueType{Type: name, Unit: "count"})
		}
		p.StackIDs = append(p.StackIDs, 0, 0)
		counts, how := p.Observations(index)
		if got := fmt.Sprint(counts, how); got != want {
			t.Errorf("%v[%d] with period %d: %s, want %s", types, index, period, got, want)
		}
	}
	heap := []string{"alloc_objects", "alloc_space", "inuse_objects", "inuse_space"}
	// 8,192 objects of 64 bytes with one sample per 512 KiB: one was taken. A
	// large object counts as one.
	values := [][]int64{{8192, 1}, {524288, 1 << 30}, {0, 1}, {0, 1 << 30}}
	f(heap, values, 524288, 1, "[1 1] 1")
	f(heap, values, 524288, 0, "[1 1] 1")
	f(heap, values, 524288, 3, "[0 1] 1")
	f(heap, values, 1, 1, "[8192 1] 2")
	f(heap[1:2], values[1:2], 524288, 0, "[1 1] 0")
	f([]string{"samples", "cpu"}, [][]int64{{3, 4}, {30, 40}}, 10, 1, "[3 4] 1")
	f([]string{"contentions", "delay"}, [][]int64{{3, 4}, {30, 0}}, 1, 1, "[1 0] 0")
	f([]string{"goroutine"}, [][]int64{{3, 4}}, 1, 0, "[3 4] 2")
}
