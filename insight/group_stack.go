package insight

import (
	"slices"
	"time"

	"loupe/analysis/facts"
	"loupe/value/stack"
)

// A line that several groups of units reach keeps the first stack that was seen of it: what is
// shown of a group has to be one of its own.

// stackIn is a stack of a line that goes through what names a group: of its own calls, or of the
// waits there, the longest first. It is that of the site where the group has none, and 0 where
// that one goes through another group.
func stackIn(in *Input, t *traced, g facts.UnitGroup, site facts.UnitSite) stack.ID {
	if runsThrough(t.Frames(site.Stack), g) {
		return usualStack(t, g, site)
	}
	for _, o := range outwards(g) {
		if o.path[0] == site.Frame && runsThrough(t.Frames(o.stack), g) {
			return o.stack
		}
	}
	best, longest := stack.ID(0), time.Duration(-1)
	for _, b := range t.Blocks {
		if b.Wait.Sum > longest && t.Site(b.Stack) == site.Frame && runsThrough(t.Frames(b.Stack), g) {
			best, longest = b.Stack, b.Wait.Sum
		}
	}
	if best != 0 {
		return best
	}
	frames := t.Frames(site.Stack)
	if slices.ContainsFunc(in.Facts.Units().Groups, func(o facts.UnitGroup) bool { return o != g && runsThrough(frames, o) }) {
		return 0
	}
	return site.Stack
}

// usualStack is the stack of a site, or that of another way to its line where goroutines wait there at
// least twice as long: the one that was seen first may be rare.
func usualStack(t *traced, g facts.UnitGroup, site facts.UnitSite) stack.ID {
	waited := map[stack.ID]time.Duration{}
	best := site.Stack
	for _, b := range t.Blocks {
		if t.Site(b.Stack) == site.Frame && runsThrough(t.Frames(b.Stack), g) {
			if waited[b.Stack] += b.Wait.Sum; waited[b.Stack] > waited[best] || waited[b.Stack] == waited[best] && b.Stack < best {
				best = b.Stack
			}
		}
	}
	if waited[best] >= 2*waited[site.Stack] {
		return best
	}
	return site.Stack
}

// runsThrough tells whether a stack goes through the function that names a group.
func runsThrough(frames []stack.Frame, g facts.UnitGroup) bool {
	return g.Name != "" && slices.ContainsFunc(frames, func(f stack.Frame) bool { return stack.Short(f.Func) == stack.Short(g.Name) })
}

// seenIn is evidence at a line that a group waits or works at; without callers where none of its
// own are known.
func seenIn(in *Input, t *traced, g facts.UnitGroup, site facts.UnitSite, format string, args ...any) Evidence {
	frames := []stack.Frame{site.Frame}
	if id := stackIn(in, t, g, site); id != 0 {
		frames = t.Frames(id)
	}
	return t.seenAt(frames, site.Frame, format, args...)
}
