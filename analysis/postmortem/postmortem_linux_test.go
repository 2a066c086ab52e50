//go:build linux && (amd64 || arm64)

package postmortem_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"loupe/analysis/explain"
	"loupe/analysis/postmortem"
	"loupe/analysis/postmortem/postmortemtest"
)

// TestFailing: the end of a program that was copied while it said why it fails, by
// several readers at once.
func TestFailing(t *testing.T) {
	dir := t.TempDir()
	exe := postmortemtest.Build(t, dir)
	p := postmortemtest.Start(t, exe, "panic")
	p.Failing()
	name := filepath.Join(dir, "core")
	p.Capture(name)
	c, err := postmortemtest.Join(t, name, exe)
	if err != nil || c.NotGo != nil || c.Identity != postmortem.SameBuild {
		t.Fatalf("%v, %v, %q", err, c.NotGo, c.Identity)
	}
	done := make(chan bool)
	go func() {
		defer close(done)
		if n := len(c.Threads(0)); n != len(c.File.Threads) || len(c.Threads(1)) != 1 {
			t.Errorf("%d threads of %d", n, len(c.File.Threads))
		}
	}()
	f, err := c.Goroutines()
	if err != nil {
		t.Fatal(err)
	}
	<-done
	crash, ok := c.Crash()
	if !ok || !strings.Contains(crash.Message, "no session left: <b>pool <i>empty</i></b>") {
		t.Errorf("it ended so: %+v, %t", crash, ok)
	}
	if f.IDs[0] != crash.Goroutine || f.Len() < 9 {
		t.Errorf("%d goroutines, of which %d is the first, and %d has failed", f.Len(), f.IDs[0], crash.Goroutine)
	}
	end, ok := c.Ended()
	if !ok || !end.Dying || end.Goroutine != crash.Goroutine || len(end.Registers) == 0 {
		t.Errorf("the thread that ended it is %+v", end)
	}
	frames, err := c.Explain(f, explain.Sources{}).Goroutine(0)
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, fr := range frames {
		for _, x := range fr.Params {
			found = found || fr.Call.Func == "main.fail" && x.Name == "r" && strings.Contains(x.Text, `{id: 42, name: "the very last request"}`) && x.State == explain.Live
		}
	}
	if !found {
		t.Errorf("the arguments of main.fail are not told: %+v", frames)
	}
	if _, err := c.Heap(func(float64) error { return errors.New("enough") }); err == nil || !strings.HasSuffix(err.Error(), "enough") {
		t.Errorf("reading the heap was not ended: %v", err)
	}
}

// TestDoubts: another build, and no program at all.
func TestDoubts(t *testing.T) {
	dir := t.TempDir()
	exe := postmortemtest.Build(t, dir)
	name := filepath.Join(dir, "core")
	postmortemtest.Start(t, exe).Capture(name)
	c, err := postmortemtest.Join(t, name, postmortemtest.Build(t, t.TempDir(), "-ldflags=-w"))
	if err != nil || c.Identity != postmortem.OtherBuild {
		t.Fatalf("%v, %q", err, c.Identity)
	}
	if f, err := c.Goroutines(); err == nil && c.Explain(f, explain.Sources{}) != nil {
		t.Error("another build explains words")
	}
	if _, ok := c.Crash(); ok {
		t.Error("a program that was copied has ended")
	}
	alone := postmortem.Alone(name, c.File, errors.New("it is not there"))
	if _, err := alone.Goroutines(); err == nil || !strings.HasSuffix(err.Error(), "it is not there") {
		t.Errorf("goroutines without a program: %v", err)
	}
	if _, err := alone.Heap(nil); err == nil {
		t.Error("a heap without a program")
	}
	if all := alone.Threads(0); len(all) == 0 || len(all[0].Registers) == 0 {
		t.Errorf("threads without a program: %+v", all)
	}
}
