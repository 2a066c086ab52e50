package insight

import (
	"testing"

	"loupe/analysis/account"
	"loupe/analysis/facts"
)

// TestCutAway: requests that are not wholly in the trace count where they are many; those of one turn of each connection are not.
func TestCutAway(t *testing.T) {
	for _, c := range []struct {
		name         string
		unit         account.Unit
		counted, cut int64
		want         string
	}{
		{"two for each of 50 connections", account.Request, 10_000, 100, ""},
		{"the slow ones", account.Request, 3_971, 490, "490 of 4,461 requests began before the trace or ended after it: these may be the slow ones, which a longer trace has (-phases trace:20s)"},
		{"none", account.Request, 100, 0, ""},
		{"no requests", account.Main, 1, 5, ""},
	} {
		g := &account.Group{Unit: c.unit}
		g.Seen.Count = c.counted
		if got := cutAway(&facts.Units{Account: &account.Account{Groups: []*account.Group{g}, Cut: c.cut}}); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
