package profile

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"time"
)

var (
	heapTitle   = regexp.MustCompile(`heap profile: *(\d+): *(\d+) *\[ *(\d+): *(\d+) *\] *@ *(heap[_a-z0-9]*)/?(\d*)`)
	growthTitle = regexp.MustCompile(`heap profile: *\d+: *\d+ *\[ *\d+: *\d+ *\] @ (growth|fragmentation)`)
	heapSample  = regexp.MustCompile(`(-?\d+): *(-?\d+) *\[ *(\d+): *(\d+) *] @([ x0-9a-f]*)`)
)

// heapKind is what the first line of a heap profile says.
type heapKind struct {
	period   int64
	sampled  bool // the values are those of a sample, to be scaled up
	hasAlloc bool // four columns
}

// decodeHeap reads heap profiles of Go (debug=1) and tcmalloc: heapz v2, which
// are sampled, heapprofile, growth and fragmentation, which are not.
func decodeHeap(data []byte, opt Options) (*Profile, error) {
	t := newTextProfile(data, opt)
	if !t.next() || !bytes.Contains(t.line, []byte("heap profile:")) {
		return nil, errOther
	}
	k, err := heapHeader(t.line)
	if err != nil {
		return nil, t.bad("%w", err)
	}
	t.beginHeap(k)
	for t.next() {
		line := bytes.TrimSpace(t.line)
		if isRemark(line) {
			if err := t.remark(); err != nil {
				return nil, err
			}
			continue
		}
		if isMapTitle(line) {
			break
		}
		n, err := t.heapNumbers(line)
		if err != nil {
			return nil, t.bad("%w", err)
		}
		if err := t.heapSample(k, n); err != nil {
			return nil, t.bad("%w", err)
		}
	}
	return t.finish()
}

func heapHeader(line []byte) (k heapKind, err error) {
	m := heapTitle.FindSubmatch(line)
	if m == nil {
		if growthTitle.Match(line) {
			return heapKind{period: 1}, nil
		}
		return k, errors.New(`want "heap profile: 1: 2 [3: 4] @ heap/5"`)
	}
	if len(m[6]) > 0 {
		if k.period, err = strconv.ParseInt(string(m[6]), 10, 64); err != nil {
			return k, err
		}
	}
	differs := func(all, inuse []byte) bool { return string(all) != string(inuse) && string(all) != "0" }
	k.hasAlloc = differs(m[3], m[1]) || differs(m[4], m[2])
	switch kind := string(m[5]); kind {
	case "heapz_v2", "heap_v2":
		k.sampled = true
	case "heapprofile":
		k.period = 1
	case "heap": // twice the period, for historical reasons
		k.sampled = true
		k.period /= 2
	default:
		return k, fmt.Errorf("the kind %q is unknown: want heap, heap_v2, heapz_v2, heapprofile, growth, fragmentation", kind)
	}
	return k, nil
}

// heapNumbers reads "1: 2 [3: 4] @ addresses": objects and bytes that are in
// use and that have been allocated.
func (t *textProfile) heapNumbers(line []byte) (n [4]int64, err error) {
	s := scanner{b: line}
	for i, end := range [4]byte{':', '[', ':', ']'} {
		n[i] = s.int(i < 2)
		if end == '[' {
			s.spaces(0)
		}
		s.lit(end)
		if end != ']' {
			s.spaces(0)
		}
	}
	s.lit(' ')
	s.lit('@')
	if t.addrs = s.addresses(t.addrs[:0]); !s.failed {
		return n, nil
	}
	m := heapSample.FindSubmatch(line)
	if m == nil {
		return n, errors.New("want objects: bytes [objects: bytes] @ and addresses")
	}
	for i := range n {
		if n[i], err = strconv.ParseInt(string(m[i+1]), 10, 64); err != nil {
			return n, err
		}
	}
	t.addrs, err = hexNumbers(t.addrs[:0], m[5])
	return n, err
}

// heapSample scales the values up and adds the sample, with the size of its
// objects as a label.
func (t *textProfile) heapSample(k heapKind, n [4]int64) error {
	t.values = t.values[:0]
	var blocksize int64
	pairs := [2][2]int64{{n[2], n[3]}, {n[0], n[1]}}
	first := 1
	if k.hasAlloc {
		first = 0
	}
	for _, v := range pairs[first:] {
		count, size := v[0], v[1]
		if count == 0 && size != 0 {
			return fmt.Errorf("%d bytes in no objects", size)
		}
		if count != 0 {
			blocksize = size / count
			if k.sampled {
				count, size = scaleHeap(count, size, k.period)
			}
		}
		t.values = append(t.values, count, size)
	}
	t.emit(t.addrs, blocksize, t.values...)
	return nil
}

// scaleHeap estimates what has been allocated from what was sampled. An
// allocation of S bytes is sampled with a probability of 1-exp(-S/period).
func scaleHeap(count, size, period int64) (int64, int64) {
	if count == 0 || size == 0 {
		return 0, 0
	}
	if period <= 1 {
		return count, size // all were taken, or nobody knows
	}
	average := float64(size) / float64(count)
	scale := 1 / (1 - math.Exp(-average/float64(period)))
	return int64(float64(count) * scale), int64(float64(size) * scale)
}

func (b *builder) setMilliseconds(n int64) { b.duration = time.Duration(n * 1000 * 1000) }
