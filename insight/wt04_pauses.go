package insight

import (
	"fmt"
	"slices"
	"time"

	"loupe/analysis/facts"
	"loupe/value/unit"
)

// pausesTitle is the title of a queue for slots whose holders pause.
const pausesTitle = "Requests queue for slots that are held during pauses"

// heldPaused is the part of the waits for others during which those pause from which on that is the cause, and not the number of slots. Chosen.
const heldPaused = 0.25

// pauses finds the row of a queue for slots in which who has one pauses for longest, and the part of all the waiting that passes during pauses.
func (q *narrow) pauses() (most *facts.UnitRow, share float64) {
	sum := time.Duration(0)
	for _, row := range q.rows {
		if !slices.Contains([]string{"sleep", "timer"}, row.Cause.Kind.Key()) || !row.Cause.Site.User {
			continue
		}
		if sum += row.Queued; most == nil || row.Queued > most.Queued {
			most = row
		}
	}
	return most, float64(sum) / float64(max(1, q.queued))
}

// tellPauses says of a queue for slots that those who have one pause in it: more of them would only pause beside each other.
func (q *narrow) tellPauses(t *traced, f *Finding) {
	most, share := q.pauses()
	if most == nil || share < heldPaused || q.gate.Workers || q.gate.Kind.Key() == "pool" {
		return
	}
	at := most.Cause.Site.Frame
	f.Title = pausesTitle
	f.Summary += fmt.Sprintf("; for %s of the waiting, those who have a slot pause at %s, for which they need none", unit.Percent(min(1, share)), fileLine(at.File, at.Line))
	f.Advice = fmt.Sprintf("Give the slot back before the pause at %s, and take one again after it (acquire and release it around each try): the same slots then serve more. More slots would let more pause, and let more through at once than what is behind them may be meant for.", fileLine(at.File, at.Line))
	if e := t.seen(most.Cause.Site.Stack, "who has a slot pauses here"); !shows(f, evidenceLine(e)) {
		f.Evidence = append(f.Evidence, e)
	}
	f.Doubts = append(f.Doubts, "if the pause is there to bound the rate of all, and not of one, it belongs inside")
}
