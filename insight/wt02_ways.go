package insight

import (
	"fmt"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/value/stack"
)

// withOtherWays adds to calls that a loop makes those of the same kind and place that each turn of it makes by other ways
// through the code below its line, as two queries for each item are; ways are how often a unit makes those of each.
func withOtherWays(in *Input, t *traced, g facts.UnitGroup, o *outward) (all *outward, ways []float64) {
	at, looped := in.loopLine(o.path)
	from := slices.Index(o.path, at)
	if !looped || from <= 0 {
		return o, nil
	}
	sum := *o
	ways = []float64{o.each()}
	for _, x := range outwards(g) {
		if x.kind != o.kind || x.path[0] != o.path[0] || slices.Equal(x.path, o.path) || !endsWith(x.path, o.path[from:]) {
			continue
		}
		if inner, is := in.loopLine(x.path); !is || inner != at {
			continue // in a loop of its own
		}
		_, asks := askingAround(in.code, x.path)
		_, chained := chainedAround(in.code, x.path, innerOf(t.Frames(x.stack), x.path))
		if asks || chained || x.each() < sameTurns*o.each() || sameTurns*x.each() > o.each() {
			continue
		}
		if x.statement != o.statement && x.statement != facts.NoStatement && o.statement != facts.NoStatement {
			sum.time += x.time // another part of the same queries
			continue
		}
		ways = append(ways, x.each())
		sum.calls += x.calls
		sum.units = max(sum.units, x.units)
		sum.time += x.time
		sum.most += x.most
		sum.fit = 0 // of one way alone
	}
	if len(ways) == 1 {
		ways = nil
	}
	return &sum, ways
}

// sameTurns is how far the numbers of calls by two ways may be from each other, where each turn makes both: chosen.
const sameTurns = 0.5

// endsWith tells whether a way through the code begins with the outer frames of another one.
func endsWith(path, outer []stack.Frame) bool {
	return len(path) > len(outer) && slices.Equal(path[len(path)-len(outer):], outer)
}

// waysText says that calls are made by several ways.
func waysText(ways []float64) string {
	if len(ways) < 2 {
		return ""
	}
	var each []string
	for _, n := range ways {
		each = append(each, timesOf(n))
	}
	return fmt.Sprintf("; each turn makes it by %d ways, %s times", len(ways), strings.Join(each[:len(each)-1], ", ")+" and "+each[len(each)-1])
}
