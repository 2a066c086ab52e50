package insight

import (
	"go/ast"
	"slices"
	"strings"

	"loupe/value/stack"
)

// Sorts in functions that others call back: whether they come once, or once for each of many items.

// callsEach are functions of libraries that call what they are given for each item of what they go through.
var callsEach = lazily(`^(Range|Walk\w*|walk\w*|\w*Each\w*|Visit\w*|Iterate\w*|Inspect|Ascend\w*|Descend\w*)$`)

// callsForEach tells of a function of a library that it calls what it is given for each of many, by its name.
func callsForEach(fn string) bool {
	return !callsOnce.MatchString(fn) && (callsEach.MatchString(ownName(stack.FoldGenerics(fn))) || strings.HasPrefix(fn, "container/ring.(*Ring).Do"))
}

// sortTurns tells of the sort on a stack, at the line of its frame at, whether it is made more than once in a run: the counts decide where there
// are any, and else the source. It is not known where a library calls the program back, which may do that any number of times.
func sortTurns(c *code, v *view, frames []stack.FrameID, at int) (again, known bool) {
	if n, counted := lineReached(c, v.t.Frame(frames[at])); counted {
		return n > 1, true
	}
	if repeatsFrom(c, v, frames, at) {
		return true, true
	}
	for i := at; i < lastUser(v, frames); i++ {
		if o := v.origins[frames[i]]; (o == stack.Standard || o == stack.Dependency) && !callsOnce.MatchString(v.t.Frame(frames[i]).Func) {
			return false, false
		}
	}
	return false, true
}

// sortedTimes tells whether the same list is sorted again after the adding, and how often in the run that counts; 0 is not known. A list that the
// function around a function literal makes is another one in each of its calls: then the literal has to be called several times within one.
func (a *sortedAppend) sortedTimes(c *code, v *view, frames []stack.FrameID, at int) (times int64, again bool) {
	line := v.t.Frame(frames[at])
	n, counted := lineReached(c, line)
	if a.maker == nil {
		if counted {
			return n, n > 1
		}
		return 0, repeatsFrom(c, v, frames, at)
	}
	if made, known := a.made(c, line); counted && known {
		return n, n >= 2*made
	}
	for i := at + 1; i < len(frames); i++ {
		f := v.t.Frame(frames[i])
		switch v.origins[frames[i]] {
		case stack.User:
			if f.File == line.File && c.parse(f.File).covers(a.maker, f.Line) && !strings.HasPrefix(f.Func, line.Func) {
				return 0, calledInTurnsOf(c, a.maker, f)
			}
			if calledInTurns(c, f, v.t.Frame(frames[i-1]).Func) {
				return 0, true
			}
		case stack.Standard, stack.Dependency:
			if callsForEach(f.Func) {
				return 0, true
			}
		}
	}
	return 0, false
}

// calledInTurnsOf tells whether a line of the function that makes a list is in a loop, behind the making.
func calledInTurnsOf(c *code, maker *ast.BlockStmt, f stack.Frame) bool {
	return slices.ContainsFunc(loopsAround(c, f), func(l loop) bool { return maker.Pos() <= l.stmt.Pos() && l.stmt.End() <= maker.End() })
}

// made is how often the function was called that makes the list, in the run that counts.
func (a *sortedAppend) made(c *code, line stack.Frame) (n int64, known bool) {
	counts := blockCountsOf(c)
	if counts == nil {
		return 0, false
	}
	if n, known = counts.blocks.Entered(line.File, a.makerAt); known {
		return n, n > 0
	}
	in, ok := counts.d.at(line)
	if !ok || !a.makerDeclared {
		return 0, false
	}
	return calledTimes(counts, frameCode{decl: in.decl, file: in.file})
}
