package insight

import "testing"

// TestMemoryBehind: a line that holds most of a large live heap is told of behind what leads, before other remarks.
func TestMemoryBehind(t *testing.T) {
	hot := Finding{Rule: "CP01", State: Found, Severity: Info}
	bad := Finding{Rule: "LK01", State: Found, Severity: Warning}
	memory := func(bytes int64, share float64) Finding {
		return Finding{Rule: "GC16", State: Found, Severity: Info, holds: bytes, Impact: exactly(share, "share of what is in use")}
	}
	passing := Finding{Rule: "GC16", State: Found, Severity: Info, holds: 600 << 20, Impact: exactly(0.97, "share of the heap")}
	for _, c := range []struct {
		name  string
		all   []Finding
		leads bool
		want  int // where the last finding is then
	}{
		{"behind what takes the time", []Finding{hot, hot, hot, memory(180<<20, 0.97)}, true, 1},
		{"first", []Finding{hot, hot, memory(180<<20, 0.97)}, false, 0},
		{"behind warnings", []Finding{bad, hot, hot, memory(180<<20, 0.97)}, false, 1},
		{"what comes and goes", []Finding{hot, hot, hot, passing}, true, 1},
		{"a small heap", []Finding{hot, hot, memory(100<<20, 0.97)}, true, 2},
		{"a part of it", []Finding{hot, hot, memory(180<<20, 0.4)}, true, 2},
	} {
		cards := make([]Card, len(c.all))
		for i := range cards {
			cards[i].Finding = i
		}
		if c.leads {
			cards[0].Most = &Most{Share: 0.9, Of: "CPU time"}
		}
		memoryBehind(&causal{all: c.all}, cards)
		if got := cards[c.want].Finding; got != len(c.all)-1 {
			t.Errorf("%s: %v", c.name, cards)
		}
		if c.leads && cards[0].Finding != 0 {
			t.Errorf("%s: what leads is not first any more: %v", c.name, cards)
		}
	}
}
