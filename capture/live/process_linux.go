//go:build linux && (amd64 || arm64)

package live

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"loupe/format/dump"
	"loupe/format/program"
	"loupe/format/symbol"
)

// Process is a running Go program that is looked into. It is used by one
// goroutine at a time.
type Process struct {
	// Binary is what the process runs.
	Binary *symbol.Binary

	pid  int
	exe  *os.File
	bias uint64
	prog *program.Program
}

// Open opens a process. It fails with [ErrNotPermitted] where the kernel refuses,
// and with [ErrNotGo] for what is no Go program.
func Open(pid int) (*Process, error) {
	exe, err := os.Open(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return nil, fmt.Errorf("cannot look into process %d: %w", pid, refused(pid, err))
	}
	p := &Process{pid: pid, exe: exe}
	if err := p.read(); err != nil {
		exe.Close()
		return nil, fmt.Errorf("cannot look into process %d: %w", pid, err)
	}
	return p, nil
}

func (p *Process) read() (err error) {
	if p.Binary, err = symbol.Open(p.exe, symbol.Options{}); err != nil {
		return fmt.Errorf("%w: %w", ErrNotGo, err)
	}
	if !p.Binary.IsGo() {
		return ErrNotGo
	}
	p.bias, err = p.loaded()
	return err
}

// Close releases the process.
func (p *Process) Close() error { return p.exe.Close() }

// loaded returns what the loader has added to the addresses of the binary.
func (p *Process) loaded() (uint64, error) {
	if !p.Binary.PIE {
		return 0, nil
	}
	link, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", p.pid))
	if err != nil {
		return 0, err
	}
	maps, err := os.Open(fmt.Sprintf("/proc/%d/maps", p.pid))
	if err != nil {
		return 0, err
	}
	defer maps.Close()
	sc := bufio.NewScanner(maps)
	for sc.Scan() {
		f := strings.Fields(sc.Text())
		if len(f) < 6 || strings.Join(f[5:], " ") != link {
			continue
		}
		low, _, _ := strings.Cut(f[0], "-")
		start, err1 := strconv.ParseUint(low, 16, 64)
		offset, err2 := strconv.ParseUint(f[2], 16, 64)
		if err1 != nil || err2 != nil {
			continue
		}
		for _, seg := range p.Binary.Segments {
			page := uint64(os.Getpagesize())
			if seg.Offset&^(page-1) == offset {
				return start - seg.Addr&^(page-1), nil
			}
		}
	}
	return 0, fmt.Errorf("%w: its binary is not among its mappings", ErrNotGo)
}

// program is what the runtime keeps in the process.
func (p *Process) program() (*program.Program, error) {
	if p.prog == nil {
		prog, err := program.Open(processMemory(p.pid), p.Binary, p.bias)
		if err != nil {
			return nil, err
		}
		p.prog = prog
	}
	return p.prog, nil
}

// Goroutines reads all goroutines, the runtime's own left out, as a dump has
// them. The process runs on meanwhile.
func (p *Process) Goroutines() (*dump.File, error) {
	prog, err := p.program()
	if err != nil {
		return nil, fmt.Errorf("cannot read the goroutines of process %d: %w", p.pid, err)
	}
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return nil, err
	}
	f, err := prog.Goroutines(now.Nano())
	if err != nil {
		return nil, fmt.Errorf("cannot read the goroutines of process %d: %w", p.pid, refused(p.pid, err))
	}
	return f, nil
}

// processMemory is the memory of a process by its number: a [program.Memory].
type processMemory int

// Read fills buf with what is at an address.
func (p processMemory) Read(addr uint64, buf []byte) error {
	for len(buf) > 0 {
		local := []unix.Iovec{{Base: &buf[0], Len: uint64(len(buf))}}
		n, err := unix.ProcessVMReadv(int(p), local, []unix.RemoteIovec{{Base: uintptr(addr), Len: len(buf)}}, 0)
		if err != nil {
			return err
		}
		if n == 0 {
			return unix.EFAULT
		}
		buf, addr = buf[n:], addr+uint64(n)
	}
	return nil
}

// write puts a word at an address.
func (p processMemory) write(addr, word uint64) error {
	var buf [8]byte
	binary.NativeEndian.PutUint64(buf[:], word)
	local := []unix.Iovec{{Base: &buf[0], Len: 8}}
	n, err := unix.ProcessVMWritev(int(p), local, []unix.RemoteIovec{{Base: uintptr(addr), Len: 8}}, 0)
	if err == nil && n != 8 {
		err = unix.EFAULT
	}
	return err
}

// gatherMost is how many places one call may read: IOV_MAX.
const gatherMost = 1024

// Gather fills buf with size bytes of each address.
func (p processMemory) Gather(addrs []uint64, size int, buf []byte) error {
	if size <= 0 {
		return unix.EINVAL
	}
	remote := make([]unix.RemoteIovec, 0, gatherMost)
	for len(addrs) > 0 {
		n := min(len(addrs), gatherMost)
		remote = remote[:0]
		for _, a := range addrs[:n] {
			remote = append(remote, unix.RemoteIovec{Base: uintptr(a), Len: size})
		}
		local := []unix.Iovec{{Base: (*byte)(unsafe.SliceData(buf)), Len: uint64(n * size)}}
		got, err := unix.ProcessVMReadv(int(p), local, remote, 0)
		if err != nil {
			return err
		}
		if got != n*size {
			return unix.EFAULT
		}
		addrs, buf = addrs[n:], buf[n*size:]
	}
	return nil
}
