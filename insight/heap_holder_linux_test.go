//go:build linux && (amd64 || arm64)

package insight

import (
	"context"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"loupe/capture/collect"
	"loupe/recording"
	"loupe/session"
)

// freeAddress is one that nobody listened at a moment ago.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// recordKeeper records a program that keeps memory in a place, with the phase core.
func recordKeeper(t *testing.T, prog *collect.Program, where, list string) *session.Session {
	t.Helper()
	temp, address, dir := t.TempDir(), freeAddress(t), filepath.Join(t.TempDir(), "rec")
	w, err := recording.Create(dir, recording.Manifest{Title: where})
	if err != nil {
		t.Fatal(err)
	}
	r, err := collect.NewRecorder(w, prog, collect.RecorderOptions{
		Temp: temp, Launch: collect.LaunchOptions{Args: []string{address, where}, GODEBUG: collect.RuntimeDebug},
	})
	if err != nil {
		t.Fatal(err)
	}
	plan := collect.Plan{WaitFor: []collect.Endpoint{collect.TCP(address)}, Wait: time.Minute, Load: func(ctx context.Context, d collect.Demand) error {
		if d.UntilCancelled {
			<-ctx.Done()
		}
		return nil
	}}
	if plan.Phases, err = collect.ParsePhases(list, time.Second); err != nil {
		t.Fatal(err)
	}
	if err := r.Record(t.Context(), plan); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	rec, err := recording.OpenFile(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rec.Close() })
	// A service that was attached to has no profiles of peaks.
	rec.Entries = slices.DeleteFunc(rec.Entries, func(e recording.Entry) bool { return list == "bare,core" && e.Kind == recording.Heap })
	return session.New(rec)
}

// TestHeapHolder records programs that keep memory in places that are known: what a line
// keeps is said to be held there, with its type, and the advice fits that.
func TestHeapHolder(t *testing.T) {
	prog, err := collect.Build(t.Context(), collect.BuildOptions{Target: "../capture/collect/testdata/keeper", Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	f := func(where, summary, evidence, advice string) {
		t.Helper()
		s := recordKeeper(t, prog, where, "bare,heap,core")
		for _, x := range Run(NewInput(s)) {
			if x.Rule != "GC16" {
				continue
			}
			if x.State != Found || !strings.Contains(x.Summary, summary) {
				t.Errorf("%s: %s, want %q", where, x.Summary, summary)
			}
			if (summary == "") == strings.Contains(x.Summary, "held by") {
				t.Errorf("%s: %s", where, x.Summary)
			}
			if !strings.Contains(x.Advice, advice) {
				t.Errorf("%s: advice %q, want %q", where, x.Advice, advice)
			}
			all := ""
			for _, e := range x.Evidence {
				all += e.Text + "\n"
			}
			if !strings.Contains(all, evidence) {
				t.Errorf("%s: evidence\n%swant %q", where, all, evidence)
			}
			return
		}
		t.Errorf("%s: GC16 is silent", where)
	}
	f("map", "held by the global variable main.orders (map[int]*main.order)", "60,000 × main.order", "nothing in the source deletes from a map of this name")
	f("field", "held by the global variable main.front.cache.entries (map[string]*main.order)", "60,000 × main.order", "It goes into front.cache.entries, and nothing in the source deletes from a map of this name")
	// Where the program was stopped, another variable may have one of them as well.
	f("stack", "held by the variable seen of main.collect ([", " × main.order", "It is in the slice seen")
	// Half of what the line keeps is in each of two places: neither is its holder.
	f("split", "", "the global variable main.orders (map[int]*main.order) holds", "")
	// Of texts of which a small part is kept, the core shows how small: they are named, with the line that stores the part.
	f("parts", "1,500 buffers of 64.0 KiB on average are kept by nothing but strings of 16 B on average, in main.title.Text", "1,500 × buffer kept by small parts", "Copy the parts where they are stored, at main.go:")
	for _, x := range Run(NewInput(recordKeeper(t, prog, "parts", "bare,core"))) {
		if x.Rule == "GC16" && (x.Title != pinnedTitle || x.Severity != Warning) {
			t.Errorf("parts, without a heap profile: %s %q: %s", x.Severity, x.Title, x.Summary)
		}
		if x.Rule == "GC08" && strings.Contains(x.Advice, "-phases growth") {
			t.Errorf("parts: %s", x.Advice)
		}
	}
	for _, x := range Run(NewInput(recordKeeper(t, prog, "map", "bare,core"))) {
		if x.Rule == "GC16" && (x.State != Found || !strings.Contains(x.Advice, "It is in the map main.orders") || !strings.Contains(x.Summary, "are held by the global variable main.orders")) {
			t.Errorf("without a heap profile: %s %s", x.State, x.Summary)
		}
	}
}
