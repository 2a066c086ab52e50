package report

import (
	"fmt"
	"io"
	"testing"

	"loupe/analysis/compare"
	"loupe/recording"
	"loupe/session"
)

// TestGoldenSlow prints what the slowest requests of a real recording met, whose
// README beside it tells how it was made.
func TestGoldenSlow(t *testing.T) {
	rec, err := recording.OpenFile("../insight/testdata/loads/ld02.slow.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close()
	slow := compare.SlowRequests(session.New(rec))
	for _, width := range []int{80, 120} {
		golden(t, fmt.Sprintf("COLUMNS=%d slow requests", width), func(w io.Writer) error { return slowText(w, slow, Style{Width: width}) })
	}
	golden(t, "slow requests -format md", func(w io.Writer) error {
		l := &lines{w: w}
		markdownSlow(l, slow)
		return l.err
	})
	golden(t, "slow requests -json", func(w io.Writer) error { return WriteJSON(w, slow) })
	few := []compare.Slow{{Phase: "bare", Source: "gctrace", Clock: "dates", Why: "fewer than 100 answered requests lie within it"}}
	golden(t, "slow requests few", func(w io.Writer) error { return slowText(w, few, Style{Width: 120}) })
}
