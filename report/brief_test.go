package report

import (
	"bytes"
	"strings"
	"testing"

	"loupe/insight"
)

// TestBriefHeight: with several cards a brief report has at most as many lines as a screen, however long its cards and its last line are; one
// card is shown, whatever its length.
func TestBriefHeight(t *testing.T) {
	r, _ := examined(t, forms[0].record())
	card := r.Cards[0]
	for _, words := range []int{1, 20, 60, 90, 120, 200} {
		for _, path := range []int{1, 60, 200} {
			f := r.Findings[card.Finding]
			f.Summary, f.Advice = strings.Repeat("some words ", words), strings.Repeat("more words ", words)
			long := *r
			long.Findings, long.Cards = nil, nil
			for i := range 5 {
				c := card
				c.Finding, c.Symptoms = i, nil
				long.Findings, long.Cards = append(long.Findings, f), append(long.Cards, c)
			}
			for _, width := range []int{40, 80, 120} {
				var b bytes.Buffer
				if err := WriteBrief(&b, &long, "loupe report -v "+strings.Repeat("x/", path), Style{Width: width}); err != nil {
					t.Fatal(err)
				}
				shown := strings.Count(b.String(), f.Rule+" "+f.Title[:9])
				if n := height(b.Bytes()); n > briefLines && shown > 1 || shown == 0 {
					t.Errorf("%d words, a path of %d, width %d: %d lines, %d cards", words, 2*path, width, n, shown)
				}
			}
		}
	}
	if len(r.Findings) == 0 || r.Findings[card.Finding].State != insight.Found {
		t.Error("the recording has no finding")
	}
}
