package insight

import (
	"cmp"
	"slices"
	"strings"
)

// Most is what takes most of something in a report without a warning: whether that is a fault or the job is for people to
// say, and the report begins with it.
type Most struct {
	Share float64
	// Of is what the share is of: "CPU time".
	Of string
	// Line is the share of the line that the card names first, where that has only a part of it; else 0.
	Line float64
	// Through is the line that it goes through, where the card names only a part of what does.
	Through *Evidence
	// Functions is how many functions have it together, where none of them has most of it; else 0.
	Functions int
}

// lead puts the cards in order that depend on when threads ran: last, if the busy machine is the reason, and where no card
// is a warning in any case. There the one that is about most of something comes first, and says so.
func (c *causal) lead(cards []Card) {
	if len(cards) == 0 {
		return
	}
	serious := c.all[cards[0].Finding].Severity.AtLeast(Warning)
	slices.SortStableFunc(cards, func(a, b Card) int {
		fa, fb := &c.all[a.Finding], &c.all[b.Finding]
		return cmp.Or(cmp.Compare(fb.Severity.rank(), fa.Severity.rank()), cmp.Compare(timingOf(c, a, serious), timingOf(c, b, serious)))
	})
	if serious {
		return
	}
	at, most := c.leading(cards)
	if at < 0 {
		return
	}
	card := cards[at]
	card.Most = most
	copy(cards[1:at+1], cards[:at])
	cards[0] = card
}

// timingOf is how far back a remark goes because it depends on when threads ran: 2 where the busy machine is the reason of all
// that is on its card, 1 where nothing is serious.
func timingOf(c *causal, card Card, serious bool) int {
	switch f := &c.all[card.Finding]; {
	case !OfTiming(f.Rule) || f.Severity.AtLeast(Warning):
		return 0
	case f.crowded && !slices.ContainsFunc(card.Symptoms, func(i int) bool { return !c.all[i].crowded }):
		return 2
	case !serious:
		return 1
	}
	return 0
}

// leading finds the card that is about most of something, and what that is; -1 where none is. The first that is of itself
// goes before one that has only a line in common with others.
func (c *causal) leading(cards []Card) (int, *Most) {
	for at, card := range cards {
		if m := c.mostAt(card); m != nil && (at == 0 || outweighs(c, m)) {
			return at, m
		}
	}
	leads, most := -1, (*Most)(nil)
	for at, card := range cards {
		if t := card.Through; t != nil && t.Share >= halfOfAll && (leads < 0 || onCard(c, card, evidenceLine(t.At)) && !onCard(c, cards[leads], evidenceLine(t.At))) {
			leads, most = at, &Most{Share: t.Share, Of: "CPU time", Line: t.Line, Through: &t.At}
		}
	}
	if leads < 0 {
		return hotTogether(c, cards)
	}
	return leads, most
}

// fewTogether is how many functions may have most of the CPU time together to be told as one thing. Chosen: whoever looks at so many has seen
// nearly all that the program does.
const fewTogether = 3

// hotTogether finds a few hot functions that have nearly all of the CPU time, of which none has most of it: into how many functions the work
// is cut does not decide what is said of it. The first of their cards leads; -1 is none.
func hotTogether(c *causal, cards []Card) (int, *Most) {
	first, m := -1, &Most{Of: "CPU time"}
	for at, card := range cards {
		f := &c.all[card.Finding]
		if f.Rule != cp01.ID || f.Impact == nil || !strings.HasPrefix(f.Impact.Unit, "share of CPU") || len(f.costs) == 0 || f.costs[0].function == "" {
			continue
		}
		if first < 0 {
			first = at
		}
		m.Share, m.Functions = min(1, m.Share+f.Impact.Value), m.Functions+1
	}
	if m.Functions < 2 || m.Functions > fewTogether || m.Share < nearlyAll || !outweighs(c, m) {
		return -1, nil
	}
	return first, m
}

// outweighs tells whether what takes most of something takes most of the time of the run too: CPU time of a program that
// uses little of a CPU does not.
func outweighs(c *causal, m *Most) bool {
	return m.Of != "CPU time" || c.spent == nil || c.spent.cpus <= 0 || m.Share*min(1, c.spent.keepsUp()/busyCPU) >= halfOfAll
}

// onCard tells whether one of the findings on a card is seen at a line.
func onCard(c *causal, card Card, line string) bool {
	return shows(&c.all[card.Finding], line) || slices.ContainsFunc(card.Symptoms, func(i int) bool { return shows(&c.all[i], line) })
}

// mostAt is what the finding of a card takes, where that is most of something; nil where it is not, or depends on when
// threads ran.
func (c *causal) mostAt(card Card) *Most {
	f := &c.all[card.Finding]
	if f.Impact == nil || f.Impact.Value < halfOfAll || OfTiming(f.Rule) {
		return nil
	}
	share := f.Impact.Value
	if of, ok := strings.CutPrefix(f.Impact.Unit, "share of the "); ok {
		if of == "busy time" || of == "CPU time" || family(f.Rule) == "waits" && strings.HasPrefix(of, "time of ") { // of the run, or of what it serves
			return &Most{Share: share, Of: of}
		}
		return nil
	}
	if !strings.HasPrefix(f.Impact.Unit, "share of CPU") {
		return nil
	}
	m := &Most{Share: share, Of: "CPU time"}
	switch line, ok := shareOfLine(c, card.Finding); {
	case ok && line >= halfOfAll:
		m.Share = line
	case ok:
		m.Line = line
	}
	return m
}

// shareOfLine is the part of the CPU time that a finding is about and that goes through the line which it names first; not
// ok where samples do not tell.
func shareOfLine(c *causal, i int) (float64, bool) {
	if c.spent == nil || c.marks[i] == nil {
		return 0, false
	}
	for _, e := range c.all[i].Evidence {
		if e.File == "" || e.Line == 0 {
			continue
		}
		line := c.spent.mark([]cost{{file: e.File, line: e.Line}})
		if line == nil {
			return 0, false
		}
		return c.spent.share(c.marks[i]) * c.spent.within(c.marks[i], line), true
	}
	return 0, false
}
