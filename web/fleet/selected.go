package fleet

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"testing/fstest"
	"time"

	"loupe/format/profile"
	"loupe/session"
	"loupe/store"
	"loupe/web"
)

// sourceID is the id of the profiles of a selection, which says what they are: a link
// shows the same after a restart.
func sourceID(text string, r store.Range) string { return spanSourceID(text, r, "") }

// spanSourceID is the same of the samples of one span alone, where there is one.
func spanSourceID(text string, r store.Range, span string) string {
	values := url.Values{"query": {text}, "from": {milliseconds(r.Start)}, "until": {milliseconds(r.End)}}
	if span != "" {
		values.Set("span", span)
	}
	return values.Encode()
}

// Source is that of [web.Fleet]: of each kind of profile that the selection has one file, or the
// recording of an incident.
func (p *Pages) Source(id string) (web.Source, error) {
	values, err := url.ParseQuery(id)
	if incident := values.Get("incident"); err == nil && incident != "" && p.opt.Recording != nil {
		return p.opt.Recording(incident)
	}
	from, err2 := strconv.ParseInt(values.Get("from"), 10, 64)
	until, err3 := strconv.ParseInt(values.Get("until"), 10, 64)
	m, err4 := store.ParseMatchers(values.Get("query"))
	if err != nil || err2 != nil || err3 != nil || err4 != nil || until <= from {
		return web.Source{}, web.NotThere("There is no source %.200q.", id)
	}
	sel := store.Selection{Matchers: m, Range: store.Range{Start: time.UnixMilli(from), End: time.UnixMilli(until)}, Limits: p.opt.Limits}
	name := fmt.Sprintf("%s, %s to %s", selected(m), clock(sel.Range.Start), clock(sel.Range.End))
	if sel.Range.End.Sub(sel.Range.Start) <= time.Millisecond {
		name = fmt.Sprintf("%s, %s", selected(m), clock(sel.Range.Start))
	}
	var sample store.Matchers
	if span := values.Get("span"); span != "" {
		name = fmt.Sprintf("span %s of %s", span, name)
		if sample, err = sampled([]string{span}, nil); err != nil {
			return web.Source{}, web.NotThere("There is no source %.200q.", id)
		}
	}
	return web.Source{Name: name, Kind: "profiles", Open: func(ctx context.Context) (*web.Opened, error) { return p.open(ctx, sel, sample, name) }}, nil
}

// selected is a selection for people: of a service alone its name.
func selected(m store.Matchers) string {
	if len(m) == 1 && m[0].Name == store.ServiceLabel && m[0].Op == store.Equal {
		return m[0].Value
	}
	if len(m) == 0 {
		return "all services"
	}
	return m.String()
}

// open adds up the profiles of a selection, or some samples of them.
func (p *Pages) open(ctx context.Context, sel store.Selection, sample store.Matchers, name string) (*web.Opened, error) {
	types, err := p.engine.Types(ctx, sel)
	if err != nil {
		return nil, told(err)
	}
	if len(types) == 0 {
		return nil, web.NotThere("There are no profiles of %s.", name)
	}
	slices.SortStableFunc(types, func(a, b store.Type) int { return order(a) - order(b) })
	files, kinds := fstest.MapFS{}, map[string][]store.Type{}
	var names []string
	for len(types) > 0 {
		// What one profile has had several columns of, apart from states beside activity.
		n := 1
		for n < len(types) && types[n].Name == types[0].Name && types[n].Over() == types[0].Over() && types[n].Period == types[0].Period {
			n++
		}
		sum, err := p.sums(ctx, store.StacksQuery{Selection: sel, Sample: sample, Parts: []store.Part{{}}}, types[:n])
		if err != nil {
			return nil, told(err)
		}
		if len(sample) > 0 && sum[0].Len() == 0 {
			types = types[n:]
			continue // this kind of profile does not carry the label
		}
		file := types[0].Name
		if types[0].Over() != store.Sum && types[0].Name == "memory" {
			file += "-in-use"
		}
		for files[file] != nil {
			file += "-" // of another period
		}
		var b bytes.Buffer
		if err := sum[0].Encode(&b); err != nil {
			return nil, err
		}
		files[file] = &fstest.MapFile{Data: b.Bytes(), Mode: 0o444}
		kinds[file] = types[:n]
		names, types = append(names, file), types[n:]
	}
	if len(names) == 0 {
		return nil, web.NotThere("There are no profiles of %s.", name)
	}
	s, known, err := session.Loose(files, names)
	if err != nil {
		return nil, err
	}
	s.Manifest().Title = name
	parts := func(ctx context.Context, file string) ([]*profile.Profile, error) {
		if len(sample) > 0 {
			return nil, nil
		}
		return p.stretches(ctx, sel, kinds[file], leastStretch)
	}
	return &web.Opened{Session: s, Files: known, Parts: parts}, nil
}

// A range is divided into so many stretches for comparisons, each of this length at least.
const (
	mostStretches = 20
	leastStretch  = time.Minute
)

// stretches are the profiles of the types in stretches of the range that are equally long, of
// those that have any: what differs between them shows what chance does.
func (p *Pages) stretches(ctx context.Context, sel store.Selection, types []store.Type, least time.Duration) ([]*profile.Profile, error) {
	if len(types) == 0 {
		return nil, nil
	}
	sel, err := p.trimmed(ctx, sel, types[0])
	if err != nil {
		return nil, told(err)
	}
	n := min(mostStretches, sel.Range.End.Sub(sel.Range.Start)/least)
	if n < 2 {
		return nil, nil
	}
	step := sel.Range.End.Sub(sel.Range.Start) / n
	var parts []store.Part
	for i := range n {
		from := sel.Range.Start.Add(i * step)
		parts = append(parts, store.Part{Range: store.Range{Start: from, End: from.Add(step)}})
	}
	all, err := p.sums(ctx, store.StacksQuery{Selection: sel, Parts: parts}, types)
	if err != nil {
		return nil, told(err)
	}
	sel.Type = types[0]
	totals, err := p.engine.Totals(ctx, store.TotalsQuery{Selection: sel, Step: step})
	if err != nil {
		return nil, told(err)
	}
	for _, t := range totals {
		for _, point := range t.Points {
			if i := int(point.Time.Sub(sel.Range.Start) / step); i < len(all) {
				all[i].Duration = point.Covered
			}
		}
	}
	return slices.DeleteFunc(all, func(p *profile.Profile) bool { return p.Len() == 0 }), nil
}

// trimmed is a selection from its first profile on to its last, give or take a hundredth of the
// range.
func (p *Pages) trimmed(ctx context.Context, sel store.Selection, typ store.Type) (store.Selection, error) {
	of := sel
	of.Type = typ
	step := max(sel.Range.End.Sub(sel.Range.Start)/100, time.Millisecond)
	totals, err := p.engine.Totals(ctx, store.TotalsQuery{Selection: of, Step: step})
	if err != nil || len(totals) == 0 || len(totals[0].Points) == 0 {
		return sel, err
	}
	points := totals[0].Points
	sel.Range.Start = points[0].Time
	if end := points[len(points)-1].Time.Add(step); end.Before(sel.Range.End) {
		sel.Range.End = end
	}
	return sel, nil
}

// order is that in which people ask for types.
func order(t store.Type) int {
	list := []string{"process_cpu", "memory", "mutex", "block", "goroutine", "goroutines"}
	at := slices.Index(list, t.Name)
	if at < 0 {
		at = len(list)
	}
	at *= 4
	if t.Over() != store.Sum {
		at += 2
	}
	if t.Unit != "count" {
		at++ // go tool pprof shows the last column first
	}
	return at
}

// sums are, for each of the parts of a question, one profile with a column for each type.
func (p *Pages) sums(ctx context.Context, q store.StacksQuery, types []store.Type) ([]*profile.Profile, error) {
	parts := q.Parts
	mergers := make([]profile.Merger, len(parts))
	for i, t := range types {
		q.Type = t
		stacks, err := p.engine.Stacks(ctx, q)
		if err != nil {
			return nil, err
		}
		for part := range parts {
			one, err := stacks.Profile(part)
			if err != nil {
				return nil, err
			}
			values := one.Values[0]
			one.SampleTypes, one.Values = nil, nil
			for j, u := range types {
				column := values
				if j != i {
					column = make([]int64, len(values))
				}
				one.SampleTypes = append(one.SampleTypes, profile.ValueType{Type: u.Sample, Unit: u.Unit})
				one.Values = append(one.Values, column)
			}
			one.Time = q.Range.Start
			if from := parts[part].Range.Start; !from.IsZero() {
				one.Time = from
			}
			if err := mergers[part].Add(one); err != nil {
				return nil, err
			}
		}
	}
	all := make([]*profile.Profile, len(parts))
	for part := range parts {
		sum, err := mergers[part].Profile()
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(types, func(t store.Type) bool { return t.Sample == "alloc_space" }) {
			sum.DefaultSampleType = "alloc_space" // else it would be taken for one of the heap
		}
		sum.Period = period(sum)
		all[part] = sum
	}
	return all, nil
}

// period is how much CPU time a sample stands for, where both were counted: with it one
// can say what of a difference may be chance. A store keeps none.
func period(p *profile.Profile) int64 {
	at := func(name string) int64 {
		if i := slices.IndexFunc(p.SampleTypes, func(t profile.ValueType) bool { return t.Type == name }); i >= 0 {
			return p.Total(i)
		}
		return 0
	}
	if samples, cpu := at("samples"), at("cpu"); samples > 0 {
		return (cpu + samples/2) / samples
	}
	return 0
}
