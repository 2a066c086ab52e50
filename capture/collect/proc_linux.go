package collect

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// procStat is what /proc/PID/stat has of a process behind its name, which may have anything in it
// (proc_pid_stat(5)).
type procStat [][]byte

// The fields of it, by their numbers in the manual.
const (
	statState       = 3
	statParent      = 4
	statGroup       = 5
	statUser        = 14
	statSystem      = 15
	statWaitedUser  = 16 // of the children that it has waited for, and of theirs
	statWaitedSys   = 17
	statThreads     = 20
	statStart       = 22
	statResident    = 24 // in pages
	statFirst       = 3  // behind the name
	statLeastFields = statResident - statFirst + 1
)

// readStat reads that of a process below a folder, which is /proc but in tests; ok is false where the
// process is gone.
func readStat(proc string, pid int) (s procStat, ok bool) {
	text, err := os.ReadFile(filepath.Join(proc, strconv.Itoa(pid), "stat"))
	if err != nil {
		return nil, false
	}
	s = bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	return s, len(s) >= statLeastFields
}

// number is a field that is a number.
func (s procStat) number(field int) int64 {
	n, _ := strconv.ParseInt(string(s[field-statFirst]), 10, 64)
	return n
}

// hasMark tells whether a process was started with a mark in its environment.
func hasMark(proc string, pid int, mark string) bool {
	env, err := os.ReadFile(filepath.Join(proc, strconv.Itoa(pid), "environ"))
	return err == nil && slices.ContainsFunc(bytes.Split(env, []byte{0}), func(kv []byte) bool { return string(kv) == mark })
}
