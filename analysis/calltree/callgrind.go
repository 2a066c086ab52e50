package calltree

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
)

// WriteCallgrind prints a graph in the format of callgrind, which KCachegrind
// reads, exactly as go tool pprof -callgrind does. pprof makes the graph with
// granularity addresses, modules and no limits.
func WriteCallgrind(w io.Writer, h Header, g *Graph) error {
	unit := h.unitFor(g, true) // the format has whole numbers only
	whole := func(v int64) int64 {
		x, _ := Scale(v, h.Unit, unit)
		return int64(x)
	}
	names := g.callgrindNames()
	var b bytes.Buffer
	b.WriteString("positions: instr line\n")
	fmt.Fprintf(&b, "events: %s(%s)\n", h.Type, unit)
	var modules, files, functions callgrindIDs
	var before *Node
	for _, n := range g.Nodes {
		if before == nil || n.Module != before.Module || n.File != before.File || n.Func != before.Func {
			fmt.Fprintf(&b, "\nob=%s\nfl=%s\nfn=%s\n", modules.name(n.Module), files.name(n.File), functions.name(n.Func))
		}
		fmt.Fprintf(&b, "%s %d %d\n", callgrindAddress(before, n.Address), n.Line, whole(n.FlatValue()))
		for _, e := range n.Out {
			fmt.Fprintf(&b, "cfl=%s\n", files.name(e.To.File))
			fmt.Fprintf(&b, "cfn=%s\n", functions.name(names[e.To]))
			fmt.Fprintf(&b, "calls=0 %s %d\n* * %d\n", callgrindAddress(before, e.To.Address), e.To.Line, whole(e.Weight))
		}
		before = n
	}
	_, err := w.Write(b.Bytes())
	return err
}

// callgrindNames numbers the functions that callgrind would take for one,
// because their name and file are the same. A node that is not among those of
// the graph has no name.
func (g *Graph) callgrindNames() map[*Node]string {
	type name struct{ file, function string }
	numbers := map[name]map[int32]int{}
	for _, n := range g.Nodes {
		of := name{n.File, n.Func}
		if numbers[of] == nil {
			numbers[of] = map[int32]int{}
		}
		if _, ok := numbers[of][n.whole]; !ok {
			numbers[of][n.whole] = len(numbers[of]) + 1
		}
	}
	names := make(map[*Node]string, len(g.Nodes))
	for _, n := range g.Nodes {
		names[n] = n.Func
		if same := numbers[name{n.File, n.Func}]; len(same) > 1 {
			names[n] += fmt.Sprintf(" [%d/%d]", same[n.whole], len(same))
		}
	}
	return names
}

// callgrindIDs shortens names: the first time a name has its number and
// itself, and from then on the number alone.
type callgrindIDs struct{ numbers map[string]int }

func (c *callgrindIDs) name(s string) string {
	if s == "" {
		return ""
	}
	if id, ok := c.numbers[s]; ok {
		return "(" + strconv.Itoa(id) + ")"
	}
	if c.numbers == nil {
		c.numbers = map[string]int{}
	}
	c.numbers[s] = len(c.numbers) + 1
	return "(" + strconv.Itoa(len(c.numbers)) + ") " + s
}

// callgrindAddress tells an address by its distance from that of the node
// before it, if that is shorter; "*" is the same address.
func callgrindAddress(before *Node, address uint64) string {
	whole := fmt.Sprintf("%#x", address)
	if before == nil {
		return whole
	}
	if before.Address == address {
		return "*"
	}
	if step := fmt.Sprintf("%+d", int64(address-before.Address)); len(step) < len(whole) {
		return step
	}
	return whole
}
