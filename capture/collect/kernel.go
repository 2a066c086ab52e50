package collect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"loupe/capture/live"
	"loupe/format/dump"
	"loupe/format/dump/goroutineprofile"
	"loupe/format/profile"
	"loupe/recording"
)

// kernelSource looks at a process from outside, through the kernel: its
// goroutines, its heap profile, and where its CPU time goes. It needs nothing of
// the program.
type kernelSource struct {
	pid  int
	ways []Permission
	// profiles says that heap profiling may be switched on for the length of a
	// phase; tell is told.
	profiles bool
	tell     func(format string, args ...any)
}

func (k kernelSource) String() string { return fmt.Sprintf("process %d, from outside", k.pid) }

func (k kernelSource) metricsKind() recording.Kind { return recording.Metrics }

// follow counts the goroutines, which is all that is seen of the runtime's metrics
// from outside. It does so less often where there are many.
func (k kernelSource) follow(ctx context.Context, interval time.Duration, _ clock, w io.Writer) error {
	p, err := live.Open(k.pid)
	if err != nil {
		return errNoMetrics
	}
	defer p.Close()
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for told := false; ; {
		asked := time.Now()
		f, err := p.Goroutines()
		switch {
		case err == nil:
			if _, err := fmt.Fprintf(w, "{\"t_ns\":%d,\"/sched/goroutines:goroutines\":%d}\n", asked.UnixNano(), f.Goroutines()); err != nil {
				return err
			}
			told = true
		case !told:
			return errNoMetrics
		case !ProcessExists(k.pid):
			return nil
		}
		tick.Reset(max(interval, maxPollShare*time.Since(asked)))
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// outside looks at a program that was just started here, when its runtime has begun
// or half a second has passed. ok is false where nothing can be seen.
func outside(ctx context.Context, pid int) (k kernelSource, ok bool) {
	p, err := live.Open(pid)
	if err != nil {
		return k, false
	}
	defer p.Close()
	for range 20 {
		if f, err := p.Goroutines(); err == nil && f.Goroutines() > 0 {
			return kernelSource{pid: pid, ways: live.Permissions(pid), tell: func(string, ...any) {}}, true
		}
		if sleep(ctx, 25*time.Millisecond); ctx.Err() != nil || !ProcessExists(pid) {
			break
		}
	}
	return k, false
}

// kernelPhases are what can be had from outside, by the way that it takes.
var kernelPhases = map[string][]string{"goroutines": {"goroutine", "growth"}, "heap": {"allocs", "heap"}, "cpu": {"cpu"}, "core": {"core"}}

// phases are those that can be had, the bare one apart.
func (k kernelSource) phases() (names []string) {
	for _, p := range k.ways {
		if p.OK || k.profiles && p.Flag == live.HeapProfilingFlag {
			names = append(names, kernelPhases[p.What]...)
		}
	}
	return names
}

func (k kernelSource) capture(ctx context.Context, phase string, d time.Duration, w io.Writer) error {
	p, err := live.Open(k.pid)
	if err != nil {
		return err
	}
	defer p.Close()
	var out *profile.Profile
	switch phase {
	case "goroutine":
		var f *dump.File
		if f, err = p.Goroutines(); err == nil {
			out, err = goroutineprofile.Of(f, nil)
		}
	case "cpu":
		if out, err = p.CPUProfile(ctx, d); err == nil && len(out.Comments) > 1 {
			k.tell("%s", out.Comments[1])
		}
	case "heap", "allocs":
		if out, err = k.heap(ctx, p, d); err == nil && phase == "allocs" {
			out.DefaultSampleType = "alloc_space"
		}
	default:
		return fmt.Errorf("from outside there is no %s", phase)
	}
	if err != nil {
		return err
	}
	return out.Encode(w)
}

// heapProfiling is how long heap profiling stays switched on when the phase has no
// length of its own.
const heapProfiling = 10 * time.Second

// heap reads the heap profile. Where there is none and it is allowed, it is
// switched on for a time; a shell stands by to switch it off again if loupe should
// die meanwhile.
func (k kernelSource) heap(ctx context.Context, p *live.Process, d time.Duration) (out *profile.Profile, err error) {
	out, err = p.HeapProfile()
	if !k.profiles || !errors.Is(err, live.ErrHeapProfileOff) {
		return out, err
	}
	if d <= 0 {
		d = heapProfiling
	}
	h, err := p.StartHeapProfiling()
	if err != nil {
		return nil, err
	}
	stop := whenGone(h.Undo())
	defer func() {
		err = errors.Join(err, h.Stop())
		stop()
		if err == nil {
			k.tell("process %d: runtime.MemProfileRate is %d again", k.pid, h.Before)
		}
	}()
	k.tell("WROTE INTO PROCESS %d: runtime.MemProfileRate (at %#x) was %d and is %d for %v, so that its allocations are sampled; "+
		"what it allocated before is not seen", k.pid, h.Addr, h.Before, h.Rate, d)
	sleep(ctx, d)
	return p.HeapProfile()
}

// possible leaves out the phases that a source cannot have, and says so.
func (r *Recorder) possible(phases []Phase) []Phase {
	k, ok := r.src.(kernelSource)
	if !ok {
		return phases
	}
	have := append(k.phases(), "bare")
	var left []string
	phases = slices.DeleteFunc(slices.Clone(phases), func(p Phase) bool {
		out := !slices.Contains(have, p.Name)
		if out {
			left = append(left, p.Name)
		}
		return out
	})
	note := fmt.Sprintf("process %d serves no /debug/pprof: what there is was seen from outside, by the kernel", k.pid)
	if len(left) > 0 {
		note += "; left out: " + strings.Join(left, ", ")
	}
	r.tell("%s", note)
	for _, p := range k.ways {
		if !p.OK {
			r.w.Note(p.String())
		}
	}
	return phases
}

// tell notes something in the recording and tells the user.
func (r *running) tell(format string, args ...any) {
	note := fmt.Sprintf(format, args...)
	r.w.Note(note)
	r.opt.Progress("%s", note)
}
