package collect

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
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

// maxRSS returns the largest resident set in bytes.
func maxRSS(s *os.ProcessState) int64 {
	if ru, ok := s.SysUsage().(*syscall.Rusage); ok {
		return int64(ru.Maxrss) << 10
	}
	return 0
}

// stderrReader reads the program's standard error. Through a socket pair of
// type SEQPACKET every write of the program arrives as one packet, so that a
// line that the runtime writes in forty pieces can be told from what other
// threads write in between (docs/formats/godebug.md).
type stderrReader struct {
	child, ours *os.File
	packets     bool
}

func newStderrReader(pipe bool) (*stderrReader, error) {
	if !pipe {
		// Both are close-on-exec; the child gets a copy as fd 2.
		fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_SEQPACKET|syscall.SOCK_CLOEXEC, 0)
		if err == nil {
			growBuffer(fds[1])
			syscall.SetNonblock(fds[0], true)
			return &stderrReader{os.NewFile(uintptr(fds[1]), "stderr"), os.NewFile(uintptr(fds[0]), "stderr"), true}, nil
		}
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &stderrReader{child: w, ours: r}, nil
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
	r.ours.Close()
}

// drain makes readAll stop soon: the program has ended, and whoever else
// holds its standard error is not waited for.
func (r *stderrReader) drain() { r.ours.SetReadDeadline(time.Now().Add(50 * time.Millisecond)) }

// Reading in gulps costs the machine far fewer wake-ups than reading each of
// the ten thousand packets a second that a busy collector prints.
const (
	gulp      = 128 // packets after which the reader does not pause
	gulpPause = 2 * time.Millisecond
)

// readAll hands everything that arrives to sink, until the other end is
// closed everywhere or drain's time is over.
func (r *stderrReader) readAll(sink stderrSink) {
	defer r.ours.Close()
	buf := make([]byte, 1<<20)
	if !r.packets {
		for {
			n, err := r.ours.Read(buf)
			if n > 0 {
				sink.packet(buf[:n], time.Now())
			}
			if err != nil {
				return
			}
		}
	}
	conn, err := r.ours.SyscallConn()
	if err != nil {
		return
	}
	for {
		n, ended := 0, false
		err := conn.Read(func(fd uintptr) (done bool) {
			n, ended = readPackets(int(fd), buf, sink)
			return n > 0 || ended
		})
		if err != nil || ended {
			return
		}
		if n < gulp {
			time.Sleep(gulpPause)
		}
	}
}

// readPackets reads until nothing is left for now.
func readPackets(fd int, buf []byte, sink stderrSink) (n int, ended bool) {
	now := time.Now()
	for empty := 0; ; {
		got, err := syscall.Read(fd, buf)
		switch {
		case errors.Is(err, syscall.EAGAIN):
			return n, false
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return n, true
		case got == 0:
			// The end, or the program wrote nothing at all. The end
			// repeats itself.
			if empty++; empty > 8 {
				return n, true
			}
			continue
		}
		empty = 0
		sink.packet(buf[:got], now)
		if n++; n%gulp == 0 {
			now = time.Now()
		}
	}
}
