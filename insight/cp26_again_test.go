package insight

import (
	"testing"

	"loupe/analysis/facts"
)

// TestMostAgain: many calls along one way go under the finding that most of them repeat, whichever takes more; not where few do, where that is a remark, or
// where they wait elsewhere.
func TestMostAgain(t *testing.T) {
	call, other := &facts.UnitRow{Time: 90}, &facts.UnitRow{Time: 90}
	few := &facts.UnitRow{Time: 10}
	many := Finding{Rule: "WT02", State: Found, Severity: Warning, waits: []*facts.UnitRow{call, few}}
	repeat := func(s Severity, again bool, rows ...*facts.UnitRow) Finding {
		return Finding{Rule: "CP26", State: Found, Severity: s, again: again, waits: rows}
	}
	for _, x := range []struct {
		name         string
		many, repeat Finding
		rank         float64 // of the latter; the former has 0.9
		under        bool
	}{
		{"most calls repeat", many, repeat(Warning, true, call, few), 0.7, true},
		{"and it takes more", many, repeat(Warning, true, call, few), 0.95, true},
		{"few do", many, repeat(Warning, false, call, few), 0.7, false},
		{"as a remark", many, repeat(Info, true, call, few), 0.7, false},
		{"another wait", many, repeat(Warning, true, other), 0.7, false},
		{"a small part of the wait", many, repeat(Warning, true, few), 0.7, false},
		{"no waits are known", many, repeat(Warning, true), 0.7, false},
		{"many calls that are graver", func() Finding { f := many; f.Severity = Critical; return f }(), repeat(Warning, true, call, few), 0.7, false},
	} {
		c := &causal{all: []Finding{x.many, x.repeat}, found: []int{0, 1}, rank: map[int]float64{0: 0.9, 1: x.rank}, under: map[int]int{}}
		for _, i := range c.found {
			c.under[i] = c.causeOf(i)
		}
		if got := c.under[0] == 1; got != x.under || got && c.under[1] == 0 {
			t.Errorf("%s: %v", x.name, c.under)
		}
	}
}
