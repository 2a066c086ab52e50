package tiles

import (
	"encoding/binary"
	"slices"
	"sort"
)

// Snapshot returns the set of the events so far, as if the trace ended here,
// and leaves the builder as it is: it goes on with the next event. The two
// share all that does not change any more, so that a snapshot costs little
// beside a copy of each living goroutine.
//
// Snapshots are numbered, see [Set.Version], and so are what their tiles hold:
// a viewer that has those of one asks the next for what has changed.
//
// Before the first event there is no origin, and the set is empty and has
// number 0.
func (b *Builder) Snapshot() *Set {
	if !b.started {
		return NewBuilder(b.r, b.opts).Finish()
	}
	b.lanes.eachColumn(func(c *column) { c.build() })
	b.versions = append(b.versions, b.now)
	c := *b
	c.lanes, c.snapshot = b.lanes.clone(), true
	s := c.Finish()
	// To end a lane may have made its base coarser than it will be when it has
	// gone on: what counts is what the snapshot has.
	bases := make(map[laneName]uint8, len(s.lanes))
	for i := range s.lanes {
		l := &s.lanes[i]
		bases[laneName{l.kind, l.subject, l.title}] = l.base
	}
	b.lanes.eachPyramid(b.r, func(m *marks, l laneName, settled tick) {
		m.set(len(b.versions), bases[l], settled)
	})
	return s
}

// laneName tells a lane from all others of a set, in every snapshot.
type laneName struct {
	kind    Kind
	subject int64
	title   string
}

// marks say what a pyramid without spans was in the snapshots before.
type marks []mark

// mark is news of a pyramid in a snapshot.
type mark struct {
	version int
	base    uint8
	settled tick // what lies in front of it will not change, but by a new base
}

func (m *marks) set(version int, base uint8, settled tick) {
	if n := len(*m); n == 0 || (*m)[n-1].base != base || (*m)[n-1].settled != settled {
		*m = append(*m, mark{version, base, settled})
	}
}

// at returns the mark that counts in a snapshot, false in front of the first.
func (m marks) at(version int) (mark, bool) {
	n := sort.Search(len(m), func(i int) bool { return m[i].version > version })
	if n == 0 {
		return mark{}, false
	}
	return m[n-1], true
}

// always stands for the instant of the snapshot itself: counts know no spans
// that go on.
const always = maxTick

func (c *column) clone() column {
	out := *c
	out.words = append(make([]uint32, 0, cap(c.words)), c.words...)
	out.buf = slices.Clip(c.buf)
	if c.more != nil {
		m := *c.more
		// What is to come goes to a piece of its own, which is small.
		m.pieces = append(slices.Clone(m.pieces), make([]byte, 0, (len(c.words)+1)*maxSpan+2*binary.MaxVarintLen64))
		m.skips = slices.Clip(m.skips)
		m.pyramid = m.pyramid.clone()
		out.more = &m
	}
	return out
}

func (p *pyramid[T, S]) clone() pyramid[T, S] {
	out := *p
	out.levels = slices.Clone(p.levels)
	for i := range out.levels {
		out.levels[i].rows = slices.Clone(out.levels[i].rows)
	}
	return out
}

// Version returns the number of the snapshot that the set is, from 1 on; that
// of [Builder.Finish] comes after the last. A set that was opened has 0.
func (h *history) Version() int { return h.version }

// Find returns the lane that shows something: the P, the thread or the
// goroutine with a number, or the group or counter of a name. The lanes of a
// snapshot are numbered anew. Goroutines without a pyramid are looked for one
// by one.
func (s *Set) Find(k Kind, subject int64, name string) (LaneID, bool) {
	for i := range s.lanes {
		if l := &s.lanes[i]; l.kind == k && l.subject == subject && (l.title == name || k == KindGoroutine) {
			return LaneID(i), true
		}
	}
	found, ok := LaneID(0), false
	if k == KindGoroutine {
		s.eachShort(func(id LaneID, b *brief) {
			if b.id == subject && !ok {
				found, ok = id, true
			}
		})
	}
	return found, ok
}

// Changed says whether a tile may hold something else than in an earlier
// snapshot, which had the lane. Who asks for a tile of a set that is not a
// snapshot, or since version 0, is told so.
func (s *Set) Changed(id TileID, since int) bool {
	if since >= s.version {
		return false
	}
	if since <= 0 || since > len(s.versions) {
		return true
	}
	if int(id.Level) > s.Top() || s.topAt(since) < int(id.Level) {
		return true // it was another one
	}
	shift := max(id.Level, MinLevel) - grainShift
	var settled tick
	at := s.versions[since-1]
	if list, exact := s.spans(id.Lane); exact {
		k, ok := list.seek(at - 1)
		if !ok {
			return false // the lane had ended
		}
		settled = min(at, k.start)
	} else {
		if int(id.Lane) >= len(s.lanes) {
			return true
		}
		was, ok := s.marks[id.Lane].at(since)
		base := s.lanes[id.Lane].base
		if !ok || was.base != base && shift < max(base, was.base) {
			return true
		}
		settled = min(at, was.settled)
		if shift < base { // the answer is the tile of the base
			id.Index = uint32(uint64(id.Index) >> (base - shift))
			shift = base
		}
	}
	return (tick(id.Index)+1)<<min(shift+tileShift, maxTop-1) > settled
}

// topAt returns the top of a snapshot.
func (h *history) topAt(version int) int { return int(topOf(h.versions[version-1]+1)) + grainShift }

// TileVersion returns the number of the snapshot since which a tile holds what
// it does now, this one's for one that may change with the next event.
func (s *Set) TileVersion(id TileID) int {
	return sort.Search(s.version, func(v int) bool { return !s.Changed(id, v) })
}

// AppendChanged appends those of the tiles that have changed since an earlier
// snapshot, in the form of [Set.AppendTiles]: normally the last one of each
// lane and level.
func (s *Set) AppendChanged(dst []byte, since int, ids []TileID) []byte {
	at, n := len(dst), uint32(0)
	dst = append(dst, 0, 0, 0, 0)
	for _, id := range ids {
		if s.Changed(id, since) {
			t := s.Tile(id)
			dst = t.append(dst)
			n++
		}
	}
	binary.LittleEndian.PutUint32(dst[at:], n)
	return dst
}
