package profile

import (
	"bytes"
	"strconv"
)

// jemallocTitle is what a heap profile of jemalloc begins with; behind it stands how
// many bytes are allocated from one sample to the next.
const jemallocTitle = "heap_v2/"

// decodeJemalloc reads a heap profile of jemalloc (prof.dump, MALLOC_CONF=prof:true).
// For each stack there is a line for all threads, t*, and one for each of them; the
// first counts. The values are those of a sample, to be scaled up, as jeprof does.
func decodeJemalloc(data []byte, opt Options) (*Profile, error) {
	if !bytes.HasPrefix(data, []byte(jemallocTitle)) {
		return nil, errOther
	}
	t := newTextProfile(data, opt)
	t.next()
	k := heapKind{sampled: true}
	var err error
	if k.period, err = strconv.ParseInt(string(bytes.TrimSpace(t.line[len(jemallocTitle):])), 10, 64); err != nil || k.period <= 0 {
		return nil, t.bad("want heap_v2/ and how many bytes are from sample to sample, not %.40q", t.line)
	}
	inStacks := false
	for t.next() {
		line := bytes.TrimSpace(t.line)
		switch {
		case len(line) == 0:
			continue
		case isMapTitle(line):
		case line[0] == '@':
			if !inStacks {
				inStacks = true
				t.beginHeap(k)
			}
			if t.addrs, err = hexNumbers(t.addrs[:0], line); err != nil {
				return nil, t.bad("%w", err)
			}
			continue
		case line[0] == 't':
			if err := t.jemallocLine(&k, line, inStacks); err != nil {
				return nil, err
			}
			continue
		default:
			return nil, t.bad("want @ and addresses, t*: 1: 2 [3: 4], or MAPPED_LIBRARIES:")
		}
		break
	}
	if !inStacks {
		t.beginHeap(k)
	}
	return t.finish()
}

// beginHeap sets what the samples of a heap profile count.
func (t *textProfile) beginHeap(k heapKind) {
	objects, space := "objects", "space"
	var types []ValueType
	if k.hasAlloc {
		types = []ValueType{{"alloc_objects", "count"}, {"alloc_space", "bytes"}}
		objects, space = "inuse_objects", "inuse_space"
	}
	t.begin(append(types, ValueType{objects, "count"}, ValueType{space, "bytes"})...)
	t.periodType, t.period = ValueType{"space", "bytes"}, k.period
}

// jemallocLine reads "t*: 13: 6688 [0: 0]": of the whole profile above the stacks,
// which tells whether there are values of all that was allocated (prof_accum), and of
// a stack below them.
func (t *textProfile) jemallocLine(k *heapKind, line []byte, inStacks bool) error {
	thread, numbers, ok := bytes.Cut(line, []byte(":"))
	if !ok {
		return t.bad("want t*: objects: bytes [objects: bytes]")
	}
	if string(thread) != "t*" {
		return nil
	}
	s := scanner{b: numbers}
	var n [4]int64
	for i, end := range [4]byte{':', '[', ':', ']'} {
		s.spaces(0)
		n[i] = s.int(false)
		s.spaces(0)
		s.lit(end)
	}
	if s.failed {
		return t.bad("want t*: objects: bytes [objects: bytes]")
	}
	if !inStacks {
		k.hasAlloc = n[2] != 0 && (n[2] != n[0] || n[3] != n[1])
		return nil
	}
	if err := t.heapSample(*k, n); err != nil {
		return t.bad("%w", err)
	}
	return nil
}
