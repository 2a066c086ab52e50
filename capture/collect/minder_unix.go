//go:build unix

package collect

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// mind kills a process group when loupe dies. The kernel's parent-death signal,
// where there is one, reaches the program alone and not what a script has
// started. stop ends the watch without harm.
func mind(group int) (stop func()) { return whenGone(fmt.Sprintf("kill -9 -%d", group)) }

// ownGroup makes the command the leader of a process group.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// askForStacks has a Go program print its goroutines and end.
func askForStacks(p *os.Process) { p.Signal(syscall.SIGQUIT) }

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
	// It outlives loupe for a moment, and holds no folder and no secret.
	sh.Dir, sh.Env = "/", []string{"PATH=" + os.Getenv("PATH")}
	ownGroup(sh) // Ctrl-C at the terminal must not end the watch
	if sh.Start() != nil {
		w.Close()
		return func() {}
	}
	return sync.OnceFunc(func() {
		sh.Process.Kill()
		sh.Wait()
		w.Close()
	})
}
