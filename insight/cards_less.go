package insight

import (
	"fmt"
	"slices"

	"loupe/value/unit"
)

// Beside says what is found besides the first card, where that is serious: that it matters less only where each other card is worth less in the same
// unit. A remark about work that may be needed can be about more of the CPU time. Empty is nothing.
func Beside(all []Finding, cards []Card) string {
	if len(cards) < 2 {
		return ""
	}
	n := len(cards) - 1
	larger, share := largerThanFirst(all, cards)
	switch less := allLess(all, cards); {
	case len(larger) == 0 && n == 1 && less:
		return "One other cause matters less."
	case len(larger) == 0 && less:
		return fmt.Sprintf("%d other causes matter less.", n)
	case len(larger) == 0 && n == 1:
		return "One other cause follows."
	case len(larger) == 0:
		return fmt.Sprintf("%d other causes follow.", n)
	case n == 1:
		return fmt.Sprintf("One other cause is about more of the CPU time (%s, %s).", larger[0], unit.Percent(share))
	case len(larger) == 1:
		return fmt.Sprintf("Of %d other causes, %s is about more of the CPU time (%s).", n, larger[0], unit.Percent(share))
	}
	return fmt.Sprintf("Of %d other causes, %s are about more of the CPU time (%s at most).", n, andList(larger), unit.Percent(share))
}

// allLess tells that each other card is worth less than the first, in the same unit.
func allLess(all []Finding, cards []Card) bool {
	first, ofCPU := shareOfCPU(all, cards[0])
	of := cards[0].Gain
	return !slices.ContainsFunc(cards[1:], func(c Card) bool {
		if share, ok := shareOfCPU(all, c); ok && ofCPU {
			return share >= first
		}
		return of == nil || c.Gain == nil || c.Gain.Of != of.Of || c.Gain.Share >= of.Share
	})
}

// sameUnit tells of what two gains are of that these can be compared: busy time is CPU time.
func sameUnit(a, b string) bool {
	ofCPU := func(of string) bool { return of == "CPU time" || of == "busy time" }
	return a == b || ofCPU(a) && ofCPU(b)
}

// largerThanFirst are the rules of cards that are about more of the CPU time than the first one, and the most that one of
// them is about; none where the first is about something else.
func largerThanFirst(all []Finding, cards []Card) (rules []string, most float64) {
	first, ok := shareOfCPU(all, cards[0])
	if !ok {
		return nil, 0
	}
	for _, c := range cards[1:] {
		share, ok := shareOfCPU(all, c)
		if !ok || share <= first {
			continue
		}
		if most = max(most, share); !slices.Contains(rules, all[c.Finding].Rule) {
			rules = append(rules, all[c.Finding].Rule)
		}
	}
	return rules, most
}

// shareOfCPU is the part of the CPU time that a card is about by its own figures: its gain, or where that is unknown its share.
func shareOfCPU(all []Finding, c Card) (float64, bool) {
	if c.Gain != nil {
		return c.Gain.Share, sameUnit(c.Gain.Of, "CPU time")
	}
	i := all[c.Finding].Impact
	if i == nil || i.Unit != cpuSamples && i.Unit != "share of CPU time" {
		return 0, false
	}
	return i.Value, true
}
