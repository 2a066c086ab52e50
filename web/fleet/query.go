package fleet

import (
	"context"
	"slices"
	"time"

	"loupe/format/connect"
	"loupe/format/profile"
	"loupe/format/profile/message"
	"loupe/format/querier"
	"loupe/store"
)

// asked answers questions from a store.
type asked struct {
	engine store.Engine
	limits store.Limits
	now    func() time.Time
}

// answer answers one question.
func (s *asked) answer(ctx context.Context, question any) (any, error) {
	switch q := question.(type) {
	case *querier.ProfileTypesRequest:
		return s.profileTypes(ctx, q)
	case *querier.LabelNamesRequest:
		names, err := s.labels(ctx, q.Matchers, q.Start, q.End, s.engine.LabelNames)
		return &querier.Names{Names: names}, err
	case *querier.LabelValuesRequest:
		names, err := s.labelValues(ctx, q)
		return &querier.Names{Names: names}, err
	case *querier.SeriesRequest:
		return s.series(ctx, q)
	case *querier.SelectSeriesRequest:
		return s.selectSeries(ctx, q)
	case *querier.SelectMergeStacktracesRequest:
		return s.mergeStacktraces(ctx, q)
	case *querier.SelectMergeProfileRequest:
		return s.mergeProfile(ctx, q)
	case *querier.SelectMergeSpanProfileRequest:
		return s.mergeSpans(ctx, q)
	case *querier.DiffRequest:
		return s.diff(ctx, q)
	case *querier.SelectHeatmapRequest:
		return s.heatmap(ctx, q)
	case *querier.GetProfileStatsRequest:
		return s.stats(ctx)
	case *querier.TopRequest:
		return s.top(ctx, q)
	case *querier.PinsRequest:
		return s.pins(ctx)
	case *querier.PinRequest:
		return s.pin(ctx, q)
	case *querier.UnpinRequest:
		return s.unpin(ctx, q)
	}
	return nil, unimplemented("this question")
}

// profileTypes lists the types that there are.
func (s *asked) profileTypes(ctx context.Context, q *querier.ProfileTypesRequest) (any, error) {
	sel, err := s.selection("", "{}", q.Start, q.End)
	if err != nil {
		return nil, err
	}
	types, err := s.engine.Types(ctx, sel)
	out := &querier.ProfileTypesResponse{}
	for _, t := range types {
		out.Types = append(out.Types, querier.NewProfileType(t.Name, t.Sample, t.Unit, t.Period, t.PeriodUnit))
	}
	return out, err
}

// labels joins what several selectors have.
func (s *asked) labels(ctx context.Context, matchers []string, start, end int64, ask func(context.Context, store.Selection) ([]string, error)) (all []string, err error) {
	sels, err := s.selections(matchers, start, end)
	if err != nil {
		return nil, err
	}
	for _, sel := range sels {
		some, err := ask(ctx, sel)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// labelValues lists the values of a label, or the types where it is the label of them.
func (s *asked) labelValues(ctx context.Context, q *querier.LabelValuesRequest) ([]string, error) {
	return s.labels(ctx, q.Matchers, q.Start, q.End, func(ctx context.Context, sel store.Selection) ([]string, error) {
		if q.Name != typeLabel {
			return s.engine.LabelValues(ctx, q.Name, sel)
		}
		types, err := s.engine.Types(ctx, sel)
		var names []string
		for _, t := range types {
			names = append(names, t.String())
		}
		return names, err
	})
}

// series lists the label sets that there are, by type where that is asked for.
func (s *asked) series(ctx context.Context, q *querier.SeriesRequest) (any, error) {
	sels, err := s.selections(q.Matchers, q.Start, q.End)
	if err != nil {
		return nil, err
	}
	var all []store.Labels
	for _, sel := range sels {
		some, err := s.seriesOf(ctx, sel, len(q.LabelNames) == 0 || slices.Contains(q.LabelNames, typeLabel))
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	if len(q.LabelNames) > 0 {
		for i := range all {
			all[i] = all[i].Only(q.LabelNames...)
		}
	}
	slices.SortFunc(all, store.Labels.Compare)
	out := &querier.SeriesResponse{}
	for _, l := range slices.Compact(all) {
		out.Labels = append(out.Labels, querier.Labels{Labels: wire(l)})
	}
	return out, nil
}

// seriesOf are the series of a selection, once for each type if that is wanted.
func (s *asked) seriesOf(ctx context.Context, sel store.Selection, byType bool) (all []store.Labels, err error) {
	if !byType {
		return s.engine.Series(ctx, sel)
	}
	types, err := s.engine.Types(ctx, sel)
	for _, t := range types {
		sel.Type = t
		some, err := s.engine.Series(ctx, sel)
		if err != nil {
			return nil, err
		}
		for _, l := range some {
			all = append(all, l.With(typeLabel, t.String()))
		}
	}
	return all, err
}

// wire are labels as they are sent.
func wire(l store.Labels) (list []querier.Label) {
	for name, value := range l.All() {
		list = append(list, querier.Label{Name: name, Value: value})
	}
	return list
}

// observations are the totals of single profiles by group. States are kept apart by series,
// since each of those has its own mean.
func (s *asked) observations(ctx context.Context, sel store.Selection, by []string) (groups []store.Labels, all [][]querier.Observation, err error) {
	names := by
	if sel.Type.Over() != store.Sum {
		if names, err = s.engine.LabelNames(ctx, sel); err != nil {
			return nil, nil, err
		}
	}
	totals, err := s.engine.Totals(ctx, store.TotalsQuery{Selection: sel, By: names})
	if err != nil {
		return nil, nil, err
	}
	at := map[store.Labels]int{}
	for source, t := range totals {
		group := t.Labels.Only(by...)
		i, ok := at[group]
		if !ok {
			i = len(groups)
			at[group] = i
			groups, all = append(groups, group), append(all, nil)
		}
		for _, p := range t.Points {
			all[i] = append(all[i], querier.Observation{Source: uint64(source), Time: p.Time.UnixMilli(), Value: float64(p.Value)})
		}
	}
	return groups, all, nil
}

// within is a selection in the range of a question with steps, whose first moment is not
// in it and whose last one is.
func within(sel store.Selection, r querier.Range) store.Selection {
	sel.Range = store.Range{Start: time.UnixMilli(r.From() + 1), End: time.UnixMilli(r.End + 1)}
	return sel
}

// selectSeries answers totals over time.
func (s *asked) selectSeries(ctx context.Context, q *querier.SelectSeriesRequest) (any, error) {
	sel, err := s.typed(q.ProfileTypeID, q.LabelSelector, q.Start, q.End)
	if err != nil {
		return nil, err
	}
	r, err := querier.NewRange(q.Start, q.End, q.Step)
	if err != nil {
		return nil, err
	}
	ask := s.observations
	if site := siteOf(q.Stacks); len(site) > 0 {
		ask = func(ctx context.Context, sel store.Selection, by []string) ([]store.Labels, [][]querier.Observation, error) {
			return s.observationsAt(ctx, sel, by, site)
		}
	}
	groups, all, err := ask(ctx, within(sel, r), q.GroupBy)
	if err != nil {
		return nil, err
	}
	way := querier.Sum
	if q.Aggregation != nil {
		way = *q.Aggregation
	}
	out := &querier.SelectSeriesResponse{}
	for i, g := range groups {
		out.Series = append(out.Series, querier.Series{Labels: wire(g), Points: r.Points(all[i], way, sel.Type.Over() != store.Sum)})
	}
	if q.Limit != nil && *q.Limit > 0 && int64(len(out.Series)) > *q.Limit {
		slices.SortStableFunc(out.Series, func(a, b querier.Series) int { return compareSums(b.Points, a.Points) })
		out.Series = out.Series[:*q.Limit]
	}
	return out, nil
}

// compareSums orders lines by all that is in them.
func compareSums(a, b []querier.Point) int {
	sum := func(list []querier.Point) (v float64) {
		for _, p := range list {
			v += p.Value
		}
		return v
	}
	switch x, y := sum(a), sum(b); {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// heatmap answers how many profiles have had which totals when.
func (s *asked) heatmap(ctx context.Context, q *querier.SelectHeatmapRequest) (any, error) {
	sel, err := s.typed(q.ProfileTypeID, q.LabelSelector, q.Start, q.End)
	if err != nil {
		return nil, err
	}
	r, err := querier.NewRange(q.Start, q.End, q.Step)
	if err != nil {
		return nil, err
	}
	if q.Query == querier.HeatmapSpan {
		inputs, err := s.spans(ctx, within(sel, r), q.GroupBy)
		for i := range inputs {
			inputs[i].Exemplars = q.Exemplars == querier.ExemplarSpan
		}
		return &querier.SelectHeatmapResponse{Series: r.Heatmap(inputs)}, err
	}
	groups, all, err := s.observations(ctx, within(sel, r), q.GroupBy)
	if err != nil {
		return nil, err
	}
	var inputs []querier.HeatmapInput
	for i, g := range groups {
		input := querier.HeatmapInput{Labels: wire(g)}
		for _, o := range all[i] {
			input.Observations = append(input.Observations, querier.Exemplar{Timestamp: o.Time, Value: int64(o.Value)})
		}
		inputs = append(inputs, input)
	}
	return &querier.SelectHeatmapResponse{Series: r.Heatmap(inputs)}, nil
}

// stacks are the sum of profiles: of the samples of some spans or traces if there are any
// named. It is nil where there are none.
func (s *asked) stacks(ctx context.Context, sel store.Selection, spans, traces []string) (*store.Stacks, error) {
	sample, err := sampled(spans, traces)
	if err != nil {
		return nil, err
	}
	stacks, err := s.engine.Stacks(ctx, store.StacksQuery{Selection: sel, Sample: sample})
	if err != nil || len(stacks.Groups) == 0 {
		return nil, err
	}
	return stacks, nil
}

// profileOf is such a sum as a profile, of the stacks of a call site; nil where there is none.
func profileOf(stacks *store.Stacks, site callSite) (*profile.Profile, error) {
	if stacks == nil {
		return nil, nil
	}
	p, err := stacks.Profile(0)
	return site.only(p), err
}

// drawn is such a sum as a tree of the names of functions.
func drawn(stacks *store.Stacks, site callSite) (*querier.Tree, error) {
	if stacks == nil {
		return &querier.Tree{}, nil
	}
	if len(site) == 0 {
		return treeOf(stacks, 0), nil
	}
	p, err := profileOf(stacks, site)
	if err != nil {
		return nil, err
	}
	return querier.NewTree(p.Stacks, p.Samples(0)), nil
}

// treeOf makes the tree of a group. Nodes that differ in the line alone become one, and a
// call that was inlined has one of its own.
func treeOf(s *store.Stacks, group int) *querier.Tree {
	t := new(querier.Tree)
	values := s.Values[group]
	wide := make([]bool, len(values)) // there is something in it or below
	for i := len(values) - 1; i > 0; i-- {
		if wide[i] = wide[i] || values[i] > 0; wide[i] {
			wide[s.Parents[i]] = true
		}
	}
	names := make([]int32, len(s.Functions)) // plus one, of those that are known
	nodes := make([]int32, len(values))
	for i, v := range values {
		if i == 0 || !wide[i] {
			continue
		}
		at := nodes[s.Parents[i]]
		for _, l := range slices.Backward(s.LinesOf(s.Locations[i])) {
			if names[l.Function] == 0 {
				names[l.Function] = t.Name(s.Functions[l.Function].Name) + 1
			}
			at = t.Child(at, names[l.Function]-1)
		}
		nodes[i] = at
		if v > 0 {
			t.AddAt(at, v)
		}
	}
	if values[0] > 0 {
		t.Add(values[0])
	}
	return t
}

// mergeStacktraces answers with a flame graph, or with pprof.
func (s *asked) mergeStacktraces(ctx context.Context, q *querier.SelectMergeStacktracesRequest) (any, error) {
	if err := whole(q.ProfileIDs); err != nil {
		return nil, err
	}
	if q.Format == querier.FormatTree || q.Format == querier.FormatDot {
		return nil, unimplemented("this format of a sum")
	}
	sel, err := s.typed(q.ProfileTypeID, q.LabelSelector, q.Start, q.End)
	if err != nil {
		return nil, err
	}
	stacks, err := s.stacks(ctx, sel, q.Spans, q.TraceIDs)
	if err != nil {
		return nil, err
	}
	if q.Format == querier.FormatPprof {
		p, err := profileOf(stacks, siteOf(q.Stacks))
		if err != nil {
			return nil, err
		}
		if p != nil {
			message, err := querier.Pprof(p)
			return &querier.SelectMergeStacktracesResponse{Pprof: &querier.PprofProfile{Profile: message}}, err
		}
	}
	t, err := drawn(stacks, siteOf(q.Stacks))
	if err != nil {
		return nil, err
	}
	return &querier.SelectMergeStacktracesResponse{FlameGraph: t.FlameGraph(querier.Nodes(q.MaxNodes))}, nil
}

// whole refuses what selects parts of profiles in ways that are not stored.
func whole(profiles []string) error {
	if len(profiles) > 0 {
		return unimplemented("a sum of profiles by their ids")
	}
	return nil
}

// mergeProfile answers with pprof.
func (s *asked) mergeProfile(ctx context.Context, q *querier.SelectMergeProfileRequest) (any, error) {
	if err := whole(q.ProfileIDs); err != nil {
		return nil, err
	}
	sel, err := s.typed(q.ProfileTypeID, q.LabelSelector, q.Start, q.End)
	if err != nil {
		return nil, err
	}
	stacks, err := s.stacks(ctx, sel, nil, q.TraceIDs)
	if err != nil {
		return nil, err
	}
	p, err := profileOf(stacks, siteOf(q.Stacks))
	if err != nil {
		return nil, err
	}
	if p == nil {
		return &message.Profile{StringTable: []string{""}}, nil
	}
	return querier.Pprof(p)
}

// mergeSpans answers with a flame graph of spans.
func (s *asked) mergeSpans(ctx context.Context, q *querier.SelectMergeSpanProfileRequest) (any, error) {
	if q.Format != querier.FormatNone && q.Format != querier.FormatFlameGraph {
		return nil, unimplemented("this format of a sum of spans")
	}
	sel, err := s.typed(q.ProfileTypeID, q.LabelSelector, q.Start, q.End)
	if err != nil {
		return nil, err
	}
	stacks, err := s.stacks(ctx, sel, q.Spans, nil)
	if err != nil {
		return nil, err
	}
	t, err := drawn(stacks, nil)
	if err != nil {
		return nil, err
	}
	return &querier.SelectMergeSpanProfileResponse{FlameGraph: t.FlameGraph(querier.Nodes(q.MaxNodes))}, nil
}

// diff answers with the flame graph of a difference.
func (s *asked) diff(ctx context.Context, q *querier.DiffRequest) (any, error) {
	if q.Left == nil || q.Right == nil {
		return nil, connect.Errorf(connect.InvalidArgument, "a difference has two sides, left and right")
	}
	var trees [2]*querier.Tree
	for i, side := range []*querier.SelectMergeStacktracesRequest{q.Left, q.Right} {
		if err := whole(side.ProfileIDs); err != nil {
			return nil, err
		}
		sel, err := s.typed(side.ProfileTypeID, side.LabelSelector, side.Start, side.End)
		if err != nil {
			return nil, err
		}
		stacks, err := s.stacks(ctx, sel, side.Spans, side.TraceIDs)
		if err != nil {
			return nil, err
		}
		if trees[i], err = drawn(stacks, siteOf(side.Stacks)); err != nil {
			return nil, err
		}
	}
	return &querier.DiffResponse{FlameGraph: querier.Diff(trees[0], trees[1], querier.Nodes(q.Left.MaxNodes))}, nil
}

// stats says from when till when there are profiles, by the hour.
func (s *asked) stats(ctx context.Context) (any, error) {
	now := s.now()
	all := store.Selection{Limits: s.limits}
	types, err := s.engine.Types(ctx, all)
	if err != nil {
		return nil, err
	}
	out := &querier.GetProfileStatsResponse{Ingested: len(types) > 0}
	for _, t := range types {
		sel := all
		sel.Type = t
		sel.Range = store.Range{Start: now.Add(-10 * 365 * 24 * time.Hour).Truncate(time.Hour), End: now.Add(time.Hour)}
		lines, err := s.engine.Totals(ctx, store.TotalsQuery{Selection: sel, Step: time.Hour})
		if err != nil {
			return nil, err
		}
		for _, l := range lines {
			if len(l.Points) == 0 {
				continue
			}
			first, last := l.Points[0].Time.UnixMilli(), min(l.Points[len(l.Points)-1].Time.Add(time.Hour).UnixMilli(), now.UnixMilli())
			if out.Oldest == 0 || first < out.Oldest {
				out.Oldest = first
			}
			out.Newest = max(out.Newest, last)
		}
	}
	return out, nil
}
