package fleet

import (
	"cmp"
	"context"
	"errors"
	"math"
	"net/url"
	"slices"
	"strconv"
	"time"

	"loupe/store"
	"loupe/value/unit"
	"loupe/web"
)

// PageOptions are what the pages of a store say beside what is in it.
type PageOptions struct {
	// Targets returns the processes that are asked for profiles; nil where none are.
	Targets func() []web.FleetTarget
	// Incidents returns what alert rules have found; nil where there are none. Recording
	// opens that of an incident.
	Incidents func() *web.FleetIncidents
	Recording func(incident string) (web.Source, error)
	// Limits bound what a question may cost.
	Limits store.Limits
	// Now is the time; nil is that of this machine.
	Now func() time.Time
}

// Pages answers what the pages of package web ask of a store. It has more methods than most
// because each is one question of the interface [web.Fleet].
type Pages struct {
	engine store.Engine
	opt    PageOptions
	judged verdicts
}

var _ web.Fleet = (*Pages)(nil)

// NewPages makes the pages of an engine.
func NewPages(engine store.Engine, opt PageOptions) *Pages {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	return &Pages{engine: engine, opt: opt}
}

// Targets is that of [web.Fleet].
func (p *Pages) Targets() *web.FleetTargets {
	out := &web.FleetTargets{Targets: []web.FleetTarget{}, Asks: p.opt.Targets != nil}
	if p.opt.Targets != nil {
		out.Targets = append(out.Targets, p.opt.Targets()...)
	}
	return out
}

// IncidentSource is the id of the recording of an incident, as a source.
func IncidentSource(incident string) string { return url.Values{"incident": {incident}}.Encode() }

// Incidents is that of [web.Fleet].
func (p *Pages) Incidents() *web.FleetIncidents {
	if p.opt.Incidents == nil {
		return &web.FleetIncidents{Rules: []web.FleetRule{}, Incidents: []web.FleetIncident{}}
	}
	return p.opt.Incidents()
}

// chosen is a question that was read.
type chosen struct {
	store.Selection
	text string // of the matchers
	step time.Duration
}

// steps are the lengths that a range is divided into: about sixty of them.
var steps = []time.Duration{
	15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour, 28 * 24 * time.Hour, 364 * 24 * time.Hour,
}

// mostSteps is how many steps a range has at most.
const mostSteps = 72

// typed is what a question chooses, with the types that there are of it.
func (p *Pages) typed(ctx context.Context, q web.FleetQuestion) (*chosen, []store.Type, error) {
	c, err := p.choose(q)
	if err != nil {
		return nil, nil, err
	}
	types, err := p.engine.Types(ctx, c.Selection)
	if err != nil {
		return nil, nil, told(err)
	}
	return c, types, nil
}

// choose reads a question. The range begins with a whole step.
func (p *Pages) choose(q web.FleetQuestion) (*chosen, error) {
	m, err := store.ParseMatchers(q.Select)
	if err != nil {
		return nil, web.NotThere("%v. Labels are selected as in Prometheus: {service_name=\"shop\",pod=~\"a|b\"}.", err)
	}
	if q.Until.IsZero() {
		q.Until = p.opt.Now()
		q.From = q.Until.Add(-q.Last)
	}
	c := &chosen{text: m.String(), step: steps[len(steps)-1]}
	for _, s := range steps {
		if q.Until.Sub(q.From) <= mostSteps*s {
			c.step = s
			break
		}
	}
	c.Selection = store.Selection{Matchers: m, Range: store.Range{Start: q.From.Truncate(c.step), End: q.Until}, Limits: p.opt.Limits}
	return c, nil
}

// length is that of the range.
func (c *chosen) length() time.Duration { return c.Range.End.Sub(c.Range.Start) }

// before is the range of the same length before it, in whole steps.
func (c *chosen) before() store.Range {
	n := (c.length() + c.step - 1) / c.step
	return store.Range{Start: c.Range.Start.Add(-n * c.step), End: c.Range.Start}
}

func (c *chosen) shown() web.FleetRange {
	return web.FleetRange{From: c.Range.Start.UnixMilli(), Until: c.Range.End.UnixMilli(), Step: c.step.Milliseconds()}
}

// with is the selection with one more label, as text: one without a value where there is none.
func (c *chosen) with(name, value string) string {
	more := slices.DeleteFunc(slices.Clone(c.Matchers), func(m *store.Matcher) bool { return m.Name == name && m.Op == store.Equal })
	if m, err := store.NewMatcher(name, store.Equal, value); err == nil {
		more = append(more, m)
	}
	return more.String()
}

// told makes an error of the store one for people, where it is about the question.
func told(err error) error {
	if errors.Is(err, store.ErrTooMuch) || errors.Is(err, store.ErrAggregation) {
		return web.NotThere("%v.", err)
	}
	return err
}

// costs are what the services of a fleet are told to cost, of the types that there are.
func costs(types []store.Type) (list []web.FleetCost) {
	for _, c := range []struct{ sample, head, means string }{
		{"cpu", "CPUs", "CPU time by the time on the clock, concluded from the part of the time that was profiled"},
		{"alloc_space", "Allocated", "bytes of memory allocated a second"},
		{"inuse_space", "Heap in use", "bytes of memory in use at the last collection, of all processes together"},
		{"goroutine", "Goroutines", "goroutines of all processes together"},
	} {
		if i := slices.IndexFunc(types, func(t store.Type) bool { return t.Sample == c.sample }); i >= 0 {
			list = append(list, web.FleetCost{Type: types[i].String(), Head: c.head, Means: c.means})
		}
	}
	return list
}

// Services is that of [web.Fleet].
func (p *Pages) Services(ctx context.Context, q web.FleetQuestion) (*web.FleetServices, error) {
	c, types, err := p.typed(ctx, q)
	if err != nil {
		return nil, err
	}
	out := &web.FleetServices{FleetRange: c.shown(), Costs: costs(types), Services: []web.FleetService{}}
	if out.Costs == nil {
		out.Costs = []web.FleetCost{}
	}
	names, err := p.engine.LabelValues(ctx, store.ServiceLabel, c.Selection)
	if err != nil {
		return nil, told(err)
	}
	at := map[string]int{}
	for i, name := range names {
		text := c.with(store.ServiceLabel, name)
		at[name] = i
		out.Services = append(out.Services, web.FleetService{Name: name, Select: text, Source: sourceID(text, c.Range), Before: sourceID(text, c.before()),
			Costs: make([]*web.FleetFigure, len(out.Costs))})
	}
	for i, cost := range out.Costs {
		typ, err := store.ParseType(cost.Type)
		if err != nil {
			return nil, err
		}
		groups, newest, err := p.figures(ctx, c, typ, store.ServiceLabel)
		if err != nil {
			return nil, err
		}
		for name, f := range groups {
			if n, ok := at[name]; ok && f.value != nil {
				out.Services[n].Costs[i] = f.web(typ)
			}
		}
		if !newest.IsZero() {
			out.Newest = max(out.Newest, newest.UnixMilli())
		}
	}
	slices.SortStableFunc(out.Services, func(a, b web.FleetService) int { return compareCosts(b.Costs, a.Costs) })
	return out, nil
}

// compareCosts orders services by what they cost, the first cost first.
func compareCosts(a, b []*web.FleetFigure) int {
	value := func(f *web.FleetFigure) float64 {
		if f == nil {
			return -1
		}
		return f.Value
	}
	for i := range a {
		if by := cmp.Compare(value(a[i]), value(b[i])); by != 0 {
			return by
		}
	}
	return 0
}

// mostLines is how many lines a picture has at most.
const mostLines = 12

// Lines is that of [web.Fleet].
func (p *Pages) Lines(ctx context.Context, q web.FleetQuestion) (*web.FleetLines, error) {
	c, types, err := p.typed(ctx, q)
	if err != nil {
		return nil, err
	}
	if len(types) == 0 {
		return nil, c.nothing()
	}
	labels, err := p.engine.LabelNames(ctx, c.Selection)
	if err != nil {
		return nil, told(err)
	}
	out := &web.FleetLines{FleetRange: c.shown(), Types: []web.FleetCost{}, Labels: labels, By: q.By, Lines: []web.FleetLine{},
		Source: sourceID(c.text, c.Range), Before: sourceID(c.text, c.before())}
	for _, t := range types {
		out.Types = append(out.Types, web.FleetCost{Type: t.String(), Head: t.Name + ": " + t.Sample, Means: cmp.Or(unitOf(t), "number")})
	}
	typ := usualType(types, q.Type)
	out.Type, out.Unit = typ.String(), unitOf(typ)
	groups, _, err := p.figures(ctx, c, typ, q.By)
	if err != nil {
		return nil, err
	}
	for value, f := range groups {
		if f.value == nil {
			continue
		}
		text := c.text
		if q.By != "" {
			text = c.with(q.By, value)
		}
		out.Lines = append(out.Lines, web.FleetLine{Name: value, Select: text, Source: sourceID(text, c.Range), FleetFigure: *f.web(typ)})
	}
	slices.SortFunc(out.Lines, func(a, b web.FleetLine) int {
		return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(a.Name, b.Name))
	})
	out.Others = max(0, len(out.Lines)-mostLines)
	out.Lines = out.Lines[:len(out.Lines)-out.Others]
	return out, nil
}

// nothing is the answer where a question selects no profiles.
func (c *chosen) nothing() error {
	return web.NotThere("There are no profiles of %s from %s to %s.", cmp.Or(c.text, "{}"), clock(c.Range.Start), clock(c.Range.End))
}

// usualType is the type that a question names, or CPU time, or the first of those that there are.
func usualType(types []store.Type, asked string) store.Type {
	if t, err := store.ParseType(asked); err == nil {
		return t
	}
	return types[max(slices.IndexFunc(types, func(t store.Type) bool { return t.Sample == "cpu" }), 0)]
}

// figures are the figures of one type by the values of a label; "" as a label makes one group.
func (p *Pages) figures(ctx context.Context, c *chosen, typ store.Type, by string) (map[string]*figure, time.Time, error) {
	var newest time.Time
	sel := c.Selection
	sel.Type, sel.Range.Start = typ, c.before().Start
	names, err := p.engine.LabelNames(ctx, sel)
	if err != nil {
		return nil, newest, told(err)
	}
	totals, err := p.engine.Totals(ctx, store.TotalsQuery{Selection: sel, Step: c.step, By: names})
	if err != nil {
		return nil, newest, told(err)
	}
	groups := map[string][]store.TotalSeries{}
	for _, t := range totals {
		groups[t.Labels.Value(by)] = append(groups[t.Labels.Value(by)], t)
		if n := len(t.Points); n > 0 && t.Points[n-1].Time.After(newest) {
			newest = t.Points[n-1].Time
		}
	}
	out := map[string]*figure{}
	for value, series := range groups {
		out[value] = newFigure(series, typ, c)
	}
	return out, newest, nil
}

// figure is one figure over time, in base units a second where it is a rate.
type figure struct {
	course        []float64 // of the range; NaN where there is no profile
	value, before *float64  // means; nil where there is none
	profiled      float64
}

// newFigure makes a figure of the totals of series.
func newFigure(series []store.TotalSeries, typ store.Type, c *chosen) *figure {
	first := c.before().Start
	n := int((c.Range.End.Sub(first) + c.step - 1) / c.step)
	all := make([]float64, n)
	for i := range all {
		all[i] = math.NaN()
	}
	for _, s := range series {
		for _, p := range s.Points {
			i := int(p.Time.Sub(first) / c.step)
			if i < 0 || i >= n {
				continue
			}
			if math.IsNaN(all[i]) {
				all[i] = 0
			}
			all[i] += float64(p.Value)
		}
	}
	f := &figure{}
	if typ.Over() == store.Sum {
		f.profiled = profiled(series, c.step)
		scale := c.step.Seconds() * cmp.Or(f.profiled, 1)
		for i := range all {
			all[i] /= scale
		}
		if last := n - 1; first.Add(time.Duration(n) * c.step).After(c.Range.End) {
			all[last] = math.NaN() // it has only begun: not all of its profiles are there
		}
	}
	half := n - int((c.length()+c.step-1)/c.step)
	f.course = all[half:]
	f.value, f.before = meanOf(f.course), meanOf(all[:half])
	return f
}

// meanOf is the mean of the steps that have profiles.
func meanOf(values []float64) *float64 {
	sum, n := 0.0, 0
	for _, v := range values {
		if !math.IsNaN(v) {
			sum, n = sum+v, n+1
		}
	}
	if n == 0 {
		return nil
	}
	sum /= float64(n)
	return &sum
}

// profiled is the share of the time that profiles of a series cover: a service that is asked
// for ten seconds of CPU profile in each fifteen is profiled for two thirds of the time.
// Steps in which a series begins or ends say too little. It is the median of the others, at most 1;
// 0 where profiles do not say how long they took.
func profiled(series []store.TotalSeries, step time.Duration) float64 {
	var inner []float64
	most := 0.0
	for _, s := range series {
		for i, p := range s.Points {
			share := p.Covered.Seconds() / step.Seconds()
			most = max(most, share)
			if i > 0 && i < len(s.Points)-1 {
				inner = append(inner, share)
			}
		}
	}
	if len(inner) > 0 {
		slices.Sort(inner)
		most = inner[len(inner)/2]
	}
	return min(most, 1)
}

// unitOf is the unit of a figure of a type.
func unitOf(t store.Type) string {
	rate := t.Over() == store.Sum
	switch {
	case rate && t.Unit == "nanoseconds" && t.Sample == "cpu":
		return "CPUs"
	case rate && t.Unit == "nanoseconds":
		return "at once"
	case t.Unit == "bytes" && rate:
		return "B/s"
	case t.Unit == "bytes":
		return "B"
	case rate:
		return "/s"
	}
	return ""
}

// shown prints a value of a type.
func shown(v float64, t store.Type) string {
	switch unitOf(t) {
	case "CPUs", "at once":
		return unit.Number(v)
	case "B/s":
		return unit.BytesOf(v) + "/s"
	case "B":
		return unit.BytesOf(v)
	case "/s":
		return unit.Number(v) + "/s"
	}
	return unit.Count(int64(math.Round(v)))
}

// web is the figure as a page has it.
func (f *figure) web(t store.Type) *web.FleetFigure {
	scale := 1.0
	if t.Over() == store.Sum && t.Unit == "nanoseconds" {
		scale = 1e-9
	}
	out := &web.FleetFigure{Value: *f.value * scale, Shown: shown(*f.value*scale, t), Course: web.Numbers{}, Profiled: f.profiled}
	if f.before != nil {
		out.Before = shown(*f.before*scale, t)
	}
	for _, v := range f.course {
		out.Course = append(out.Course, v*scale)
	}
	return out
}

// clock prints a moment for people.
func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") + " UTC" }

// milliseconds prints a moment for an id.
func milliseconds(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }
