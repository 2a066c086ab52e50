package program

import (
	"encoding/binary"
	"fmt"
	"regexp"
	"strings"
	"time"

	"loupe/format/dump"
	"loupe/format/symbol"
	"loupe/value/stack"
)

// The states of a g (runtime2.go).
const (
	gIdle, gRunnable, gRunning, gSyscall, gWaiting = 0, 1, 2, 3, 4
	gDead, gCopyStack, gPreempted, gLeaked         = 6, 8, 9, 10
	gDeadExtra                                     = 11
	gScan                                          = 0x1000
)

// maxGoroutines bounds what is believed of a number that was read.
const maxGoroutines = 16 << 20

// maxDepth is how many frames of a stack are followed. Go prints a hundred.
const maxDepth = 128

// snapshot is the goroutines of a process while they are being read.
type snapshot struct {
	mem    Memory
	l      *layout
	bias   uint64 // what the loader has added to all addresses
	now    int64  // on the clock of waitsince
	bin    *symbol.Binary
	file   *dump.File
	names  map[uint64][]stack.FrameID // the frames of a program counter
	system map[uint64]bool            // of start functions: the runtime's own
	states map[dump.State]dump.StateID
	// special is what the runtime calls wrappers of the compiler (funcID), 0
	// where their names tell.
	special uint8
}

// one is one goroutine on its way.
type one struct {
	g      []byte // its g
	addr   uint64
	pcs    []uint64
	bp     uint64
	moving bool
}

// snapshot begins to read the goroutines.
func (p *Program) snapshot(now int64) *snapshot {
	return &snapshot{
		mem: p.Memory, l: p.l, bias: p.Bias, now: now, bin: p.Binary, names: map[uint64][]stack.FrameID{}, system: map[uint64]bool{}, states: map[dump.State]dump.StateID{},
		file: &dump.File{Stacks: &stack.Table{}}, special: p.l.special,
	}
}

// Goroutines reads all goroutines, the runtime's own left out, as a dump has
// them. now is the time on the clock that the runtime reads (nanotime), from
// which it follows how long they have waited.
//
// The program may run meanwhile: a goroutine that moves is given without its
// stack, see [Stopped] for programs that do not.
func (p *Program) Goroutines(now int64) (*dump.File, error) {
	s := p.snapshot(now)
	reasons, err := s.reasons()
	if err != nil {
		return nil, err
	}
	all, err := s.all()
	if err != nil {
		return nil, err
	}
	s.walk(all)
	s.recheck(all)
	for i := range all {
		s.add(&all[i], reasons)
	}
	f := s.file
	f.Dumps = []dump.Dump{{Kind: dump.Goroutines, End: len(f.IDs)}}
	return f, nil
}

func (s *snapshot) u64(addr uint64) (uint64, error) {
	var b [8]byte
	err := s.mem.Read(addr+s.bias, b[:])
	return binary.LittleEndian.Uint64(b[:]), err
}

// reasons reads why goroutines may wait, in the words of the runtime.
func (s *snapshot) reasons() ([]string, error) {
	n := s.l.reasonsLen
	if n <= 0 || n > 256 {
		return nil, fmt.Errorf("%w: its table of reasons to wait has %d entries", ErrNotGo, n)
	}
	buf := make([]byte, 16*n)
	if err := s.mem.Read(s.l.reasons+s.bias, buf); err != nil {
		return nil, err
	}
	out := make([]string, n)
	for i := range out {
		at, length := binary.LittleEndian.Uint64(buf[16*i:]), binary.LittleEndian.Uint64(buf[16*i+8:])
		if length == 0 || length > 64 {
			continue
		}
		text := make([]byte, length)
		if err := s.mem.Read(at, text); err != nil {
			return nil, err
		}
		out[i] = string(text)
	}
	return out, nil
}

// all reads every goroutine that is not dead and not the runtime's own.
func (s *snapshot) all() (out []one, err error) {
	addrs, err := s.list()
	if err != nil {
		return nil, err
	}
	return out, s.each(addrs, func(o *one) { out = append(out, *o) })
}

// list returns where the goroutines are.
func (s *snapshot) list() ([]uint64, error) {
	// The list only grows. Its length is written after the list itself.
	n, err := s.u64(s.l.allglen)
	if err != nil {
		return nil, err
	}
	list, err := s.u64(s.l.allgptr)
	if err != nil {
		return nil, err
	}
	if n > maxGoroutines {
		return nil, fmt.Errorf("%w: it would have %d goroutines", ErrNotGo, n)
	}
	buf := make([]byte, 8*n)
	if err := s.mem.Read(list, buf); err != nil {
		return nil, err
	}
	addrs := make([]uint64, 0, n)
	seen := make(map[uint64]bool, n)
	for i := range n {
		// The same one twice is in no program, and would make a small file
		// need much memory.
		if at := binary.LittleEndian.Uint64(buf[8*i:]); !seen[at] {
			seen[at] = true
			addrs = append(addrs, at)
		}
	}
	return addrs, nil
}

// each reads the goroutines at some addresses, but for those that are dead or the
// runtime's own. f may keep what it is given.
func (s *snapshot) each(addrs []uint64, f func(*one)) error {
	for len(addrs) > 0 {
		some := addrs[:min(len(addrs), maxGathered)]
		addrs = addrs[len(some):]
		gs := make([]byte, len(some)*s.l.size)
		if err := s.mem.Gather(some, s.l.size, gs); err != nil {
			return err
		}
		for i := range some {
			o := one{g: gs[i*s.l.size : (i+1)*s.l.size : (i+1)*s.l.size], addr: some[i]}
			switch s.status(&o) {
			case gIdle, gDead, gDeadExtra:
				continue
			}
			if !s.isSystem(s.word(&o, s.l.startPC)) {
				f(&o)
			}
		}
	}
	return nil
}

// maxGathered is how many g are read at once.
const maxGathered = 1 << 12

func (s *snapshot) word(o *one, off int) uint64 { return binary.LittleEndian.Uint64(o.g[off:]) }

// wordAt reads a word; ok is false where there is none.
func (s *snapshot) wordAt(addr uint64) (n uint64, ok bool) {
	var b [8]byte
	err := s.mem.Read(addr, b[:])
	return binary.LittleEndian.Uint64(b[:]), err == nil
}

// g reads a g.
func (s *snapshot) g(addr uint64) (o one, ok bool) {
	if addr == 0 {
		return o, false
	}
	o = one{addr: addr, g: make([]byte, s.l.size)}
	return o, s.mem.Read(addr, o.g) == nil
}

// inStack tells whether an address is one that the stack pointer may have.
func (s *snapshot) inStack(o *one, sp uint64) bool {
	return sp > s.word(o, s.l.stackLo) && sp < s.word(o, s.l.stackHi) && sp%8 == 0
}

func (s *snapshot) arm() bool { return s.bin.Arch == "arm64" }

func (s *snapshot) status(o *one) uint32 {
	return binary.LittleEndian.Uint32(o.g[s.l.status:]) &^ gScan
}

// isSystem tells whether a goroutine that began there is one of the runtime's
// own, which dumps leave out: isSystemGoroutine in runtime/traceback.go.
func (s *snapshot) isSystem(start uint64) bool {
	is, known := s.system[start]
	if !known {
		f, ok := s.bin.FuncAt(start - s.bias)
		is = ok && strings.HasPrefix(f.Name, "runtime.") && f.Name != "runtime.main" && f.Name != "runtime.handleAsyncEvent" && f.Name != "runtime.corostart"
		s.system[start] = is
	}
	return is
}

// walk follows the frame pointers of all stacks, a frame of each at a time, so
// that one call to the kernel reads a thousand of them.
func (s *snapshot) walk(all []one) {
	var live []*one
	for i := range all {
		o := &all[i]
		switch s.status(o) {
		case gRunnable, gWaiting, gPreempted, gLeaked:
			o.pcs, o.bp = []uint64{s.word(o, s.l.schedPC)}, s.word(o, s.l.schedBP)
		case gSyscall:
			o.pcs = []uint64{s.word(o, s.l.syscallPC)}
			if s.l.syscallBP >= 0 {
				o.bp = s.word(o, s.l.syscallBP)
			}
		default:
			o.moving = true
		}
		if s.onStack(o, o.bp) {
			live = append(live, o)
		}
	}
	addrs := make([]uint64, len(live))
	buf := make([]byte, 16*len(live))
	for depth := 1; depth < maxDepth && len(live) > 0; depth++ {
		for i, o := range live {
			addrs[i] = o.bp
		}
		if s.mem.Gather(addrs[:len(live)], 16, buf[:16*len(live)]) != nil {
			s.walkOne(live, depth)
			return
		}
		next := live[:0]
		for i, o := range live {
			if s.step(o, buf[16*i:]) {
				next = append(next, o)
			}
		}
		live = next
	}
}

// walkOne follows stacks one by one: some memory was given back meanwhile.
func (s *snapshot) walkOne(live []*one, depth int) {
	buf := make([]byte, 16)
	for _, o := range live {
		for d := depth; d < maxDepth; d++ {
			if s.mem.Read(o.bp, buf) != nil {
				o.moving = true
				break
			}
			if !s.step(o, buf) {
				break
			}
		}
	}
}

// step takes one frame: the caller's frame pointer and the return address lie
// where the frame pointer shows. It says whether there is another one.
func (s *snapshot) step(o *one, frame []byte) bool {
	bp, pc := binary.LittleEndian.Uint64(frame), binary.LittleEndian.Uint64(frame[8:])
	if pc == 0 {
		return false
	}
	o.pcs = append(o.pcs, pc-1)
	if bp <= o.bp || !s.onStack(o, bp) {
		return false
	}
	o.bp = bp
	return true
}

// onStack tells whether an address is on the stack of a goroutine.
func (s *snapshot) onStack(o *one, addr uint64) bool {
	return addr >= s.word(o, s.l.stackLo) && addr+16 <= s.word(o, s.l.stackHi) && addr%8 == 0
}

// recheck reads the gs once more: one whose state, place or stack has changed
// has moved while its stack was being read.
func (s *snapshot) recheck(all []one) {
	addrs := make([]uint64, len(all))
	for i := range all {
		addrs[i] = all[i].addr
	}
	buf := make([]byte, len(all)*s.l.size)
	if s.mem.Gather(addrs, s.l.size, buf) != nil {
		return
	}
	for i := range all {
		o := &all[i]
		now := one{g: buf[i*s.l.size:]}
		for _, off := range []int{s.l.goid, s.l.schedPC, s.l.schedBP, s.l.stackLo, s.l.stackHi} {
			if s.word(o, off) != s.word(&now, off) {
				o.moving = true
			}
		}
		o.moving = o.moving || s.status(o) != s.status(&now)
	}
}

// state tells what a goroutine does, and for how many minutes.
func (s *snapshot) state(o *one, reasons []string) (state dump.State, wait int32) {
	state.Locked = s.word(o, s.l.lockedM) != 0
	status := s.status(o)
	switch status {
	case gRunnable:
		state.Name = "runnable"
	case gRunning:
		state.Name = "running"
	case gSyscall:
		state.Name = "syscall"
	case gPreempted:
		state.Name = "preempted"
	case gCopyStack:
		state.Name = "copystack"
	case gWaiting, gLeaked:
		state.Name, state.Leaked = "waiting", status == gLeaked
		if r := int(o.g[s.l.reason]); r < len(reasons) && reasons[r] != "" {
			state.Name = reasons[r]
		}
	default:
		state.Name = fmt.Sprintf("???(%d)", status)
	}
	if since := int64(s.word(o, s.l.since)); since > 0 && s.now > since && status != gRunning && status != gRunnable {
		wait = int32(min(time.Duration(s.now-since)/time.Minute, 1<<30))
	}
	return state, wait
}

// add puts a goroutine into the columns.
func (s *snapshot) add(o *one, reasons []string) {
	f := s.file
	state, wait := s.state(o, reasons)
	flags := dump.Flags(0)
	var frames []stack.FrameID
	if o.moving {
		flags = dump.Unavailable
	} else {
		for _, pc := range o.pcs {
			frames = append(frames, s.frames(pc)...)
		}
	}
	f.Frames += int64(len(frames))
	creator := uint64(0)
	if pc := s.word(o, s.l.goPC); pc != 0 {
		frames = append(frames, s.created(pc)...)
		if s.l.parent >= 0 {
			creator = s.word(o, s.l.parent)
		}
	}
	id, known := s.states[state]
	if !known {
		id = dump.StateID(len(f.States))
		f.States = append(f.States, state)
		s.states[state] = id
	}
	f.IDs = append(f.IDs, s.word(o, s.l.goid))
	f.StackIDs = append(f.StackIDs, f.Stacks.Intern(frames))
	f.StateIDs = append(f.StateIDs, id)
	f.Waits = append(f.Waits, wait)
	f.Creators = append(f.Creators, creator)
	f.Objects = append(f.Objects, 0)
	f.Flags = append(f.Flags, flags)
}

// frames are the calls at a program counter that a dump would show.
func (s *snapshot) frames(pc uint64) []stack.FrameID {
	ids, known := s.names[pc]
	if known {
		return ids
	}
	for _, fr := range s.bin.Frames(pc - s.bias) {
		fr.Address = pc - s.bias
		if shown(fr.Func) && !wrapper(s.bin, s.special, fr) {
			ids = append(ids, s.file.Stacks.InternFrame(stack.Frame{Func: fr.Func, File: fr.File, Line: fr.Line}))
		}
	}
	s.names[pc] = ids
	return ids
}

// created is the go statement that a goroutine began with.
func (s *snapshot) created(pc uint64) []stack.FrameID {
	key := pc | 1<<63 // apart from the calls at the same place
	ids, known := s.names[key]
	if known {
		return ids
	}
	f, ok := s.bin.FuncAt(pc - s.bias)
	if ok && shown(f.Name) {
		file, line := s.bin.Line(pc - 1 - s.bias)
		s.file.CreatedBys++
		ids = []stack.FrameID{s.file.Stacks.InternFrame(stack.Frame{Func: dump.CreatedBy + f.Name, System: f.Name, File: file, Line: line})}
	}
	s.names[key] = ids
	return ids
}

// wrapped is how the compiler names what it wraps the call of a go or defer
// statement in, since Go 1.22.
var wrapped = regexp.MustCompile(`\.(gowrap|deferwrap)\d+$`)

// wrapper tells whether the compiler has made a function, which dumps leave out.
// special is the funcID that such functions have, 0 where their names tell.
func wrapper(bin *symbol.Binary, special uint8, fr symbol.Frame) bool {
	if fr.File == "<autogenerated>" || wrapped.MatchString(fr.Func) {
		return true
	}
	f, ok := bin.FuncAt(fr.Address)
	return ok && special != 0 && f.Special == special && f.Name == fr.Func
}

// shown tells whether Go prints a frame of a function in a dump: showfuncinfo in
// runtime/traceback.go.
func shown(name string) bool {
	rest, ok := strings.CutPrefix(name, "runtime.")
	if !ok {
		return strings.Contains(name, ".")
	}
	return rest == "runFinalizers" || rest == "runCleanups" || rest == "gopanic" || len(rest) > 0 && rest[0] >= 'A' && rest[0] <= 'Z'
}
