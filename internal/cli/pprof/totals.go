package pprof

import (
	"fmt"

	"loupe/analysis/pprof"
	"loupe/report"
)

// totals prints the total of every sample type.
func (s *pprofSession) totals() error {
	type row struct {
		Type  string `json:"type"`
		Unit  string `json:"unit"`
		Total int64  `json:"total"`
		Means string `json:"means,omitempty"`
	}
	var rows []row
	for i, t := range s.p.SampleTypes {
		rows = append(rows, row{t.Type, t.Unit, s.p.Total(i), pprof.Meaning(s.p, i)})
	}
	if s.flags.json {
		return report.WriteJSON(s.e.Stdout, map[string]any{"schema": "loupe.totals/1", "samples": s.p.Len(), "totals": rows})
	}
	for _, r := range rows {
		fmt.Fprintf(s.e.Stdout, "%-16s %20d %s\n", r.Type, r.Total, r.Unit)
	}
	_, err := fmt.Fprintf(s.e.Stdout, "%-16s %20d\n", "samples", s.p.Len())
	return err
}
