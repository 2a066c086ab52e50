package web

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"loupe/value/timeline"
)

func TestTimelineRuns(t *testing.T) {
	p := pagesOf(t, smallRecording(t, timeline.Clock{Offset: 1e9}))
	f := func(question string, want ...string) {
		t.Helper()
		var l runList
		p.get("timeline/runs?s=1"+question, &l)
		var have []string
		for i := range l.Proc {
			name := ""
			if l.Function[i] >= 0 {
				name = l.Names[l.Function[i]]
			}
			have = append(have, fmt.Sprintf("p%d g%d %s %v-%v", l.Proc[i], l.Goroutine[i], name, (l.Start[i]-1e9)/1e5, (l.End[i]-1e9)/1e5))
		}
		slices.Sort(have)
		if fmt.Sprint(have) != fmt.Sprint(want) || l.Many {
			t.Errorf("%s: %q, want %q", question, have, want)
		}
	}
	f("", "p0 g1 main.main 10-30", "p0 g1 main.main 65-70", "p0 g7 main.worker 30-60")
	// Of the one that goes on at the edges is told what is within them.
	f("&t0=1002500000&t1=1004000000", "p0 g1 main.main 25-30", "p0 g7  30-40") // nothing of it says where g7 began
	f("&t0=1006100000&t1=1006400000")
	p.refused(http.StatusBadRequest, "timeline/runs?s=1&t0=5&t1=4", nil)
}
