//go:build linux && (amd64 || arm64)

package live

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// footprint is about how many bytes of memory [Capture] would copy: what the process
// has in memory or swapped out, and is in no file.
func footprint(pid int) (sum int64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if errors.Is(err, os.ErrNotExist) {
		return 0, fmt.Errorf("there is no such process: %w", err)
	}
	if err != nil {
		return 0, refused(pid, err)
	}
	for l := range strings.Lines(string(text)) {
		name, rest, _ := strings.Cut(l, ":")
		switch name {
		case "RssAnon", "RssShmem", "VmSwap":
			n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			sum += n << 10
		}
	}
	return sum, nil
}

// freeRoom is how many bytes the disk of a file has for this user.
func freeRoom(f *os.File) (free int64, known bool) {
	var st unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &st); err != nil || st.Blocks == 0 {
		return 0, false
	}
	return int64(st.Bavail) * int64(st.Bsize), true
}
