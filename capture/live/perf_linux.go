//go:build linux && (amd64 || arm64)

package live

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"loupe/format/profile"
	"loupe/value/stack"
)

// perfPages is the size of the ring of each thread: 16 pages hold three seconds
// of one that is always busy. A user may have kernel.perf_event_mlock_kb of them for
// each CPU, and what ulimit -l allows besides: where that is not enough for all
// threads the rings are made smaller, down to leastPages.
const (
	perfPages  = 16
	leastPages = 1
)

// drainEvery is how often the rings are emptied and new threads are looked for.
const drainEvery = 50 * time.Millisecond

// Frequency is how often a second of CPU time CPUProfile looks at each thread.
const Frequency = 99

// CPUProfile samples the stacks of the process's threads while they run, for a
// time or until ctx ends, by the kernel's perf events: its clock, and the frame
// pointers that Go keeps. Time in the kernel counts for the call that went
// there. The process does not notice.
//
// The comments of the profile say what was lost: the first one how many samples, a
// second one, if any, how many threads.
//
// Note: what waits is not seen; C code without frame pointers ends a stack; there
// are no labels. Threads that start and end between two looks are missed.
func (p *Process) CPUProfile(ctx context.Context, length time.Duration) (*profile.Profile, error) {
	s := &sampling{p: p, pages: perfPages, threads: map[int]*ring{}, unseen: map[int]bool{}, stacks: map[string]*weighed{}}
	defer s.close()
	began := time.Now()
	end := time.NewTimer(length)
	defer end.Stop()
	tick := time.NewTicker(drainEvery)
	defer tick.Stop()
	for {
		if err := s.attach(); err != nil {
			return nil, fmt.Errorf("cannot profile process %d: %w", p.pid, err)
		}
		var done bool
		select {
		case <-ctx.Done():
			done = true
		case <-end.C:
			done = true
		case <-tick.C:
		}
		if alive := s.drain(); done || !alive {
			return s.profile(began, time.Since(began)), nil
		}
	}
}

// sampling is a CPU profile that is being taken.
type sampling struct {
	p       *Process
	pages   int // of a ring
	threads map[int]*ring
	unseen  map[int]bool // threads that could not be opened any more
	stacks  map[string]*weighed
	lost    uint64
	buf     []byte
}

type weighed struct {
	pcs []uint64
	n   int64
}

// ring is where the kernel puts the samples of one thread.
type ring struct {
	fd   int
	data []byte // a page of bookkeeping, then the ring
}

// attach begins to sample the threads that are new.
func (s *sampling) attach() error {
	dir := fmt.Sprintf("/proc/%d/task", s.p.pid)
	entries, err := os.ReadDir(dir)
	if err != nil {
		if len(s.threads) > 0 {
			return nil // it has ended; what there is, is told
		}
		return err
	}
	for _, e := range entries {
		tid, err := strconv.Atoi(e.Name())
		if err != nil || s.threads[tid] != nil || s.unseen[tid] {
			continue
		}
		r, err := sample(tid, s.pages)
		switch {
		case errors.Is(err, unix.ESRCH):
			continue // it has ended meanwhile
		case errors.Is(err, errNoRoom) && s.pages > leastPages:
			s.drain()
			s.close()
			clear(s.threads)
			s.pages /= 2
			return s.attach()
		case err != nil && len(s.threads) == 0:
			return err
		case err != nil:
			s.unseen[tid] = true
			continue
		}
		s.threads[tid] = r
	}
	return nil
}

// errNoRoom is wrapped where the kernel gives this user no more memory for rings.
var errNoRoom = errors.New("kernel.perf_event_mlock_kb and ulimit -l allow no more memory for samples")

// sample asks the kernel to sample one thread, into a ring of some pages, a power of
// two.
func sample(tid, pages int) (*ring, error) {
	attr := unix.PerfEventAttr{
		Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_CPU_CLOCK, Sample: Frequency,
		Sample_type:      unix.PERF_SAMPLE_TID | unix.PERF_SAMPLE_CALLCHAIN | unix.PERF_SAMPLE_REGS_USER | unix.PERF_SAMPLE_STACK_USER,
		Sample_regs_user: leafRegister, Sample_stack_user: leafStack,
		Bits:             unix.PerfBitFreq | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv | unix.PerfBitExcludeCallchainKernel,
		Sample_max_stack: 127,
	}
	attr.Size = uint32(unsafe.Sizeof(attr))
	fd, err := unix.PerfEventOpen(&attr, tid, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return nil, refusedPerf(tid, err)
	}
	data, err := unix.Mmap(fd, 0, (1+pages)*os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		unix.Close(fd)
		if err == unix.EPERM {
			err = errNoRoom
		}
		return nil, fmt.Errorf("cannot map the samples of thread %d: %w", tid, err)
	}
	return &ring{fd, data}, nil
}

// Where the bookkeeping page has what (struct perf_event_mmap_page).
const (
	perfHead = 1024
	perfTail = 1032
)

// The records of a ring (enum perf_event_type).
const (
	recordLost   = 2
	recordSample = 9
)

// drain takes the samples out of all rings, and says whether the process lives.
func (s *sampling) drain() bool {
	for _, r := range s.threads {
		head := atomic.LoadUint64((*uint64)(unsafe.Pointer(&r.data[perfHead])))
		tail := atomic.LoadUint64((*uint64)(unsafe.Pointer(&r.data[perfTail])))
		body := r.data[os.Getpagesize():]
		for tail < head {
			size := uint64(binary.NativeEndian.Uint16(s.bytes(body, tail+6, 2)))
			if size < 8 || size > head-tail {
				tail = head // nonsense: the rest is given up
				break
			}
			s.record(s.bytes(body, tail, int(size)))
			tail += size
		}
		atomic.StoreUint64((*uint64)(unsafe.Pointer(&r.data[perfTail])), tail)
	}
	_, err := os.Stat(fmt.Sprintf("/proc/%d", s.p.pid))
	return err == nil
}

// bytes returns n bytes of a ring from a position on, which may go round its
// end. They are valid until the next call.
func (s *sampling) bytes(ring []byte, at uint64, n int) []byte {
	at %= uint64(len(ring))
	if int(at)+n <= len(ring) {
		return ring[at : int(at)+n]
	}
	s.buf = append(s.buf[:0], ring[at:]...)
	return append(s.buf, ring[:n-(len(ring)-int(at))]...)
}

// userContext and above are no addresses but tell which part of the chain
// follows (enum perf_callchain_context).
const contextMax = ^uint64(0) - 4095

// leafStack is how much of the top of the stack comes with each sample.
const leafStack = 64

// leafCaller finds the return address of the function at the leaf when its frame
// pointer is not set up: in functions without a frame of their own, and in the
// first instructions of all others, the chain of frame pointers begins with
// the caller's, and leaves the caller out. rest is what stands behind the addresses
// of a record: whether there are registers (u64), the register, the size of the
// piece of the stack (u64), and the piece.
func (s *sampling) leafCaller(pc uint64, rest []byte) (uint64, bool) {
	if len(rest) < 24 || binary.NativeEndian.Uint64(rest) == 0 {
		return 0, false
	}
	size, ok := s.p.Binary.FrameSize(pc - s.p.bias)
	if !ok || size < 0 {
		return 0, false
	}
	register, top := binary.NativeEndian.Uint64(rest[8:]), rest[24:]
	if n := binary.NativeEndian.Uint64(rest[16:]); n < uint64(len(top)) {
		top = top[:n]
	}
	back, ok := returnAddress(size, register, top)
	if !ok || back == 0 {
		return 0, false
	}
	_, ok = s.p.Binary.FuncAt(back - 1 - s.p.bias)
	return back, ok
}

// record takes one record: a header of 8 bytes, the ids of process and thread,
// the number of addresses, and the addresses, leaf first; see leafCaller for what
// follows.
func (s *sampling) record(rec []byte) {
	switch binary.NativeEndian.Uint32(rec) {
	case recordLost:
		if len(rec) >= 24 {
			s.lost += binary.NativeEndian.Uint64(rec[16:])
		}
		return
	case recordSample:
	default:
		return
	}
	if len(rec) < 24 {
		return
	}
	n := binary.NativeEndian.Uint64(rec[16:])
	if n > uint64(len(rec)-24)/8 {
		return
	}
	var pcs []uint64
	for i := range n {
		pc := binary.NativeEndian.Uint64(rec[24+8*i:])
		if pc >= contextMax {
			continue
		}
		if len(pcs) > 0 {
			pc-- // a return address
		}
		pcs = append(pcs, pc)
		if len(pcs) == 1 {
			back, ok := s.leafCaller(pc, rec[24+8*n:])
			next := uint64(0)
			if i+1 < n {
				next = binary.NativeEndian.Uint64(rec[24+8*(i+1):])
			}
			if ok && back != next {
				pcs = append(pcs, back-1)
			}
		}
	}
	key := string(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(pcs))), 8*len(pcs)))
	w, ok := s.stacks[key]
	if !ok {
		w = &weighed{pcs: pcs}
		s.stacks[strings.Clone(key)] = w
	}
	w.n++
}

// profile gives names to what was seen.
func (s *sampling) profile(began time.Time, took time.Duration) *profile.Profile {
	const period = int64(time.Second / Frequency)
	out := &profile.Profile{
		SampleTypes: []profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		PeriodType:  profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: period,
		Time: began, Duration: took, Stacks: &stack.Table{}, Values: make([][]int64, 2),
		Comments: []string{fmt.Sprintf("process %d, by perf events; %d samples lost", s.p.pid, s.lost)},
	}
	if n := len(s.unseen); n > 0 {
		out.Comments = append(out.Comments, fmt.Sprintf("%d of %d threads of process %d were not looked at: the kernel allows no more perf events to this user (kernel.perf_event_mlock_kb, ulimit -l and -n)",
			n, n+len(s.threads), s.p.pid))
	}
	keys := make([]string, 0, len(s.stacks))
	for k := range s.stacks {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	names := map[uint64][]stack.FrameID{}
	for _, k := range keys {
		w := s.stacks[k]
		var ids []stack.FrameID
		for _, pc := range w.pcs {
			frames, known := names[pc]
			if !known {
				for _, f := range s.p.Binary.Frames(pc - s.p.bias) {
					frames = append(frames, out.Stacks.InternFrame(stack.Frame{Func: f.Func, File: f.File, Line: f.Line, StartLine: f.StartLine, Inlined: f.Inlined}))
				}
				if len(frames) == 0 {
					frames = append(frames, out.Stacks.InternFrame(stack.Frame{Func: "[unknown]"}))
				}
				names[pc] = frames
			}
			ids = append(ids, frames...)
		}
		out.StackIDs = append(out.StackIDs, out.Stacks.Intern(ids))
		out.Values[0] = append(out.Values[0], w.n)
		out.Values[1] = append(out.Values[1], w.n*period)
	}
	return out
}

func (s *sampling) close() {
	for _, r := range s.threads {
		unix.Munmap(r.data)
		unix.Close(r.fd)
	}
}
