package serve

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// unmapProgram takes the pages of the program's file out of the memory of the process. They stay where the kernel keeps files,
// and come back as they are used. Parts that somebody has written to, such as a debugger, are left alone.
//
// Note: the kernel maps sixteen pages around each that is touched, and the start of a program touches a little of
// everything: three quarters of an idle server were such pages.
func unmapProgram() {
	for _, m := range programParts() {
		// What cannot be given back stays, which is no error.
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, m.begin, m.end-m.begin, syscall.MADV_DONTNEED)
	}
}

// part is a range of addresses.
type part struct{ begin, end uintptr }

// programParts are those of the program's file that are mapped to be read and hold nothing but the file.
func programParts() (all []part) {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return nil
	}
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return nil
	}
	defer f.Close()
	var m part
	ours := false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		fields := strings.Fields(line)
		if len(fields) >= 5 && !strings.HasSuffix(fields[0], ":") { // address perms offset device inode path
			begin, end, _ := strings.Cut(fields[0], "-")
			from, err1 := strconv.ParseUint(begin, 16, 64)
			to, err2 := strconv.ParseUint(end, 16, 64)
			m = part{uintptr(from), uintptr(to)}
			ours = err1 == nil && err2 == nil && strings.HasSuffix(line, program) && (fields[1] == "r-xp" || fields[1] == "r--p")
			continue
		}
		if ours && fields[0] == "Anonymous:" && len(fields) > 1 && fields[1] == "0" {
			all = append(all, m)
		}
	}
	return all
}
