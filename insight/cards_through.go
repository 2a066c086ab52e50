package insight

import (
	"cmp"
	"slices"

	"loupe/value/stack"
	"loupe/value/unit"
)

// Through is a line of the program through which most of the CPU time goes that several hot functions
// have together.
type Through struct {
	Share float64 `json:"share"`
	// Line is the share of the line alone, where Share is that of its function.
	Line float64  `json:"line,omitempty"`
	At   Evidence `json:"at"`
}

// throughOf finds the function that has most of the CPU time, with its closures; or else the innermost line that calls
// several hot functions, itself or further down, and has most of it; nil where that line is one of main.
func throughOf(in *Input, s *spent, all []Finding) *Through {
	if s == nil {
		return nil
	}
	hot := map[string]bool{}
	for _, f := range all {
		if f.Rule != cp01.ID || f.State != Found || len(f.costs) == 0 || f.Impact == nil {
			continue
		}
		if f.Impact.Value >= halfOfAll {
			return familyOf(in, s)
		}
		hot[f.costs[0].function] = true
	}
	if family := familyOf(in, s); len(hot) < 2 || family != nil {
		return family
	}
	type seenLine struct {
		of, in int64 // samples of all, and of the hot functions
		depth  int
	}
	lines, within := map[stack.Frame]*seenLine{}, int64(0)
	for i, id := range s.stacks {
		frames := s.v.t.Frames(id)
		at := nextUser(s.v, frames, 0)
		if at < 0 {
			continue
		}
		isHot := hot[s.v.t.Frame(frames[at]).Func]
		if isHot {
			within += s.counts[i]
		}
		seen := map[stack.Frame]bool{}
		for ; at >= 0; at = nextUser(s.v, frames, at+1) {
			f := lineOnly(s.v.t.Frame(frames[at]))
			if seen[f] {
				continue
			}
			seen[f] = true
			if lines[f] == nil {
				lines[f] = &seenLine{}
			}
			l := lines[f]
			l.depth = max(l.depth, len(frames)-at)
			if l.of += s.counts[i]; isHot {
				l.in += s.counts[i]
			}
		}
	}
	var best *stack.Frame
	for _, f := range sortedLines(lines, func(a, b *seenLine) int { return cmp.Or(b.depth-a.depth, cmp.Compare(a.of, b.of)) }) {
		l := lines[f]
		if float64(l.of) >= halfOfAll*float64(s.total) && float64(l.in) >= nearlyAll*float64(within) {
			best = &f
			break
		}
	}
	if best == nil || best.Func == "main.main" {
		return nil
	}
	at := []Evidence{in.code.shownAt(best.File, best.Line, "%s of the CPU time goes through this line", unit.Percent(float64(lines[*best].of)/float64(s.total)))}
	at[0].Function = best.Func
	shorten(in, []Finding{{Evidence: at}})
	return &Through{Share: float64(lines[*best].of) / float64(s.total), At: at[0]}
}

// sortedLines are lines in an order, and in that of the sources where they are the same in it.
func sortedLines[T any](lines map[stack.Frame]T, order func(a, b T) int) []stack.Frame {
	var all []stack.Frame
	for f := range lines {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b stack.Frame) int {
		return cmp.Or(order(lines[a], lines[b]), cmp.Compare(a.File, b.File), a.Line-b.Line)
	})
	return all
}
