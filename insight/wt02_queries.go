package insight

import (
	"cmp"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/value/stack"
)

// Queries that a database answers within the program, such as SQLite: no wait on a connection shows them. But
// package database/sql starts a goroutine for the rows of each, which ends it with its context (Rows.initContextClose).

// startsRows is where database/sql starts that goroutine.
const startsRows = "database/sql.(*Rows).initContextClose"

// queries are those of a group, by the way through the user's code, the most first.
func queries(t *traced, g facts.UnitGroup) (all []*outward) {
	for _, made := range t.Creators {
		frames := t.Frames(made.Creator)
		if len(frames) == 0 || frames[0].Func != startsRows || !slices.ContainsFunc(frames, func(f stack.Frame) bool { return stack.Short(f.Func) == stack.Short(g.Name) }) {
			continue
		}
		o := &outward{group: g, stack: made.Creator, kind: "query", calls: made.Created, units: g.Seen.Count}
		for _, f := range frames {
			if t.Scope.Of(f) == stack.User {
				o.path = append(o.path, f)
			}
		}
		if len(o.path) == 0 {
			continue
		}
		for i := range g.All.Rows {
			if row := &g.All.Rows[i]; row.Site.Frame == o.path[0] {
				o.time += row.Time
			}
		}
		all = append(all, o)
	}
	slices.SortStableFunc(all, func(a, b *outward) int {
		return cmp.Or(cmp.Compare(b.calls, a.calls), strings.Compare(a.path[0].Func, b.path[0].Func))
	})
	return all
}
