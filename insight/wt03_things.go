package insight

import (
	"fmt"
	"math/bits"
	"strings"
	"time"

	"loupe/value/unit"
)

// thing is one or several calls of a series of which each needs what the one before has given, and nobody else does: the
// begin of a query and the reading of its rows. It is told as one call.
type thing struct {
	calls []int // in the order of the lines
	time  time.Duration
}

// things divides the calls of a series; needs is what each thing still has to come after.
func (s *series) things() (all []thing, needs []callSet) {
	of := make([]int, len(s.calls))
	for j, c := range s.calls {
		direct := callSet(0)
		for rest := s.needs[j]; rest != 0; rest &= rest - 1 {
			if i := bits.TrailingZeros64(uint64(rest)); i < j {
				direct |= 1 << of[i]
			}
		}
		for rest := direct; rest != 0; rest &= rest - 1 { // what one of them needs itself is settled
			direct &^= needs[bits.TrailingZeros64(uint64(rest))]
		}
		if i := bits.TrailingZeros64(uint64(direct)); direct != 0 && direct == 1<<i && s.leadsOnlyTo(all[i], j) {
			of[j] = i
			all[i].calls, all[i].time = append(all[i].calls, j), all[i].time+c.time
			continue
		}
		of[j] = len(all)
		all, needs = append(all, thing{[]int{j}, c.time}), append(needs, direct)
	}
	return all, needs
}

// leadsOnlyTo tells whether whatever needs a call of a thing, of those that come later, needs call j too, or is it.
func (s *series) leadsOnlyTo(t thing, j int) bool {
	mine := callSet(0)
	for _, i := range t.calls {
		mine |= 1 << i
	}
	for k := range s.calls {
		if k != j && k > t.calls[len(t.calls)-1] && s.needs[k]&mine != 0 && !s.needs[k].has(j) {
			return false
		}
	}
	return true
}

// linesOf names the lines of a thing: "line 34", "lines 38 and 43".
func (s *series) linesOf(t thing) string {
	var lines []string
	for _, i := range t.calls {
		lines = append(lines, fmt.Sprint(s.lines[i].Line))
	}
	if len(lines) == 1 {
		return "line " + lines[0]
	}
	return "lines " + andList(lines)
}

// parts say of each thing how long it takes.
func (s *series) parts(all []thing, n time.Duration) (parts []string) {
	for _, t := range all {
		parts = append(parts, fmt.Sprintf("%s at %s", unit.Duration(t.time/n), s.linesOf(t)))
	}
	return parts
}

// needDoubt says what the source tells of what needs what.
func (s *series) needDoubt(all []thing, needs []callSet) string {
	var after, one []string
	for i, t := range all {
		if len(t.calls) > 1 {
			one = append(one, s.linesOf(t))
		}
		for rest := needs[i]; rest != 0; rest &= rest - 1 {
			after = append(after, fmt.Sprintf("%s has to come after %s", s.linesOf(t), s.linesOf(all[bits.TrailingZeros64(uint64(rest))])))
		}
	}
	text := "judging by the variables, no call uses the result of another"
	switch {
	case len(after) > 0:
		text = "judging by the source, " + listed(after, 3) + "; the figure keeps that order"
	case len(one) > 0:
		text = fmt.Sprintf("judging by the source, none of these %d uses the result of another", len(all))
	}
	if len(one) > 0 {
		text += fmt.Sprintf("; what is at %s has to stay in that order and counts as one call", strings.Join(one, ", at "))
	}
	return text + "; effects on a peer may still require an order"
}
