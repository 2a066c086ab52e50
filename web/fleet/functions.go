package fleet

import (
	"cmp"
	"context"
	"slices"

	"loupe/store"
	"loupe/web"
)

const (
	// mostFunctions is how many functions are listed, and rankedFunctions how many of each cost are looked at: what a
	// function takes itself is part of what it takes with its callees, by which engines rank them.
	mostFunctions   = 30
	rankedFunctions = 1000
)

// Functions is that of [web.Fleet]: the cost of the selection as [Pages.Services] tells it, divided among
// functions as its profiles are.
func (p *Pages) Functions(ctx context.Context, q web.FleetQuestion) (*web.FleetFunctions, error) {
	c, types, err := p.typed(ctx, q)
	if err != nil {
		return nil, err
	}
	out := &web.FleetFunctions{FleetRange: c.shown(), Costs: []web.FleetCost{}, Functions: []web.FleetFunction{}, Exact: true}
	type name struct{ function, file string }
	at := map[name]int{}
	for _, cost := range costs(types) {
		typ, err := store.ParseType(cost.Type)
		if err != nil {
			return nil, err
		}
		if typ.Sample == "goroutine" {
			continue // those that wait are all in one function of the runtime
		}
		groups, _, err := p.figures(ctx, c, typ, "")
		if err != nil {
			return nil, err
		}
		f := groups[""]
		if f == nil || f.value == nil {
			continue
		}
		sel := c.Selection
		sel.Type = typ
		top, err := p.engine.Top(ctx, store.TopQuery{Selection: sel, N: rankedFunctions})
		if err != nil {
			return nil, told(err)
		}
		n := len(out.Costs)
		out.Costs = append(out.Costs, cost)
		for i := range out.Functions {
			out.Functions[i].Costs = append(out.Functions[i].Costs, nil)
		}
		if top.Total <= 0 {
			continue
		}
		out.Exact = out.Exact && top.Slack == 0
		whole := f.web(typ).Value
		for _, fn := range top.Functions {
			key := name{fn.Function, fn.File}
			i, ok := at[key]
			if !ok {
				i = len(out.Functions)
				at[key] = i
				out.Functions = append(out.Functions, web.FleetFunction{Name: fn.Function, File: fn.File, Costs: make([]*web.FleetShare, n+1)})
			}
			s := &web.FleetShare{Self: whole * float64(fn.Self) / float64(top.Total), Total: whole * float64(fn.Total) / float64(top.Total)}
			s.SelfShown, s.TotalShown = shown(s.Self, typ), shown(s.Total, typ)
			out.Functions[i].Costs[n] = s
		}
	}
	slices.SortStableFunc(out.Functions, func(a, b web.FleetFunction) int {
		for i := range a.Costs {
			if by := cmp.Compare(selfOf(b.Costs[i]), selfOf(a.Costs[i])); by != 0 {
				return by
			}
		}
		return cmp.Compare(a.Name, b.Name)
	})
	out.Others = max(0, len(out.Functions)-mostFunctions)
	out.Functions = out.Functions[:len(out.Functions)-out.Others]
	return out, nil
}

// selfOf is what a function takes itself.
func selfOf(s *web.FleetShare) float64 {
	if s == nil {
		return 0
	}
	return s.Self
}
