package tiles

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"loupe/value/timeline"
)

// Form is what a tile is made of.
type Form uint8

// The forms of tiles.
const (
	FormNone      Form = iota // the lane has nothing there
	FormBuckets               // see [Tile.Buckets]
	FormSpans                 // so few that they are given as they are: [Tile.Spans]
	FormCounts                // of groups: [Tile.Counts]
	FormValues                // of counters: [Tile.Values]
	FormLatencies             // of the scheduling latency: [Tile.Latencies]
)

// Tile is 1024 buckets of a lane, or the spans that lie in them.
type Tile struct {
	Lane LaneID
	// Level is the logarithm of a bucket's width in nanoseconds. Bucket i of
	// the tile begins (1024 × Index + i) << Level behind the set's origin.
	Level uint8
	Index uint32
	Form  Form
	// Data is as in docs/formats/tiles.md.
	Data []byte
}

// TileID asks for a tile.
type TileID struct {
	Lane  LaneID
	Level uint8
	Index uint32
}

// fewSpans is up to how many spans a tile has them and no buckets: one on two
// pixels.
const fewSpans = tileRows / 2

// Tile returns a tile. Where a lane has no level so fine, it returns the one
// of the finest level that has the place in it, and where the level is above
// [Set.Top], that of the top: look at its Level and Index.
func (s *Set) Tile(id TileID) Tile {
	t := Tile{Lane: id.Lane, Level: max(id.Level, MinLevel), Index: id.Index}
	if int(t.Level) > s.Top() {
		t.Level, t.Index = uint8(s.Top()), 0
	}
	var l *laneRecord
	if int(id.Lane) < len(s.lanes) {
		l = &s.lanes[id.Lane]
	}
	list, exact := s.spans(id.Lane)
	if exact {
		s.exactTile(&t, l, list)
		return t
	}
	if l == nil || l.levels == 0 {
		return t
	}
	if base := l.base + grainShift; t.Level < base {
		t.Index = uint32(uint64(t.Index) >> min(63, base-t.Level))
		t.Level = base
	}
	s.storedTile(&t, l)
	return t
}

// storedTile fills a tile with what the pyramid has.
func (s *contents) storedTile(t *Tile, l *laneRecord) {
	i := int(t.Level) - grainShift - int(l.base)
	if i < 0 || i >= int(l.levels) {
		return
	}
	lv := s.level(l, i)
	n := int64(t.Index) - lv.first
	if n < 0 || n >= int64(lv.n) {
		return
	}
	ends, tiles := s.sections[sectionTileEnds].one(), &s.sections[sectionTiles]
	k := int(lv.at) + int(n)
	from := uint64(0)
	if k > 0 {
		from = binary.LittleEndian.Uint64(ends[8*(k-1):])
	}
	to := binary.LittleEndian.Uint64(ends[8*k:])
	if t.Data = tiles.run(from, to); t.Data == nil {
		return
	}
	switch l.kind {
	case KindGroup:
		t.Form = FormCounts
	case KindCounter:
		t.Form = FormValues
	case KindLatency:
		t.Form = FormLatencies
	default:
		t.Form = FormBuckets
	}
}

// exactTile fills a tile of a lane that has its spans: with them if they are
// few, else with what the pyramid has, else with buckets made of the spans.
func (s *contents) exactTile(t *Tile, l *laneRecord, list spanList) {
	w0, w1 := s.bounds(t)
	if w0 >= w1 || s.fewTile(t, list, w0, w1) {
		return
	}
	shift := t.Level - grainShift
	if l != nil && l.levels > 0 && shift >= l.base {
		s.storedTile(t, l)
		return
	}
	if k, ok := list.seek(w0); ok && k.start < w1 {
		t.Form, t.Data = FormBuckets, aggregate(k, w0, w1, shift)
	}
}

// bounds returns the stretch of the set that a tile has, an empty one behind its end.
func (s *contents) bounds(t *Tile) (w0, w1 tick) {
	shift := t.Level - grainShift
	w0 = tick(t.Index) << min(shift+tileShift, 62)
	if w0>>min(shift+tileShift, 62) != tick(t.Index) || w0 >= s.length {
		return 0, 0
	}
	w1 = s.length
	if shift+tileShift < maxTop {
		w1 = min(w1, w0+1<<(shift+tileShift))
	}
	return w0, w1
}

// fewTile fills a tile of a stretch with spans if they are few, and says whether that is
// all: there may be none.
func (s *contents) fewTile(t *Tile, list spanList, w0, w1 tick) bool {
	if many := list.before(w1) - list.before(w0); many > fewSpans/skipEvery+1 {
		return false
	}
	k, ok := list.seek(w0)
	if !ok || k.start >= w1 {
		return true
	}
	if t.Data = few(k, w1); t.Data != nil {
		t.Form = FormSpans
	}
	return t.Data != nil
}

// spansHeader is what the data of a tile of spans begins with: when the first
// one begins, in grains since the origin, and how many there are.
const spansHeader = 12

// few returns the spans from k to w1 as a tile, nil if they are many.
func few(k cursor, w1 tick) []byte {
	var room [spansHeader + fewSpans*maxSpan]byte
	binary.LittleEndian.PutUint64(room[:], uint64(k.start))
	n, data := uint32(0), room[:spansHeader]
	for ok := true; ok && k.start < w1; ok = k.next() {
		if n++; n > fewSpans {
			return nil
		}
		data = append(data, k.buf[k.from:k.at]...)
	}
	binary.LittleEndian.PutUint32(data[8:], n)
	return slices.Clone(data)
}

// aggregate makes a tile of the spans from k to w1. It is the hot path of a
// viewport below the bases: a span that lies in one bucket, as most do, costs
// some additions.
func aggregate(k cursor, w0, w1 tick, shift uint8) []byte {
	a := aggregator{shift: shift, end: w0 + 1<<shift}
	first := max(0, int((k.start-w0)>>shift))
	for ok := true; ok && k.start < w1; ok = k.next() {
		from, to := k.start, k.end
		for from >= a.end {
			a.flush()
		}
		if from >= w0 {
			a.open.start(to-from, k.class)
		}
		a.open.present |= 1 << k.class
		if from, to = max(from, w0), min(to, w1); to > a.end {
			from = a.cross(from, to, k.class)
		}
		a.open.time[k.class&7] += uint64(max(0, to-from))
	}
	a.flush()
	return packRows(a.rows[first*spanRow:a.n*spanRow], spanRow, first)
}

// aggregator makes buckets of spans, one after the other.
type aggregator struct {
	open  spanSums
	end   tick // of the open bucket
	n     int  // buckets in rows
	shift uint8
	rows  [tileRows * spanRow]byte
}

func (a *aggregator) flush() {
	a.open.encode(a.rows[a.n*spanRow:], a.shift)
	a.open = spanSums{}
	a.n++
	a.end += 1 << a.shift
}

// cross puts a span into the buckets that it fills to their end, and returns
// where the rest begins.
func (a *aggregator) cross(from, to tick, class uint8) tick {
	for to > a.end {
		a.open.time[class&7] += uint64(a.end - from)
		from = a.end
		a.flush()
		a.open.present |= 1 << class
	}
	return from
}

// unpacked is a packed tile, plane by plane.
type unpacked struct {
	first, n int
	planes   [maxRow][]byte
}

// unpack reads a packed tile with so many planes.
func unpack(data []byte, row int) (u unpacked, err error) {
	if len(data) < packedHeader {
		return u, fmt.Errorf("a tile of %d bytes", len(data))
	}
	u.first = int(binary.LittleEndian.Uint16(data))
	u.n = int(binary.LittleEndian.Uint16(data[2:]))
	whole := binary.LittleEndian.Uint32(data[4:])
	if u.n == 0 || u.first+u.n > tileRows {
		return u, fmt.Errorf("a tile with buckets %d to %d", u.first, u.first+u.n)
	}
	data = data[packedHeader:]
	for i := range row {
		size := 1
		if whole>>i&1 != 0 {
			size = u.n
		}
		if size > len(data) {
			return u, fmt.Errorf("a tile without plane %d", i)
		}
		u.planes[i], data = data[:size], data[size:]
	}
	return u, nil
}

// row copies the bytes of bucket i.
func (u *unpacked) row(i int, row []byte) {
	for p := range row {
		if plane := u.planes[p]; len(plane) == 1 {
			row[p] = plane[0]
		} else {
			row[p] = plane[i]
		}
	}
}

// eachRow iterates over the buckets that a packed tile has. The bytes are
// overwritten by the next ones. A tile that is damaged has none.
func (t *Tile) eachRow(form Form, n int) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		if t.Form != form {
			return
		}
		u, err := unpack(t.Data, n)
		if err != nil {
			return
		}
		var row [maxRow]byte
		for i := range u.n {
			u.row(i, row[:n])
			if !yield(u.first+i, row[:n]) {
				return
			}
		}
	}
}

// Bucket says how a lane spent a stretch of time.
type Bucket struct {
	// Occupancy is the time in each class, in 255ths. Time that is there is
	// never 0. ClassRest is what the others leave.
	Occupancy [8]uint8
	// Present has the bit of each class that occurs, however short it is, for
	// no time even. The bit of ClassRest is missing where the lane has nothing.
	Present uint8
	// Starts is about how many spans begin here, within half a percent.
	Starts float64
	// Longest is the length of the longest of them, at most a fifth too small,
	// and LongestClass its class.
	Longest      time.Duration
	LongestClass Class
}

// Buckets iterates over the buckets of a lane of spans by their number in the
// tile. Those in front of the lane and behind it are left out.
func (t *Tile) Buckets() iter.Seq2[int, Bucket] {
	return func(yield func(int, Bucket) bool) {
		for i, row := range t.eachRow(FormBuckets, spanRow) {
			var b Bucket
			rest := 255
			for c := range classes - 1 {
				b.Occupancy[c] = row[c]
				rest -= int(row[c])
			}
			b.Occupancy[ClassRest] = uint8(max(0, rest))
			b.Present = row[7]
			b.Starts = exp88(binary.LittleEndian.Uint16(row[8:])) - 1
			b.Longest = time.Duration(math.Exp2(float64(row[10])/4)) - 1
			b.LongestClass = Class(row[11] & 7)
			if !yield(i, b) {
				return
			}
		}
	}
}

// Counts iterates over the buckets of a group: how many of its goroutines are
// in each class, in the mean, within a percent.
func (t *Tile) Counts() iter.Seq2[int, [8]float64] {
	return func(yield func(int, [8]float64) bool) {
		for i, row := range t.eachRow(FormCounts, groupRow) {
			var n [classes]float64
			for c := range n {
				n[c] = exp88(binary.LittleEndian.Uint16(row[2*c:])) - 1
			}
			if !yield(i, n) {
				return
			}
		}
	}
}

// Value says what a counter was in a stretch of time: its bounds, the mean
// over the time, and the last one.
type Value struct{ Min, Max, Mean, Last float32 }

// Values iterates over the buckets of a counter.
func (t *Tile) Values() iter.Seq2[int, Value] {
	return func(yield func(int, Value) bool) {
		for i, row := range t.eachRow(FormValues, counterRow) {
			var v [4]float32
			for k := range v {
				v[k] = math.Float32frombits(binary.LittleEndian.Uint32(row[4*k:]))
			}
			if !yield(i, Value{v[0], v[1], v[2], v[3]}) {
				return
			}
		}
	}
}

// Spans iterates over the spans of a tile of them, for a set that begins at
// origin. The first one may begin before the tile, and the last one end
// behind it.
func (t *Tile) Spans(origin timeline.Time) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		if t.Form != FormSpans || len(t.Data) < spansHeader {
			return
		}
		k := cursor{buf: t.Data[spansHeader:], end: tick(binary.LittleEndian.Uint64(t.Data))}
		for k.next() {
			at := timeline.Span{Start: origin + timeline.Time(k.start<<grainShift), End: origin + timeline.Time(k.end<<grainShift)}
			if !yield(Span{at, Class(k.class)}) {
				return
			}
		}
	}
}
