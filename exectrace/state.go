package exectrace

import (
	"math/bits"
	"math/rand/v2"
)

// The states of goroutines and Ps as the format numbers them.
const (
	goRunnable = 1 + iota
	goRunning
	goSyscall
	goWaiting
)

const (
	procRunning = 1 + iota
	procIdle
	procSyscall
	// procAbandoned is a P in a system call of which the generation does not
	// say which thread it was on: it is about to be stolen.
	procAbandoned
)

var goStates = [...]State{Undetermined, Runnable, Running, Syscall, Waiting}

var procStates = [...]State{Undetermined, Running, Idle, Running, Idle}

// sequence counts the events of a goroutine or a P that must come in a fixed
// order. It begins anew in each generation.
type sequence struct {
	gen, n uint32 // gen counts the generations that the reader has read
}

// follows says whether n is the next one in generation gen.
func (s sequence) follows(gen uint32, n uint64) bool { return s.gen == gen && n == uint64(s.n)+1 }

// goroutine is what the order of events needs to know of a goroutine.
type goroutine struct {
	id      GoID
	seq     sequence
	more    uint32 // index plus one of what few have, see [goroutines.extra]
	status  uint8
	assists bool // in a mark assist
}

// goMore is what most goroutines do not have.
type goMore struct {
	regions []region // those it is in
	stw     NameID   // the kind of stop-the-world that it has begun, plus one
}

type region struct {
	task TaskID
	name NameID
}

// proc is what the order of events needs to know of a P.
type proc struct {
	seq    sequence
	status uint8 // 0: not seen yet
	sweeps bool
}

// machine is an M: what it runs.
type machine struct {
	slot  Slot
	g     GoID
	p     ProcID
	known bool // an event of it was seen, or told of it
}

// idleMachine is an M that runs nothing, and stands for no thread at all.
var idleMachine = machine{slot: NoSlot, g: NoGoroutine, p: NoProc}

// runsGo says whether m runs a goroutine on a P.
func (m *machine) runsGo() bool { return m.p != NoProc && m.g != NoGoroutine }

// goroutines holds those that live. A hash table leads from an id to a slot,
// and slots are used again, last one first, so that short-lived goroutines
// stay in the cache and dead ones cost nothing.
//
// Note: a paged array indexed by id is a little faster, but it keeps a page
// for every sixteen short-lived goroutines, and a hostile trace could make it
// take a page for each.
//
// Slots lie in pages without a pointer: growing copies nothing, and the
// collector has nothing to look at.
type goroutines struct {
	pages []*[goPage]goroutine
	used  Slot // of the pages
	free  []Slot
	more  []goMore

	entries []goEntry // a power of two, at most half full, linear probing
	live    int
	shift   uint8
	wide    bool   // there was an id of more than 32 bits
	seed    uint64 // odd and random: no input can be made to collide
}

const goPage = 256

// goEntry leads from an id, of which it has the low bits, to a slot.
type goEntry struct {
	low  uint32
	slot Slot // plus one; 0 is free
}

// minEntries is the size that the hash table begins with.
const minEntries = 1024

func newGoroutines() *goroutines {
	t := &goroutines{seed: rand.Uint64() | 1}
	t.resize(minEntries)
	return t
}

// reset ends all lives.
func (t *goroutines) reset() {
	clear(t.entries)
	t.used, t.free, t.live = 0, t.free[:0], 0
}

// at returns the goroutine in a slot.
func (t *goroutines) at(slot Slot) *goroutine { return &t.pages[slot/goPage][slot%goPage] }

// extra returns what most goroutines do not have, for one that needs it now.
func (t *goroutines) extra(g *goroutine) *goMore {
	if g.more == 0 {
		t.more = append(t.more, goMore{})
		g.more = uint32(len(t.more))
	}
	return &t.more[g.more-1]
}

// together is the logarithm of how many ids stay side by side in the table.
// The runtime hands them out in blocks.
const together = 2

// home is where the search for id begins.
func (t *goroutines) home(id GoID) uint64 {
	return (uint64(id)>>together*t.seed)>>t.shift<<together | uint64(id)&(1<<together-1)
}

// idOf returns the id that e stands for, if it can from e alone: the goroutine
// of a neighbour is rarely in the cache.
func (t *goroutines) idOf(e goEntry) GoID {
	if t.wide {
		return t.at(e.slot - 1).id
	}
	return GoID(e.low)
}

func (t *goroutines) resize(n int) {
	old := t.entries
	t.entries = make([]goEntry, n)
	t.shift = uint8(64 - (bits.Len(uint(n)) - 1) + together)
	for _, e := range old {
		if e.slot != 0 {
			t.insert(t.idOf(e), e.slot-1)
		}
	}
}

func (t *goroutines) insert(id GoID, slot Slot) {
	mask := uint64(len(t.entries) - 1)
	i := t.home(id)
	for t.entries[i&mask].slot != 0 {
		i++
	}
	t.entries[i&mask] = goEntry{uint32(id), slot + 1}
}

// find returns the slot of a living goroutine, or NoSlot.
func (t *goroutines) find(id GoID) Slot {
	mask := uint64(len(t.entries) - 1)
	for i := t.home(id); ; i++ {
		e := t.entries[i&mask]
		if e.slot == 0 {
			return NoSlot
		}
		if e.low == uint32(id) && t.at(e.slot-1).id == id {
			return e.slot - 1
		}
	}
}

// add begins a life; id must not live already.
func (t *goroutines) add(id GoID, status uint8, seq sequence) Slot {
	t.wide = t.wide || uint64(id) > 1<<32-1
	if t.live++; 2*t.live > len(t.entries) {
		t.resize(2 * len(t.entries))
	}
	var slot Slot
	if n := len(t.free); n > 0 {
		slot, t.free = t.free[n-1], t.free[:n-1]
	} else {
		slot = t.used
		if t.used++; slot/goPage == Slot(len(t.pages)) {
			t.pages = append(t.pages, new([goPage]goroutine))
		}
	}
	g := t.at(slot)
	g.id, g.seq, g.status, g.assists = id, seq, status, false
	if g.more != 0 { // the slot keeps it
		m := t.extra(g)
		m.regions, m.stw = m.regions[:0], 0
	}
	t.insert(id, slot)
	return slot
}

// remove ends the life in a slot.
func (t *goroutines) remove(slot Slot) {
	t.live--
	t.free = append(t.free, slot)
	g := t.at(slot)
	id := g.id
	g.status = 0
	mask := uint64(len(t.entries) - 1)
	i := t.home(id)
	for t.entries[i&mask].slot != slot+1 {
		i++
	}
	// Close the gap: an entry behind it moves up unless its home lies between.
	gap := i & mask
	for j := gap; ; {
		j = (j + 1) & mask
		e := t.entries[j]
		if e.slot == 0 {
			break
		}
		if (j-t.home(t.idOf(e)))&mask >= (j-gap)&mask {
			t.entries[gap] = e
			gap = j
		}
	}
	t.entries[gap] = goEntry{}
}
