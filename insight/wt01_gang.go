package insight

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/value/stack"
	"loupe/value/unit"
)

// Who hands items to several goroutines, or waits for a slot that several have, waits for the first of them that is
// ready. What that one did is no fair picture of them: those that are held up elsewhere end no wait meanwhile.

// gang are the goroutines that end the waits of a unit at one line, all together.
type gang struct {
	root string        // the function of the program that they begin with
	at   stack.Frame   // where they wait most
	wait time.Duration // of all of them, there
	all  time.Duration // that they were at work, or held up
}

// Chosen: see [gangOf].
const (
	// gangWaits is how many waits a unit has at the line, at least: with as many goroutines that are waited for
	// once each, the last of them says what takes long.
	gangWaits = 8
	// gangOne is the part of the wake-ups that are of goroutines of one kind, gangMost the part of their time that
	// they wait at one line.
	gangOne  = 0.6
	gangMost = 0.5
	// gangInWay is the part of the unit's wait, at least, in which the one that ended it had just waited there: what
	// goroutines do after they have let the unit go on is not in its way.
	gangInWay = 0.02
	// gangTurns is how many waits each of them ends, at least, to be one that serves again and again.
	gangTurns = 4
	// gangSeveral is how many times as long as the unit they were held up in all.
	gangSeveral = 1.5
)

// gangOf looks at all goroutines of the kind that end the waits of units at a line. Where they wait most at another line
// than the one that the last ones came from, that is what the units wait for: it becomes the first of the causes.
func gangOf(w *waiting, t *traced) {
	if w.kind != "channel" || len(w.causes) == 0 || w.queues() || w.group.Seen.Count != w.group.Wall.Count || w.count < gangWaits*max(1, w.group.Wall.Count) {
		return
	}
	root := gangRoot(w, t)
	if root == "" {
		return
	}
	ran, members := gangRan(t, root)
	c := &gang{root: root, all: ran}
	if c.all == 0 {
		return // how much they compute is not known
	}
	at, paused := map[stack.Frame]time.Duration{}, map[stack.Frame]*sched.Block{}
	for _, b := range t.OwnBlocks(func(b *sched.Block) bool { return userRoot(t, b.Stack) == root }) {
		site := t.Site(b.Stack)
		d := b.Wait.Sum
		for _, by := range b.Wakers {
			if by.Stack != 0 && (t.Site(by.Stack) == w.site.Frame || slices.Contains(handsSlots, b.Reason) && userRoot(t, by.Stack) == root) {
				d -= by.Time // they had nothing to do, or stood in a queue for each other
			}
		}
		at[site] += d
		c.all += d
		if most := paused[site]; pauseOf(b) != "" && (most == nil || most.Wait.Sum < b.Wait.Sum) {
			paused[site] = b
		}
		if at[site] > c.wait || at[site] == c.wait && site == c.at {
			c.at, c.wait = site, at[site]
		}
	}
	first, in := -1, time.Duration(0)
	for i := range w.causes {
		if row := &w.causes[i]; row.Cause.Site.Frame == c.at && gangHeld[row.Cause.Kind.Key()] {
			if in += row.Time; first < 0 {
				first = i
			}
		}
	}
	if first == 0 || float64(c.wait) < gangMost*float64(c.all) || float64(c.all) < gangSeveral*float64(w.time) {
		return
	}
	var row facts.UnitRow
	switch most := paused[c.at]; {
	case first > 0 && float64(in) >= gangInWay*float64(w.time):
		row = w.causes[first]
		w.causes = slices.Delete(slices.Clone(w.causes), first, first+1)
	case most != nil && gangTurns*members <= w.count: // they are free only when they have paused
		row = *w.rows[0]
		row.Cause.Kind, row.Cause.Site = kindOf(pauseOf(most)), facts.UnitSite{Frame: c.at, Stack: most.Stack, User: true}
	default:
		return
	}
	w.causes = slices.Insert(w.causes, 0, row)
	w.gang = c
}

// pauseOf is the key of the kind of a wait that nobody ends but a timer; empty for others.
func pauseOf(b *sched.Block) string {
	switch {
	case b.Reason == exectrace.NameSleep:
		return "sleep"
	case (b.Reason == exectrace.NameSelect || b.Reason == exectrace.NameChanReceive) && len(b.Wakers) > 0 && b.Wakers[0].Stack == 0 && 10*b.Wakers[0].Time >= 9*b.Wait.Sum:
		return "timer"
	}
	return ""
}

// kindOf is the kind with a key.
func kindOf(key string) (k facts.UnitKind) {
	for k.Key() != key {
		k++
	}
	return k
}

// gangHeld are the kinds of waits that are a cause by themselves.
var gangHeld = map[string]bool{"sleep": true, "timer": true, "time_limit": true, "lock": true, "network": true, "dial": true, "dns": true, "tls": true, "network_write": true, "file_call": true, "process": true}

// handsSlots are the reasons of waits in which goroutines hand each other something: an item, or a slot.
var handsSlots = []exectrace.NameID{exectrace.NameChanSend, exectrace.NameChanReceive, exectrace.NameSelect}

// gangRoot is the function that nearly all goroutines begin with which end waits on a channel at the line; empty where they are
// of several kinds.
func gangRoot(w *waiting, t *traced) (root string) {
	by, sum := endersOf(t, w.site.Frame, handsSlots...)
	for _, r := range slices.Sorted(maps.Keys(by)) {
		if by[r] > by[root] || root == "" {
			root = r
		}
	}
	if root == userRoot(t, w.site.Stack) || float64(by[root]) < gangOne*float64(sum) {
		return ""
	}
	return root
}

// endersOf is how long waits at a line took which goroutines have ended that begin with a function of the program, by that
// function. With reasons, only waits for these count.
func endersOf(t *traced, at stack.Frame, reasons ...exectrace.NameID) (by map[string]time.Duration, sum time.Duration) {
	by = map[string]time.Duration{}
	libraries := map[string]string{}
	for _, b := range t.OwnBlocks(func(b *sched.Block) bool {
		return (len(reasons) == 0 || slices.Contains(reasons, b.Reason)) && t.Site(b.Stack) == at
	}) {
		for _, x := range b.Wakers {
			if x.Stack == 0 {
				continue
			}
			r := userRoot(t, x.Stack)
			if first := outermost(t, x.Stack); r == "" && first != "" {
				known, ok := libraries[first]
				if !ok {
					known = startedThrough(t, first, at)
					libraries[first] = known
				}
				r = known
			}
			by[r] += x.Time
			sum += x.Time
		}
	}
	return by, sum
}

// outermost is the function that the goroutine of a stack begins with.
func outermost(t *traced, id stack.ID) string {
	for _, f := range slices.Backward(t.Frames(id)) {
		if f.Func != "" && f.Func != "runtime.goexit" {
			return f.Func
		}
	}
	return ""
}

// startedThrough is the function of the program that nearly all goroutines run which begin with one of a library. The
// library frees the slot, or takes the next function, when that of the program has returned (errgroup with SetLimit, pools of
// goroutines): no stack of such a moment has code of the program. Of several functions it is that in a literal of the function
// which starts goroutines at the line; empty where that does not tell.
func startedThrough(t *traced, library string, at stack.Frame) (root string) {
	by, near, sum, nearSum := map[string]time.Duration{}, map[string]time.Duration{}, time.Duration(0), time.Duration(0)
	starts := slices.ContainsFunc(t.Creators, func(g *sched.Group) bool {
		return g.Creator != 0 && t.Reader.Name(g.Name) == library && t.Site(g.Creator) == at
	})
	for _, b := range t.OwnBlocks(func(b *sched.Block) bool { return outermost(t, b.Stack) == library }) {
		r := userRoot(t, b.Stack)
		if r == "" {
			continue
		}
		by[r] += b.Wait.Sum
		if sum += b.Wait.Sum; starts && strings.HasPrefix(r, at.Func+".") {
			near[r] += b.Wait.Sum
			nearSum += b.Wait.Sum
		}
	}
	if nearSum > 0 {
		by, sum = near, nearSum
	}
	for _, r := range slices.Sorted(maps.Keys(by)) {
		if by[r] > by[root] || root == "" {
			root = r
		}
	}
	if float64(by[root]) < gangOne*float64(sum) {
		return ""
	}
	return root
}

// userRoot is the function of the program that is furthest from the leaf of a stack: what its goroutine is there for.
func userRoot(t *traced, id stack.ID) string {
	for _, f := range slices.Backward(t.Frames(id)) {
		if t.Scope.IsUser(f) {
			return f.Func
		}
	}
	return ""
}

// gangRan is how long goroutines that begin with a function ran, where a library such as errgroup starts them for the
// program as well: these are told by the function that the literal stands in. n is how many they are.
func gangRan(t *traced, root string) (sum time.Duration, n int64) {
	for _, g := range t.Creators {
		name := t.Reader.Name(g.Name)
		if name == root || g.Creator != 0 && !t.Scope.IsUser(stack.Frame{Func: name}) && startsLiteral(t, g.Creator, root) {
			sum += g.Exec
			n += g.Count
		}
	}
	return sum, n
}

// startsLiteral tells whether the line of the program that starts a goroutine is in the function around a literal.
func startsLiteral(t *traced, creator stack.ID, literal string) bool {
	for _, f := range t.Frames(creator) {
		if t.Scope.IsUser(f) {
			return strings.HasPrefix(literal, f.Func+".")
		}
	}
	return false
}

// clause says of a gang what it does while a unit waits for it.
func (c *gang) clause(doing string) string {
	return fmt.Sprintf(", for goroutines of %s, which spend %s of their time %s in %s", stack.Short(c.root), unit.Percent(float64(c.wait)/float64(max(1, c.all))), doing, place(c.at))
}

// shown is what the evidence says of the line.
func (c *gang) shown(doing string) string {
	return fmt.Sprintf("the goroutines it waits for are %s here for %s of %s in all", doing, unit.Duration(c.wait), unit.Duration(c.all))
}
