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
func sourceID(text string, r store.Range) string {
	return url.Values{"query": {text}, "from": {milliseconds(r.Start)}, "until": {milliseconds(r.End)}}.Encode()
}

// Source is that of [web.Fleet]: of each kind of profile that the selection has one file.
func (p *Pages) Source(id string) (web.Source, error) {
	values, err := url.ParseQuery(id)
	from, err2 := strconv.ParseInt(values.Get("from"), 10, 64)
	until, err3 := strconv.ParseInt(values.Get("until"), 10, 64)
	m, err4 := store.ParseMatchers(values.Get("query"))
	if err != nil || err2 != nil || err3 != nil || err4 != nil || until <= from {
		return web.Source{}, web.NotThere("There is no source %.200q.", id)
	}
	sel := store.Selection{Matchers: m, Range: store.Range{Start: time.UnixMilli(from), End: time.UnixMilli(until)}, Limits: p.opt.Limits}
	name := fmt.Sprintf("%s, %s to %s", selected(m), clock(sel.Range.Start), clock(sel.Range.End))
	return web.Source{Name: name, Kind: "profiles", Open: func(ctx context.Context) (*web.Opened, error) { return p.open(ctx, sel, name) }}, nil
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

// open adds up the profiles of a selection.
func (p *Pages) open(ctx context.Context, sel store.Selection, name string) (*web.Opened, error) {
	types, err := p.engine.Types(ctx, sel)
	if err != nil {
		return nil, told(err)
	}
	if len(types) == 0 {
		return nil, web.NotThere("There are no profiles of %s.", name)
	}
	slices.SortStableFunc(types, func(a, b store.Type) int { return order(a) - order(b) })
	files := fstest.MapFS{}
	var names []string
	for len(types) > 0 {
		// What one profile has had several columns of, apart from states beside activity.
		n := 1
		for n < len(types) && types[n].Name == types[0].Name && types[n].Over() == types[0].Over() && types[n].Period == types[0].Period {
			n++
		}
		data, err := p.joined(ctx, sel, types[:n])
		if err != nil {
			return nil, told(err)
		}
		file := types[0].Name
		if types[0].Over() != store.Sum && types[0].Name == "memory" {
			file += "-in-use"
		}
		for slices.Contains(names, file) {
			file += "-" // of another period
		}
		files[file] = &fstest.MapFile{Data: data, Mode: 0o444}
		names, types = append(names, file), types[n:]
	}
	s, known, err := session.Loose(files, names)
	if err != nil {
		return nil, err
	}
	s.Manifest().Title = name
	return &web.Opened{Session: s, Files: known}, nil
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

// joined is one profile with a column for each type.
func (p *Pages) joined(ctx context.Context, sel store.Selection, types []store.Type) ([]byte, error) {
	var m profile.Merger
	for i, t := range types {
		sel.Type = t
		stacks, err := p.engine.Stacks(ctx, store.StacksQuery{Selection: sel})
		if err != nil {
			return nil, err
		}
		one := &profile.Profile{}
		if len(stacks.Groups) > 0 {
			if one, err = stacks.Profile(0); err != nil {
				return nil, err
			}
		} else if one, err = (&store.Stacks{Type: t, Groups: []store.Labels{{}}, Values: [][]int64{nil}}).Profile(0); err != nil {
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
		one.Time = sel.Range.Start
		if err := m.Add(one); err != nil {
			return nil, err
		}
	}
	sum, err := m.Profile()
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(types, func(t store.Type) bool { return t.Sample == "alloc_space" }) {
		sum.DefaultSampleType = "alloc_space" // else it would be taken for one of the heap
	}
	var b bytes.Buffer
	err = sum.Encode(&b)
	return b.Bytes(), err
}
