package insight

import (
	"cmp"
	"fmt"
	"math"

	"loupe/analysis/facts"
	"loupe/value/unit"
)

// Which figure falls with a wait depends on how many wait: the median says nothing of what the slow half alone does.

// Chosen: see [fallsWith].
const (
	// typicalWait is the part of the time of typical units from which on the wait is one of theirs.
	typicalWait = 0.1
	// lastPercentile is the highest that is named: beyond, too few requests are slower.
	lastPercentile = 99
)

// checkOfWait says how to see that a mend has helped.
func checkOfWait(w *waiting, in *Input) string {
	return "Record again under the same load: loupe trace requests should show less time here, and " + fallsWith(w, in.Facts.Units()) + "."
}

// fallsWith is what should fall with the wait: the median where most of the units wait, those whose handler no event tells included.
func fallsWith(w *waiting, u *facts.Units) string {
	switch w.group.Unit.String() {
	case "request":
	case "main":
		return "the run should be shorter"
	default:
		return "the median should fall with it"
	}
	waits, all := int64(0), w.group.Wall.Count
	for _, row := range w.rows {
		waits = min(waits+row.Units, all) // at most: one may wait for several causes
	}
	if n := nameless(u, w.group); n > all/2 {
		all += n
	}
	lines, causes := gather(w.group, w.group.Typical.Rows)
	typical := w.group.Typical.Units == 0
	if same := cmp.Or(lines[w.key], causes[w.key]); same != nil {
		typical = w.group.Typical.Share(same.time) >= typicalWait
	}
	switch {
	case all == 0 || waits == 0 || typical && 2*waits >= all:
		return "the median should fall with it"
	case 2*waits >= all: // most wait, but only few of them long
		return "the mean and the high percentiles should fall with it, more than the median"
	}
	text := "the mean"
	if p := int(math.Ceil(100 * (1 - float64(waits)/float64(all)))); p <= lastPercentile {
		text += fmt.Sprintf(", and the latency from p%d on,", p)
	}
	return text + fmt.Sprintf(" should fall with it: at most %s of %s requests wait here", unit.Count(waits), unit.Count(all))
}

// meanCount is how many there are on average of some in n units, a whole number in one.
func meanCount(count, n int64) string {
	if n == 1 {
		return unit.Count(count)
	}
	return unit.Number(float64(count) / float64(n))
}
