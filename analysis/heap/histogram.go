package heap

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// Row is the objects of one type.
type Row struct {
	Type  string `json:"type"`
	Count int64  `json:"count"`
	Bytes int64  `json:"bytes"`
	// Retained is how many bytes would be free without the objects, where the
	// graph has been made.
	Retained int64 `json:"retained,omitempty"`
}

// Total is a number of objects and what they take.
type Total struct {
	Count int64 `json:"count"`
	Bytes int64 `json:"bytes"`
}

// Totals are the sums over the heap, in bytes as the allocator hands them out.
type Totals struct {
	// Reached is what a root leads to, Garbage what is allocated without being
	// led to: the collector has not come by yet.
	Reached Total `json:"reached"`
	Garbage Total `json:"garbage"`
	// Unknown is what of the reached has no type.
	Unknown Total `json:"unknown"`
	// Pinned is what of the reached only small parts keep; nil where nothing is.
	Pinned *Pinned `json:"pinned,omitempty"`
	// Spans is what the spans of objects take, free places included.
	Spans int64 `json:"spans"`
}

// Totals returns the sums over the heap.
func (h *Heap) Totals() (t Totals) {
	for i := range h.spans {
		s := &h.spans[i]
		t.Spans += int64(s.npages) << pageBits
		used, reached := h.used.between(s.first, s.nelems), h.marked.between(s.first, s.nelems)
		t.Reached.add(reached, s.elemsize)
		t.Garbage.add(used-reached, s.elemsize)
	}
	h.each(h.marked, func(id uint32, s *span) {
		if h.typeOf[id]>>rankShift <= rankWithin {
			t.Unknown.add(1, s.elemsize)
		}
	})
	t.Pinned = h.Pinned()
	return t
}

func (t *Total) add(n int64, size uint64) {
	t.Count += n
	t.Bytes += n * int64(size)
}

// between counts the members from an object on, n of them.
func (s bitset) between(first, n uint32) (sum int64) {
	// Spans begin at whole bytes.
	for i := first; i < first+n; {
		w := s[i>>6] >> (i & 63)
		k := min(64-i&63, first+n-i)
		if k < 64 {
			w &= 1<<k - 1
		}
		sum += int64(bits.OnesCount64(w))
		i += k
	}
	return sum
}

// Histogram returns what is reached by type, the most bytes first.
func (h *Heap) Histogram() []Row {
	sums := map[kindKey]*Total{}
	var last kindKey
	var at *Total
	h.each(h.marked, func(id uint32, s *span) {
		k := h.keyOf(id, s)
		if at == nil || k != last {
			last = k
			if at = sums[k]; at == nil {
				at = &Total{}
				sums[k] = at
			}
		}
		at.add(1, s.elemsize)
	})
	// Types of different units of the debug information may have one name.
	byName := map[string]*Row{}
	for k, t := range sums {
		name := unknownName(k.size, k.noscan)
		switch {
		case k.pinned:
			name = PinnedType
		case k.kind != 0:
			name = h.kindName(k.kind)
		}
		r := byName[name]
		if r == nil {
			r = &Row{Type: name}
			byName[name] = r
		}
		r.Count += t.Count
		r.Bytes += t.Bytes
	}
	rows := make([]Row, 0, len(byName))
	for _, r := range byName {
		rows = append(rows, *r)
	}
	slices.SortFunc(rows, func(x, y Row) int {
		return cmp.Or(cmp.Compare(y.Bytes, x.Bytes), cmp.Compare(x.Type, y.Type))
	})
	return rows
}

func unknownName(size uint64, noscan bool) string {
	if noscan {
		return fmt.Sprintf("unknown %d B, no pointers", size)
	}
	return fmt.Sprintf("unknown %d B", size)
}

// parts says what the structures are that the runtime makes of maps and channels.
var parts = []struct{ prefix, suffix string }{
	{"map<", ""}, {"hash<", ""}, {"table<", " (table)"}, {"group<", " (group)"}, {"bucket<", " (bucket)"},
}

// goName is a type as a Go programmer would call it: the runtime's structures are
// called after the maps and channels that they are parts of.
func goName(name string) string {
	if rest, ok := strings.CutPrefix(name, "*"); ok {
		return "*" + goName(rest)
	}
	for _, p := range []string{"noalg.map.group", "map.group"} {
		if rest, ok := strings.CutPrefix(name, p); ok {
			return "map" + rest + " (group)"
		}
	}
	if rest, ok := strings.CutPrefix(name, "hchan<"); ok {
		return "chan " + strings.TrimSuffix(rest, ">")
	}
	for _, p := range parts {
		if rest, ok := strings.CutPrefix(name, p.prefix); ok {
			if k, v, ok := splitPair(strings.TrimSuffix(rest, ">")); ok {
				return "map[" + k + "]" + v + p.suffix
			}
		}
	}
	return name
}

// splitPair splits the two types of a map at the comma that is not within one.
func splitPair(s string) (k, v string, ok bool) {
	depth := 0
	for i, c := range s {
		switch c {
		case '[', '{', '(', '<':
			depth++
		case ']', '}', ')', '>':
			depth--
		case ',':
			if depth == 0 {
				return s[:i], s[i+1:], true
			}
		}
	}
	return "", "", false
}
