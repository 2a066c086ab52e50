package insight

import (
	"slices"
	"strings"
	"testing"
	"time"

	"loupe/analysis/account"
	"loupe/analysis/account/accounttest"
	"loupe/analysis/facts"
	"loupe/format/exectrace"
	"loupe/value/stack"
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

// TestUsualStack: of the ways to a line the one is shown on which goroutines wait most, unless the first
// one that was seen is about as usual.
func TestUsualStack(t *testing.T) {
	for waits, rare := range map[int]bool{1000: false, 15: true} {
		s := newScene(t)
		login := s.stack("shop/driver.(*conn).ask:/src/driver/conn.go:46", "shop/driver.Open:/src/driver/conn.go:35", "shop.handle:/src/shop.go:7")
		query := s.stack("shop/driver.(*conn).ask:/src/driver/conn.go:46", "shop/driver.(*conn).Query:/src/driver/conn.go:60", "shop.handle:/src/shop.go:7")
		other := s.stack("shop/driver.(*conn).ask:/src/driver/conn.go:46", "shop.background:/src/shop.go:70")
		s.block("shop.handle", exectrace.NameNetwork, 10, time.Millisecond, login, 0)
		s.block("shop.handle", exectrace.NameNetwork, waits, time.Millisecond, query, 0)
		s.block("shop.background", exectrace.NameNetwork, 10*waits, time.Millisecond, other, 0)
		tr := s.input().trace()
		g := &account.Group{Name: "shop.handle"}
		site := facts.UnitSite{Frame: tr.Site(login), Stack: login}
		want := map[bool]stack.ID{true: login, false: query}[rare]
		if got := usualStack(tr, g, site); got != want {
			t.Errorf("%d waits: %v, want %v", waits, tr.Frames(got), tr.Frames(want))
		}
	}
}
