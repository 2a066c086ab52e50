package insight

import (
	"fmt"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

// A map that has been emptied and keeps its table.

// Limits of what is told of a table; chosen. Of what goes into a map beside the table so much has to be gone, and so much of the table still there.
// The table of a map with many entries is allocated in pieces of at least so many bytes.
const (
	entriesGone = 0.9
	tableThere  = 0.8
	tablePiece  = 1 << 10
)

// tableKept finds a line that adds to a map from which entries are deleted, of which the last profile of the running program still has the table, but
// hardly anything of what the line had allocated for the entries beside it.
func tableKept(r *Rule, in *Input, all *facts.Retention) (f Finding, ok bool) {
	last := all.Looks[len(all.Looks)-1]
	if last == all.Most || last.Peak || last.AtExit || last.Entry.Partial || all.Most.Entry.Run != last.Entry.Run {
		return f, false
	}
	lines := last.Lines()
	if len(lines) == 0 {
		return f, false
	}
	top := lines[0]
	table, before := last.InTables(top.At, tablePiece), all.Most.InTables(top.At, tablePiece)
	entries, had := last.InUse.At(top.At)-table, all.Most.InUse.At(top.At)-before
	share := float64(table) / float64(max(1, last.Bytes))
	switch {
	case float64(table) < r.param("least")*(1<<20) || share < r.param("share"):
		return f, false
	case float64(table) < tableThere*float64(before) || had < before/4 || float64(entries) > (1-entriesGone)*float64(had):
		return f, false
	}
	h, known := sourceHolders{in.code}.holder(top.At, top.Frames)
	if !known || h.adds.name == "" || h.lets.File == "" {
		return f, false
	}
	f = r.answer(Found, "of %s in use in %s, %s are the table of the map %s, allocated at %s:%d in %s; at the peak the same line had %s of entries beside it, of which %s are left: a map does not shrink when entries are deleted",
		unit.BytesOf(float64(last.Bytes)), last.Entry.Path, unit.Percent(share), h.adds.name, baseName(top.At.File), top.At.Line, stack.Short(top.At.Func), unit.BytesOf(float64(had)), unit.BytesOf(float64(max(0, entries))))
	f.Title = "A map that has been emptied keeps its table"
	f.Severity, f.Score = Warning, max(50, score(share*float64(last.Bytes), 64<<20, 1<<30))
	f.Impact = exactly(share, "share of what is in use")
	f.Evidence = []Evidence{in.fileAt(last.Entry, top.At, top.Frames, "%s in use were allocated here, by the map", unit.BytesOf(float64(table))), h.lets}
	f.lets = h.lets
	f.Advice = fmt.Sprintf("Make a new map when it has become empty, behind %s:%d (if len(%s) == 0, and it had many entries), or, where some stay, create one of the right size, copy what is left into it, and drop the old one. clear and delete keep the table.", baseName(h.lets.File), h.lets.Line, h.adds.container)
	f.Doubts = []string{"if as many entries come again soon, the table only has to grow again: then it is kept for a purpose"}
	f.Verify = "Take a heap profile at the same point again: loupe compare OLD NEW shows what has shrunk."
	f.felt = share * min(1, float64(table)/(r.param("fills")*(1<<20)))
	return f, true
}
