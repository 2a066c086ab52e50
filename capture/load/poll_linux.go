//go:build !loupe_portable

package load

import (
	"syscall"
	"unsafe"
)

// The system calls of the event loop. Those that cannot block go around the
// scheduler (RawSyscall): with it a call takes 45 ns longer, 300 instead of 250
// (BenchmarkSyscall), and there are two or three of them for each request.

// poller is an epoll descriptor.
type poller struct {
	fd     int
	events [128]syscall.EpollEvent
	coarse bool // the system has no epoll_pwait2 (Linux before 5.11)
}

func (p *poller) add(fd int, key int32) error {
	return syscall.EpollCtl(p.fd, syscall.EPOLL_CTL_ADD, fd, &syscall.EpollEvent{Events: syscall.EPOLLIN | syscall.EPOLLRDHUP, Fd: key})
}

// writable asks to be told when fd can be written to again, or no longer.
func (p *poller) writable(fd int, key int32, on bool) error {
	events := uint32(syscall.EPOLLIN | syscall.EPOLLRDHUP)
	if on {
		events |= syscall.EPOLLOUT
	}
	return syscall.EpollCtl(p.fd, syscall.EPOLL_CTL_MOD, fd, &syscall.EpollEvent{Events: events, Fd: key})
}

// ready returns what has happened already.
func (p *poller) ready() []syscall.EpollEvent {
	n, _, errno := syscall.RawSyscall6(syscall.SYS_EPOLL_PWAIT, uintptr(p.fd), uintptr(unsafe.Pointer(&p.events)), uintptr(len(p.events)), 0, 0, 0)
	if errno != 0 {
		return nil
	}
	return p.events[:n]
}

// sysEpollPwait2 has the same number on every architecture.
const sysEpollPwait2 = 441

// wait waits for ns nanoseconds at most, without bound when ns is noEnd. It
// may return early with nothing.
func (p *poller) wait(ns int64) []syscall.EpollEvent {
	if p.coarse {
		return p.waitCoarse(ns)
	}
	// The system's own type, of 64 bits each also where words are smaller.
	var timeout [2]int64
	var at unsafe.Pointer
	if ns != noEnd {
		timeout = [2]int64{ns / 1e9, ns % 1e9}
		at = unsafe.Pointer(&timeout)
	}
	n, _, errno := syscall.Syscall6(sysEpollPwait2, uintptr(p.fd), uintptr(unsafe.Pointer(&p.events)), uintptr(len(p.events)), uintptr(at), 0, 0)
	if errno == syscall.ENOSYS || errno == syscall.EPERM {
		p.coarse = true
	}
	if errno != 0 {
		return nil
	}
	return p.events[:n]
}

// waitCoarse waits in whole milliseconds, and not at all through the last one.
func (p *poller) waitCoarse(ns int64) []syscall.EpollEvent {
	ms := -1
	if ns != noEnd {
		ms = int(min(ns/1e6, 1<<30))
	}
	n, err := syscall.EpollWait(p.fd, p.events[:], ms)
	if err != nil {
		return nil
	}
	return p.events[:n]
}

// exactTimers makes the timers of this thread end when they are due: by
// default the system may be 50 µs late, to wake up less often.
func exactTimers() {
	const setTimerSlack = 29 // PR_SET_TIMERSLACK
	syscall.RawSyscall(syscall.SYS_PRCTL, setTimerSlack, 1, 0)
}

func readFD(fd int, b []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall(syscall.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	return int(n), errno
}

func writeFD(fd int, b []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall(syscall.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	return int(n), errno
}

// newBell returns a descriptor that another thread can ring (eventfd).
func newBell() (int, error) {
	fd, _, errno := syscall.RawSyscall(syscall.SYS_EVENTFD2, 0, syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}

func ring(fd int) { writeFD(fd, []byte{7: 1}) } // eight bytes that are not all zero

// duplicate returns a descriptor of fd's connection that nobody else uses.
func duplicate(fd uintptr) (int, error) {
	n, _, errno := syscall.Syscall(syscall.SYS_FCNTL, fd, syscall.F_DUPFD_CLOEXEC, 0)
	if errno != 0 {
		return -1, errno
	}
	return int(n), nil
}
