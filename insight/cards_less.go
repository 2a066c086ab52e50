package insight

import (
	"fmt"
	"slices"

	"loupe/value/unit"
)

// Beside says what is found besides the first card, where that is serious: that it matters less only where no other card
// is about more of the CPU time by its own figures, as a remark about work that may be needed can be. Empty is nothing.
func Beside(all []Finding, cards []Card) string {
	if len(cards) < 2 {
		return ""
	}
	n := len(cards) - 1
	larger, share := largerThanFirst(all, cards)
	switch {
	case len(larger) == 0 && n == 1:
		return "One other cause matters less."
	case len(larger) == 0:
		return fmt.Sprintf("%d other causes matter less.", n)
	case n == 1:
		return fmt.Sprintf("One other cause is about more of the CPU time (%s, %s).", larger[0], unit.Percent(share))
	case len(larger) == 1:
		return fmt.Sprintf("Of %d other causes, %s is about more of the CPU time (%s).", n, larger[0], unit.Percent(share))
	}
	return fmt.Sprintf("Of %d other causes, %s are about more of the CPU time (%s at most).", n, andWords(larger), unit.Percent(share))
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
		return c.Gain.Share, c.Gain.Of == "CPU time"
	}
	i := all[c.Finding].Impact
	if i == nil || i.Unit != cpuSamples && i.Unit != "share of CPU time" {
		return 0, false
	}
	return i.Value, true
}
