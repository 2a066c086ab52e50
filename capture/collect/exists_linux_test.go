package collect

import (
	"os/exec"
	"syscall"
	"testing"
	"unsafe"
)

// TestProcessExists: a process that has ended is no more, also before its parent has
// asked how.
func TestProcessExists(t *testing.T) {
	c := exec.Command("sh", "-c", "exit 3")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	// Wait until it has ended, and leave it there.
	const byPID, exited, leave = 1, 4, 0x1000000
	var info [128]byte
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, byPID, uintptr(c.Process.Pid), uintptr(unsafe.Pointer(&info)), exited|leave, 0, 0)
		if errno == 0 {
			break
		}
		if errno != syscall.EINTR {
			t.Fatal(errno)
		}
	}
	if ProcessExists(c.Process.Pid) {
		t.Error("a process that has ended is said to be there")
	}
	if err := c.Wait(); err == nil {
		t.Error("it ends with 3")
	}
	if ProcessExists(c.Process.Pid) || !ProcessExists(syscall.Getpid()) {
		t.Error("a process is not told from none")
	}
}
