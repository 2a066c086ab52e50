//go:build linux && (amd64 || arm64)

package collect

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loupe/format/core"
	"loupe/format/profile"
	"loupe/format/profile/profiletest"
	"loupe/internal/long"
	"loupe/recording"
)

// keeper records a program that keeps memory in a place.
func keeper(t *testing.T, where string, limit int64, list string) *recording.Recording {
	t.Helper()
	temp, address := t.TempDir(), freeAddress(t)
	prog, err := Build(t.Context(), BuildOptions{Target: "./testdata/keeper", Temp: temp})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "rec")
	w, err := recording.Create(dir, recording.Manifest{Title: where})
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewRecorder(w, prog, RecorderOptions{
		Temp: temp, CoreLimit: limit, Launch: LaunchOptions{Args: []string{address, where}, GODEBUG: RuntimeDebug}, Progress: t.Logf,
	})
	if err != nil {
		t.Fatal(err)
	}
	plan := Plan{Phases: phases(t, list), WaitFor: []Endpoint{TCP(address)}, Wait: time.Minute, Load: func(ctx context.Context, d Demand) error {
		if d.UntilCancelled {
			<-ctx.Done()
		}
		return nil
	}}
	if where == "ends" {
		plan.WaitFor, plan.Load = nil, nil
	}
	if err := r.Record(t.Context(), plan); err != nil {
		t.Logf("Record: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(temp, "core-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	rec, err := recording.OpenFile(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rec.Close() })
	return rec
}

// phaseError is why a phase has failed.
func phaseError(t *testing.T, rec *recording.Recording, name string) string {
	t.Helper()
	p, ok := rec.PhaseNamed(name)
	if !ok {
		t.Fatalf("there is no phase %s: %+v", name, rec.Phases)
	}
	return p.Error
}

// TestCore takes the memory of a program that goes on: what is in the recording can be read,
// and the program has noticed nothing.
func TestCore(t *testing.T) {
	rec := keeper(t, "map", 0, "bare,core,goroutine")
	if why := phaseError(t, rec, "core"); why != "" {
		t.Fatal(why)
	}
	holds(t, rec, recording.Core, recording.CoreHeap, recording.Program, recording.Goroutine)
	if runs := rec.Target.Runs; len(runs) != 1 || !runs[0].Stopped {
		t.Errorf("the program has ended by itself: %+v", runs)
	}
	r, size, err := rec.ReaderAt(coreFile, 0)
	if err != nil {
		t.Fatal(err)
	}
	file, err := core.Open(r, size)
	if err != nil || file.Cut > 0 || len(file.Threads) == 0 {
		t.Errorf("the core has %d threads, %d bytes are missing: %v", len(file.Threads), file.Cut, err)
	}
	if e := rec.Of(recording.Program)[0]; e.Path != "memory/keeper" {
		t.Errorf("the program is %s", e.Path)
	}
	if all := strings.Join(rec.Notes, "\n"); !strings.Contains(all, "stood still for") || !strings.Contains(all, "passwords and keys") {
		t.Errorf("the notes are\n%s", all)
	}
	checked, err := rec.Verify(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range checked {
		if c.State != recording.Whole {
			t.Errorf("%+v", c)
		}
	}
}

// TestCoreRefused: a process with more memory than allowed is left alone, and the phase says
// so; the others go on.
func TestCoreRefused(t *testing.T) {
	rec := keeper(t, "map", 1<<20, "bare,core,goroutine")
	if why := phaseError(t, rec, "core"); !strings.Contains(why, "too large") || !strings.Contains(why, "1.00 MiB are allowed") || !strings.Contains(why, "-core-limit") {
		t.Errorf("the phase says %q", why)
	}
	if n := len(rec.Of(recording.Core)) + len(rec.Of(recording.Program)); n > 0 {
		t.Errorf("%d entries of a core that was refused", n)
	}
	holds(t, rec, recording.Goroutine)
	if runs := rec.Target.Runs; len(runs) != 1 || !runs[0].Stopped {
		t.Errorf("the program has ended by itself: %+v", runs)
	}
}

// TestCoreAtPeak takes the memory of a program that ends by itself.
func TestCoreAtPeak(t *testing.T) {
	long.Only(t, "records a program twice that has to live for some seconds")
	rec := keeper(t, "ends", 0, "bare:1m,core")
	if why := phaseError(t, rec, "core"); why != "" {
		t.Fatal(why)
	}
	holds(t, rec, recording.Core, recording.CoreHeap, recording.Program)
	for _, run := range rec.Target.Runs {
		if run.Exit != "exit status 0" || run.Stopped {
			t.Errorf("a run ended with %q", run.Exit)
		}
	}
}

// TestPeakTaker: a core is taken at a peak that is high enough, once, and again at a higher one;
// where that fails, the one before is kept.
func TestPeakTaker(t *testing.T) {
	heap := func(bytes string) []byte {
		return profiletest.Encode("main.f\n= "+bytes, profiletest.Options{Types: []string{"inuse_space/bytes"}})
	}
	dir, shots := t.TempDir(), 0
	taker := peakTaker{from: 100, shoot: func() (*coreShot, error) {
		if shots++; shots == 3 {
			return nil, errors.New("too large")
		}
		f, err := os.CreateTemp(dir, "core")
		return &coreShot{core: f}, err
	}}
	for _, p := range []struct {
		number int
		live   int64
		heap   string
	}{{1, 50, "40"}, {1, 50, "50"}, {2, 110, "60"}, {2, 110, "100"}, {3, 150, "120"}, {3, 150, "10"}, {4, 200, "190"}} {
		if err := taker.take(p.number, p.live, heap(p.heap)); err != nil {
			t.Fatal(err)
		}
	}
	p, err := profile.Decode(taker.heap, profile.Options{})
	if err != nil || p.Total(0) != 120 {
		t.Errorf("the heap profile is of another peak: %v, %v", p, err)
	}
	if shots != 3 || taker.best == nil || taker.number != 3 || taker.err == nil {
		t.Errorf("%d cores, the best of peak %d: %v", shots, taker.number, taker.err)
	}
	taker.best.drop()
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%d cores are left", len(left))
	}
	none := peakTaker{shoot: func() (*coreShot, error) { return nil, errors.New("BUG") }}
	if none.take(1, 1<<30, heap("1")); none.err != nil {
		t.Error("a core is taken of a program that is not known to have had a peak")
	}
}

// TestProgramFile: the program has its own name beside the core, unless the core has that.
func TestProgramFile(t *testing.T) {
	for executable, want := range map[string]string{"/usr/bin/server": "memory/server", "/tmp/x/main (deleted)": "memory/main", "/srv/core": "memory/program", "": "memory/program"} {
		if got := programFile(executable); got != want {
			t.Errorf("%q lies at %s, want %s", executable, got, want)
		}
	}
}
