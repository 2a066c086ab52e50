package bench

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// counting is a runner whose valgrind is a script.
func counting(t *testing.T, script string) *Runner {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "valgrind"), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	r := &Runner{Timeout: time.Minute, Progress: func(string, ...any) {}}
	t.Cleanup(r.Close)
	if err := r.CountInstructions(); err != nil {
		t.Fatal(err)
	}
	return r
}

// ofTimes sets n to the number of operations in the arguments.
const ofTimes = `for a; do case $a in -test.benchtime=*x) n=${a#-test.benchtime=}; n=${n%x};; esac; done
`

// TestInstructions: what the start of the program takes falls out, the environment keeps the
// program from crashing, and a crash is run once more.
func TestInstructions(t *testing.T) {
	f := func(perOp time.Duration, script string, want float64) {
		t.Helper()
		r := counting(t, ofTimes+script)
		got, err := r.instructions(context.Background(), &Package{Binary: "/bin/true"}, found{name: "BenchmarkA", perOp: float64(perOp)})
		if (err != nil) != (want < 0) || err == nil && got != want {
			t.Errorf("%v: %v, %v", perOp, got, err)
		}
	}
	const report = `echo "==12== I   refs:      $((1000000+500*n))" >&2`
	f(time.Microsecond, report, 500)
	f(10*time.Millisecond, report, 500)
	f(time.Minute, report, 500)
	f(0, report, 500) // it is not known how long one takes
	f(time.Microsecond, `case $GODEBUG in *asyncpreemptoff=1) test $GOGC$GOMAXPROCS = off1 && `+report+`;; esac`, 500)
	f(time.Microsecond, `test -e "$0.again" || { touch "$0.again"; kill -SEGV $$; }`+"\n"+report, 500)
	f(time.Microsecond, `case "$*" in *cachegrind*true*) printf '==12== I refs: 1,234,567\n' >&2;; esac`, -1) // whatever it did
	f(time.Microsecond, `echo said nothing`, -1)
	f(time.Microsecond, `exit 3`, -1)

	t.Setenv("PATH", t.TempDir())
	if err := (&Runner{}).CountInstructions(); err == nil || !strings.Contains(err.Error(), "install") {
		t.Error(err)
	}
}
