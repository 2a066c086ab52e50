package insight

import (
	"cmp"
	"maps"
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

// causeStack is a way to a line at which a goroutine was that ended a wait of the units, or held it up: one that was seen of those
// who end waits at the line of w. The unit itself may come by the same line another time, by another way, which main,
// as it is one goroutine, cannot do while it waits; 0 where only such a way is known.
func causeStack(in *Input, t *traced, w *waiting, at facts.UnitSite) stack.ID {
	enders, _ := endersOf(t, w.site.Frame)
	own, alone := userRoot(t, w.site.Stack), w.group.Unit.String() == "main"
	waited, other := map[stack.ID]time.Duration{}, map[stack.ID]time.Duration{}
	for _, b := range t.Blocks {
		if t.Site(b.Stack) != at.Frame {
			continue
		}
		root := userRoot(t, b.Stack)
		if alone && root == own {
			continue
		}
		if other[b.Stack] += b.Wait.Sum; root != "" && enders[root] > 0 {
			waited[b.Stack] += b.Wait.Sum
		}
	}
	if len(waited) == 0 && alone {
		waited = other
	}
	best := stack.ID(0)
	for _, id := range slices.Sorted(maps.Keys(waited)) {
		if best == 0 || waited[id] > waited[best] {
			best = id
		}
	}
	switch {
	case best != 0:
		return best
	case !alone:
		return cmp.Or(stackIn(in, t, w.group, at), at.Stack)
	case userRoot(t, at.Stack) == own:
		return 0
	}
	return at.Stack
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
