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

// machines are the Ms that the events so far have named.
type machines map[ThreadID]*machine

// of returns the state of a thread. That of no thread is never changed.
func (ms machines) of(id ThreadID) *machine {
	m := ms[id]
	if m == nil {
		idle := idleMachine
		m = &idle
		if id != NoThread {
			ms[id] = m
		}
	}
	return m
}

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

	blocks []goBlock // a power of two, at most half full, linear probing
	full   int       // blocks that are not free
	live   int
	shift  uint8
	seed   uint64 // odd and random: no input can be made to collide
}

const goPage = 256

// goBlock leads from four neighbouring ids to their slots: the runtime hands
// ids out in blocks. With an entry for each id, a search went past those of
// strangers one by one, and was a sixth of the time for 100,000 goroutines.
type goBlock struct {
	key   uint64              // the ids' common part plus one; 0 is free
	slots [1 << together]Slot // plus one; 0 is free
}

// together is the logarithm of how many ids are in a block.
const together = 2

// minBlocks is the size that the hash table begins with.
const minBlocks = 512

func newGoroutines() *goroutines {
	t := &goroutines{seed: rand.Uint64() | 1}
	t.resize(minBlocks)
	return t
}

// reset ends all lives.
func (t *goroutines) reset() {
	clear(t.blocks)
	t.used, t.free, t.live, t.full = 0, t.free[:0], 0, 0
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

// home is where the search for a block begins.
func (t *goroutines) home(key uint64) uint64 { return key * t.seed >> (t.shift % 64) }

func (t *goroutines) resize(n int) {
	old := t.blocks
	t.blocks = make([]goBlock, n)
	t.shift = uint8(64 - (bits.Len(uint(n)) - 1))
	for _, b := range old {
		if b.key != 0 {
			*t.place(b.key) = b
		}
	}
}

// place returns the block of a key, or the free one where it belongs.
func (t *goroutines) place(key uint64) *goBlock {
	mask := uint64(len(t.blocks) - 1)
	for i := t.home(key); ; i++ {
		if b := &t.blocks[i&mask]; b.key == key || b.key == 0 {
			return b
		}
	}
}

// find returns the slot of a living goroutine, or NoSlot.
func (t *goroutines) find(id GoID) Slot {
	// The slots of a free block are 0, and 0 less one is NoSlot.
	return t.place(uint64(id)>>together + 1).slots[uint64(id)%(1<<together)] - 1
}

// add begins a life; id must not live already.
func (t *goroutines) add(id GoID, status uint8, seq sequence) Slot {
	t.live++
	key := uint64(id)>>together + 1
	b := t.place(key)
	if b.key == 0 {
		if t.full++; 2*t.full > len(t.blocks) {
			t.resize(2 * len(t.blocks))
			b = t.place(key)
		}
		b.key = key
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
	b.slots[uint64(id)%(1<<together)] = slot + 1
	return slot
}

// remove ends the life in a slot.
func (t *goroutines) remove(slot Slot) {
	t.live--
	t.free = append(t.free, slot)
	g := t.at(slot)
	g.status = 0
	b := t.place(uint64(g.id)>>together + 1)
	b.slots[uint64(g.id)%(1<<together)] = 0
	if b.slots == (goBlock{}).slots {
		t.vacate(b.key)
	}
}

// vacate frees a block, and closes the gap: a block behind it moves up unless
// its home lies between.
func (t *goroutines) vacate(key uint64) {
	t.full--
	mask := uint64(len(t.blocks) - 1)
	i := t.home(key)
	for t.blocks[i&mask].key != key {
		i++
	}
	gap := i & mask
	for j := gap; ; {
		j = (j + 1) & mask
		k := t.blocks[j].key
		if k == 0 {
			break
		}
		if (j-t.home(k))&mask >= (j-gap)&mask {
			t.blocks[gap] = t.blocks[j]
			gap = j
		}
	}
	t.blocks[gap] = goBlock{}
}
