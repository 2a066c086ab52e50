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

// slotPauses finds the pause that those who have a slot of a queue spend much of the waiting in; nil where that is not so.
func (q *narrow) slotPauses() (most *facts.UnitRow, share float64) {
	if most, share = q.pauses(); most == nil || share < heldPaused || q.gate.Workers || q.gate.Kind.Key() == "pool" {
		return nil, 0
	}
	return most, share
}

// tellPauses says of a queue for slots that those who have one pause in it: more of them would only pause beside each other.
func (q *narrow) tellPauses(in *Input, t *traced, f *Finding) {
	most, share := q.slotPauses()
	if most == nil {
		return
	}
	at := most.Cause.Site.Frame
	f.Title = pausesTitle
	f.Summary += fmt.Sprintf("; for %s of the waiting, those who have a slot pause at %s", unit.Percent(min(1, share)), fileLine(at.File, at.Line))
	const limits = "More slots would let more pause, and let more through at once than what is behind them may be meant for."
	kept, found, known := keptThrough(in.code, t.Frames(q.gate.Site.Stack), t.Frames(most.Cause.Site.Stack))
	switch {
	case found:
		kept.tell(in.code, at, f)
	case !known:
		f.Severity = Info
		f.Advice = fmt.Sprintf("Give the slot back before the pause at %s, and take one again after it, if the pause needs nothing that is taken with the slot. ", fileLine(at.File, at.Line)) + limits
		f.Doubts = append(f.Doubts, "the source that takes the slot is not at hand: what is taken with it and given back after the pause has to be given back before the slot")
	default:
		f.Summary += ", for which they need none"
		f.Advice = fmt.Sprintf("Give the slot back before the pause at %s, and take one again after it (acquire and release it around each try): the same slots then serve more. ", fileLine(at.File, at.Line)) + limits
	}
	if e := t.seen(most.Cause.Site.Stack, "who has a slot pauses here"); !shows(f, evidenceLine(e)) {
		f.Evidence = append(f.Evidence, e)
	}
	f.Doubts = append(f.Doubts, "if the pause is there to bound the rate of all, and not of one, it belongs inside")
}

// tellKeptSlot says the same of a wait for slots whose holders keep something through a pause: more slots find none of it.
func tellKeptSlot(in *Input, t *traced, w *waiting, f *Finding) {
	for _, q := range queuesOf(in.Facts.Units(), t, w.group) {
		most, _ := q.slotPauses()
		if most == nil || !slices.ContainsFunc(w.rows, func(row *facts.UnitRow) bool { return slices.Contains(q.rows, row) }) {
			continue
		}
		if kept, found, _ := keptThrough(in.code, t.Frames(q.gate.Site.Stack), t.Frames(most.Cause.Site.Stack)); found {
			kept.tell(in.code, most.Cause.Site.Frame, f)
			return
		}
	}
}
