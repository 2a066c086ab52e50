package insight

import (
	"slices"

	"loupe/analysis/facts"
	"loupe/value/stack"
)

// What goes with statements that are prepared for single queries (WT11), by package database/sql or by the program: whatever else is said of the same
// waits was measured with two or three round trips for each query.

// ofPreparing tells whether a finding shows what one of WT11 is the cause of.
func ofPreparing(a, b *Finding) bool {
	if b.Rule != wt11.ID || !b.Severity.AtLeast(a.Severity) {
		return false
	}
	switch a.Rule {
	case wt01.ID, wt03.ID:
		return sharedWaits(a, b) >= halfOfAll
	case lk01.ID, lk04.ID:
		switch {
		case !b.Severity.AtLeast(Warning):
			return false
		case slices.ContainsFunc(b.waits, func(row *facts.UnitRow) bool { return row.Kind.Key() == "lock" }):
			return waitsForRows(a) || waitsForDB(a) // the close of a statement is what it is held for
		}
		return b.Title == wt11.Title && waitsForRows(a)
	}
	return false
}

// beforePreparing are the rules that say of waits for queries how many there are, or who queues for them, and that say
// nothing of what one query costs.
var beforePreparing = []string{"WT01", "WT02", "WT03", "LK01", "LK06"}

// waitsForRows tells of waits for a lock that they are those of the goroutine that package sql has for the rows of a query
// with a context: it waits for their end while whoever has read them closes them, and with them the statement.
func waitsForRows(f *Finding) bool {
	for _, e := range f.Evidence {
		i := slices.IndexFunc(e.Stack, func(x Frame) bool { return x.Function == "database/sql.(*Rows).close" })
		if i < 0 {
			continue
		}
		waits := !slices.ContainsFunc(e.Stack[:i], func(x Frame) bool {
			pkg := stack.Package(x.Function)
			return pkg != "sync" && pkg != "internal/sync" && !stack.IsRuntime(pkg)
		})
		return waits && i+1 < len(e.Stack) && e.Stack[i+1].Function == "database/sql.(*Rows).awaitDone"
	}
	return false
}

// waitsForDB tells of waits for a lock that they are for the one of a sql.DB, which is held while a statement of it is closed.
func waitsForDB(f *Finding) bool {
	if len(f.Evidence) == 0 {
		return false
	}
	var frames []stack.Frame
	for _, x := range lockSite(f).Stack {
		frames = append(frames, stack.Frame{Func: x.Function})
	}
	return locksDB(frames)
}

// preparingFirst puts the card of WT11 before those that are about the same waits, or about a queue for the connections that
// are in use meanwhile.
func (c *causal) preparingFirst(cards []Card) {
	for _, card := range cards {
		f := &c.all[card.Finding]
		if f.Rule != wt11.ID || !f.Severity.AtLeast(Warning) {
			continue
		}
		for _, other := range cards {
			o := &c.all[other.Finding]
			if o.Severity == f.Severity && slices.Contains(beforePreparing, o.Rule) && (sharedWaits(o, f) >= halfOfAll || heldMeanwhile(o, f) >= halfOfAll) {
				c.rank[card.Finding] = max(c.rank[card.Finding], c.rank[other.Finding]/justBelow)
			}
		}
	}
}

// heldMeanwhile is the part of the waits of a finding in which whoever is waited for is in a wait that another finding is about.
func heldMeanwhile(a, b *Finding) float64 {
	held, all := int64(0), int64(0)
	for _, row := range a.waits {
		all += int64(row.Time)
		for _, other := range b.waits {
			if row.Cause.Site.Frame.Func != "" && row.Cause.Kind == other.Kind && row.Cause.Site.Frame == other.Site.Frame {
				held += int64(row.Time)
				break
			}
		}
	}
	return float64(held) / float64(max(1, all))
}
