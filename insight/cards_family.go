package insight

import (
	"cmp"
	"strings"

	"loupe/value/stack"
	"loupe/value/unit"
)

// outerOf is the function in which a closure is written, by its name; empty where a name is of none.
func outerOf(function string) string {
	if i := strings.Index(function, ".func"); i > 0 && i+5 < len(function) && function[i+5] >= '1' && function[i+5] <= '9' {
		return function[:i]
	}
	return ""
}

// familyOf finds a function that has most of the CPU time with its closures, and with the functions that it gives these to:
// one that goes through something for a closure is a part of the loop around it. Nil where none has.
func familyOf(in *Input, s *spent) *Through {
	type call struct {
		at stack.Frame
		to string
	}
	users := make([][]stack.Frame, len(s.stacks))
	given := map[call]bool{} // the lines that give a closure of their function to another one
	for i, id := range s.stacks {
		frames := s.v.t.Frames(id)
		for at := nextUser(s.v, frames, 0); at >= 0; at = nextUser(s.v, frames, at+1) {
			users[i] = append(users[i], lineOnly(s.v.t.Frame(frames[at])))
		}
		for j, f := range users[i] {
			outer := outerOf(f.Func)
			for k := j + 2; outer != "" && k < len(users[i]); k++ {
				if users[i][k].Func == outer {
					given[call{users[i][k], users[i][k-1].Func}] = true
					break
				}
			}
		}
	}
	of, lines := map[string]int64{}, map[stack.Frame]int64{}
	for i, own := range users {
		if len(own) == 0 {
			continue
		}
		at := 0
		if outer := outerOf(own[0].Func); outer != "" {
			for k := 1; k < len(own); k++ {
				if own[k].Func == outer {
					at = k
					break
				}
			}
		} else if len(own) > 1 && given[call{own[1], own[0].Func}] {
			at = 1
		}
		of[own[at].Func] += s.counts[i]
		lines[own[at]] += s.counts[i]
	}
	var best stack.Frame
	for f, n := range lines {
		if float64(of[f.Func]) < halfOfAll*float64(s.total) {
			continue
		}
		if m := lines[best]; best.Func == "" || cmp.Or(cmp.Compare(n, m), cmp.Compare(best.Line, f.Line)) > 0 {
			best = f
		}
	}
	if best.Func == "" {
		return nil
	}
	share := float64(of[best.Func]) / float64(s.total)
	e := []Evidence{in.code.shownAt(best.File, best.Line, "%s of the CPU time is in this function, its closures and those that call these for it", unit.Percent(share))}
	e[0].Function = best.Func
	shorten(in, []Finding{{Evidence: e}})
	return &Through{Share: share, Line: float64(lines[best]) / float64(s.total), At: e[0]}
}
