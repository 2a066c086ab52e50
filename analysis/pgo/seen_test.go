package pgo_test

import (
	"testing"

	"loupe/analysis/pgo"
	"loupe/value/stack"
)

// TestSeen holds an older profile against a newer one, by the calls that the compiler reads
// of both.
func TestSeen(t *testing.T) {
	call := func(caller string, line int, callee string) []stack.Frame {
		return []stack.Frame{at(callee, 11, 1, false), at(caller, line, 2, false), at("main", 12, 3, false)}
	}
	older := made([]int64{8, 4, 2, 1}, call("a", 12, "leaf"), call("b", 13, "leaf"), call("a", 14, "b"), call("gone", 12, "leaf"))
	newer := made([]int64{1, 1, 1}, call("a", 12, "leaf"), call("b", 14, "leaf"), call("x", 12, "b"))
	m, err := pgo.SeenAgain(older, newer)
	if err != nil {
		t.Fatal(err)
	}
	if m.Total != 15 || m.Calls != 8 || m.Lines != 4 || m.Functions != 2 || m.Gone != 1 || len(m.Lost) != 3 ||
		m.Lost[0].Why != "it is on another line now" || m.Lost[2].Why != "gone was not seen" {
		t.Errorf("match = %+v", m)
	}
}
