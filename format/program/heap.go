package program

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"loupe/format/profile"
	"loupe/value/stack"
)

// ErrHeapProfileOff is wrapped by the error about a program whose heap profile
// is switched off.
var ErrHeapProfileOff = errors.New("its heap profile is switched off: runtime.MemProfileRate is 0")

// How the buckets of the heap profile lie in memory (mprof.go), the same since
// Go 1.18 on all machines of 64 bits: a header, the return addresses of the
// stack, then the counts of the published profile and of three cycles to come.
const (
	bucketNext   = 8 // allnext
	bucketType   = 16
	bucketDepth  = 40
	bucketHeader = 48
	bucketCycle  = 32 // allocs, frees, bytes allocated, bytes freed
	bucketCounts = 4 * bucketCycle
	memBucket    = 1
)

// What is believed of buckets.
const (
	maxBuckets     = 4 << 20
	maxBucketDepth = 1024 + 8 // maxProfStackDepth
	// guessedDepth is how many addresses are read along with a header.
	guessedDepth = 32
)

// counts are those of a cycle.
type counts struct{ allocs, frees, allocBytes, freeBytes uint64 }

func (c *counts) add(d counts) {
	c.allocs += d.allocs
	c.frees += d.frees
	c.allocBytes += d.allocBytes
	c.freeBytes += d.freeBytes
}

// bucket is what was allocated by one stack in one size.
type bucket struct {
	pcs    []uint64 // return addresses
	active counts
	future [3]counts
}

// MemProfileRate reads how many bytes are allocated between two samples of the
// heap profile, 0 when it is switched off, and where that number lies in the
// program's memory.
func (p *Program) MemProfileRate() (rate int64, addr uint64, err error) {
	s, ok := p.v[profRate]
	if !ok || s.Size != 8 {
		return 0, 0, fmt.Errorf("%w: its symbol table does not tell where %s is", ErrNotGo, profRate)
	}
	addr = s.Addr + p.Bias
	n, err := p.Word(addr)
	if rate = int64(n); err == nil && rate < 0 {
		err = fmt.Errorf("%w: its %s is %d", ErrNotGo, profRate, rate)
	}
	return rate, addr, err
}

// HeapProfile reads the heap profile that the runtime keeps: what
// /debug/pprof/heap gives, with objects and bytes that were allocated and that are
// in use as of the end of the last collection.
func (p *Program) HeapProfile() (*profile.Profile, error) {
	rate, _, err := p.MemProfileRate()
	if err != nil {
		return nil, err
	}
	if rate == 0 {
		return nil, ErrHeapProfileOff
	}
	var all []bucket
	for try := 0; ; try++ {
		before, err := p.profCycle()
		if err != nil {
			return nil, err
		}
		if all, err = p.buckets(); err != nil {
			return nil, err
		}
		after, err := p.profCycle()
		if err != nil {
			return nil, err
		}
		// While a collection ends its counts move from one place to another.
		if before == after || try == 3 {
			publish(all, int(after%3))
			out := p.heapProfile(all, rate)
			out.Comments = append(out.Comments, fmt.Sprintf("collections so far: %d", after))
			return out, nil
		}
	}
}

// profCycle reads how often the heap profile was begun anew, which each collection does: its
// rest by three is which of the cycles to come is the next to be published.
func (p *Program) profCycle() (uint32, error) {
	shift := 1 // its lowest bit says whether it was published
	s, ok := p.v[profCycle]
	if !ok {
		s, ok = p.v[profCycle8]
		shift = 0
	}
	if !ok {
		return 0, fmt.Errorf("%w: its symbol table does not tell where %s is", ErrNotGo, profCycle)
	}
	var b [4]byte
	err := p.Memory.Read(s.Addr+p.Bias, b[:])
	return binary.LittleEndian.Uint32(b[:]) >> shift, err
}

// publish does to the counts what the runtime does before it shows them: it adds
// the cycle whose counts are complete, and when there was no collection yet, all
// of them (memProfileInternal).
func publish(all []bucket, cycle int) {
	clear := true
	for i := range all {
		b := &all[i]
		b.active.add(b.future[cycle])
		clear = clear && b.active.allocs == 0 && b.active.frees == 0
	}
	if !clear {
		return
	}
	for i := range all {
		for _, c := range all[i].future {
			all[i].active.add(c)
		}
	}
}

// buckets walks the list of them.
func (p *Program) buckets() (all []bucket, err error) {
	s, ok := p.v[mbuckets]
	if !ok {
		return nil, fmt.Errorf("%w: its symbol table does not tell where %s is", ErrNotGo, mbuckets)
	}
	at, err := p.Word(s.Addr + p.Bias)
	if err != nil {
		return nil, err
	}
	guess := make([]byte, bucketHeader+8*guessedDepth+bucketCounts)
	seen := uint64(0) // the bucket at the last power of two: a circle meets it again
	for at != 0 {
		if at == seen || len(all) == maxBuckets {
			return nil, fmt.Errorf("%w: its heap profile does not end", ErrNotGo)
		}
		if n := len(all); n&(n-1) == 0 {
			seen = at
		}
		raw := guess
		if p.Memory.Read(at, raw) != nil {
			raw = guess[:bucketHeader] // it may be the last thing in memory
			if err := p.Memory.Read(at, raw); err != nil {
				return nil, err
			}
		}
		depth := binary.LittleEndian.Uint64(raw[bucketDepth:])
		if kind := binary.LittleEndian.Uint64(raw[bucketType:]); kind != memBucket || depth > maxBucketDepth {
			return nil, fmt.Errorf("%w: its heap profile has a bucket of kind %d with a stack of %d", ErrNotGo, kind, depth)
		}
		size := bucketHeader + 8*int(depth) + bucketCounts
		if size > len(raw) {
			raw = make([]byte, size)
			if err := p.Memory.Read(at, raw); err != nil {
				return nil, err
			}
		}
		all = append(all, readBucket(raw, int(depth)))
		at = binary.LittleEndian.Uint64(raw[bucketNext:])
	}
	return all, nil
}

func readBucket(raw []byte, depth int) (b bucket) {
	b.pcs = make([]uint64, depth)
	rest := raw[bucketHeader:]
	for i := range b.pcs {
		b.pcs[i] = binary.LittleEndian.Uint64(rest[8*i:])
	}
	rest = rest[8*depth:]
	for i := range 4 {
		word := func(n int) uint64 { return binary.LittleEndian.Uint64(rest[bucketCycle*i+8*n:]) }
		c := counts{word(0), word(1), word(2), word(3)}
		if i == 0 {
			b.active = c
		} else {
			b.future[i-1] = c
		}
	}
	return b
}

// heapProfile makes a profile of the buckets, as runtime/pprof does.
func (p *Program) heapProfile(all []bucket, rate int64) *profile.Profile {
	out := &profile.Profile{
		SampleTypes: []profile.ValueType{
			{Type: "alloc_objects", Unit: "count"}, {Type: "alloc_space", Unit: "bytes"},
			{Type: "inuse_objects", Unit: "count"}, {Type: "inuse_space", Unit: "bytes"},
		},
		PeriodType: profile.ValueType{Type: "space", Unit: "bytes"}, Period: rate,
		Stacks: &stack.Table{}, Values: make([][]int64, 4),
	}
	var sizes []int64
	names := map[uint64][]stack.FrameID{}
	for i := range all {
		b := &all[i]
		c := b.active
		out.StackIDs = append(out.StackIDs, out.Stacks.Intern(p.allocation(out.Stacks, names, b.pcs)))
		objects, space := unsampled(int64(c.allocs), int64(c.allocBytes), rate)
		inuse, inuseSpace := unsampled(int64(c.allocs-c.frees), int64(c.allocBytes-c.freeBytes), rate)
		for n, v := range []int64{objects, space, inuse, inuseSpace} {
			out.Values[n] = append(out.Values[n], v)
		}
		size := int64(0)
		if c.allocs > 0 {
			size = int64(c.allocBytes / c.allocs)
		}
		sizes = append(sizes, size)
	}
	return out.WithLabels(func(row int) []profile.Label {
		if sizes[row] == 0 {
			return nil
		}
		return []profile.Label{{Key: "bytes", Num: sizes[row], Numeric: true}}
	})
}

// unsampled estimates how much there was of what the sampling has seen: a block
// of some size is seen with a probability of 1-exp(-size/rate).
func unsampled(count, size, rate int64) (int64, int64) {
	if count == 0 || size == 0 {
		return 0, 0
	}
	if rate <= 1 {
		return count, size
	}
	scale := 1 / (1 - math.Exp(-float64(size)/float64(count)/float64(rate)))
	return int64(float64(count) * scale), int64(float64(size) * scale)
}

// allocation gives names to a stack of return addresses, one for each call, the
// inlined ones too. The calls within the runtime at its leaf are left out, unless
// there are no others; so is runtime.goexit, below which there is nothing.
func (p *Program) allocation(table *stack.Table, names map[uint64][]stack.FrameID, pcs []uint64) []stack.FrameID {
	for i, pc := range pcs {
		if f := p.Binary.Frames(pc - p.Bias); len(f) > 0 && runtimes(f[0].Func) {
			continue
		}
		pcs = pcs[i:]
		break
	}
	var ids []stack.FrameID
	for i, pc := range pcs {
		frames, known := names[pc]
		if !known {
			frames = p.calls(table, pc-1)
			names[pc] = frames
		}
		if i < len(pcs)-1 {
			frames = frames[:min(1, len(frames))] // what it was inlined into has addresses of its own
		}
		ids = append(ids, frames...)
	}
	return ids
}

// calls are the frames of an instruction, without what the compiler has made.
func (p *Program) calls(table *stack.Table, pc uint64) (ids []stack.FrameID) {
	all := p.Binary.Frames(pc - p.Bias)
	for i, f := range all {
		f.Address = pc - p.Bias
		if f.Func == "runtime.goexit" || wrapper(p.Binary, p.l.special, f) {
			all = all[:i]
			break
		}
	}
	for i, f := range all {
		ids = append(ids, table.InternFrame(stack.Frame{
			Func: f.Func, File: f.File, Line: f.Line, StartLine: f.StartLine, Inlined: i < len(all)-1,
		}))
	}
	return ids
}

// runtimes tells whether a function is the runtime's own.
func runtimes(name string) bool {
	return strings.HasPrefix(name, "runtime.") || strings.HasPrefix(name, "internal/runtime/")
}
