package tiles

import (
	"slices"

	"loupe/format/exectrace"
	"loupe/value/stack"
)

// groups are the lanes of goroutines that begin with one function.
type groups struct {
	fold   *folding
	list   []*counts // the first one is of goroutines without a name
	byName []uint32  // the group of a function, 0 for none
}

// join puts a goroutine with a stack into its group.
func (x *groups) join(r *exectrace.Reader, g *life, id stack.ID, at tick) {
	g.group = x.of(r, r.Root(id), at)
	x.belong(g)
}

// belong makes a goroutine count in its group.
func (x *groups) belong(g *life) {
	if g.count = x.list[g.group]; g.count.gc {
		g.flags |= flagWorker
	}
}

// maxGroups bounds the groups, for traces made up to have many. What is
// beyond goes to the group without a name.
const maxGroups = 1 << 16

// of returns the group of the goroutines that begin with a function.
func (x *groups) of(r *exectrace.Reader, name exectrace.NameID, at tick) uint32 {
	if int(name) < len(x.byName) && x.byName[name] != 0 {
		return x.byName[name]
	}
	if name == exectrace.NameNone || len(x.list) >= maxGroups {
		return 0
	}
	for len(x.byName) <= int(name) {
		x.byName = append(x.byName, 0)
	}
	id := uint32(len(x.list))
	c := newCounts(name, at, x.fold.firstBase())
	c.gc = worksForGC(r.Name(name))
	x.list = append(x.list, c)
	x.byName[name] = id
	return id
}

// worksForGC says whether goroutines that begin with a function do nothing
// but work for the collector.
func worksForGC(function string) bool {
	switch function {
	case "runtime.gcBgMarkWorker", "runtime.bgsweep", "runtime.bgscavenge":
		return true
	}
	return false
}

func (x *groups) clone() groups {
	c := groups{fold: x.fold, list: make([]*counts, len(x.list)), byName: slices.Clip(x.byName)}
	for i, g := range x.list {
		g := *g
		g.pyramid = g.pyramid.clone()
		c.list[i] = &g
	}
	return c
}
