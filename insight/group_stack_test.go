package insight

import (
	"testing"
	"time"

	"loupe/analysis/account"
	"loupe/analysis/facts"
	"loupe/format/exectrace"
	"loupe/value/stack"
)

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
