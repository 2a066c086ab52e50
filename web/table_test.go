package web

import (
	"slices"
	"testing"

	"loupe/report"
)

// TestTableNotes: a page has no flags to tell of.
func TestTableNotes(t *testing.T) {
	s := (&report.Sheet{Notes: []string{"Typical: the middle half; slow: the longest 8."}}).More(17, "lines")
	if got, want := tableOf(s).Notes, []string{"Typical: the middle half; slow: the longest 8.", "17 more lines are not shown"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q; the terminal has %q", got, want, s.Notes)
	}
}
