//go:build unix

package collect

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// startMinder starts a shell that leads a process group, and kills the group when loupe
// dies.
func startMinder() (*minder, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	sh := exec.Command("/bin/sh", "-c", "read line; kill -9 0")
	sh.Stdin, sh.Dir, sh.Env = r, "/", []string{"PATH=" + os.Getenv("PATH")}
	ownGroup(sh)
	if err := sh.Start(); err != nil {
		w.Close()
		return nil, err
	}
	return &minder{sh: sh, pipe: w}, nil
}

// join puts a program that is to be started into the minder's group.
func (m *minder) join(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: m.sh.Process.Pid}
}

// kill ends everything in the group, the minder too.
func (m *minder) kill() {
	syscall.Kill(-m.sh.Process.Pid, syscall.SIGKILL)
	m.sh.Wait()
	m.pipe.Close()
}

// ownPeak is loupe's largest resident set in bytes, 0 where it is not told.
func ownPeak() int64 {
	var use syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &use) != nil {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" { // which count bytes
		return int64(use.Maxrss)
	}
	return int64(use.Maxrss) << 10
}
