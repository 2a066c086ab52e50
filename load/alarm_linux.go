package load

import (
	"context"
	"encoding/binary"
	"os"
	"syscall"
	"time"
	"unsafe"
)

// alarm wakes a goroutine at an instant. On Linux the runtime sleeps in whole
// milliseconds when it is idle, because epoll_wait does; a timer of the kernel
// that the poller waits for is 50 µs late. Spinning through the last
// millisecond instead took a whole CPU from the service at 1,000 requests a
// second.
type alarm struct {
	timer *os.File // nil where there is none: the runtime's timers serve
}

func newAlarm() *alarm {
	const clockMonotonic = 1
	fd, _, errno := syscall.Syscall(syscall.SYS_TIMERFD_CREATE, clockMonotonic, syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if errno != 0 {
		return &alarm{}
	}
	return &alarm{timer: os.NewFile(fd, "timer")}
}

// wait returns at the instant, or false when ctx ends before. It is used by
// one goroutine at a time.
func (a *alarm) wait(ctx context.Context, at time.Time) bool {
	d := time.Until(at)
	if d <= 0 {
		return ctx.Err() == nil
	}
	if a.timer == nil || !a.set(d) {
		return sleep(ctx, d)
	}
	stop := context.AfterFunc(ctx, func() { a.timer.SetReadDeadline(time.Now()) })
	defer stop()
	var expirations [8]byte
	_, err := a.timer.Read(expirations[:])
	return err == nil && ctx.Err() == nil && binary.NativeEndian.Uint64(expirations[:]) > 0
}

// set lets the timer expire once after d.
func (a *alarm) set(d time.Duration) bool {
	conn, err := a.timer.SyscallConn()
	if err != nil {
		return false
	}
	// struct itimerspec: the interval, and the first expiration.
	spec := [2]syscall.Timespec{1: syscall.NsecToTimespec(int64(d))}
	var errno syscall.Errno
	err = conn.Control(func(fd uintptr) {
		_, _, errno = syscall.Syscall6(syscall.SYS_TIMERFD_SETTIME, fd, 0, uintptr(unsafe.Pointer(&spec)), 0, 0, 0)
	})
	return err == nil && errno == 0
}

func (a *alarm) close() {
	if a.timer != nil {
		a.timer.Close()
	}
}
