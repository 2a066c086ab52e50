package clickhouse

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"loupe/store"
)

// maxCode is how much memory the code that was read may take, in bytes. Beyond it a
// question begins with none.
const maxCode = 256 << 20

// code is what was read of the spaces, as one tree for all of them: the same stack is one
// node, whoever has numbered it. Nothing in it ever changes, so that it is read once.
type code struct {
	mu   sync.Mutex
	tree *tree
}

// tree is code in columns that are only appended to. The parent of a node is in front
// of it.
type tree struct {
	mu        sync.RWMutex
	functions []store.Function
	lines     []store.Line
	ends      []uint32
	parents   []uint32
	locations []uint32
	spaces    map[uint64]*readSpace
	bytes     int

	functionM map[store.Function]uint32
	locationM map[string]uint32
	nodeM     map[uint64]uint32
	key       []byte
}

// readSpace leads from the numbers of a space to those of the tree, plus one; 0 was not
// read yet.
type readSpace struct {
	locations, stacks []uint32
}

func newTree() *tree {
	return &tree{parents: []uint32{0}, locations: []uint32{0}, spaces: map[uint64]*readSpace{},
		functionM: map[store.Function]uint32{}, locationM: map[string]uint32{}, nodeM: map[uint64]uint32{}}
}

// use returns the tree for one question.
func (c *code) use() *tree {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tree != nil {
		c.tree.mu.RLock()
		defer c.tree.mu.RUnlock()
	}
	if c.tree == nil || c.tree.bytes > maxCode {
		c.tree = newTree()
	}
	return c.tree
}

// nodes returns the nodes of stacks of a space, reading what is missing.
func (t *tree) nodes(ctx context.Context, c *client, space uint64, stacks []uint32) ([]uint32, error) {
	out := make([]uint32, len(stacks))
	missing := t.find(space, stacks, out)
	if !missing {
		return out, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	// Once from where the space ends for us, and once all of it: an insert that is being
	// repeated may come late.
	for _, all := range []bool{false, true} {
		if err := t.load(ctx, c, space, all); err != nil {
			return nil, err
		}
		if missing = t.look(space, stacks, out); !missing {
			return out, nil
		}
	}
	return nil, fmt.Errorf("the table %s lacks stacks of space %d, which profiles have (was part of the database removed?)", c.all("stacks"), space)
}

func (t *tree) find(space uint64, stacks, out []uint32) (missing bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.look(space, stacks, out)
}

// look fills in nodes; the lock is held.
func (t *tree) look(space uint64, stacks, out []uint32) (missing bool) {
	s := t.spaces[space]
	if s == nil {
		return len(stacks) > 0
	}
	for i, id := range stacks {
		if int(id) >= len(s.stacks) || s.stacks[id] == 0 {
			return true
		}
		out[i] = s.stacks[id] - 1
	}
	return false
}

// load reads stacks and locations of a space: those behind the last that is known, or
// all. The lock is held. Stacks are read first, since locations are there before them.
func (t *tree) load(ctx context.Context, c *client, space uint64, all bool) error {
	s := t.spaces[space]
	if s == nil {
		s = &readSpace{}
		t.spaces[space] = s
	}
	where := func(n int) string {
		if all {
			n = 0
		}
		return fmt.Sprintf(" WHERE space = %d AND id >= %d", space, n)
	}
	var ids, ends, paths []uint32
	err := c.ask(ctx, "SELECT id, path FROM "+c.all("stacks")+where(len(s.stacks)), func(r *rows) error {
		ids = append(ids, r.uint32())
		paths = r.uint32s(paths)
		ends = append(ends, uint32(len(paths)))
		if len(paths) > 64<<20 {
			return fmt.Errorf("space %d has more than 64 million frames", space)
		}
		return r.err
	})
	if err != nil {
		return err
	}
	err = c.ask(ctx, "SELECT id, functions, files, starts, lines FROM "+c.all("locations")+where(len(s.locations)), func(r *rows) error {
		id, functions, files := r.uint32(), r.texts(), r.texts()
		starts, lines := r.int64s(nil), r.int64s(nil)
		if r.err != nil {
			return r.err
		}
		if id > 64<<20 || len(files) != len(functions) || len(starts) != len(functions) || len(lines) != len(functions) {
			return fmt.Errorf("location %d of space %d has columns of several lengths", id, space)
		}
		s.locations = grown(s.locations, id)
		s.locations[id] = t.location(functions, files, starts, lines) + 1
		return nil
	})
	if err != nil {
		return err
	}
	begin := uint32(0)
	for i, id := range ids {
		path := paths[begin:ends[i]]
		begin = ends[i]
		node := uint32(0)
		for _, l := range path {
			if int(l) >= len(s.locations) || s.locations[l] == 0 {
				return fmt.Errorf("the table %s lacks location %d of space %d", c.all("locations"), l, space)
			}
			node = t.node(node, s.locations[l]-1)
		}
		if id > 64<<20 {
			return fmt.Errorf("space %d has the stack %d", space, id)
		}
		s.stacks = grown(s.stacks, id)
		s.stacks[id] = node + 1
	}
	t.bytes += 8*len(ids) + 64
	return nil
}

// grown returns a list that has the position.
func grown(list []uint32, at uint32) []uint32 {
	if int(at) < len(list) {
		return list
	}
	return append(list, make([]uint32, int(at)+1-len(list))...)
}

// location finds or adds one.
func (t *tree) location(functions, files []string, starts, lines []int64) uint32 {
	t.key = t.key[:0]
	for i := range functions {
		f := store.Function{Name: functions[i], File: files[i], StartLine: int(starts[i])}
		at, ok := t.functionM[f]
		if !ok {
			at = uint32(len(t.functions))
			t.functions = append(t.functions, f)
			t.functionM[f] = at
			t.bytes += 128 + 2*(len(f.Name)+len(f.File))
		}
		t.key = binary.LittleEndian.AppendUint32(t.key, at)
		t.key = binary.LittleEndian.AppendUint64(t.key, uint64(lines[i]))
	}
	if at, ok := t.locationM[string(t.key)]; ok {
		return at
	}
	for i := range lines {
		f := store.Function{Name: functions[i], File: files[i], StartLine: int(starts[i])}
		t.lines = append(t.lines, store.Line{Function: t.functionM[f], Line: int(lines[i])})
	}
	at := uint32(len(t.ends))
	t.ends = append(t.ends, uint32(len(t.lines)))
	t.locationM[string(t.key)] = at
	t.bytes += 96 + 2*len(t.key)
	return at
}

// node finds or adds the child of a node.
func (t *tree) node(parent, location uint32) uint32 {
	key := uint64(parent)<<32 | uint64(location)
	if at, ok := t.nodeM[key]; ok {
		return at
	}
	at := uint32(len(t.parents))
	t.parents = append(t.parents, parent)
	t.locations = append(t.locations, location)
	t.nodeM[key] = at
	t.bytes += 48
	return at
}

// cut copies the part of the tree that the values are in, which are by nodes, for each
// group. What comes out shares nothing with the tree.
func (t *tree) cut(values [][]int64, most int) (*store.Stacks, error) {
	t.mu.RLock()
	functions, lines, ends, parents, locations := t.functions, t.lines, t.ends, t.parents, t.locations
	t.mu.RUnlock()
	longest := 1
	for _, v := range values {
		longest = max(longest, len(v))
	}
	used := make([]bool, longest)
	used[0] = true
	for _, v := range values {
		for n, one := range v {
			if one != 0 {
				used[n] = true
			}
		}
	}
	count := 1
	for n := longest - 1; n > 0; n-- {
		if used[n] {
			count++
			used[parents[n]] = true
		}
	}
	if count > most {
		return nil, store.TooMuch("nodes", int64(most))
	}
	s := &store.Stacks{Parents: make([]uint32, 1, count), Locations: make([]uint32, 1, count), Values: make([][]int64, len(values))}
	number := make([]uint32, longest)
	locationOf, functionOf := make([]uint32, len(ends)), make([]uint32, len(functions)) // plus one
	from := make([]uint32, 1, count)
	for n := 1; n < longest; n++ {
		if !used[n] {
			continue
		}
		number[n] = uint32(len(s.Parents))
		l := locations[n]
		if locationOf[l] == 0 {
			begin := uint32(0)
			if l > 0 {
				begin = ends[l-1]
			}
			for _, line := range lines[begin:ends[l]] {
				if functionOf[line.Function] == 0 {
					s.Functions = append(s.Functions, functions[line.Function])
					functionOf[line.Function] = uint32(len(s.Functions))
				}
				s.Lines = append(s.Lines, store.Line{Function: functionOf[line.Function] - 1, Line: line.Line})
			}
			s.Ends = append(s.Ends, uint32(len(s.Lines)))
			locationOf[l] = uint32(len(s.Ends))
		}
		s.Parents = append(s.Parents, number[parents[n]])
		s.Locations = append(s.Locations, locationOf[l]-1)
		from = append(from, uint32(n))
	}
	for g, v := range values {
		s.Values[g] = make([]int64, len(from))
		for i, n := range from {
			if int(n) < len(v) {
				s.Values[g][i] = v[n]
			}
		}
	}
	s.Parents, s.Locations = slices.Clip(s.Parents), slices.Clip(s.Locations)
	return s, nil
}
