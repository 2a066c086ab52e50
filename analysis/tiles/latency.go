package tiles

import (
	"iter"
	"math/bits"
	"time"
)

// LatencyRows is how many rows the heat map of the scheduling latency has.
const LatencyRows = 32

// LatencyRow returns from where up to where the latencies of a row are. What
// is longer than those of the last row is in it too.
func LatencyRow(i int) (from, to time.Duration) {
	if i > 0 {
		from = Grain << (i - 1)
	}
	return from, Grain << i
}

// latencyRow returns the row of a latency.
func latencyRow(d tick) int { return min(bits.Len64(uint64(max(0, d))), LatencyRows-1) }

const latencyName = "scheduling latency"

// startDensity is what changeDensity is to counters: a bucket has more bytes.
const startDensity = 256

// latencies is the lane of the scheduling latency: how long goroutines that
// start to run had been ready for it. A latency counts where it ends.
type latencies struct {
	end     tick
	starts  int64
	pyramid pyramid[latencySums, *latencySums]
}

func newLatencies(base uint8) *latencies {
	l := &latencies{pyramid: newPyramid[latencySums, *latencySums](LatencyRows, base, 0)}
	l.end = l.pyramid.end()
	return l
}

// start takes a goroutine that has been ready since an instant and starts.
func (l *latencies) start(at, since tick) {
	if at >= l.end {
		l.advance(at)
	}
	l.starts++
	l.pyramid.open().n[latencyRow(at-since)]++
}

// advance goes on to the bucket that an instant lies in.
func (l *latencies) advance(at tick) {
	p := &l.pyramid
	for p.buckets(at) > max(fewBuckets, l.starts/startDensity) && p.base < maxTop-1 {
		p.coarsen()
	}
	for at >= p.end() {
		p.close()
	}
	l.end = p.end()
}

// finish ends the lane at an instant.
func (l *latencies) finish(at tick, top uint8) {
	if at >= l.end {
		l.advance(at)
	}
	l.pyramid.finish(top)
}

// latencySums is a bucket of latencies: how many there are in each row.
type latencySums struct{ n [LatencyRows]uint32 }

func (s *latencySums) merge(o *latencySums) {
	for i, n := range o.n {
		s.n[i] += n
	}
}

// encode writes eight times the logarithm of one more than each count.
func (s *latencySums) encode(row []byte, _ uint8) {
	_ = row[LatencyRows-1]
	for i, n := range s.n {
		row[i] = 0
		if n != 0 {
			row[i] = uint8(min(log88(uint64(n)<<8+256)+16, 255<<5) >> 5)
		}
	}
}

// Latencies iterates over the buckets of a heat map: how many goroutines have
// started to run, by how long they had been ready, within five percent. A row
// in which there is one has more than 0. [LatencyRow] tells the bounds.
func (t *Tile) Latencies() iter.Seq2[int, [LatencyRows]float64] {
	return func(yield func(int, [LatencyRows]float64) bool) {
		for i, row := range t.eachRow(FormLatencies, LatencyRows) {
			var n [LatencyRows]float64
			for k, v := range row {
				n[k] = exp88(uint16(v)<<5) - 1
			}
			if !yield(i, n) {
				return
			}
		}
	}
}
