package kept

import (
	"bytes"
	"io"

	"loupe/analysis/calltree"
	"loupe/format/querier"
)

// WriteTop prints functions that a server has ranked as go tool pprof -top does. Where roll-ups keep
// the largest functions alone, a line in front says by how much a figure may be too low.
func WriteTop(w io.Writer, t querier.ProfileType, got *querier.TopResponse) error {
	r := &calltree.Ranking{Total: got.Total, Functions: len(got.Functions) + int(got.Others)}
	for _, f := range got.Functions {
		r.Shown += f.Self
		r.Rows = append(r.Rows, calltree.Row{Name: f.Name, Flat: f.Self, Cum: f.Total})
	}
	head := calltree.Header{Type: t.SampleType, Unit: t.SampleUnit}
	if got.Slack > 0 {
		head.Comments = []string{"Roll-ups of older profiles keep only the largest functions: each figure may be too low by " +
			calltree.Format(got.Slack, t.SampleUnit, "auto")}
	}
	var b bytes.Buffer
	if err := calltree.WriteTop(&b, head, r); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}
