package query

import (
	"fmt"
	"net/url"
	"strings"

	"loupe/internal/cli/command"
	"loupe/internal/cli/door"
	"loupe/report"
	"loupe/web"
)

// cost asks what services cost, or the functions of what is selected.
func (q *query) cost() error {
	ask, err := q.one()
	if err != nil {
		return err
	}
	r, err := ask.Range(q.now)
	if err != nil {
		return command.Usage(err)
	}
	if ask.Labels == "" {
		var got web.FleetServices
		err := q.server.Pages(q.e.Ctx, "fleet/services", r, url.Values{}, &got)
		return q.shown(serviceCosts(&got), door.Remote(err))
	}
	var got web.FleetFunctions
	err = q.server.Pages(q.e.Ctx, "fleet/functions", r, url.Values{"select": {ask.Labels}}, &got)
	return q.shown(functionCosts(&got, q.n), door.Remote(err))
}

// key is the name of a cost in JSON and CSV.
func key(c web.FleetCost) string { return strings.ReplaceAll(strings.ToLower(c.Head), " ", "_") }

// head stands above a cost.
func head(c web.FleetCost) string {
	if strings.Contains(c.Type, "alloc_space") {
		return c.Head + "/s"
	}
	return c.Head
}

// amount is a value of a cost.
func amount(c web.FleetCost, v float64) any {
	if strings.Contains(c.Type, ":bytes:") {
		return report.Value(int64(v), "bytes")
	}
	return v
}

// serviceCosts is the table of services.
func serviceCosts(v *web.FleetServices) *report.Sheet {
	s := &report.Sheet{Key: "services", Columns: []report.Column{{Key: "service", Head: "service"}}}
	for _, c := range v.Costs {
		s.Columns = append(s.Columns, report.Column{Key: key(c), Head: head(c)}, report.Column{Key: key(c) + "_before", Head: "before"})
		s.Notes = append(s.Notes, c.Head+": "+c.Means+".")
	}
	for _, one := range v.Services {
		row := []any{one.Name}
		for i, f := range one.Costs {
			if f == nil {
				row = append(row, "", "")
				continue
			}
			row = append(row, amount(v.Costs[i], f.Value), f.Before)
		}
		s.Rows = append(s.Rows, row)
	}
	return s
}

// functionCosts is the table of functions.
func functionCosts(v *web.FleetFunctions, most int) *report.Sheet {
	s := &report.Sheet{Key: "functions", Columns: []report.Column{{Key: "function", Head: "function"}}}
	for _, c := range v.Costs {
		s.Columns = append(s.Columns, report.Column{Key: key(c) + "_self", Head: head(c)}, report.Column{Key: key(c) + "_total", Head: "with callees"})
		s.Notes = append(s.Notes, c.Head+": "+c.Means+".")
	}
	list := v.Functions
	if most > 0 && len(list) > most {
		list = list[:most]
	}
	for _, f := range list {
		row := []any{f.Name}
		for i, c := range f.Costs {
			if c == nil {
				row = append(row, "", "")
				continue
			}
			row = append(row, amount(v.Costs[i], c.Self), amount(v.Costs[i], c.Total))
		}
		s.Rows = append(s.Rows, row)
	}
	if n := len(v.Functions) - len(list) + v.Others; n > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("%d cheaper functions are not shown.", n))
	}
	if !v.Exact {
		s.Notes = append(s.Notes, "Roll-ups of older profiles keep only the largest functions: some figures may be too low.")
	}
	return s
}
