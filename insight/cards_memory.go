package insight

// Much memory in one place, among remarks.

// muchHeld is from how much on what one line has in use is told of beside what takes the time. Chosen: the heap becomes twice as large before
// it is collected, which is all of a small container's memory, or a visible part of a small machine's.
const muchHeld = 128 << 20

// HoldsMuch tells of a finding that one line has most of a large heap, whether that is a fault or not: of what is in use, or, where its objects come and go,
// of all with garbage.
func HoldsMuch(f *Finding) bool {
	return f.State == Found && f.holds >= muchHeld && f.Impact != nil && (f.Impact.Unit == "share of what is in use" || f.Impact.Unit == "share of the heap") && f.Impact.Value >= halfOfAll
}

// memoryBehind puts a remark about a line that holds most of a large live heap before all other remarks but the one that leads: it is another question
// than where the time goes, and a report that shows a few cards has to answer both.
func memoryBehind(c *causal, cards []Card) {
	to := 0
	for to < len(cards) && (c.all[cards[to].Finding].Severity != Info || cards[to].Most != nil) {
		to++
	}
	for at := to + 1; at < len(cards); at++ {
		if f := &c.all[cards[at].Finding]; f.Severity == Info && HoldsMuch(f) {
			card := cards[at]
			copy(cards[to+1:at+1], cards[to:at])
			cards[to] = card
			return
		}
	}
}
