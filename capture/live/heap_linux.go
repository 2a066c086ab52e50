//go:build linux && (amd64 || arm64)

package live

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"loupe/format/profile"
	"loupe/format/program"
)

// HeapProfile reads the heap profile that the runtime keeps in the process: what
// its /debug/pprof/heap would give, as of the end of its last collection. It fails
// with [ErrHeapProfileOff] when the program keeps none.
func (p *Process) HeapProfile() (*profile.Profile, error) {
	prog, err := p.program()
	if err != nil {
		return nil, fmt.Errorf("cannot read the heap profile of process %d: %w", p.pid, err)
	}
	out, err := prog.HeapProfile()
	if err != nil {
		return nil, fmt.Errorf("cannot read the heap profile of process %d: %w", p.pid, refused(p.pid, err))
	}
	out.Time = time.Now()
	out.Comments = append([]string{fmt.Sprintf("process %d, out of its memory", p.pid)}, out.Comments...)
	return out, nil
}

// HeapProfiling is heap profiling that was switched on from outside.
type HeapProfiling struct {
	// Addr is where runtime.MemProfileRate lies in the process.
	Addr uint64
	// Before is what it was, Rate what it is now.
	Before, Rate int64

	pid int
}

// StartHeapProfiling makes a process keep a heap profile that keeps none, by
// writing to its memory: it sets runtime.MemProfileRate, so that one allocation in
// [HeapProfileRate] bytes is looked at. [HeapProfiling.Stop] undoes that. What was
// allocated before is not seen. A process that keeps one already is left alone: the
// error wraps [ErrHeapProfileOn].
func (p *Process) StartHeapProfiling() (*HeapProfiling, error) {
	fail := func(err error) (*HeapProfiling, error) {
		return nil, fmt.Errorf("cannot switch on the heap profile of process %d: %w", p.pid, refused(p.pid, err))
	}
	prog, err := p.program()
	if err != nil {
		return fail(err)
	}
	rate, addr, err := prog.MemProfileRate()
	if err != nil {
		return fail(err)
	}
	if rate != 0 {
		return fail(ErrHeapProfileOn)
	}
	h := &HeapProfiling{Addr: addr, Before: rate, Rate: HeapProfileRate, pid: p.pid}
	if err := processMemory(p.pid).write(addr, HeapProfileRate); err != nil {
		return fail(err)
	}
	return h, nil
}

// Stop writes back what was there. It leaves the process alone when that has
// changed the rate itself meanwhile, or has ended.
func (h *HeapProfiling) Stop() error {
	p := &program.Program{Memory: processMemory(h.pid)}
	now, err := p.Word(h.Addr)
	if err == nil && int64(now) == h.Rate {
		err = processMemory(h.pid).write(h.Addr, uint64(h.Before))
	}
	if err == nil || errors.Is(err, unix.ESRCH) {
		return nil
	}
	return fmt.Errorf("cannot switch the heap profile of process %d off again: %w", h.pid, err)
}

// Undo is a shell command that does what Stop does, for when nobody can call it.
func (h *HeapProfiling) Undo() string {
	return fmt.Sprintf(`dd if=/dev/zero of=/proc/%d/mem bs=8 count=1 seek=%d conv=notrunc 2>/dev/null`, h.pid, h.Addr/8)
}
