package insight

import (
	"slices"
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
)

// TestStackOfGroup: of a line that two handlers come by, each finding shows the way of its own.
func TestStackOfGroup(t *testing.T) {
	n := 0
	r := served(t, 40, func(p *accounttest.Program) {
		handler := []string{"main.find@main.go:40", "main.bisect@main.go:55"}[n%2]
		n++
		for range 4 {
			ask(p, 5*time.Millisecond, "main.get@main.go:22", handler)
		}
	})
	all := answers(t, r, "WT01")
	if len(all) != 2 {
		t.Fatalf("%d findings", len(all))
	}
	handlerOf := func(e Evidence) string {
		at := slices.IndexFunc(e.Stack, func(f Frame) bool { return f.Function == "main.get" })
		return e.Stack[at+1].Function
	}
	var seen []string
	for _, f := range all {
		first, last := handlerOf(f.Evidence[0]), handlerOf(f.Evidence[len(f.Evidence)-1])
		if seen = append(seen, first); first != last || !strings.Contains(f.Summary, "a request of "+first) {
			t.Errorf("%s and %s: %s", first, last, f.Summary)
		}
	}
	if slices.Sort(seen); !slices.Equal(seen, []string{"main.bisect", "main.find"}) {
		t.Errorf("the stacks are of %q", seen)
	}
}
