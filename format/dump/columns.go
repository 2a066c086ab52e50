package dump

import (
	"slices"

	"loupe/value/stack"
)

// row is a goroutine, or a record of a profile, that is being read: all but its
// frames.
type row struct {
	id    uint64
	start int64 // offset of its text
	head  *header
	flags Flags
}

// columns adds rows to a file. Of a text that will be gone it keeps some.
type columns struct {
	f    *File
	keep bool
	kept map[keptKey]bool
	size int // of what is kept
}

// add adds a row to the columns.
func (c *columns) add(w *row, x *frames, count, end int64, in *input) {
	f := c.f
	n := len(f.IDs)
	if n >= MaxGoroutines {
		f.Full = true
		return
	}
	if n == cap(f.IDs) {
		c.grow(n, in)
	}
	id := f.Stacks.Intern(x.stack)
	f.IDs = append(f.IDs, w.id)
	f.StackIDs = append(f.StackIDs, id)
	f.StateIDs = append(f.StateIDs, w.head.state)
	f.Waits = append(f.Waits, w.head.wait)
	f.Creators = append(f.Creators, x.creator)
	f.Objects = append(f.Objects, x.object)
	f.Flags = append(f.Flags, w.flags)
	f.starts = append(f.starts, w.start)
	f.sizes = append(f.sizes, uint32(min(end-w.start, 1<<32-1)))
	if count != 1 && f.Counts == nil {
		f.Counts = make([]int64, n, n+64)
		for i := range f.Counts {
			f.Counts[i] = 1
		}
	}
	if f.Counts != nil {
		f.Counts = append(f.Counts, count)
	}
	if c.keep && in.base>>extraShift == 0 {
		c.keepText(n, keptKey{id, w.head.state, x.object}, in, w.start, end)
	}
}

// grow makes room in all columns, for as many goroutines as the text is likely
// to have: doubling would leave as much garbage as there are columns.
func (c *columns) grow(n int, in *input) {
	room := max(n, 256)
	if at := in.at(); in.sized > 0 && n > 0 && at > 0 && at < in.sized {
		left := float64(in.sized-at) / float64(at) * float64(n)
		room = min(4*n+256, max(int(left*1.05), 256))
		if n >= 4096 {
			room = max(int(left*1.05), 256)
		}
	}
	f := c.f
	f.IDs, f.StackIDs, f.StateIDs, f.Waits = grown(f.IDs, room), grown(f.StackIDs, room), grown(f.StateIDs, room), grown(f.Waits, room)
	f.Creators, f.Objects, f.Flags = grown(f.Creators, room), grown(f.Objects, room), grown(f.Flags, room)
	f.starts, f.sizes = grown(f.starts, room), grown(f.sizes, room)
}

// grown is slices.Grow without clearing what may never be used.
func grown[T any](s []T, room int) []T {
	out := make([]T, len(s), len(s)+room)
	copy(out, s)
	return out
}

// keptKey is what one text is kept of.
type keptKey struct {
	stack stack.ID
	state StateID
	// object is what it waits for: who waits for what is read again.
	object uint64
}

// maxKept bounds the text that is kept of a stream.
const maxKept = 8 << 20

// keepText keeps the text of the first goroutine of each kind, g here.
func (c *columns) keepText(g int, k keptKey, in *input, start, end int64) {
	if c.kept == nil {
		c.kept, c.f.kept = map[keptKey]bool{}, map[int][]byte{}
	}
	from, to := start-in.base, end-in.base
	if c.size > maxKept || c.kept[k] || from < 0 || to > int64(len(in.b)) || from > to {
		return
	}
	c.kept[k] = true
	c.size += int(to-from) + 64
	c.f.kept[g] = slices.Clone(in.b[from:to])
}

// addExtra keeps a text that was inside of a string, as far as there is room.
func (c *columns) addExtra(text []byte) {
	if c.keep && c.size+len(text) > maxKept {
		c.f.extra = append(c.f.extra, nil)
		return
	}
	c.size += len(text)
	c.f.extra = append(c.f.extra, text)
}
