package collect

import (
	"fmt"
	"regexp"
	"strings"
	"syscall"
)

const kernelLogFile = "/dev/kmsg"

// kernelLog says whether the kernel's log may be read, which tells what it has
// killed for want of memory.
func kernelLog() Permission {
	p := Permission{What: "oom", How: "the kernel's log tells what it has killed for want of memory"}
	fd, err := openKernelLog()
	switch {
	case err == nil:
		p.OK = true
		syscall.Close(fd)
	case err == syscall.ENOENT:
		p.Why, p.Opens = "there is no "+kernelLogFile+" in this container", "docker run --device "+kernelLogFile+" --cap-add SYSLOG"
	case err == syscall.EPERM && readLine("/proc/sys/kernel/dmesg_restrict") == "1":
		p.Why, p.Opens = "kernel.dmesg_restrict is 1", "run loupe as root or with CAP_SYSLOG, or sysctl kernel.dmesg_restrict=0"
	default:
		p.Why, p.Opens = kernelLogFile+" cannot be read: "+err.Error(), "run loupe as root"
	}
	return p
}

func openKernelLog() (int, error) {
	return syscall.Open(kernelLogFile, syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
}

// oomCounter returns how to ask how often the kernel has killed for want of memory
// in the cgroup that a process is in now. The cgroup stays when the process is gone.
func oomCounter(pid int) func() int64 {
	g := theCgroups.of(processName(pid), "memory")
	return g.oomKills
}

// oomKill looks into the kernel's log for the process that was killed for want
// of memory, and returns the line. Users who may not read the log get "".
//
// Each read of /dev/kmsg gives one record: "PRIORITY,NUMBER,MICROSECONDS,FLAGS;TEXT"
// and lines of its own keys (Documentation/ABI/testing/dev-kmsg).
func oomKill(pid int) string {
	fd, err := openKernelLog()
	if err != nil || pid <= 0 {
		return ""
	}
	defer syscall.Close(fd)
	killed := regexp.MustCompile(fmt.Sprintf(`Killed process %d\b`, pid))
	found := ""
	buf := make([]byte, 16<<10)
	for {
		n, err := syscall.Read(fd, buf)
		switch {
		case err == syscall.EPIPE || err == syscall.EINTR:
			continue // records were overwritten meanwhile
		case err != nil || n <= 0:
			return found
		}
		_, text, _ := strings.Cut(string(buf[:n]), ";")
		text, _, _ = strings.Cut(text, "\n")
		if killed.MatchString(text) {
			found = text
		}
	}
}
