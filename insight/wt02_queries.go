package insight

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"loupe/analysis/facts"
	"loupe/value/stack"
)

// Queries that a database answers within the program, such as SQLite: no wait on a connection shows them. But
// package database/sql starts a goroutine for the rows of each, which ends it with its context (Rows.initContextClose).

// startsRows is where database/sql starts that goroutine, and ofRows begins the names of what reads them.
const (
	startsRows = "database/sql.(*Rows).initContextClose"
	ofRows     = "database/sql.(*Rows)."
)

// queries are those of a group, by the way through the user's code, the most first.
func queries(in *Input, t *traced, g facts.UnitGroup) (all []*outward) {
	for _, made := range t.Creators {
		frames := t.Frames(made.Creator)
		if len(frames) == 0 || frames[0].Func != startsRows || !slices.ContainsFunc(frames, func(f stack.Frame) bool { return stack.Short(f.Func) == stack.Short(g.Name) }) {
			continue
		}
		o := &outward{group: g, stack: made.Creator, kind: "query", calls: made.Created, units: g.Seen.Count}
		if o.path = framesOfUser(t, frames); len(o.path) > 0 {
			all = append(all, o)
		}
	}
	if len(all) > 0 {
		divideQueries(in, t, g, all)
	}
	slices.SortStableFunc(all, func(a, b *outward) int {
		return cmp.Or(cmp.Compare(b.calls, a.calls), strings.Compare(a.path[0].Func, b.path[0].Func))
	})
	return all
}

// divideQueries gives each part of the time of units that passes in queries to those that it is of: a line may make them by several ways, and each
// moment is of one. The time at a line that makes them is divided among its ways, by CPU samples or else by their numbers. That at another line, where
// rows are read, is given where it is known which queries have them: those of the only way that leads there, or by CPU samples.
func divideQueries(in *Input, t *traced, g facts.UnitGroup, all []*outward) {
	ways := queryWays{t: t, found: map[stack.Frame][][]stack.Frame{}, spent: sync.OnceValue(func() *spent { return spentOf(in) })}
	for i := range g.All.Rows {
		row := &g.All.Rows[i]
		at := row.Site.Frame
		of := slices.DeleteFunc(slices.Clone(all), func(o *outward) bool { return o.path[0] != at })
		makes := len(of) > 0
		if !makes {
			if of = ways.reading(at, row.Site.Stack, all); len(of) == 0 {
				continue
			}
		}
		weights := make([]float64, len(of))
		if len(of) == 1 {
			weights[0] = 1
		} else if sampled := ways.sampled(at, of); sampled != nil {
			weights = sampled
		} else if makes {
			for j, o := range of {
				weights[j] = float64(o.calls)
			}
		}
		sum := 0.0
		for _, w := range weights {
			sum += w
		}
		for j, o := range of {
			if sum > 0 {
				o.time += time.Duration(float64(row.Time) * weights[j] / sum)
				o.parts = append(o.parts, row)
			}
		}
	}
}

// queryWays are the ways through the program's code to lines at which queries spend time.
type queryWays struct {
	t     *traced
	found map[stack.Frame][][]stack.Frame // of those at which rows are read, as far as they were asked for
	spent func() *spent
}

// fewOnLine is how many CPU samples a line needs for its time to be divided by them. Chosen.
const fewOnLine = 10

// reading are those of some queries whose rows are read at a line: the function that makes them has called what leads there, on a stack of the trace.
func (w *queryWays) reading(at stack.Frame, one stack.ID, all []*outward) (of []*outward) {
	through := func(id stack.ID) bool {
		return slices.ContainsFunc(w.t.Frames(id), func(f stack.Frame) bool { return strings.HasPrefix(f.Func, ofRows) })
	}
	if !through(one) {
		return nil
	}
	found, known := w.found[at]
	if !known {
		for id := range w.t.Reader.Stacks().Len() {
			frames := w.t.Frames(stack.ID(id))
			if i := slices.Index(frames, at); i >= 0 && through(stack.ID(id)) {
				found = append(found, framesOfUser(w.t, frames[i:]))
			}
		}
		w.found[at] = found
	}
	for _, o := range all {
		if slices.ContainsFunc(found, func(way []stack.Frame) bool { return o.leadsTo(way) }) {
			of = append(of, o)
		}
	}
	return of
}

// framesOfUser are those of a stack that are of the program.
func framesOfUser(t *traced, frames []stack.Frame) (own []stack.Frame) {
	for _, f := range frames {
		if t.Scope.Of(f) == stack.User {
			own = append(own, f)
		}
	}
	return own
}

// leadsTo tells of a way through the program's code, its innermost line first, that it is within the call of the function that makes the queries.
func (o *outward) leadsTo(way []stack.Frame) bool {
	for i, f := range way {
		if f.Func == o.path[0].Func && sameOutward(way[i+1:], o.path[1:]) {
			return true
		}
	}
	return false
}

// sameOutward tells of two ways outward that they are the same, as far as both are known: a stack may be cut off.
func sameOutward(a, b []stack.Frame) bool {
	n := min(len(a), len(b))
	return slices.Equal(a[:n], b[:n])
}

// sampled are the CPU samples at a line by the queries that they are of; nil where too few tell.
func (w *queryWays) sampled(at stack.Frame, of []*outward) []float64 {
	s := w.spent()
	if s == nil {
		return nil
	}
	weights, sum := make([]float64, len(of)), 0.0
	for i, id := range s.stacks {
		frames := s.v.t.Frames(id)
		from := slices.IndexFunc(frames, func(f stack.FrameID) bool { return s.v.t.Frame(f) == at })
		if from < 0 {
			continue
		}
		way, _ := s.v.program(frames[from:])
		for j, o := range of {
			if o.leadsTo(way) {
				weights[j] += float64(s.counts[i])
				sum += float64(s.counts[i])
				break
			}
		}
	}
	if sum < fewOnLine {
		return nil
	}
	return weights
}
