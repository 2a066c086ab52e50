package collect

import (
	"errors"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const terminate = syscall.SIGTERM

// detach puts the child into a process group of its own, so that Ctrl-C
// reaches loupe alone, and has the kernel kill it when loupe dies.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// signalGroup sends a signal to the process and the children in its group.
func signalGroup(p *os.Process, s os.Signal) {
	if sig, ok := s.(syscall.Signal); ok && p.Pid > 0 {
		syscall.Kill(-p.Pid, sig)
	}
}

// stderrReader reads the program's standard error. Through a socket pair of
// type SEQPACKET every write of the program arrives as one packet, so that a
// line that the runtime writes in forty pieces can be told from what other
// threads write in between (docs/formats/godebug.md).
type stderrReader struct {
	child   *os.File
	packets bool
	socket  int      // our end of the pair
	pipe    *os.File // our end where packets are not kept apart
	end     atomic.Int64
}

func newStderrReader(pipe bool) (*stderrReader, error) {
	if !pipe {
		// Both are close-on-exec; the child gets a copy as fd 2.
		fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_SEQPACKET|syscall.SOCK_CLOEXEC, 0)
		if err == nil {
			growBuffer(fds[1])
			wait := syscall.NsecToTimeval(int64(idleWait))
			// With each write comes who wrote it: children have the same standard
			// error, and the same GODEBUG.
			syscall.SetsockoptInt(fds[0], syscall.SOL_SOCKET, syscall.SO_PASSCRED, 1)
			syscall.SetsockoptTimeval(fds[0], syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &wait)
			return &stderrReader{child: os.NewFile(uintptr(fds[1]), "stderr"), packets: true, socket: fds[0]}, nil
		}
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &stderrReader{child: w, pipe: r}, nil
}

// growBuffer lets many small writes wait unread: each packet costs the kernel
// about 800 bytes, and a full buffer would make the runtime wait in the
// middle of a line.
func growBuffer(fd int) {
	const want = 8 << 20
	const sndbufForce = 32 // SO_SNDBUFFORCE, needs CAP_NET_ADMIN
	if syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, sndbufForce, want) != nil {
		syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_SNDBUF, want) // capped by wmem_max
	}
}

func (r *stderrReader) close() {
	r.child.Close()
	r.closeOurs()
}

func (r *stderrReader) closeOurs() {
	if r.packets {
		syscall.Close(r.socket)
	} else {
		r.pipe.Close()
	}
}

// drain makes readAll stop soon: the program has ended, and whoever else
// holds its standard error is not waited for.
func (r *stderrReader) drain() {
	end := time.Now().Add(drainTime)
	r.end.Store(end.UnixNano())
	if !r.packets {
		r.pipe.SetReadDeadline(end)
	}
}

func (r *stderrReader) drained() bool {
	end := r.end.Load()
	return end != 0 && time.Now().UnixNano() > end
}

// Reading in gulps costs the program and the machine far less than reading
// each of the ten thousand packets a second that a busy collector prints. The
// socket is kept out of Go's poller for the same reason: that would be woken
// by every packet, at the program's expense (measured: 115 µs of system time
// for what one collection prints, instead of 65; a plain file takes 62).
const (
	idleWait  = 100 * time.Millisecond // for a first packet, before drained is asked
	gulp      = 100                    // packets after which the reader does not pause
	gulpPause = 2 * time.Millisecond
)

// readAll hands everything that arrives to sink, until the other end is
// closed everywhere or drain's time is over.
func (r *stderrReader) readAll(sink stderrSink) {
	defer r.closeOurs()
	if !r.packets {
		readStream(r.pipe, sink)
		if left := leftIn(r.pipe); len(left) > 0 {
			sink.packet(left, time.Now(), 0)
		}
		return
	}
	buf := make([]byte, 1<<20)
	for last := false; !last; {
		// Asked before the look: on a busy machine the time may be over
		// before what came in time was read.
		last = r.drained()
		// Blocks until something arrives, or for idleWait.
		n, ended := readPackets(r.socket, buf, sink, 1)
		for n > 0 && !ended {
			syscall.SetNonblock(r.socket, true)
			n, ended = readPackets(r.socket, buf, sink, 1<<20)
			syscall.SetNonblock(r.socket, false)
			if n < gulp {
				time.Sleep(gulpPause)
			}
		}
		if ended {
			return
		}
	}
}

// maxEmpty is more than there can be of empty writes that wait to be read: each costs
// the kernel some 800 bytes of the buffer (growBuffer).
const maxEmpty = 1 << 15

// hungUp tells whether nobody holds the other side of a socket.
func hungUp(fd int) bool {
	p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
	_, err := unix.Poll(p, 0)
	return err == nil && p[0].Revents&(unix.POLLRDHUP|unix.POLLHUP) != 0
}

// readPackets reads until nothing is left for now, at most the given number.
func readPackets(fd int, buf []byte, sink stderrSink, most int) (n int, ended bool) {
	var now time.Time
	who := make([]byte, syscall.CmsgSpace(syscall.SizeofUcred))
	for empty := 0; n < most; {
		got, rest, _, _, err := syscall.Recvmsg(fd, buf, who, 0)
		switch {
		case errors.Is(err, syscall.EAGAIN):
			return n, false
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return n, true
		case got == 0:
			// The end, or a write of nothing at all. The end repeats itself
			// when nobody holds the other side any more.
			if empty++; empty > maxEmpty && hungUp(fd) {
				return n, true
			}
			continue
		}
		empty = 0
		if n%gulp == 0 {
			now = time.Now() // the read may have waited
		}
		sink.packet(buf[:got], now, sender(who[:rest]))
		n++
	}
	return n, false
}

// sender is the process that sent a packet, 0 where the kernel does not say.
func sender(control []byte) int {
	if len(control) < syscall.CmsgLen(syscall.SizeofUcred) {
		return 0
	}
	h := (*syscall.Cmsghdr)(unsafe.Pointer(&control[0]))
	if h.Level != syscall.SOL_SOCKET || h.Type != syscall.SCM_CREDENTIALS {
		return 0
	}
	return int((*syscall.Ucred)(unsafe.Pointer(&control[syscall.CmsgLen(0)])).Pid)
}
