package program

import (
	"encoding/binary"
	"errors"
	"testing"

	"loupe/format/symbol"
)

// bytesAt is a memory that begins at memoryStart.
type bytesAt []byte

const memoryStart = 1 << 12

func (m bytesAt) Read(addr uint64, buf []byte) error {
	at := addr - memoryStart
	if at >= uint64(len(m)) || uint64(len(m))-at < uint64(len(buf)) {
		return errors.New("not mapped")
	}
	copy(buf, m[at:])
	return nil
}

func (m bytesAt) Gather(addrs []uint64, size int, buf []byte) error {
	for i, a := range addrs {
		if err := m.Read(a, buf[i*size:(i+1)*size]); err != nil {
			return err
		}
	}
	return nil
}

func (m bytesAt) put(addr, word uint64) { binary.LittleEndian.PutUint64(m[addr-memoryStart:], word) }

// heapIn makes a program whose variables lie at the start of a memory.
func heapIn(m bytesAt) *Program {
	at := func(addr uint64) symbol.Symbol { return symbol.Symbol{Addr: addr, Size: 8} }
	return &Program{
		Memory: m, Binary: &symbol.Binary{}, l: &layout{},
		v: variables{profRate: at(memoryStart), profCycle: at(memoryStart + 8), mbuckets: at(memoryStart + 16)},
	}
}

// TestHeapBuckets: a heap profile in whatever memory says is read or refused.
func TestHeapBuckets(t *testing.T) {
	m := make(bytesAt, 512)
	p := heapIn(m)
	if _, err := p.HeapProfile(); !errors.Is(err, ErrHeapProfileOff) {
		t.Errorf("a rate of zero: %v", err)
	}
	const first = memoryStart + 32
	m.put(memoryStart, 1)
	m.put(memoryStart+8, 2) // cycle 1
	m.put(memoryStart+16, first)
	m.put(first+bucketType, memBucket)
	active := uint64(first + bucketHeader)
	for i, n := range []uint64{5, 2, 80, 32} {
		m.put(active+uint64(8*i), n)
	}
	m.put(active+2*bucketCycle, 1) // one more is about to be published
	m.put(active+2*bucketCycle+16, 16)
	m.put(active+3*bucketCycle, 1000) // and these are not
	all, err := p.buckets()
	if err != nil || len(all) != 1 {
		t.Fatalf("%v, %v", all, err)
	}
	publish(all, 1)
	if want := (counts{6, 2, 96, 32}); all[0].active != want {
		t.Errorf("%+v, want %+v", all[0].active, want)
	}
	// Without any collection all counts are taken.
	fresh := []bucket{{future: [3]counts{{1, 0, 8, 0}, {}, {2, 1, 16, 8}}}}
	publish(fresh, 1)
	if want := (counts{3, 1, 24, 8}); fresh[0].active != want {
		t.Errorf("%+v, want %+v", fresh[0].active, want)
	}
	m.put(first+bucketNext, first)
	if _, err := p.HeapProfile(); !errors.Is(err, ErrNotGo) {
		t.Errorf("a circle: %v", err)
	}
	m.put(first+bucketNext, 0)
	m.put(first+bucketType, 2)
	if _, err := p.HeapProfile(); !errors.Is(err, ErrNotGo) {
		t.Errorf("a bucket of another kind: %v", err)
	}
	m.put(first+bucketType, memBucket)
	m.put(first+bucketDepth, 1<<40)
	if _, err := p.HeapProfile(); !errors.Is(err, ErrNotGo) {
		t.Errorf("a stack without end: %v", err)
	}
}

// FuzzHeapProfile: no memory makes the reader panic or go on for ever.
func FuzzHeapProfile(f *testing.F) {
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, text []byte) {
		m := make(bytesAt, 256+len(text))
		m.put(memoryStart, 512<<10)
		m.put(memoryStart+16, memoryStart+32)
		m.put(memoryStart+32+bucketType, memBucket)
		copy(m[40:], text)
		if _, err := heapIn(m).HeapProfile(); err == nil {
			return
		}
	})
}
