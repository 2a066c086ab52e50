package metrics

import (
	"encoding/json"
	"slices"
	"time"

	"loupe/value/timeline"
)

// ParsePauses reads the stops of the world for collections out of samples of
// /debug/vars: the rings PauseNs and PauseEnd of runtime.MemStats, which hold
// the last 256, on the axis of a recording that began at epoch. A stop that
// several samples hold is returned once.
//
// PauseNs is the sum of the two stops of a collection, and PauseEnd the end of
// the second; both are given as one stop before that end.
func ParsePauses(data []byte, epoch time.Time) []timeline.Span {
	length := map[int64]int64{}
	eachLine(data, func(line []byte) {
		var s struct {
			Vars struct {
				MemStats struct{ PauseNs, PauseEnd []int64 } `json:"memstats"`
			} `json:"vars"`
		}
		if json.Unmarshal(line, &s) != nil {
			return
		}
		m := &s.Vars.MemStats
		for i := range min(len(m.PauseNs), len(m.PauseEnd)) {
			if m.PauseEnd[i] > 0 && m.PauseNs[i] > 0 {
				length[m.PauseEnd[i]] = m.PauseNs[i]
			}
		}
	})
	out := make([]timeline.Span, 0, len(length))
	for end, d := range length {
		at := timeline.Time(end - epoch.UnixNano())
		out = append(out, timeline.Span{Start: at.Add(-time.Duration(d)), End: at})
	}
	slices.SortFunc(out, func(a, b timeline.Span) int { return int(min(max(a.End-b.End, -1), 1)) })
	return out
}
