//go:build linux && (amd64 || arm64)

package live

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"loupe/format/program"
)

// Permissions says what this kernel lets this user do with a process, by trying
// each way: nothing of it leaves a trace in the process.
func Permissions(pid int) (all []Permission) {
	tries := map[string]func(int) error{"goroutines": tryGoroutines, "heap": tryHeap, "cpu": tryCPU, "counters": tryCounters, "core": tryCore}
	for _, way := range ways {
		p := Permission{What: way[0], How: way[1]}
		err := tries[p.What](pid)
		p.OK = err == nil
		if errors.Is(err, ErrHeapProfileOff) {
			p.Why = ErrHeapProfileOff.Error() + ", most often because nothing in the program asks for it and the linker leaves it out"
			p.Opens, p.Flag = "loupe attach "+HeapProfilingFlag+" writes to its memory and switches it on", HeapProfilingFlag
		} else if r, is := errors.AsType[*refusal](err); is {
			p.Why, p.Opens = r.Why, r.Opens
		} else if err != nil {
			p.Why = err.Error()
		}
		all = append(all, p)
	}
	return all
}

// Unrelated says whether this user may look into processes of its own that are
// no children of the one that looks, and if not why, and what would change that.
func Unrelated() Permission {
	p := Permission{What: "ptrace", How: "processes of the same user may be looked into"}
	p.Why, p.Opens = rulesHere().related(partyOf("self"))
	p.OK = p.Why == ""
	return p
}

// tryProgram tries something with the program that a process runs.
func tryProgram(pid int, what func(*program.Program) error) error {
	p, err := Open(pid)
	if err != nil {
		return err
	}
	defer p.Close()
	prog, err := p.program()
	if err != nil {
		return err
	}
	return refused(pid, what(prog))
}

func tryGoroutines(pid int) error { return tryProgram(pid, (*program.Program).Check) }

func tryHeap(pid int) error {
	return tryProgram(pid, func(p *program.Program) error {
		rate, _, err := p.MemProfileRate()
		if err == nil && rate == 0 {
			err = ErrHeapProfileOff
		}
		return err
	})
}

// tryCPU asks for the binary too, which has the names. More parties may have perf
// events of a process than may read its memory, so that these come first.
func tryCPU(pid int) error {
	r, err := sample(pid, leastPages)
	if err != nil {
		return err
	}
	unix.Munmap(r.data)
	unix.Close(r.fd)
	p, err := Open(pid)
	if err != nil {
		return err
	}
	return p.Close()
}

func tryCounters(pid int) error {
	attr := unix.PerfEventAttr{
		Type: unix.PERF_TYPE_HARDWARE, Config: unix.PERF_COUNT_HW_CPU_CYCLES,
		Bits: unix.PerfBitDisabled | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv,
	}
	attr.Size = uint32(unsafe.Sizeof(attr))
	fd, err := unix.PerfEventOpen(&attr, pid, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return refusedPerf(pid, err)
	}
	return unix.Close(fd)
}

// tryCore opens the memory, for which the kernel asks what it asks for holding the
// process still. Only one may hold it.
func tryCore(pid int) error {
	if err := debugged(pid); err != nil {
		return err
	}
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return refused(pid, err)
	}
	return mem.Close()
}
