package exectrace_test

import (
	"encoding/binary"
	"math"
	"runtime"
	"strings"
	"testing"

	"loupe/format/exectrace"
)

// writer makes traces of format 1.22 byte by byte.
type writer struct {
	b      []byte
	padded bool // write sizes as the runtime does
}

func newWriter() *writer { return &writer{b: []byte("go 1.22 trace\x00\x00\x00")} }

// batch adds a batch.
func (w *writer) batch(gen, m, time uint64, data []byte) {
	w.b = append(w.b, 1)
	for _, v := range []uint64{gen, m, time} {
		w.b = binary.AppendUvarint(w.b, v)
	}
	n := len(w.b)
	w.b = binary.AppendUvarint(w.b, uint64(len(data)))
	if w.padded {
		for w.b[len(w.b)-1] |= 0x80; len(w.b) < n+9; {
			w.b = append(w.b, 0x80)
		}
		w.b = append(w.b, 0)
	}
	w.b = append(w.b, data...)
}

// event returns the bytes of one event.
func event(op byte, args ...uint64) []byte {
	b := []byte{op}
	for _, v := range args {
		b = binary.AppendUvarint(b, v)
	}
	return b
}

const noThread = 1<<64 - 1

// clock adds the batch that every generation needs.
func (w *writer) clock(gen uint64) { w.batch(gen, noThread, 1, event(8, 15625000)) }

// events adds the result of f for 0 to n-1, in as few batches of one M as can
// be.
func (w *writer) events(kind []byte, n int, f func(i uint64) []byte) {
	data := append([]byte(nil), kind...)
	for i := range n {
		e := f(uint64(i))
		if len(data)+len(e) > 64<<10 {
			w.batch(1, 0, 1, data)
			data = append(data[:0], kind...)
		}
		data = append(data, e...)
	}
	w.batch(1, 0, 1, data)
}

// running is what lets an M run a goroutine.
func running() []byte { return append(event(13, 1, 0, 1), event(25, 1, 1, 0, 2)...) }

// TestMemory reads traces that are made to cost memory. All that is ever
// allocated must stay within a small multiple of the file.
func TestMemory(t *testing.T) {
	f := func(name string, factor float64, fill func(w *writer)) {
		t.Run(name, func(t *testing.T) {
			w := newWriter()
			fill(w)
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			tr, err := exectrace.Open(w.b, exectrace.Options{})
			if err != nil {
				t.Fatal(err)
			}
			r := tr.Reader()
			n := 0
			for r.Next() {
				n++
			}
			runtime.ReadMemStats(&after)
			runtime.KeepAlive(r)
			total := float64(after.TotalAlloc - before.TotalAlloc)
			t.Logf("%d bytes, %d events, %d problems: allocated %.0f bytes, %.1f times the file", len(w.b), n, len(r.Problems()), total, total/float64(len(w.b)))
			if limit := 4<<20 + factor*float64(len(w.b)); total > limit {
				t.Errorf("allocated %.0f bytes, the limit is %.0f", total, limit)
			}
		})
	}
	const many = 1 << 17
	f("huge ids", 4, func(w *writer) {
		w.clock(1)
		w.batch(1, 0, 1, event(13, 1, math.MaxUint64, 1))
		w.batch(1, 1, 1, event(25, 1, math.MaxUint64, math.MaxUint64, 3))
		w.batch(1, math.MaxUint64-1, math.MaxUint64, event(13, math.MaxUint64, 1<<16-1, 1))
		w.batch(1, noThread, 1, append([]byte{4}, event(5, math.MaxUint64, 0)...))
		w.batch(1, noThread, 1, append([]byte{2}, event(3, math.MaxUint64, 0)...))
	})
	f("many Ms", 60, func(w *writer) {
		w.clock(1)
		for m := range uint64(many / 16) {
			w.batch(1, m, 1, event(13, 1, 0, 2))
		}
	})
	f("many empty Ms", 40, func(w *writer) {
		w.clock(1)
		for m := range uint64(many) {
			w.batch(1, m, 1, nil)
		}
	})
	f("many tiny generations", 60, func(w *writer) {
		for gen := range uint64(many / 8) {
			w.clock(gen + 1)
		}
	})
	f("many generations out of order", 60, func(w *writer) {
		w.padded = true
		for gen := range uint64(many / 8) {
			w.clock(3*gen + 1)
		}
	})
	f("many strings", 40, func(w *writer) {
		w.clock(1)
		w.events([]byte{4}, many, func(i uint64) []byte { return event(5, i+1, 0) })
	})
	f("many strings far apart", 40, func(w *writer) {
		w.clock(1)
		w.events([]byte{4}, many, func(i uint64) []byte { return event(5, i*1000000+1, 0) })
	})
	f("many empty stacks", 40, func(w *writer) {
		w.clock(1)
		w.events([]byte{2}, many, func(i uint64) []byte { return event(3, i+1, 0) })
	})
	f("deep stacks of one frame", 40, func(w *writer) {
		w.clock(1)
		w.events([]byte{2}, many/128, func(i uint64) []byte {
			b := event(3, i+1, 128)
			for k := range uint64(128) {
				b = append(b, event(byte(i*k%100), 0, 0, 0)...)
			}
			return b
		})
	})
	f("many samples", 40, func(w *writer) {
		w.clock(1)
		w.events([]byte{6}, many, func(i uint64) []byte { return event(7, i, 0, 0, 0, 0) })
	})
	f("half a million goroutines", 40, func(w *writer) {
		w.clock(1)
		w.batch(1, 0, 1, running())
		w.events(nil, 1<<19, func(i uint64) []byte { return event(14, 1, i+2, 0, 0) })
	})
	f("half a million tasks that never end", 40, func(w *writer) {
		w.clock(1)
		w.batch(1, 0, 1, running())
		w.events(nil, 1<<19, func(i uint64) []byte { return event(40, 1, i+1, 0, 0, 0) })
	})
	f("half a million regions that never end", 40, func(w *writer) {
		w.clock(1)
		w.batch(1, 0, 1, running())
		w.events(nil, 1<<19, func(i uint64) []byte { return event(42, 1, 0, 0, 0) })
	})
	f("garbage", 20, func(w *writer) {
		w.b = append(w.b, strings.Repeat("\x01\x01\x01\x01\x05garba", many)...)
	})
}
