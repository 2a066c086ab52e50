//go:build linux && (amd64 || arm64)

package live

import (
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"loupe/profile"
	"loupe/stack"
)

// TestCPUProfile: the function that computes is what the profile shows, with its
// caller.
func TestCPUProfile(t *testing.T) {
	c := exec.Command(toolchain{command: "go"}.build(t, "burn"))
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Wait()
	defer c.Process.Kill()
	p, err := Open(c.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	got, err := p.CPUProfile(t.Context(), time.Second)
	if errors.Is(err, ErrNotPermitted) {
		if !strings.Contains(err.Error(), "perf_event_paranoid") && !strings.Contains(err.Error(), "without perf events") {
			t.Errorf("the refusal does not say why: %v", err)
		}
		t.Skipf("this machine does not allow perf events: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	var burnt, all int64
	for id, n := range got.Samples(0) {
		all += n
		frames := got.Stacks.Frames(id)
		if len(frames) > 1 && name(got, frames[0]) == "main.burn" && name(got, frames[1]) == "main.work" {
			burnt += n
		}
	}
	if all < 10 || burnt*10 < all*8 {
		t.Errorf("%d of %d samples are in burn, called by work", burnt, all)
	}
	for _, p := range Permissions(c.Process.Pid) {
		if !p.OK && p.What != "counters" && p.What != "heap" {
			t.Errorf("what was done is said to be impossible: %s", p)
		}
	}
}

func name(p *profile.Profile, id stack.FrameID) string { return p.Stacks.Frame(id).Func }
