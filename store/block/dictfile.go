package block

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"loupe/store"
)

// renumber makes the dictionary of a file: what is used alone, in an order that packs
// well. Stacks are in classes of how often they are used, powers of two, so that those
// of most profiles have neighbouring numbers; in a class they are in the order of the
// tree, so that their own nodes differ little. Everything else is numbered where it
// first occurs. The map leads from old stacks to new ones.
func renumber(d *dict, used []int64) (out *dict, stacks []uint32) {
	needed := make([]bool, len(d.parents))
	for s, n := range used {
		if n > 0 {
			needed[d.stacks[s]] = true
		}
	}
	for i := len(d.parents) - 1; i > 0; i-- {
		if needed[i] {
			needed[d.parents[i]] = true
		}
	}
	out = &dict{parents: []uint32{0}, locations: []uint32{0}, sets: d.sets}
	nodes := preorder(d, needed, out)
	stacks = make([]uint32, len(d.stacks))
	var order []uint32
	for s, n := range used {
		if n > 0 {
			order = append(order, uint32(s))
		}
	}
	slices.SortFunc(order, func(a, b uint32) int {
		if c := bits.Len64(uint64(used[b])) - bits.Len64(uint64(used[a])); c != 0 {
			return c
		}
		return int(nodes[d.stacks[a]]) - int(nodes[d.stacks[b]])
	})
	for i, s := range order {
		stacks[s] = uint32(i)
		out.stacks = append(out.stacks, nodes[d.stacks[s]])
	}
	return out, stacks
}

// preorder adds the needed nodes to out, each in front of what is below it, and returns
// the new number of each.
func preorder(d *dict, needed []bool, out *dict) (nodes []uint32) {
	first, next := make([]uint32, len(d.parents)), make([]uint32, len(d.parents))
	for i := len(d.parents) - 1; i > 0; i-- {
		if needed[i] {
			next[i] = first[d.parents[i]]
			first[d.parents[i]] = uint32(i)
		}
	}
	nodes = make([]uint32, len(d.parents))
	locations := make([]uint32, len(d.ends)) // plus one
	functions := make([]uint32, len(d.functions))
	todo := []uint32{first[0]}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if n == 0 {
			continue
		}
		todo = append(todo, next[n], first[n])
		l := d.locations[n]
		if locations[l] == 0 {
			for _, one := range d.linesOf(l) {
				if functions[one.Function] == 0 {
					out.functions = append(out.functions, d.functions[one.Function])
					functions[one.Function] = uint32(len(out.functions))
				}
				out.lines = append(out.lines, store.Line{Function: functions[one.Function] - 1, Line: one.Line})
			}
			out.ends = append(out.ends, uint32(len(out.lines)))
			locations[l] = uint32(len(out.ends))
		}
		nodes[n] = uint32(len(out.parents))
		out.parents = append(out.parents, nodes[d.parents[n]])
		out.locations = append(out.locations, locations[l]-1)
	}
	return nodes
}

// appendDict writes a dictionary column by column: the columns have their statistics
// each, which is what makes them small.
func appendDict(b []byte, d *dict) []byte {
	texts := map[string]uint32{}
	var list []string
	text := func(s string) uint64 { // 0 is a new one, others count back
		at, ok := texts[s]
		if !ok {
			texts[s] = uint32(len(list))
			list = append(list, s)
			return 0
		}
		return uint64(len(list)) - uint64(at)
	}
	var refs []byte
	for _, f := range d.functions {
		refs = binary.AppendUvarint(refs, text(f.Name))
	}
	for _, f := range d.functions {
		refs = binary.AppendUvarint(refs, text(f.File))
	}
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, s := range list {
		b = binary.AppendUvarint(b, uint64(len(s)))
	}
	for _, s := range list {
		b = append(b, s...)
	}
	b = binary.AppendUvarint(b, uint64(len(d.functions)))
	b = append(b, refs...)
	for _, f := range d.functions {
		b = binary.AppendUvarint(b, uint64(f.StartLine))
	}
	b = binary.AppendUvarint(b, uint64(len(d.ends)))
	for i := range d.ends {
		b = binary.AppendUvarint(b, uint64(len(d.linesOf(uint32(i)))))
	}
	new := uint32(0) // functions are numbered where they first occur
	for _, l := range d.lines {
		b = binary.AppendUvarint(b, uint64(new-l.Function))
		if l.Function == new {
			new++
		}
	}
	for _, l := range d.lines { // lines are near the begin of their function
		b = binary.AppendVarint(b, int64(l.Line)-int64(d.functions[l.Function].StartLine))
	}
	b = binary.AppendUvarint(b, uint64(len(d.parents)-1))
	for i := 1; i < len(d.parents); i++ {
		b = binary.AppendUvarint(b, uint64(i-1)-uint64(d.parents[i]))
	}
	new = 0
	for _, l := range d.locations[1:] {
		b = binary.AppendUvarint(b, uint64(new-l))
		if l == new {
			new++
		}
	}
	b = binary.AppendUvarint(b, uint64(len(d.stacks)))
	last := int64(0)
	for _, node := range d.stacks {
		b = binary.AppendVarint(b, int64(node)-last)
		last = int64(node)
	}
	b = binary.AppendUvarint(b, uint64(len(d.sets)))
	for _, l := range d.sets {
		b = appendSet(b, l)
	}
	return b
}

// readDict reads a dictionary. It trusts nothing: every number is within what there is.
func readDict(b []byte) (*dict, error) {
	d := decoder{b: b}
	out := &dict{}
	d.functions(out)
	d.lines(out)
	n := d.count(2)
	out.parents, out.locations = make([]uint32, n+1), make([]uint32, n+1)
	for i := 1; i <= n; i++ {
		out.parents[i] = uint32(i-1) - d.index(i)
	}
	next := uint32(0)
	for i := 1; i <= n; i++ {
		out.locations[i] = d.back(&next, len(out.ends))
	}
	out.stacks = make([]uint32, d.count(1))
	last := int64(0)
	for i := range out.stacks {
		last += d.int()
		if last < 0 || last > int64(n) {
			d.fail()
			break
		}
		out.stacks[i] = uint32(last)
	}
	for range d.count(1) {
		out.sets = append(out.sets, d.set())
	}
	if d.bad || len(d.b) > 0 || len(out.sets) == 0 {
		return nil, errCut
	}
	return out, nil
}

// back reads a number that was written as the distance from the next new one.
func (d *decoder) back(next *uint32, n int) uint32 {
	up := d.uint()
	at := uint64(*next) - up
	if up > uint64(*next) || at >= uint64(n) {
		d.fail()
		return 0
	}
	if up == 0 {
		*next++
	}
	return uint32(at)
}

func (d *decoder) functions(out *dict) {
	sizes := make([]int, d.count(1))
	sum := 0
	for i := range sizes {
		sizes[i] = d.count(1)
		sum += sizes[i]
	}
	if sum > len(d.b) {
		d.fail()
		return
	}
	all := string(d.b[:sum]) // one piece of memory for all names
	d.b = d.b[sum:]
	list := make([]string, len(sizes))
	for i, n := range sizes {
		list[i], all = all[:n], all[n:]
	}
	out.functions = make([]store.Function, d.count(3))
	next := uint32(0)
	text := func() (s string) {
		up := d.uint()
		switch {
		case up == 0 && int(next) < len(list):
			s = list[next]
			next++
		case up > 0 && up <= uint64(next):
			s = list[uint64(next)-up]
		default:
			d.fail()
		}
		return s
	}
	for i := range out.functions {
		out.functions[i].Name = text()
	}
	for i := range out.functions {
		out.functions[i].File = text()
	}
	for i := range out.functions {
		out.functions[i].StartLine = int(d.index(1 << 31))
	}
}

func (d *decoder) lines(out *dict) {
	out.ends = make([]uint32, d.count(1))
	sum := 0
	for i := range out.ends {
		if sum += d.count(0); sum > len(d.b) {
			d.fail()
			return
		}
		out.ends[i] = uint32(sum)
	}
	out.lines = make([]store.Line, sum)
	next := uint32(0)
	for i := range out.lines {
		out.lines[i].Function = d.back(&next, len(out.functions))
	}
	for i := range out.lines {
		if d.bad {
			return
		}
		n := d.int() + int64(out.functions[out.lines[i].Function].StartLine)
		if n < 0 || n > 1<<31 {
			d.fail()
			return
		}
		out.lines[i].Line = int(n)
	}
}
