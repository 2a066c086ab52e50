package collect

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"loupe/dump"
	"loupe/dump/goroutineprofile"
	"loupe/live"
	"loupe/profile"
	"loupe/recording"
)

// kernelSource looks at a process from outside, through the kernel: its
// goroutines, and where its CPU time goes. It needs nothing of the program.
type kernelSource struct {
	pid  int
	ways []Permission
}

func (k kernelSource) String() string { return fmt.Sprintf("process %d, from outside", k.pid) }

func (k kernelSource) metricsKind() recording.Kind { return recording.Metrics }

// follow has nothing to tell: the runtime's metrics are inside.
func (k kernelSource) follow(context.Context, time.Duration, clock, io.Writer) error {
	return errNoMetrics
}

// phases are those that can be had, the bare one apart.
func (k kernelSource) phases() (names []string) {
	for _, p := range k.ways {
		if p.OK && (p.What == "goroutines" || p.What == "cpu") {
			names = append(names, strings.TrimSuffix(p.What, "s"))
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
		out, err = p.CPUProfile(ctx, d)
	default:
		return fmt.Errorf("from outside there is no %s", phase)
	}
	if err != nil {
		return err
	}
	return out.Encode(w)
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
	r.w.Note(note)
	r.opt.Progress("%s", note)
	for _, p := range k.ways {
		if !p.OK {
			r.w.Note(p.String())
		}
	}
	return phases
}
