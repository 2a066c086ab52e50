package insight

import (
	"fmt"
	"go/ast"
	"slices"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

// Where nobody got a lock during a trace, no wait leads to who holds it. What is done under it by the source, and takes the CPU time, is who probably does.

// likelyHolder is the part of the source under a lock in which most of the CPU time is spent.
type likelyHolder struct {
	part  held
	at    stack.Frame // the line in it through which most of that goes
	marks []bool
	share float64
	walk  *lockWalk
}

// likelyHolderOf finds it; nil where no part that keeps all others out has most of the CPU time.
func likelyHolderOf(in *Input, at stack.Frame) *likelyHolder {
	s := spentOf(in)
	if s == nil {
		return nil
	}
	var best *likelyHolder
	for _, part := range partsUnder(in.code, at) {
		if part.isShared() {
			continue
		}
		h := &likelyHolder{part: part, marks: make([]bool, len(s.stacks))}
		lines, walks := map[stack.Frame]int64{}, map[*lockWalk]int64{}
		w := &walkFinder{in, derivationsWith(in.code, blockCountsOf(in.code)), map[ast.Stmt]*lockWalk{}}
		for i, id := range s.stacks {
			frames := framesOf(s.v.t, id)
			k := slices.IndexFunc(frames, func(f stack.Frame) bool { return f.File == at.File && part.has(f.Line) && !inClosure(f.Func) })
			if k < 0 {
				continue
			}
			h.marks[i] = true
			f := lineOnly(frames[k])
			if lines[f] += s.counts[i]; lines[f] > lines[h.at] {
				h.at = f
			}
			if x := w.outermost(frames, k, part.from); x != nil {
				if walks[x] += s.counts[i]; walks[x] > walks[h.walk] {
					h.walk = x
				}
			}
		}
		h.share = s.share(h.marks)
		if s.weight(h.marks) < enoughHeld || h.share < halfOfAll || best != nil && best.share >= h.share {
			continue
		}
		if float64(walks[h.walk]) < halfOfAll*float64(s.weight(h.marks)) {
			h.walk = nil
		}
		best = h
	}
	return best
}

// tellLikely says of waits for a lock that nobody got during the trace who probably holds it.
func (c *contention) tellLikely(p *facts.Place, f *Finding) bool {
	h := likelyHolderOf(c.in, p.At)
	if h == nil {
		return false
	}
	text := fmt.Sprintf("; nobody got it during the trace: by the source and the CPU samples, %s probably holds it all that time, as %s of the CPU time is spent under the lock that it takes at %s:%d",
		stack.Short(h.at.Func), unit.Percent(h.share), baseName(h.at.File), h.part.from)
	e := c.in.code.shownAt(h.at.File, h.at.Line, "probably holds the lock here, which is taken at line %d: %s of the CPU time is spent under it", h.part.from, unit.Percent(h.share))
	e.Function = h.at.Func
	at := []Evidence{e}
	f.Advice = "Make what is done under the lock cheaper, or do there only what needs it."
	if h.walk != nil {
		f.Title = walkedTitle
		text += h.walk.says()
		at = append(at, c.in.code.shownAt(h.walk.at.file, h.walk.at.line, "goes through %s under the lock", h.walk.over))
		f.Advice = h.walk.advice("")
	}
	f.Summary += text
	f.Evidence = slices.Insert(f.Evidence, 0, at...)
	f.Doubts = append(f.Doubts, "who holds the lock is not seen: it is likely by what takes the CPU time; a goroutine dump shows it (loupe trace blocked)")
	return true
}
