package insight

import (
	"fmt"
	"slices"
	"strings"
)

// What has to be so that calls of a series can be made concurrently: nothing, where the sources prove that each is closed; else it
// comes first in the advice.

// condition is what the sources leave open.
type condition struct {
	// earlier and later are the numbers of two calls of which the later one reads what the earlier one changes; or else what is open.
	earlier, later int
	seen           bool
	points         []openPoint
}

// conditionOf is what is open about the calls of a series.
func (s *series) conditionOf(c *code) (cond condition, ok bool) {
	var lines []int
	for _, f := range s.lines {
		lines = append(lines, f.Line)
	}
	all, ok := closingOf(c, s.at, lines)
	if !ok {
		return cond, false
	}
	for j := range s.calls {
		for i := range j {
			if s.inOrder(i, j) {
				continue
			}
			if a, b, met := meets(all[i], all[j]); met {
				return condition{earlier: i, later: j, seen: true, points: []openPoint{a, b}}, true
			}
		}
	}
	for i, x := range all {
		for _, p := range x.open {
			if i < len(s.calls) && s.inOrderWithAll(i) || p.local && p.key != nil && !p.peer && onlyOne(all, i, p) {
				continue
			}
			if !slices.ContainsFunc(cond.points, func(o openPoint) bool { return o.at == p.at }) {
				cond.points = append(cond.points, p)
			}
		}
	}
	return cond, true
}

// onlyOne tells of a point of a call, which is of what the function around has made, that no other call has anything to do with the place.
func onlyOne(all []closing, i int, p openPoint) bool {
	for j, x := range all {
		if j != i && slices.ContainsFunc(slices.Concat(x.open, x.results), func(o openPoint) bool { return o.key == p.key || o.key == nil }) {
			return false
		}
	}
	return true
}

// inOrder tells of two calls that one has to come after the other by what is known otherwise.
func (s *series) inOrder(i, j int) bool {
	if s.needs[j].has(i) {
		return true
	}
	for k := i + 1; k < j; k++ {
		if s.needs[j].has(k) && s.inOrder(i, k) {
			return true
		}
	}
	return false
}

// inOrderWithAll is that of a call and all others.
func (s *series) inOrderWithAll(i int) bool {
	for j := range s.calls {
		if j != i && !s.inOrder(min(i, j), max(i, j)) {
			return false
		}
	}
	return true
}

// meets finds what a call changes and a later one reads, or the other way round.
func meets(earlier, later closing) (change, read openPoint, met bool) {
	for _, pair := range [][2]closing{{earlier, later}, {later, earlier}} {
		for _, p := range slices.Concat(pair[0].open, pair[0].results) {
			for _, o := range pair[1].reads {
				if p.key != nil && p.key == o.key && !(p.key == placeFiles && p.name != "" && o.name != "" && p.name != o.name) && p.at != o.at {
					return p, o, true
				}
			}
		}
	}
	return change, read, false
}

// nameAt is what is called on a line of a series.
func (s *series) nameAt(c *code, i int) string {
	name := "the call"
	if calls := c.lineCalls(s.lines[i]); len(calls) > 0 {
		name = ownCallName(calls[0])
	}
	return fmt.Sprintf("%s (line %d)", name, s.lines[i].Line)
}

// concurrently is what to do about calls that are made one after another.
const concurrently = "an errgroup or a WaitGroup with one goroutine each, and wait once; or start the longest first and collect its answer last. If one peer answers all of them, combine them into one call."

// advice says what to do, under a condition as far as the sources prove nothing.
func (cond condition) advice(c *code, s *series, proved bool) string {
	var open []string
	for _, p := range cond.points {
		open = append(open, p.text())
	}
	switch {
	case cond.seen:
		return fmt.Sprintf("If %s does not need what %s leaves behind (%s), make independent calls concurrently (side by side): %s", s.nameAt(c, cond.later), s.nameAt(c, cond.earlier), strings.Join(open, ", "), concurrently)
	case !proved:
		return "If none of these calls needs what another one leaves behind, or an order at the peer, make them concurrently (side by side): " + concurrently
	case len(open) > 0:
		return fmt.Sprintf("If none of these calls needs what another one leaves behind, or an order at the peer, make them concurrently (side by side): %s The source does not prove that: %s.", concurrently, listed(open, 3))
	}
	return "Make independent calls concurrently (side by side): " + concurrently
}

// impact says what the calls would take together.
func (cond condition) impact(proved bool, took string) string {
	if proved && !cond.seen && len(cond.points) == 0 {
		return "; made concurrently they would take " + took
	}
	return "; if they do not need each other, together they would take " + took
}

// evidence are the lines of the points.
func (cond condition) evidence(c *code) (all []Evidence) {
	for _, p := range cond.points[:min(2, len(cond.points))] {
		e := c.shownAt(p.at.file, p.at.line, "%s", p.what)
		all = append(all, e)
	}
	return all
}
