package collect

import (
	"fmt"
	"regexp"
	"strings"
	"syscall"
)

// oomKill looks into the kernel's log for the process that was killed for want
// of memory, and returns the line. Users who may not read the log get "".
//
// Each read of /dev/kmsg gives one record: "PRIORITY,NUMBER,MICROSECONDS,FLAGS;TEXT"
// and lines of its own keys (Documentation/ABI/testing/dev-kmsg).
func oomKill(pid int) string {
	fd, err := syscall.Open("/dev/kmsg", syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
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
