package fleet

import (
	"context"
	"math"
	"regexp"
	"slices"
	"strings"

	"loupe/format/connect"
	"loupe/format/profile"
	"loupe/format/querier"
	"loupe/store"
)

// The labels of samples that say what was running for whom.
const (
	spanLabel  = "span_id"
	traceLabel = "trace_id"
)

// sampled are matchers of samples of any of the spans, and of any of the traces.
func sampled(spans, traces []string) (ms store.Matchers, err error) {
	for _, one := range []struct {
		name string
		ids  []string
	}{{spanLabel, spans}, {traceLabel, traces}} {
		if len(one.ids) == 0 {
			continue
		}
		quoted := make([]string, len(one.ids))
		for i, id := range one.ids {
			quoted[i] = regexp.QuoteMeta(id)
		}
		m, err := store.NewMatcher(one.name, store.Matches, strings.Join(quoted, "|"))
		if err != nil {
			return nil, err
		}
		ms = append(ms, m)
	}
	return ms, nil
}

// callSite is a path of functions that stacks begin with, the root first.
type callSite []string

// siteOf is the call site that a question selects; none selects everything.
func siteOf(s *querier.StackTraceSelector) (site callSite) {
	if s != nil {
		for _, l := range s.CallSite {
			site = append(site, l.Name)
		}
	}
	return site
}

// rows are the samples of a profile whose stacks begin with the call site.
func (c callSite) rows(p *profile.Profile) (rows []int) {
	for row, id := range p.StackIDs {
		frames := p.Stacks.Frames(id) // the leaf first
		ok := len(frames) >= len(c)
		for i := 0; ok && i < len(c); i++ {
			ok = p.Stacks.Frame(frames[len(frames)-1-i]).Func == c[i]
		}
		if ok {
			rows = append(rows, row)
		}
	}
	return rows
}

// only is a profile of the stacks that begin with the call site alone.
func (c callSite) only(p *profile.Profile) *profile.Profile {
	if p == nil || len(c) == 0 {
		return p
	}
	q := &profile.Profile{SampleTypes: p.SampleTypes, PeriodType: p.PeriodType, Period: p.Period, Time: p.Time, Duration: p.Duration,
		Stacks: p.Stacks, Values: make([][]int64, len(p.Values))}
	for _, row := range c.rows(p) {
		q.StackIDs = append(q.StackIDs, p.StackIDs[row])
		for k := range q.Values {
			q.Values[k] = append(q.Values[k], p.Values[k][row])
		}
	}
	return q
}

// profiles goes over the selected profiles with their samples, and the column of the type.
func (s *asked) profiles(ctx context.Context, sel store.Selection, f func(m *store.Moved, p *profile.Profile, values []int64)) error {
	from, ok := s.engine.(store.Exporter)
	if !ok {
		return connect.Errorf(connect.Unimplemented, "this store does not hand out single profiles")
	}
	limit, n := s.limits.Filled().Samples, int64(0)
	return from.Export(ctx, sel, func(m *store.Moved) error {
		p, err := m.Samples()
		if err != nil {
			return err
		}
		if n += int64(p.Len()); n > limit {
			return store.TooMuch("samples", limit)
		}
		if at := slices.Index(m.Types, sel.Type); at >= 0 {
			f(m, p, p.Values[at])
		}
		return nil
	})
}

// groups collects something of groups of labels, in the order of the labels.
type groups[T any] struct {
	labels []store.Labels
	of     map[store.Labels]*T
}

// at returns what belongs to a group.
func (g *groups[T]) at(l store.Labels) *T {
	if g.of == nil {
		g.of = map[store.Labels]*T{}
	}
	if g.of[l] == nil {
		g.of[l] = new(T)
		at, _ := slices.BinarySearchFunc(g.labels, l, store.Labels.Compare)
		g.labels = slices.Insert(g.labels, at, l)
	}
	return g.of[l]
}

// observationsAt are the totals of single profiles in one call site, by group.
func (s *asked) observationsAt(ctx context.Context, sel store.Selection, by []string, site callSite) (labels []store.Labels, all [][]querier.Observation, err error) {
	var g groups[[]querier.Observation]
	sources := map[store.Labels]uint64{}
	err = s.profiles(ctx, sel, func(m *store.Moved, p *profile.Profile, values []int64) {
		sum := int64(0)
		rows := site.rows(p)
		for _, row := range rows {
			sum += values[row]
		}
		source, ok := sources[m.Labels]
		if !ok {
			source = uint64(len(sources))
			sources[m.Labels] = source
		}
		value := float64(sum)
		if sel.Type.Over() != store.Sum {
			value = math.Round(value / float64(m.Weight))
		} else if len(rows) == 0 {
			return
		}
		list := g.at(m.Labels.Only(by...))
		*list = append(*list, querier.Observation{Source: source, Time: m.Time.UnixMilli(), Value: value})
	})
	for _, l := range g.labels {
		all = append(all, *g.of[l])
	}
	return g.labels, all, err
}

// spans are the totals of single spans in single profiles, by group.
func (s *asked) spans(ctx context.Context, sel store.Selection, by []string) (inputs []querier.HeatmapInput, err error) {
	var g groups[querier.HeatmapInput]
	err = s.profiles(ctx, sel, func(m *store.Moved, p *profile.Profile, values []int64) {
		at := map[string]int{}
		input := g.at(m.Labels.Only(by...))
		first := len(input.Observations)
		for row := range p.Len() {
			var span, trace string
			for _, l := range p.Labels(p.SetOf(row)) {
				switch l.Key {
				case spanLabel:
					span = l.Str
				case traceLabel:
					trace = l.Str
				}
			}
			if span == "" || values[row] == 0 {
				continue
			}
			i, ok := at[span]
			if !ok {
				i = len(input.Observations)
				at[span] = i
				input.Observations = append(input.Observations, querier.Exemplar{Timestamp: m.Time.UnixMilli(), SpanID: span, TraceID: trace})
			}
			input.Observations[i].Value += values[row]
		}
		labels := wire(m.Labels)
		for i := range input.Observations[first:] {
			input.Observations[first+i].Labels = labels
		}
	})
	for _, l := range g.labels {
		one := *g.of[l]
		one.Labels = wire(l)
		inputs = append(inputs, one)
	}
	return inputs, err
}
