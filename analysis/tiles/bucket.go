package tiles

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// A bucket is what a lane did in a stretch of 2^level ns. While it is built it
// holds exact sums, so that the bucket above can be made of two without the
// rounding that its bytes have. There are four: of spans, of counts, of a
// counter's values, and of latencies.

const (
	spanRow    = 12 // bytes of a bucket of spans
	groupRow   = 16
	counterRow = 16
	maxRow     = LatencyRows
)

// spanSums is a bucket of spans.
type spanSums struct {
	time         [classes]uint64 // in grains
	starts       uint32
	longest      uint32 // of those that start here, in grains
	longestClass uint8
	present      uint8 // classes, those that took no time too
}

func (s *spanSums) merge(o *spanSums) {
	for i := range s.time {
		s.time[i] += o.time[i]
	}
	s.starts += o.starts
	if o.longest > s.longest || s.starts == o.starts {
		s.longest, s.longestClass = o.longest, o.longestClass
	}
	s.present |= o.present
}

// start counts a span that begins in the bucket.
func (s *spanSums) start(length tick, class uint8) {
	n := uint32(min(length, math.MaxUint32))
	if s.starts++; n > s.longest || s.starts == 1 {
		s.longest, s.longestClass = n, class
	}
}

// encode writes the bucket's bytes: seven occupancies, the classes present,
// the spans that start, the longest of them and its class. Shift is the
// logarithm of the width in grains.
func (s *spanSums) encode(row []byte, shift uint8) {
	_ = row[spanRow-1]
	half := uint64(1) << shift >> 1
	for i := range classes - 1 {
		occupied := uint64(0)
		if t := s.time[i]; t != 0 {
			occupied = min(max(1, scale255(t, half, shift)), 255)
		}
		row[i] = byte(occupied)
	}
	row[7] = s.present
	binary.LittleEndian.PutUint16(row[8:], log88(uint64(s.starts)<<8+256))
	row[10], row[11] = 0, 0
	if s.starts != 0 {
		row[10] = uint8(log88((uint64(s.longest)<<grainShift+1)<<8) >> 6)
		row[11] = s.longestClass
	}
}

// scale255 returns t of 1<<shift in 255ths.
func scale255(t, half uint64, shift uint8) uint64 {
	if shift < 55 {
		return (t*255 + half) >> shift
	}
	return (t >> (shift - 55) * 255) >> 55
}

// log88 returns the logarithm of v/256 to the base of two, in 256ths. Any v
// above 256 gives more than 0, and the error is below 2/256.
func log88(v uint64) uint16 {
	if v <= 256 {
		return 0
	}
	n := bits.Len64(v) - 1 // at least 8
	fraction := v << (63 - n) << 1 >> 56
	return max(1, uint16(n-8)<<8+uint16(logTable[fraction]))
}

// logTable holds the logarithms of 1 + (i+1/2)/256 in 256ths.
var logTable = func() (t [256]uint8) {
	for i := range t {
		t[i] = uint8(256 * math.Log2(1+(float64(i)+0.5)/256))
	}
	t[0] = 0
	return t
}()

// exp88 undoes log88: the value whose logarithm is v/256.
func exp88(v uint16) float64 { return math.Exp2(float64(v) / 256) }

// groupSums is a bucket of counts: how many goroutines were in each class, and
// for how long, added up.
type groupSums struct {
	time [classes]int64 // in grains
}

func (s *groupSums) merge(o *groupSums) {
	for i := range s.time {
		s.time[i] += o.time[i]
	}
}

// encode writes log88 of one more than the mean count of each class.
func (s *groupSums) encode(row []byte, shift uint8) {
	_ = row[groupRow-1]
	for i, t := range s.time {
		v := uint16(0)
		if t > 0 {
			v = max(1, log88(mean256(uint64(t), shift)+256))
		}
		binary.LittleEndian.PutUint16(row[2*i:], v)
	}
}

// mean256 returns t/2^shift in 256ths.
func mean256(t uint64, shift uint8) uint64 {
	if shift <= 8 {
		return t << (8 - shift)
	}
	return t >> (shift - 8)
}

// counterSums is a bucket of a counter's values.
type counterSums struct {
	area           float64 // value times grains
	covered        int64   // grains in which there was a value
	min, max, last float64
}

func (s *counterSums) merge(o *counterSums) {
	if o.covered == 0 {
		return
	}
	if s.covered == 0 {
		*s = *o
		return
	}
	s.area += o.area
	s.covered += o.covered
	s.min, s.max, s.last = min(s.min, o.min), max(s.max, o.max), o.last
}

// encode writes min, max, mean and last as float32.
func (s *counterSums) encode(row []byte, _ uint8) {
	var mean float64
	if s.covered > 0 {
		mean = min(max(s.area/float64(s.covered), s.min), s.max)
	}
	for i, v := range [...]float64{s.min, s.max, mean, s.last} {
		binary.LittleEndian.PutUint32(row[4*i:], math.Float32bits(float32(v)))
	}
}
