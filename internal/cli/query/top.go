package query

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"loupe/analysis/calltree"
	"loupe/format/querier"
	"loupe/internal/cli/command"
	"loupe/internal/cli/door"
)

// top prints functions as go tool pprof -top does. A server that cannot rank them is asked for
// the whole profile.
func (q *query) top() error {
	ask, err := q.one()
	if err != nil {
		return err
	}
	if _, err := ask.Range(q.now); err != nil {
		return command.Usage(err)
	}
	sel, err := q.server.Resolve(q.e.Ctx, ask, q.now)
	if err != nil {
		return door.Remote(err)
	}
	n := q.n
	if n <= 0 {
		n = querier.MostFunctions
	}
	got, err := q.server.Top(q.e.Ctx, sel, n)
	if errors.Is(err, errors.ErrUnsupported) {
		return q.handed("pprof", "-top", "-nodecount="+strconv.Itoa(q.n))
	}
	if err != nil {
		return door.Remote(err)
	}
	if got.Slack > 0 {
		fmt.Fprintf(q.e.Stderr, "Roll-ups of older profiles keep only the largest functions: each figure may be too low by %s.\n",
			calltree.Format(got.Slack, sel.Type.SampleUnit, "auto"))
	}
	head := calltree.Header{Type: sel.Type.SampleType, Unit: sel.Type.SampleUnit}
	return command.Buffered(q.e.Stdout, func(w io.Writer) error { return calltree.WriteTop(w, head, ranking(got)) })
}

// ranking is what a server has ranked.
func ranking(got *querier.TopResponse) *calltree.Ranking {
	r := &calltree.Ranking{Total: got.Total, Functions: len(got.Functions) + int(got.Others)}
	for _, f := range got.Functions {
		r.Shown += f.Self
		r.Rows = append(r.Rows, calltree.Row{Name: f.Name, Flat: f.Self, Cum: f.Total})
	}
	return r
}
