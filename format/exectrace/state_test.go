package exectrace

import (
	"math/rand/v2"
	"testing"
)

// TestGoroutines holds the table of goroutines against a map, with ids as the
// runtime hands them out and with some that differ in their high bits alone.
func TestGoroutines(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	gs, want := newGoroutines(), make(map[GoID]Slot)
	for range 100_000 {
		id := GoID(rnd.IntN(2000))
		if rnd.IntN(10) == 0 {
			id |= GoID(rnd.IntN(3)) << 32
		}
		slot, ok := want[id]
		if !ok {
			slot = NoSlot
		}
		if got := gs.find(id); got != slot {
			t.Fatalf("find(%#x) = %d, want %d", id, got, slot)
		}
		if !ok {
			want[id] = gs.add(id, goWaiting, sequence{})
		} else if rnd.IntN(2) == 0 {
			gs.remove(slot)
			delete(want, id)
		}
	}
	if gs.live != len(want) || len(want) < 500 {
		t.Errorf("%d goroutines live, want %d", gs.live, len(want))
	}
}

// TestStringTable fills the table as a generation full of messages does.
func TestStringTable(t *testing.T) {
	const n = 100_000
	allocated := testing.AllocsPerRun(1, func() {
		var s stringTable
		for id := range uint64(n) {
			if id%1000 == 0 {
				s.expect(int64(id), n) // a byte each
			}
			if !s.put(id+1, uint32(id)+16) {
				t.Fatalf("string %d is there already", id+1)
			}
		}
		if s.put(n, 16) || !s.has(n) || s.has(n+1) || s.has(0) {
			t.Error("the table does not know what it has")
		}
		if cap(s.dense) > n+n/4 {
			t.Errorf("room for %d strings, want some %d", cap(s.dense), n)
		}
	})
	if allocated > 3 {
		t.Errorf("%v allocations for %d strings, want at most 3", allocated, n)
	}
}
