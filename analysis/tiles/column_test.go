package tiles

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"loupe/format/exectrace"
)

// emptyBuilder returns a builder of a trace without events.
func emptyBuilder() *Builder {
	tr, err := exectrace.Open([]byte("go 1.26 trace\x00\x00\x00"), exectrace.Options{})
	if err != nil {
		panic(err)
	}
	b := NewBuilder(tr.Reader(), Options{})
	b.begin(0)
	return b
}

// truth is spans as they are: the oracle of these tests is a loop over all.
type truth struct {
	from, to []tick
	class    []uint8
}

// lane puts spans into a set of one lane.
func (h *truth) lane(first tick, drop bool) *Set {
	b := emptyBuilder()
	p := b.lanes.machines.proc(0)
	p.known = true
	p.begin(first, h.class[0])
	for i, to := range h.to {
		if p.class = h.class[i]; i < len(h.to)-1 {
			p.push(to)
		}
		if drop && p.more != nil {
			p.drop()
		}
	}
	b.now = p.since
	return b.Finish()
}

// bucket is what a bucket should hold.
func (h *truth) bucket(from, to tick) (s spanSums) {
	for i := range h.from {
		if h.from[i] >= from && h.from[i] < to {
			s.start(h.to[i]-h.from[i], h.class[i])
			s.present |= 1 << h.class[i]
		}
		if d := min(h.to[i], to) - max(h.from[i], from); d > 0 {
			s.time[h.class[i]] += uint64(d)
			s.present |= 1 << h.class[i]
		}
	}
	return s
}

// spansOf makes n random spans whose mean length changes now and then, with
// some that have no length at all.
func spansOf(r *rand.Rand, n int, first tick) *truth {
	h := &truth{}
	at, mean := first, 10.0
	for i := range n {
		if i%1500 == 0 {
			mean = math.Exp(r.Float64() * 8)
		}
		d := tick(r.ExpFloat64() * mean)
		if r.IntN(20) == 0 {
			d = 0
		}
		h.from, h.to = append(h.from, at), append(h.to, at+d)
		h.class = append(h.class, uint8(r.IntN(classes)))
		at += d
	}
	// The end of the set ends the span that is open, a grain after the last event.
	h.from, h.to, h.class = append(h.from, at), append(h.to, at+1), append(h.class, uint8(ClassRest))
	return h
}

// TestBuckets holds every bucket of every level against the truth, from spans
// and from pyramids alone.
func TestBuckets(t *testing.T) {
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 0))
		n := 1 + r.IntN(10)
		if seed%3 != 0 {
			n = promoteAt + r.IntN(4*promoteAt)
		}
		first := tick(r.IntN(5000))
		h := spansOf(r, n, first)
		checkLane(t, h, h.lane(first, false), r)
		if n > promoteAt {
			checkLane(t, h, h.lane(first, true), r)
		}
	}
}

func checkLane(t *testing.T, h *truth, s *Set, r *rand.Rand) {
	t.Helper()
	forms := map[Form]int{}
	for level := MinLevel; level <= s.Top(); level++ {
		shift := uint(level - grainShift)
		last := (s.length - 1) >> shift >> tileShift
		for range 3 {
			tile := s.Tile(TileID{0, uint8(level), uint32(r.Int64N(last + 1))})
			forms[tile.Form]++
			if int(tile.Level) != level && s.Lane(0).Exact {
				t.Fatalf("asked for level %d, got %d", level, tile.Level)
			}
			checkTile(t, h, &tile)
		}
	}
	if len(h.from) > promoteAt && forms[FormBuckets] == 0 {
		t.Errorf("no buckets in %v", forms)
	}
}

func checkTile(t *testing.T, h *truth, tile *Tile) {
	t.Helper()
	shift := uint(tile.Level - grainShift)
	w0 := tick(tile.Index) << (shift + tileShift)
	w1 := w0 + 1<<(shift+tileShift)
	i := 0
	for i < len(h.from) && h.to[i] <= w0 && h.from[i] < w0 {
		i++
	}
	for s := range tile.Spans(0) {
		if tick(s.Start)>>grainShift != h.from[i] || tick(s.End)>>grainShift != h.to[i] || uint8(s.Class) != h.class[i] {
			t.Fatalf("level %d, tile %d: span %+v, want %d to %d in class %d", tile.Level, tile.Index, s, h.from[i], h.to[i], h.class[i])
		}
		i++
	}
	switch {
	case tile.Form == FormSpans && i < len(h.from) && h.from[i] < w1:
		t.Fatalf("level %d, tile %d: span %d is missing", tile.Level, tile.Index, i)
	case tile.Form == FormBuckets:
		checkRows(t, h, tile, w0, shift)
	}
}

// checkRows compares bytes: the rounding must be that of the exact sums.
func checkRows(t *testing.T, h *truth, tile *Tile, w0 tick, shift uint) {
	t.Helper()
	u, err := unpack(tile.Data, spanRow)
	if err != nil {
		t.Fatal(err)
	}
	step := max(1, u.n/40)
	for i := 0; i < u.n; i += step {
		var got, want [spanRow]byte
		u.row(i, got[:])
		from := w0 + tick(u.first+i)<<shift
		sums := h.bucket(from, from+1<<shift)
		sums.encode(want[:], uint8(shift))
		// Of several longest spans any may be the one.
		got[11], want[11] = 0, 0
		if got != want {
			t.Fatalf("level %d, tile %d, bucket %d:\n got %d\nwant %d", tile.Level, tile.Index, u.first+i, got, want)
		}
		for c := range classes - 1 {
			if sums.time[c] > 0 && got[c] == 0 {
				t.Fatalf("class %d has time and shows none", c)
			}
		}
	}
}

// TestPresence looks for one span of one grain and one of no length, among a
// hundred thousand, at every zoom.
func TestPresence(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	h := spansOf(r, 100_000, 0)
	for i, c := range h.class {
		h.class[i] = c % 3
	}
	rare := map[int]uint8{31_337: uint8(ProcSTW), 77_777: uint8(ProcAssist)}
	for i, class := range rare {
		h.class[i] = class
	}
	// Make one of them empty: its time goes to its neighbour.
	h.to[77_777], h.from[77_778] = h.from[77_777], h.from[77_777]
	s := h.lane(0, false)
	for i, class := range rare {
		for level := MinLevel; level <= s.Top(); level++ {
			shift := uint(level - grainShift)
			at := h.from[i] >> shift
			tile := s.Tile(TileID{0, uint8(level), uint32(at >> tileShift)})
			found := false
			for k, b := range tile.Buckets() {
				found = found || int64(k) == at%tileRows && b.Present>>class&1 != 0
			}
			for span := range tile.Spans(0) {
				found = found || span.Class == Class(class)
			}
			if !found {
				t.Errorf("level %d: class %d is not to be seen", level, class)
			}
		}
	}
}

// TestCounts holds groups and counters against a loop over all changes.
func TestCounts(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	b := emptyBuilder()
	group := b.lanes.groups.list[0]
	type change struct {
		at    tick
		n     [classes]int64
		value float64
	}
	log := []change{{}}
	b.lanes.values.heap.set(0, 0)
	for range 300_000 {
		c := log[len(log)-1]
		c.at += tick(r.ExpFloat64() * 20)
		if from := uint8(r.IntN(classes)); c.n[from] > 0 && r.IntN(10) != 0 {
			to := uint8(r.IntN(classes))
			group.move(c.at, from, to)
			c.n[from]--
			c.n[to]++
		} else {
			group.change(c.at, from, 1)
			c.n[from]++
		}
		c.value = float64(r.IntN(1000))
		b.lanes.values.heap.set(c.at, c.value)
		log = append(log, c)
	}
	b.now = log[len(log)-1].at
	s := b.Finish()
	lanes, _ := s.Lanes(Filter{Kinds: []Kind{KindGroup, KindCounter}}, 0, 10)
	for _, lane := range lanes {
		if lane.Name != "" && lane.Name != "heap" {
			continue
		}
		for level := lane.Base; level <= s.Top(); level++ {
			index := uint32(r.Int64N((s.length-1)>>(level-grainShift)>>tileShift + 1))
			tile := s.Tile(TileID{lane.ID, uint8(level), index})
			width := tick(1) << (level - grainShift)
			first := tick(index) << (level - grainShift) << tileShift
			within := func(i int) (from, to tick) { return first + tick(i)*width, min(s.length, first+tick(i+1)*width) }
			for i, got := range tile.Counts() {
				if i%16 != 0 {
					continue
				}
				from, to := within(i)
				var want [classes]float64
				for k, c := range log {
					end := s.length
					if k+1 < len(log) {
						end = log[k+1].at
					}
					if d := min(end, to) - max(c.at, from); d > 0 {
						for class, n := range c.n {
							want[class] += float64(n) * float64(d) / float64(width)
						}
					}
				}
				for class := range want {
					if math.Abs(got[class]-want[class]) > 0.012*(1+want[class]) || want[class] > 0 && got[class] == 0 {
						t.Fatalf("level %d, bucket %d, class %d: mean %g, want %g", level, i, class, got[class], want[class])
					}
				}
			}
			for i, got := range tile.Values() {
				if i%16 != 0 {
					continue
				}
				from, to := within(i)
				want, area := Value{Min: math.MaxFloat32}, 0.0
				for k, c := range log {
					end := s.length
					if k+1 < len(log) {
						end = log[k+1].at
					}
					if c.at >= to || end <= from && c.at < from {
						continue
					}
					area += c.value * float64(max(0, min(end, to)-max(c.at, from)))
					v := float32(c.value)
					want.Min, want.Max, want.Last = min(want.Min, v), max(want.Max, v), v
				}
				want.Mean = float32(area / float64(to-from))
				if math.Abs(float64(got.Mean-want.Mean)) > 0.01 {
					t.Fatalf("level %d, bucket %d: %+v, want %+v", level, i, got, want)
				}
				got.Mean = want.Mean
				if got != want {
					t.Fatalf("level %d, bucket %d: %+v, want %+v", level, i, got, want)
				}
			}
		}
	}
}

// TestPackRows packs buckets of any number, and unpacks them.
func TestPackRows(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, row := range []int{spanRow, groupRow, counterRow, LatencyRows} {
		for _, n := range []int{1, 2, 3, 4, 5, 30, 1000, tileRows} {
			rows := make([]byte, n*row)
			for i := range rows {
				if i%row%3 != 0 { // every third plane is the same all over
					rows[i] = byte(r.IntN(256))
				}
			}
			u, err := unpack(packRows(rows, row, tileRows-n), row)
			if err != nil || u.first != tileRows-n || u.n != n {
				t.Fatalf("%d buckets of %d bytes: %d from %d on, %v", n, row, u.n, u.first, err)
			}
			got := make([]byte, row)
			for i := range n {
				if u.row(i, got); !bytes.Equal(got, rows[i*row:][:row]) {
					t.Fatalf("bucket %d of %d is %d, want %d", i, n, got, rows[i*row:][:row])
				}
			}
			if n > 1 && len(u.planes[0]) != 1 {
				t.Errorf("%d buckets with the same byte have %d of it", n, len(u.planes[0]))
			}
		}
	}
}

func TestLogarithm(t *testing.T) {
	for v := uint64(257); v < 1<<40; v += v/300 + 1 {
		if got, want := float64(log88(v)), 256*math.Log2(float64(v)/256); math.Abs(got-want) > 2 || got == 0 {
			t.Fatalf("log88(%d) = %g, want %g", v, got, want)
		}
	}
}

// TestArchive reads back what was written, and leaves out what is short.
func TestArchive(t *testing.T) {
	var a archive
	for i := range 1000 {
		a.add(brief{id: int64(i * 7), group: uint32(i % 5), first: tick(1000 - i), spans: uint32(i % 50), buf: make([]byte, i%50)})
	}
	a.leaveOut(16)
	if a.lost != 320 || a.n != 680 {
		t.Errorf("%d left out and %d kept, want 320 and 680", a.lost, a.n)
	}
	r := briefReader{buf: bytes.Join(append(a.pieces, a.buf), nil)}
	for i := range a.n {
		if i%blockRecords == 0 {
			r.brief = brief{}
		}
		if !r.next() || r.spans < 16 || int(r.spans) != len(r.brief.buf) || r.id%7 != 0 || r.first != 1000-r.id/7 {
			t.Fatalf("record %d: %+v", i, r.brief)
		}
	}
}

// TestNoAllocations: an event must not cost memory but for what is kept.
func TestNoAllocations(t *testing.T) {
	b := emptyBuilder()
	g, c := &b.lanes.gc.column, b.lanes.groups.list[0]
	b.lanes.states.change(0, exectrace.Running, 1)
	at := tick(0)
	if n := testing.AllocsPerRun(10000, func() {
		at += 10
		g.turn(at, uint8(at/10%3))
		c.move(at, uint8(at/10%3), uint8((at/10+1)%3))
		b.lanes.states.move(at, exectrace.Running, exectrace.Running)
	}); n >= 1 {
		t.Errorf("%v allocations for an event, want 0 but now and then", n)
	}
}
