package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"iter"
	"math/rand/v2"

	"loupe/format/profile"
	"loupe/format/profile/profiletest"
	"loupe/value/stack"
)

// row is one sample of a generated profile.
type row struct {
	locations []int // positions in the locations of the seed, leaf first
	values    []int64
	bytes     int64       // numeric label, as heap profiles have it; 0 is none
	labels    [][2]string // keys and values
}

// seed is a real profile whose stacks generated ones are made of.
type seed struct {
	*profile.Profile
	rand *rand.Rand
}

func newSeed(data []byte) (*seed, error) {
	p, err := profile.Decode(data, profile.Options{})
	if err != nil {
		return nil, err
	}
	return &seed{p, rand.New(rand.NewPCG(7, 11))}, nil
}

// stack appends the locations of a sample of the seed.
func (s *seed) stack(list []int, sample int) []int {
	frames := s.Stacks.Frames(s.StackIDs[sample])
	for len(frames) > 0 {
		at := s.LocationOf(frames[0])
		list = append(list, at)
		frames = frames[s.Locations[at].NumFrames():]
	}
	return list
}

// spliced makes a stack that is nowhere in the seed: the leaf part of one and
// the root part of another.
func (s *seed) spliced() []int {
	leaf, root := s.stack(nil, s.rand.IntN(s.Len())), s.stack(nil, s.rand.IntN(s.Len()))
	if len(leaf) == 0 || len(root) == 0 {
		return append(leaf, root...)
	}
	return append(leaf[:1+s.rand.IntN(len(leaf))], root[s.rand.IntN(len(root)):]...)
}

// heap makes samples of a heap profile. A bit less than half of the stacks are
// distinct, as in a long-running server.
func (s *seed) heap(samples int) iter.Seq[row] {
	return func(yield func(row) bool) {
		var stacks [][]int
		for range samples {
			if len(stacks) == 0 || s.rand.IntN(100) < 46 {
				stacks = append(stacks, s.spliced())
			}
			r := row{locations: stacks[len(stacks)-1-s.rand.IntN(len(stacks))*s.rand.IntN(2)]}
			from := s.rand.IntN(s.Len())
			for _, column := range s.Values {
				r.values = append(r.values, column[from])
			}
			r.bytes = int64(16 << s.rand.IntN(12))
			if !yield(r) {
				return
			}
		}
	}
}

// labelled makes samples of a CPU profile of a server that labels every request:
// each has a set of labels of its own.
func (s *seed) labelled(samples int) iter.Seq[row] {
	return func(yield func(row) bool) {
		for range samples {
			n := int64(1 + s.rand.IntN(3))
			r := row{locations: s.stack(nil, s.rand.IntN(s.Len())), values: []int64{n, n * 10_000_000}, labels: [][2]string{
				{"endpoint", fmt.Sprintf("/api/v1/resource%d", s.rand.IntN(50))},
				{"tenant", fmt.Sprintf("tenant-%d", s.rand.IntN(1000))},
				{"span_id", fmt.Sprintf("%016x", s.rand.Uint64())},
			}}
			if len(r.locations) > 8 {
				r.locations = r.locations[:8+len(r.locations)%8]
			}
			if !yield(r) {
				return
			}
		}
	}
}

// shard makes a small profile of some samples of the seed.
func (s *seed) shard(samples int) iter.Seq[row] {
	return func(yield func(row) bool) {
		for range samples {
			i := s.rand.IntN(s.Len())
			r := row{locations: s.stack(nil, i), bytes: 64}
			for _, column := range s.Values {
				r.values = append(r.values, column[i])
			}
			if !yield(r) {
				return
			}
		}
	}
}

// writer writes a profile as the runtime does: what a sample needs before the
// sample, the strings last, packed as fast as can be.
type writer struct {
	seed      *seed
	out       profiletest.Message
	strings   map[string]uint64
	table     []string
	functions map[stack.Frame]uint64
	locations []uint64 // ids, by position in the seed
	last      uint64
}

func (s *seed) encode(types [][2]string, period [2]string, rows iter.Seq[row]) []byte {
	w := &writer{seed: s, strings: map[string]uint64{"": 0}, table: []string{""},
		functions: map[stack.Frame]uint64{}, locations: make([]uint64, len(s.Locations))}
	for _, t := range types {
		w.out = w.out.Bytes(1, w.typ(t))
	}
	w.out = w.out.Bytes(11, w.typ(period)).Varint(12, 512).Varint(9, 1_700_000_000e9)
	var ids, values []uint64
	for r := range rows {
		ids, values = ids[:0], values[:0]
		for _, at := range r.locations {
			ids = append(ids, w.location(at))
		}
		for _, v := range r.values {
			values = append(values, uint64(v))
		}
		m := profiletest.Message{}.Varints(1, ids, true).Varints(2, values, true)
		if r.bytes != 0 {
			m = m.Bytes(3, profiletest.Message{}.Varint(1, w.str("bytes")).Varint(3, uint64(r.bytes)))
		}
		for _, l := range r.labels {
			m = m.Bytes(3, profiletest.Message{}.Varint(1, w.str(l[0])).Varint(2, w.str(l[1])))
		}
		w.out = w.out.Bytes(2, m)
	}
	for i, m := range s.Mappings {
		w.out = w.out.Bytes(3, profiletest.Message{}.Varint(1, uint64(i)+1).Varint(2, m.Start).Varint(3, m.Limit).
			Varint(4, m.Offset).Varint(5, w.str(m.File)).Varint(6, w.str(m.BuildID)).Varint(7, 1))
	}
	for _, text := range w.table {
		w.out = w.out.Bytes(6, []byte(text))
	}
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed) // a level that there is
	_, _ = z.Write(w.out)                           // to memory
	_ = z.Close()
	return b.Bytes()
}

func (w *writer) str(s string) uint64 {
	id, ok := w.strings[s]
	if !ok {
		id = uint64(len(w.table))
		w.strings[s], w.table = id, append(w.table, s)
	}
	return id
}

func (w *writer) typ(t [2]string) profiletest.Message {
	return profiletest.Message{}.Varint(1, w.str(t[0])).Varint(2, w.str(t[1]))
}

func (w *writer) location(at int) uint64 {
	if id := w.locations[at]; id != 0 {
		return id
	}
	w.last++
	w.locations[at] = w.last
	l := w.seed.Locations[at]
	m := profiletest.Message{}.Varint(1, w.locations[at]).Varint(2, uint64(l.Mapping)+1).Varint(3, l.Address)
	for i := range l.Lines {
		f := w.seed.Stacks.Frame(l.First + stack.FrameID(i))
		m = m.Bytes(4, profiletest.Message{}.Varint(1, w.function(f)).Varint(2, uint64(f.Line)))
	}
	w.out = w.out.Bytes(4, m)
	return w.locations[at]
}

func (w *writer) function(f stack.Frame) uint64 {
	key := stack.Frame{Func: f.Func, File: f.File, StartLine: f.StartLine}
	id, ok := w.functions[key]
	if !ok {
		id = uint64(len(w.functions)) + 1
		w.functions[key] = id
		w.out = w.out.Bytes(5, profiletest.Message{}.Varint(1, id).Varint(2, w.str(f.Func)).Varint(3, w.str(f.Func)).
			Varint(4, w.str(f.File)).Varint(5, uint64(f.StartLine)))
	}
	return id
}
