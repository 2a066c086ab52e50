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
	ctx     context.Context
	timer   *os.File // nil where there is none: the runtime's timers serve
	conn    syscall.RawConn
	unwatch func() bool

	// Of set, which is called for every request and allocates nothing:
	// struct itimerspec is the interval, and the first expiration.
	spec [2]syscall.Timespec
	set  func(fd uintptr)
	ok   bool
	buf  [8]byte
}

// newAlarm returns an alarm that no longer waits when ctx has ended.
func newAlarm(ctx context.Context) *alarm {
	const clockMonotonic = 1
	a := &alarm{ctx: ctx}
	fd, _, errno := syscall.Syscall(syscall.SYS_TIMERFD_CREATE, clockMonotonic, syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if errno != 0 {
		return a
	}
	timer := os.NewFile(fd, "timer")
	conn, err := timer.SyscallConn()
	if err != nil {
		timer.Close()
		return a
	}
	a.timer, a.conn = timer, conn
	a.set = func(fd uintptr) {
		_, _, errno := syscall.Syscall6(syscall.SYS_TIMERFD_SETTIME, fd, 0, uintptr(unsafe.Pointer(&a.spec)), 0, 0, 0)
		a.ok = errno == 0
	}
	a.unwatch = context.AfterFunc(ctx, func() { timer.SetReadDeadline(time.Now()) })
	return a
}

// wait returns at the instant, or false when the alarm's context ends before.
// It is used by one goroutine at a time.
func (a *alarm) wait(at time.Time) bool {
	d := time.Until(at)
	if d <= 0 {
		return a.ctx.Err() == nil
	}
	if a.timer == nil {
		return sleep(a.ctx, d)
	}
	a.spec[1] = syscall.NsecToTimespec(int64(d))
	if err := a.conn.Control(a.set); err != nil || !a.ok {
		return sleep(a.ctx, d)
	}
	_, err := a.timer.Read(a.buf[:])
	return err == nil && a.ctx.Err() == nil && binary.NativeEndian.Uint64(a.buf[:]) > 0
}

func (a *alarm) close() {
	if a.timer != nil {
		a.unwatch()
		a.timer.Close()
	}
}
