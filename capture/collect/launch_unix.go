//go:build unix && !linux

package collect

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

const signalTerm = syscall.SIGTERM

// detach puts the child into a process group of its own, so that Ctrl-C
// reaches loupe alone.
func detach(cmd *exec.Cmd) { ownGroup(cmd) }

// signalGroup sends a signal to the process and the children in its group.
func signalGroup(p *os.Process, s os.Signal) {
	if sig, ok := s.(syscall.Signal); ok && p.Pid > 0 {
		syscall.Kill(-p.Pid, sig)
	}
}

// maxRSS returns the largest resident set in bytes.
func maxRSS(s *os.ProcessState) int64 {
	ru, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(ru.Maxrss) // bytes there, KiB elsewhere
	}
	return int64(ru.Maxrss) << 10
}
