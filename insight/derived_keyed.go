package insight

import (
	"cmp"
	"fmt"
	"go/types"
	"strings"

	"loupe/value/stack"
)

// keyedValue is a function whose result depends on what the program keeps and on a few texts and numbers that it is
// given: for the same of these it gives the same, until what is kept changes.
type keyedValue struct {
	name string
	at   stack.Frame // its line on the way
	keys []string
	rec  recomputed
}

// keyedOn finds such a function on a stack, the outermost one, from the at-th frame outward. It has to go through what
// is kept for long: something that its receiver or a variable of a package leads to, of which the source shows where
// it changes. What depends on nothing that it is given is no keyed value: see [derivedAgain].
func keyedOn(in *Input, v *view, frames []stack.FrameID, at int) (x keyedValue, ok bool) {
	if at < 0 {
		return x, false
	}
	way, user := make([]stack.Frame, len(frames)), make([]bool, len(frames))
	for i, id := range frames {
		way[i], user[i] = v.t.Frame(id), v.origins[id] == stack.User
	}
	return keyedAmong(newDerivations(in.code), way, user, at)
}

// keyedAmong is keyedOn of the functions on a way, of which user says which are the program's.
func keyedAmong(d *derivations, way []stack.Frame, user []bool, at int) (x keyedValue, ok bool) {
	for i := len(way) - 1; i >= at; i-- {
		in, found := d.at(way[i])
		if !user[i] || !found || in.lit != nil {
			continue
		}
		f := d.value(in.decl)
		if f == nil || !f.works {
			continue
		}
		var same []types.Object
		for _, p := range parametersOf(d, in.decl) {
			if isBasic(p.Type()) {
				same = append(same, p)
				x.keys = append(x.keys, p.Name())
			}
		}
		if len(same) == 0 {
			continue
		}
		if _, always := d.again(f, way[i:], user[i:]); always {
			return x, false
		}
		rec, again := d.againFor(f, way[i:], user[i:], same)
		if again && rec.kind == againRequest && rec.others() {
			x.name, x.at, x.rec = way[i].Func, way[i], rec
			return x, true
		}
		x.keys = nil
	}
	return x, false
}

// text says what the function computes, for the end of a piece of advice.
func (x *keyedValue) text(in *Input) string {
	keys := andList(x.keys)
	var of []string
	var first string
	for _, c := range x.rec.changes {
		if c.starts {
			continue
		}
		if at := typedOf(in.code).placeAt(c).text(); first == "" {
			first = at
		}
		if name := c.of.Name(); len(of) < 3 && !strings.Contains(" "+strings.Join(of, " ")+" ", " "+name+" ") {
			of = append(of, name)
		}
	}
	return fmt.Sprintf("By the source, %s, which is called for each request, only computes its result: from %s, which the program changes elsewhere (%s), and from %s. For the same %s it gives the same until then: "+
		"keep the results in a map by %s, and empty it where %s changes, if requests bring the same %s again.", stack.Short(x.name), andList(of), first, keys, keys, keys, cmp.Or(strings.Join(of[:min(1, len(of))], ""), "that"), keys)
}
