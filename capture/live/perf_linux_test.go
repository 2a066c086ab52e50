//go:build linux && (amd64 || arm64)

package live

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"loupe/format/profile"
	"loupe/value/stack"
)

// TestCPUProfile: the function that computes is what the profile shows, with its
// caller.
func TestCPUProfile(t *testing.T) {
	pid, _ := begin(t, exec.Command(toolchain{command: "go"}.build(t, "burn"), "0"))
	p, err := Open(pid)
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
	for _, p := range Permissions(pid) {
		if !p.OK && p.What != "counters" && p.What != "heap" {
			t.Errorf("what was done is said to be impossible: %s", p)
		}
	}
}

// attachTo prints how many threads of a process can be sampled, and how many cannot,
// with no memory for it but what the kernel grants everybody.
func attachTo(pid int) {
	unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unix.Rlimit{})
	s := &sampling{p: &Process{pid: pid}, pages: perfPages, threads: map[int]*ring{}, unseen: map[int]bool{}}
	defer s.close()
	if err := s.attach(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(s.threads), len(s.unseen))
}

// TestManyThreads: a user who may have little memory for samples sees all threads.
func TestManyThreads(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user")
	}
	const nobody, many = 65534, 40
	other := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	c := exec.Command(shared(t, toolchain{command: "go"}.build(t, "burn")), fmt.Sprint(many))
	c.SysProcAttr = other
	pid, _ := begin(t, c)
	if p := asked(t, pid, other)["cpu"]; !p.OK {
		t.Skipf("this machine does not allow perf events: %s", p)
	}
	var seen, unseen int
	text := answer(t, pid, other, "LOUPE_ATTACHES=1")
	if _, err := fmt.Sscan(string(text), &seen, &unseen); err != nil || seen < many || unseen > 0 {
		t.Errorf("threads that are seen, and that are not: %s", text)
	}
}

func name(p *profile.Profile, id stack.FrameID) string { return p.Stacks.Frame(id).Func }
