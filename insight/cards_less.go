package insight

import (
	"fmt"
	"slices"
	"strings"

	"loupe/value/unit"
)

// Beside says what is found besides the first card of a report that shows some of them, where that is serious: that it matters less only where each
// other card is worth less in the same unit, and that it follows only of cards that do. A remark about work that may be needed can be about more of
// the CPU time. Remarks are not called causes. Empty is nothing.
func Beside(all []Finding, cards []Card, shown int) string {
	if len(cards) < 2 {
		return ""
	}
	others := cards[1:]
	larger, share := largerThanFirst(all, cards)
	switch less := allLess(all, cards); {
	case len(larger) == 0 && less:
		return sentence(othersNamed(all, others) + plural(len(others), " matters", " matter") + " less.")
	case len(larger) == 0:
		return following(all, cards, min(max(shown, 1), len(cards)))
	case len(others) == 1:
		return sentence(fmt.Sprintf("%s is about more of the CPU time (%s, %s).", othersNamed(all, others), larger[0], unit.Percent(share)))
	case len(larger) == 1:
		return fmt.Sprintf("Of %s, %s is about more of the CPU time (%s).", othersNamed(all, others), larger[0], unit.Percent(share))
	}
	return fmt.Sprintf("Of %s, %s are about more of the CPU time (%s at most).", othersNamed(all, others), andList(larger), unit.Percent(share))
}

// othersNamed counts cards that are not the first: "2 other causes and one remark".
func othersNamed(all []Finding, cards []Card) string {
	remarks := countSevere(all, cards, Info)
	var words []string
	for _, c := range []struct {
		n    int
		noun string
	}{{len(cards) - remarks, "other cause"}, {remarks, "remark"}} {
		switch c.n {
		case 0:
		case 1:
			words = append(words, "one "+c.noun)
		default:
			words = append(words, unit.Plural(c.n, c.noun))
		}
	}
	return andList(words)
}

// sentence begins a text with a capital letter.
func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// following says of the cards behind the first one how many of them a report shows, and which kind of finding only the full report has.
func following(all []Finding, cards []Card, shown int) string {
	seen, hidden := cards[1:shown], cards[shown:]
	switch {
	case len(seen) > 0 && len(hidden) > 0:
		return sentence(fmt.Sprintf("%s; only the full report has %s.", othersNamed(all, seen)+plural(len(seen), " follows", " follow"), LeftOut(all, hidden)))
	case len(seen) > 0:
		return sentence(othersNamed(all, seen) + plural(len(seen), " follows.", " follow."))
	}
	return "Only the full report has " + LeftOut(all, hidden) + "."
}

// severityNouns are what findings of a severity are called where they are counted, the most severe first.
var severityNouns = []struct {
	of   Severity
	noun string
}{{Critical, "critical cause"}, {Warning, "warning"}, {Info, "remark"}}

// bySeverity counts cards by how severe they are: "2 warnings and 1 remark".
func bySeverity(all []Finding, cards []Card) string {
	var words []string
	for _, s := range severityNouns {
		if n := countSevere(all, cards, s.of); n > 0 {
			words = append(words, unit.Plural(n, s.noun))
		}
	}
	return andList(words)
}

// countSevere counts the cards of a severity; one that has none is a remark.
func countSevere(all []Finding, cards []Card, of Severity) (n int) {
	for _, c := range cards {
		if is := all[c.Finding].Severity; is == of || is == "" && of == Info {
			n++
		}
	}
	return n
}

// LeftOut counts the cards that a report does not show, by how severe they are: "2 more warnings and 1 remark". Empty is none.
func LeftOut(all []Finding, hidden []Card) string {
	text := bySeverity(all, hidden)
	if count, what, ok := strings.Cut(text, " "); ok {
		return count + " more " + what
	}
	return text
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
