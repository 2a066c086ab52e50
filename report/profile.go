package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"loupe/analysis/pprof"
	"loupe/format/profile"
	"loupe/value/stack"
)

// ProfileTable is the ranking of a profile as a table of its own: what pprof's
// top says, how far it can be trusted, and whose code it is. With all columns
// it is for programs; without, it fits a terminal.
func ProfileTable(r *pprof.Report, all bool) *Sheet {
	t := r.Table()
	s := &Sheet{
		Key: "rows", Title: fmt.Sprintf("%s, %s in total", r.Type, valueText(r.Total, r.Unit)),
		Columns: []Column{
			{Key: "flat", Head: "flat"}, {Key: "flat_share", Head: "flat%"}, {Key: "flat_low", Head: "at least"}, {Key: "flat_high", Head: "at most"},
			{Key: "cum", Head: "cum"}, {Key: "cum_share", Head: "cum%"}, {Key: "samples", Head: "samples"},
			{Key: "kind", Head: "kind"}, {Key: "package", Head: "package"}, {Key: "file", Head: "file"}, {Key: "line", Head: "line"}, {Key: "function", Head: "function"},
		},
	}
	for _, row := range t.Rows {
		var low, high any
		if t.Sampling == profile.Sampled && row.Flat != 0 {
			low, high = Share(row.FlatShare.Low), Share(row.FlatShare.High)
		}
		name := row.Func
		if name == "" {
			name = row.Place.String()
		}
		s.Rows = append(s.Rows, []any{
			Value(row.FlatValue(), r.Unit), Share(row.FlatShare.Estimate), low, high,
			Value(row.CumValue(), r.Unit), Share(row.CumShare.Estimate), row.FlatSamples,
			kind(row.Category, row.Func), row.Package, row.File, row.Line, stack.FoldGenerics(name),
		})
	}
	if means := pprof.Meaning(r.Profile, r.Index()); means != "" {
		s.Notes = append(s.Notes, r.Type+": "+means+".")
	}
	switch {
	case len(t.Rows) == 0: // nothing came through the filters
	case t.Sampling == profile.Sampled:
		s.Notes = append(s.Notes, fmt.Sprintf("The functions' own (flat) shares are estimates from %d observations, each with its 95%% interval.", t.Graph.Samples))
	case t.Sampling == profile.Exact:
		s.Notes = append(s.Notes, "Everything was counted; there is no sampling error.")
	default:
		s.Notes = append(s.Notes, "The profile does not say how many observations its values were estimated from; their error is unknown.")
	}
	if t.Graph.DroppedNodes > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("%d functions below %.2g%% are left out (-nodefraction=0 shows them).", t.Graph.DroppedNodes, 100*t.Graph.NodeFraction))
	}
	dropColumns(s, func(key string, empty bool) bool {
		return empty && (key == "file" || key == "line") || !all && key == "package"
	})
	return s
}

// kind names what a function does: a duty of the runtime, or whose code it is.
func kind(c stack.Category, function string) string {
	if c != stack.Plain {
		return c.String()
	}
	return stack.Scope{}.Origin(function).String()
}

// dropColumns removes the columns that the function does not want: it gets
// their keys and whether no row has anything in them.
func dropColumns(s *Sheet, drop func(key string, empty bool) bool) {
	for c := len(s.Columns) - 1; c >= 0; c-- {
		empty := true
		for _, row := range s.Rows {
			empty = empty && (row[c] == "" || row[c] == 0)
		}
		if !drop(s.Columns[c].Key, empty) {
			continue
		}
		s.Columns = slices.Delete(s.Columns, c, c+1)
		for i, row := range s.Rows {
			s.Rows[i] = slices.Delete(row, c, c+1)
		}
	}
}

// ProfileCategories is what a profile was spent on: the duties of the runtime,
// and code by whose it is.
func ProfileCategories(r *pprof.Report) *Sheet {
	s := &Sheet{
		Key: "categories", Title: fmt.Sprintf("%s by kind of work, %s in total", r.Type, valueText(r.Total, r.Unit)),
		Columns: []Column{{Key: "weight", Head: "weight"}, {Key: "share", Head: "share"}, {Key: "stacks", Head: "stacks"}, {Key: "kind", Head: "kind"}},
	}
	for _, row := range r.Categories(stack.Scope{}) {
		kind := row.Category.String()
		if row.Category == stack.Plain {
			kind = row.Origin.String() + " code"
			if row.Origin == stack.Native {
				kind = "code without a Go package"
			}
		}
		var share any
		if r.Total != 0 {
			share = Share(float64(row.Weight) / float64(r.Total))
		}
		s.Rows = append(s.Rows, []any{Value(row.Weight, r.Unit), share, row.Samples, kind})
	}
	s.Notes = append(s.Notes, "A stack counts for the kind of work nearest to its leaf; copying, hashing and the clock count separately only if plain code called them.")
	return s
}

// Value gives a number of a profile the type that a sheet prints with its unit.
func Value(v int64, unit string) any {
	switch strings.TrimSuffix(strings.ToLower(unit), "s") {
	case "nanosecond", "n":
		return time.Duration(v)
	case "microsecond":
		return time.Duration(v) * time.Microsecond
	case "millisecond":
		return time.Duration(v) * time.Millisecond
	case "second":
		return time.Duration(v) * time.Second
	case "byte":
		return Bytes(v)
	}
	return v
}

func valueText(v int64, unit string) string {
	s, _ := text(Value(v, unit))
	return s
}
