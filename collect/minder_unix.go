//go:build unix

package collect

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// mind kills a process group when loupe dies. The kernel's parent-death signal,
// where there is one, reaches the program alone and not what a script has
// started. stop ends the watch without harm.
func mind(group int) (stop func()) { return whenGone(fmt.Sprintf("kill -9 -%d", group)) }

// whenGone starts a shell that runs a command when loupe dies, in whatever way: it
// waits for the end of a pipe that only loupe holds open. stop ends the watch.
func whenGone(command string) (stop func()) {
	r, w, err := os.Pipe()
	if err != nil {
		return func() {}
	}
	defer r.Close()
	sh := exec.Command("/bin/sh", "-c", "read line; "+command)
	sh.Stdin = r
	// A group of its own: Ctrl-C at the terminal must not end the watch.
	sh.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if sh.Start() != nil {
		w.Close()
		return func() {}
	}
	return func() {
		sh.Process.Kill()
		sh.Wait()
		w.Close()
	}
}
