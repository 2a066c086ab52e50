package compare

import (
	"fmt"
	"slices"
	"time"

	"loupe/analysis/facts"
	"loupe/value/stats"
	"loupe/value/unit"
)

// looksOf are the looks at which the rounds of recordings may have been ended; none where their
// number was fixed beforehand, or they did not all take turns with each other.
func looksOf(all []*facts.Facts) stats.Looks {
	at := all[0].Manifest.Looks
	for _, f := range all[1:] {
		if len(at) == 0 || !slices.Equal(at, f.Manifest.Looks) {
			return stats.Looks{}
		}
	}
	if len(at) == 0 || len(all) < 2 {
		return stats.Looks{}
	}
	return stats.Looks{At: at, Error: 1 - Confidence}
}

// confidenceAt is what each row is judged with at one of the looks.
func confidenceAt(l stats.Looks) float64 {
	if len(l.At) == 0 {
		return Confidence
	}
	return l.Confidence()
}

// Decided tells whether more rounds are of no use for rows: those that are named, or the key
// rows. A row that is named and not there is decided.
func (t *Table) Decided(ids ...string) bool {
	return t.closed || !slices.ContainsFunc(t.Rows, func(r Row) bool {
		named := r.Key && len(ids) == 0 || slices.Contains(ids, r.ID)
		return named && slices.ContainsFunc(r.Changes, func(c Change) bool { return c.Verdict == Undecided || c.Verdict == NoVerdict })
	})
}

// Closed tells that no number of rounds decides anything: both sides are the same build, or a
// program failed.
func (t *Table) Closed() bool { return t.closed }

// noteNeeds says of the key rows that are undecided about how many rounds would decide, and how
// long they take.
func noteNeeds(t *Table, all []*facts.Facts) {
	if t.closed || len(all) != 2 || !t.Interleaved {
		return
	}
	for _, r := range t.Rows {
		if c := r.Changes[0]; r.Key && c.Verdict == Undecided && c.Needs > 0 {
			t.Notes = append(t.Notes, fmt.Sprintf("undecided: %s; needs %s", r.Name, Needs(c.Needs, pairTime(all))))
		}
	}
}

// manyPairs is from where on nobody takes as many: then there may be no difference at all, and a number
// of digits would be one of chance.
const manyPairs = 1000

// Needs says how many more pairs of rounds decide, and how long they take where that is known:
// "about 23 more pairs, 8m".
func Needs(pairs int, each time.Duration) string {
	if pairs > manyPairs {
		return fmt.Sprintf("more than %s more pairs", unit.Count(manyPairs))
	}
	text := "about " + unit.Plural(int64(pairs), "more pair")
	if each > 0 {
		text += ", " + unit.Duration((each * time.Duration(pairs)).Round(time.Second))
	}
	return text
}

// PairTime is how long a round of both recordings takes with what lies between, in the middle;
// 0 where that is not known.
func PairTime(all ...*facts.Facts) time.Duration { return pairTime(all) }

func pairTime(all []*facts.Facts) time.Duration {
	starts := roundTimes(all[0])
	var took []float64
	for i := 1; i < len(starts); i++ {
		took = append(took, float64(starts[i].Sub(starts[i-1])))
	}
	if len(took) == 0 {
		return 0
	}
	return time.Duration(stats.Median(took))
}
