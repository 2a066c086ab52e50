package fleet

import (
	"cmp"
	"context"
	"math"
	"slices"

	"loupe/format/connect"
	"loupe/format/querier"
	"loupe/store"
)

// top answers with the functions of a selection, ranked by what they take themselves.
func (s *asked) top(ctx context.Context, q *querier.TopRequest) (any, error) {
	if q.Limit < 0 || q.Limit > querier.MostFunctions {
		return nil, connect.Errorf(connect.InvalidArgument, "limit is %d, want 1 to %d", q.Limit, querier.MostFunctions)
	}
	sel, err := s.typed(q.ProfileTypeID, q.LabelSelector, q.Start, q.End)
	if err != nil {
		return nil, err
	}
	// An engine ranks by what functions take with their callees: all are needed.
	top, err := s.engine.Top(ctx, store.TopQuery{Selection: sel, N: math.MaxInt32})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(top.Functions, func(a, b store.FunctionTotal) int { return cmp.Compare(b.Self, a.Self) })
	n := min(len(top.Functions), int(cmp.Or(q.Limit, 100)))
	out := &querier.TopResponse{Total: top.Total, Others: int64(len(top.Functions) - n), Slack: top.Slack}
	for _, f := range top.Functions[:n] {
		out.Functions = append(out.Functions, querier.Function{Name: f.Function, File: f.File, Self: f.Self, Total: f.Total})
	}
	return out, nil
}
