package system

import (
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"
)

func TestParseSchedStat(t *testing.T) {
	f := func(text string, ran, waited time.Duration, want bool) {
		t.Helper()
		s, ok := parseSchedStat([]byte(text))
		if ok != want || ok && (s.Ran != ran || s.Waited != waited) {
			t.Errorf("%q is %v, %v", text, s, ok)
		}
	}
	f("102938 1970000000 12\n", 102938, 1970*time.Millisecond, true)
	f("0 0 0\n", 0, 0, false)
	f("", 0, 0, false)
	f("1 2", 0, 0, false)
	f("1 -2 3", 0, 0, false)
	f("1 x 3", 0, 0, false)
}

// TestSchedStats: the threads of this process are those of its number, another process has
// others, and one that has ended none.
func TestSchedStats(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	own, known := ThreadSchedStat()
	all := SchedStats(0)
	if known != (all != nil) {
		t.Errorf("of this thread %v, of all %v", own, all)
	}
	if byNumber := SchedStats(os.Getpid()); (byNumber != nil) != known {
		t.Errorf("by number %v, of all %v", byNumber, all)
	}
	ended := exec.Command(os.Args[0], "-test.run=^$")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	if s := SchedStats(ended.Process.Pid); s != nil {
		t.Errorf("a process that has ended has %v", s)
	}
}
