//go:build linux && (amd64 || arm64)

package live

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"loupe/format/core"
)

// Capture writes a core of a process into a file, from its begin on. The process
// stands still while its memory is copied, and goes on afterwards: also when this
// program is killed meanwhile, as the kernel then lets go of it. A signal that comes
// in between is delivered then.
//
// What lies in files that the process has mapped and cannot write to is left out,
// as the kernel leaves it out; pages that were never touched or hold zeroes are
// holes in the file, so that it takes no more room on the disk than the memory
// that the process uses. When the disk is full or ctx ends, what was written
// stays, as a core that is cut ([Captured.Cut]).
func Capture(ctx context.Context, pid int, f *os.File) (c Captured, err error) {
	if pid == os.Getpid() {
		return c, errors.New("cannot capture the process that captures")
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		// The kernel ties the threads of the process to this one.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		c, err = capture(ctx, pid, f)
	}()
	<-done
	return c, err
}

func capture(ctx context.Context, pid int, f *os.File) (c Captured, err error) {
	h := &held{pid: pid, signals: map[int]int{}}
	began := time.Now()
	err = h.stop()
	if err == nil {
		err = h.copy(ctx, f, &c)
	}
	h.release()
	c.Stopped = time.Since(began)
	if err != nil {
		return c, fmt.Errorf("cannot capture process %d: %w", pid, err)
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err == nil {
		c.Size, c.Disk = st.Size, st.Blocks*512
	}
	return c, nil
}

// held is a process that stands still.
type held struct {
	pid     int
	threads []int
	signals map[int]int // that a thread was about to take; it takes them later
}

// patience is how long a thread may take to stop: one that waits for a disk does
// not stop before that answers.
const patience = 5 * time.Second

// stop stops all threads. Those that run can make new ones, so that it looks until
// there are none that it does not know.
func (h *held) stop() error {
	known := map[int]bool{}
	for {
		entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", h.pid))
		if errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("there is no such process: %w", err)
		}
		if err != nil {
			return err
		}
		found := false
		for _, entry := range entries {
			tid, err := strconv.Atoi(entry.Name())
			if err != nil || known[tid] {
				continue
			}
			known[tid], found = true, true
			if err := h.seize(tid); err != nil {
				return err
			}
		}
		if !found {
			if len(h.threads) == 0 {
				return errors.New("it has no threads: it has ended")
			}
			return nil
		}
	}
}

// seize stops one thread. That one has ended meanwhile is no error.
func (h *held) seize(tid int) error {
	err := unix.PtraceSeize(tid)
	switch {
	case err == unix.ESRCH:
		return nil
	case err == unix.EPERM:
		return cmp.Or(debugged(tid), refused(h.pid, err))
	case err != nil:
		return fmt.Errorf("cannot hold thread %d: %w", tid, err)
	}
	h.threads = append(h.threads, tid)
	if err := unix.PtraceInterrupt(tid); err != nil && err != unix.ESRCH {
		return fmt.Errorf("cannot stop thread %d: %w", tid, err)
	}
	for end := time.Now().Add(patience); ; {
		var status unix.WaitStatus
		got, err := unix.Wait4(tid, &status, unix.WALL|unix.WNOHANG, nil)
		switch {
		case err == unix.EINTR:
		case err == unix.ECHILD || got == tid && (status.Exited() || status.Signaled()):
			h.threads = h.threads[:len(h.threads)-1]
			return nil
		case err != nil:
			return fmt.Errorf("cannot wait for thread %d: %w", tid, err)
		case got == tid && status.Stopped():
			const eventStop = 128 // PTRACE_EVENT_STOP
			if int(status)>>16 != eventStop {
				h.signals[tid] = int(status.StopSignal())
			}
			return nil
		case time.Now().After(end):
			return fmt.Errorf("thread %d does not stop within %s: it waits in the kernel", tid, patience)
		default:
			time.Sleep(50 * time.Microsecond)
		}
	}
}

// debugged fails with [ErrNotPermitted] for a thread that a debugger holds.
func debugged(tid int) error {
	for l := range strings.Lines(line(fmt.Sprintf("/proc/%d/status", tid))) {
		if by, ok := strings.CutPrefix(l, "TracerPid:"); ok {
			if by = strings.TrimSpace(by); by != "0" {
				return &refusal{Why: fmt.Sprintf("process %s debugs it already", by), Opens: "end that first", kind: ErrNotPermitted}
			}
		}
	}
	return nil
}

// release lets all threads go on.
func (h *held) release() {
	for _, tid := range h.threads {
		// One that was killed meanwhile is no longer there.
		unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_DETACH, uintptr(tid), 0, uintptr(h.signals[tid]), 0, 0)
	}
	h.threads = nil
}

// copy writes the core.
func (h *held) copy(ctx context.Context, f *os.File, c *Captured) error {
	head, sparse, err := h.header()
	if err != nil {
		return err
	}
	begin, err := head.Encode()
	if err != nil {
		return err
	}
	c.Threads = len(head.Threads)
	pages, err := os.Open(fmt.Sprintf("/proc/%d/pagemap", h.pid))
	if err != nil {
		return err
	}
	defer pages.Close()
	w := &copier{ctx: ctx, mem: processMemory(h.pid), pages: pages, f: f, page: uint64(os.Getpagesize()), c: c, buf: make([]byte, copyChunk)}
	end := int64(len(begin))
	if _, err := f.WriteAt(begin, 0); err != nil {
		return err
	}
	for i, s := range head.Segments {
		at, err := w.segment(s, sparse[i])
		if err != nil {
			c.Cut = err
			return f.Truncate(at)
		}
		if s.FileSize > 0 {
			end = int64(s.Offset + s.FileSize)
		}
	}
	return f.Truncate(end)
}

// header collects everything that is not memory. sparse tells of which segments the
// pages that were never touched hold zeroes.
func (h *held) header() (head *core.Header, sparse []bool, err error) {
	read := func(name string) []byte {
		b, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(h.pid), name))
		return b
	}
	out := &core.Header{
		Arch: runtime.GOARCH, PID: int64(h.pid), Command: strings.TrimSpace(string(read("comm"))),
		Args: strings.TrimSpace(strings.ReplaceAll(string(read("cmdline")), "\x00", " ")), Aux: read("auxv"),
	}
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err == nil {
		out.Clock = now.Nano()
	}
	for _, tid := range h.threads {
		regs, err := registers(tid)
		if err != nil {
			return nil, nil, fmt.Errorf("cannot read the registers of thread %d: %w", tid, err)
		}
		out.Threads = append(out.Threads, core.RawThread{ID: int64(tid), Registers: regs})
	}
	maps, err := os.Open(fmt.Sprintf("/proc/%d/maps", h.pid))
	if err != nil {
		return nil, nil, err
	}
	defer maps.Close()
	sc := bufio.NewScanner(maps)
	for sc.Scan() {
		m, ok := parseMapping(sc.Text())
		if !ok || m.path == "[vvar]" || m.path == "[vvar_vclock]" || m.path == "[vsyscall]" {
			continue
		}
		s := core.Segment{Addr: m.start, Size: m.end - m.start, Read: m.perms[0] == 'r', Write: m.perms[1] == 'w', Exec: m.perms[2] == 'x'}
		switch {
		case m.copied():
			s.FileSize = s.Size
		case s.Read && m.offset == 0 && strings.HasPrefix(m.path, "/"):
			s.FileSize = uint64(os.Getpagesize()) // says which build it is
		}
		out.Segments = append(out.Segments, s)
		sparse = append(sparse, m.inode == "0")
		if m.inode != "0" && strings.HasPrefix(m.path, "/") {
			out.Mappings = append(out.Mappings, core.Mapping{Addr: m.start, End: m.end, Offset: m.offset, Path: m.path})
		}
	}
	return out, sparse, sc.Err()
}

// registers reads those of a thread, as the kernel writes them into cores.
func registers(tid int) ([]byte, error) {
	const general = 1 // NT_PRSTATUS
	buf := make([]byte, 1024)
	got, err := regset(tid, general, buf)
	return buf[:got], err
}

// mapping is a line of /proc/PID/maps.
type mapping struct {
	start, end, offset uint64
	perms, inode, path string
}

func parseMapping(text string) (m mapping, ok bool) {
	f := strings.Fields(text)
	if len(f) < 5 || len(f[1]) < 4 {
		return m, false
	}
	low, high, _ := strings.Cut(f[0], "-")
	var err1, err2, err3 error
	m.start, err1 = strconv.ParseUint(low, 16, 64)
	m.end, err2 = strconv.ParseUint(high, 16, 64)
	m.offset, err3 = strconv.ParseUint(f[2], 16, 64)
	m.perms, m.inode, m.path = f[1], f[4], strings.Join(f[5:], " ")
	return m, errors.Join(err1, err2, err3) == nil && m.start < m.end
}

// copied tells whether the memory goes into the core: what the process may have
// written, and what is in no file that others can read.
func (m *mapping) copied() bool {
	switch {
	case m.perms[0] != 'r' || strings.HasPrefix(m.path, "/dev/") && !strings.HasPrefix(m.path, "/dev/zero") && !strings.HasPrefix(m.path, "/dev/shm/"):
		return false
	case m.inode == "0":
		return true
	case strings.HasSuffix(m.path, " (deleted)"):
		return true
	case m.perms[3] == 's':
		return false
	}
	return m.perms[1] == 'w'
}

// copyChunk is how much is copied at once.
const copyChunk = 1 << 20

// copier copies memory into the file.
type copier struct {
	ctx   context.Context
	mem   processMemory
	pages io.ReaderAt // what the kernel says of each page, 8 bytes
	f     *os.File
	page  uint64
	c     *Captured
	buf   []byte
	marks []byte
}

// What pagemap says of a page.
const (
	pageSwapped = 1 << 62
	pagePresent = 1 << 63
)

// segment copies what is used of a segment. When it fails, it returns up to where
// the file is right.
func (w *copier) segment(s core.Segment, sparse bool) (good int64, err error) {
	for off := uint64(0); off < s.FileSize; {
		good = int64(s.Offset + off)
		if err := w.ctx.Err(); err != nil {
			return good, err
		}
		n := min(s.FileSize-off, uint64(len(w.buf)))
		used := []run{{0, n}}
		if sparse {
			if used, err = w.used(s.Addr+off, n); err != nil {
				return good, err
			}
		}
		for _, u := range used {
			buf := w.buf[:u.n]
			if err := w.mem.Read(s.Addr+off+u.off, buf); err != nil {
				w.c.Unreadable += u.n
				continue
			}
			if err := w.write(buf, good+int64(u.off)); err != nil {
				return good, err
			}
		}
		off += n
	}
	return int64(s.Offset + s.FileSize), nil
}

// run is a run of pages, from the begin of a chunk on.
type run struct{ off, n uint64 }

// used finds the pages of a chunk that the process has ever touched. Reading the
// others would make the kernel find memory for them.
func (w *copier) used(addr, size uint64) (out []run, err error) {
	n := int(size / w.page * 8)
	if len(w.marks) < n {
		w.marks = make([]byte, n)
	}
	marks := w.marks[:n]
	if got, err := w.pages.ReadAt(marks, int64(addr/w.page*8)); got < n {
		return nil, fmt.Errorf("cannot read which pages are used at %#x: %w", addr, err)
	}
	for i := range n / 8 {
		mark := uint64(0)
		for k := range 8 {
			mark |= uint64(marks[8*i+k]) << (8 * k)
		}
		if mark&(pagePresent|pageSwapped) == 0 {
			continue
		}
		off := uint64(i) * w.page
		if last := len(out) - 1; last >= 0 && out[last].off+out[last].n == off {
			out[last].n += w.page
		} else {
			out = append(out, run{off, w.page})
		}
	}
	return out, nil
}

// write writes pages but those of zeroes.
func (w *copier) write(buf []byte, at int64) error {
	for len(buf) > 0 {
		n := w.zeroes(buf)
		buf, at = buf[n:], at+int64(n)
		n = 0
		for n < len(buf) && w.zeroes(buf[n:]) == 0 {
			n += int(w.page)
		}
		if n == 0 {
			continue
		}
		if _, err := w.f.WriteAt(buf[:n], at); err != nil {
			return err
		}
		w.c.Written += uint64(n)
		buf, at = buf[n:], at+int64(n)
	}
	return nil
}

var zeroPage = make([]byte, 64<<10)

// zeroes returns how many bytes of pages at the begin are zero.
func (w *copier) zeroes(buf []byte) (n int) {
	for n < len(buf) && bytes.Equal(buf[n:n+int(w.page)], zeroPage[:w.page]) {
		n += int(w.page)
	}
	return n
}
