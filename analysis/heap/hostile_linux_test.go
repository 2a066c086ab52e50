//go:build linux && (amd64 || arm64)

package heap

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"loupe/format/program"
	"loupe/format/symbol"
)

// copied is the memory of a process as it was once, with changes.
type copied struct {
	pieces []piece // by address
	// changes are words to be found instead, by address.
	changes map[uint64]uint64
}

type piece struct {
	addr uint64
	data []byte
}

var errGone = errors.New("nothing is there")

func (c *copied) at(addr uint64) *piece {
	i := sort.Search(len(c.pieces), func(i int) bool { return c.pieces[i].addr > addr }) - 1
	if i < 0 || addr-c.pieces[i].addr >= uint64(len(c.pieces[i].data)) {
		return nil
	}
	return &c.pieces[i]
}

func (c *copied) Read(addr uint64, buf []byte) error {
	p := c.at(addr)
	if p == nil || uint64(len(buf)) > uint64(len(p.data))-(addr-p.addr) {
		return errGone
	}
	copy(buf, p.data[addr-p.addr:])
	for at, w := range c.changes {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], w)
		for i := range b {
			if x := at + uint64(i) - addr; x < uint64(len(buf)) {
				buf[x] = b[i]
			}
		}
	}
	return nil
}

func (c *copied) Gather(addrs []uint64, size int, buf []byte) error {
	return gather(c, addrs, size, buf)
}

// copyOf copies the memory of a child that can be written to, and what of the
// program is beside it.
func copyOf(t testing.TB, mem Memory, maps string) *copied {
	t.Helper()
	c := &copied{}
	for line := range strings.Lines(maps) {
		var low, high uint64
		var mode string
		if n, _ := fmt.Sscanf(line, "%x-%x %s", &low, &high, &mode); n != 3 || mode[0] != 'r' || strings.Contains(line, "[v") || high-low > 64<<20 {
			continue
		}
		data := make([]byte, high-low)
		if mem.Read(low, data) != nil {
			continue
		}
		if n := len(c.pieces); n > 0 && c.pieces[n-1].addr+uint64(len(c.pieces[n-1].data)) == low {
			c.pieces[n-1].data = append(c.pieces[n-1].data, data...)
		} else {
			c.pieces = append(c.pieces, piece{low, data})
		}
	}
	return c
}

// everything reads all that can be read of a heap.
func everything(mem program.Memory, bin *symbol.Binary) error {
	opt, err := unwound(mem, bin, 0)
	if err != nil {
		opt = Options{}
	}
	opt.MaxMemory = 256 << 20
	h, err := Open(mem, bin, 0, opt)
	if err != nil {
		return err
	}
	rows := h.Histogram()
	h.Totals()
	if _, err := h.Texts(10); err != nil {
		return err
	}
	g, err := h.Graph()
	if err != nil {
		return err
	}
	g.Holders(true)
	g.ByType()
	for _, r := range rows[:min(len(rows), 5)] {
		g.Ways(r.Type)
	}
	for _, o := range g.Largest("", 5) {
		if _, err := g.Path(o.Addr); err != nil {
			return err
		}
	}
	return nil
}

// changed calls f with the memory of the known program, in which words of the
// runtime's tables, of its variables and of objects are others.
func changed(t testing.TB, c *copied, bin *symbol.Binary, seed uint64, n int) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 7))
	l, err := layoutOf(bin)
	if err != nil {
		t.Fatal(err)
	}
	c.changes = nil
	word := func(addr uint64) uint64 {
		var b [8]byte
		if c.Read(addr, b[:]) != nil {
			return 0
		}
		return le64(b[:])
	}
	list, spans := word(l.mheap+uint64(l.allspans)), word(l.mheap+uint64(l.allspans)+8)
	changes := map[uint64]uint64{}
	for range n {
		var at uint64
		switch r.IntN(4) {
		case 0: // a field of a span
			at = word(list+8*r.Uint64N(max(spans, 1))) + uint64(r.IntN(l.spanSize))&^7
		case 1: // a variable of the runtime
			vars := l.types.Variables
			at = vars[r.IntN(len(vars))].Addr&^7 + 8*uint64(r.IntN(4))
		case 2: // the list of spans
			at = l.mheap + uint64(l.allspans) + 8*uint64(r.IntN(2))
			if r.IntN(8) > 0 {
				at = list + 8*r.Uint64N(max(spans, 1))
			}
		default: // anything
			p := &c.pieces[r.IntN(len(c.pieces))]
			at = p.addr + r.Uint64N(uint64(len(p.data)))&^7
		}
		w := r.Uint64()
		switch r.IntN(5) {
		case 0:
			w = word(at) ^ 1<<r.IntN(64)
		case 1:
			w = word(at) + uint64(r.IntN(1<<16)) - 1<<15
		case 2: // an address of something else
			p := &c.pieces[r.IntN(len(c.pieces))]
			w = p.addr + r.Uint64N(uint64(len(p.data)))
		case 3:
			w >>= r.IntN(64)
		}
		changes[at] = w
	}
	c.changes = changes
	everything(c, bin) // it may fail, with whatever error
	c.changes = nil
}

// knownCopy is a copy of the memory of the known program.
func knownCopy(t testing.TB) (*copied, *symbol.Binary) {
	t.Helper()
	dir := t.TempDir()
	exe := filepath.Join(dir, "known")
	if out, err := exec.Command("go", "build", "-pgo=off", "-o", exe, "./heaptest/known").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	mem, bin, _, pid := child(t, exe)
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		t.Fatal(err)
	}
	return copyOf(t, mem, string(maps)), bin
}

// TestHostile reads heaps that were damaged: it must end, without a panic and
// within its memory.
func TestHostile(t *testing.T) {
	c, bin := knownCopy(t)
	if err := everything(c, bin); err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(12) {
		changed(t, c, bin, seed, 1+int(seed)*4)
	}
	h := Options{MaxMemory: 16 << 10}
	if _, err := Open(c, bin, 0, h); !errors.Is(err, ErrNotReadable) {
		t.Errorf("with 16 kB of memory: %v", err)
	}
}

// FuzzHeap does the same with any changes.
func FuzzHeap(f *testing.F) {
	c, bin := knownCopy(f)
	f.Add(uint64(1), uint16(3))
	f.Fuzz(func(t *testing.T, seed uint64, n uint16) { changed(t, c, bin, seed, int(n%512)) })
}
