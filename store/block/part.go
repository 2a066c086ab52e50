package block

import (
	"math"
	"time"

	"loupe/store"
)

// part is something that profiles are in: a head, or a block. It does not change while
// somebody reads it.
type part interface {
	// list returns the series.
	list() ([]series, error)
	// load returns the profiles of a series.
	load(series int) (*rows, error)
	// dict returns the dictionary that a series refers to.
	dict(at int) (*dict, error)
	// chunk returns the bytes of a chunk, in the buffer or elsewhere.
	chunk(c chunkRef, buf []byte) ([]byte, error)
}

// series are the profiles with the same labels and the same types.
type series struct {
	labels   store.Labels
	types    []store.Type
	dict     int
	min, max int64 // times of the first and the last profile, ns since 1970
}

// typeAt returns the position of a type, or -1.
func (s *series) typeAt(t store.Type) int {
	for i, one := range s.types {
		if one == t {
			return i
		}
	}
	return -1
}

// row is a profile, or several of one series that were added up.
type row struct {
	time, duration int64 // ns since 1970; ns
	count          int64 // how many profiles were added up
	weight         int64 // what values of states are divided by
	samples        int
	totals         []int64
}

// rows are the profiles of a series in the order of time, and the chunks that their
// samples are in, in the same order.
type rows struct {
	rows   []row
	chunks []chunkRef
}

// chunkRef says where a chunk is.
type chunkRef struct {
	n      int    // profiles in it
	data   []byte // in memory, not packed; or
	offset int64
	packed int
	raw    int
	sum    uint32
}

// span is a range of time as numbers, half open.
type span struct{ start, end int64 }

func spanOf(r store.Range) span {
	s := span{math.MinInt64, math.MaxInt64}
	if !r.Start.IsZero() {
		s.start = nanos(r.Start)
	}
	if !r.End.IsZero() {
		s.end = nanos(r.End)
	}
	return s
}

// nanos is UnixNano for all times, those that it cannot express brought to its ends.
func nanos(t time.Time) int64 {
	switch y := t.UTC().Year(); {
	case y < 1700:
		return math.MinInt64
	case y > 2250:
		return math.MaxInt64
	}
	return t.UnixNano()
}

func (s span) has(t int64) bool { return s.start <= t && t < s.end }

// touches tells whether the closed range has anything of the span.
func (s span) touches(first, last int64) bool { return first < s.end && last >= s.start }
