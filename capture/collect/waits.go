package collect

import (
	"context"
	"io"
	"slices"
	"time"

	"loupe/recording"
)

// A tool that waits for nearly all of its time does so for seconds at a stretch, as a client does that polls: a trace of
// two seconds shows none of these waits from its begin to its end.

const (
	// waitsCPU is the part of its life for which a tool has used a CPU, below which it mostly waits. Chosen.
	waitsCPU = 0.1
	// longestTrace and mostTraced bound the trace of such a tool. Chosen: a program that waits has few events.
	longestTrace = 30 * time.Second
	mostTraced   = 64 << 20
)

// traceWaits are the phases of the second life of a tool: where the first has shown that it mostly waits, the trace lasts as
// long as that did, within bounds, and comes last, since it goes on to the end. A length that the user chose stays.
func traceWaits(phases []Phase, first recording.Run) []Phase {
	life, used := first.Span.Len(), first.User+first.System
	i := slices.IndexFunc(phases, func(p Phase) bool { return p.Name == "trace" && p.For == phaseKinds["trace"].length })
	if i < 0 || life <= 0 || float64(used) >= waitsCPU*float64(life) {
		return phases
	}
	trace := phases[i]
	trace.For = min(max(trace.For, life), longestTrace)
	return append(slices.Delete(slices.Clone(phases), i, i+1), trace)
}

// What a tool does changes as its data grows: the first seconds of a longer run may show nothing of what takes most of it.
const (
	// profiledShare is the part of a tool's life that its CPU profile is of. Chosen: a second life may be as much shorter as
	// the machine has become less busy, and the trace still has to come.
	profiledShare = 0.7
	// roomLeft is the part by which all phases that take time are to have ended. Chosen.
	roomLeft = 0.85
	// longestProfile bounds it. Chosen.
	longestProfile = 30 * time.Second
)

// profileMore are the phases of the second life of a tool with a CPU profile of most of it, as far as those that come after
// have room. A length that the user chose stays.
func profileMore(phases []Phase, first recording.Run) []Phase {
	life := first.Span.Len()
	i := slices.IndexFunc(phases, func(p Phase) bool { return p.Name == "cpu" && p.For == phaseKinds["cpu"].length })
	if i < 0 {
		return phases
	}
	room := time.Duration(roomLeft * float64(life))
	for j, p := range phases {
		if j != i && p.Name != "bare" && p.Name != repeatsPhase && !phaseKinds[p.Name].snapshot {
			room -= p.For
		}
	}
	phases = slices.Clone(phases)
	phases[i].For = max(phases[i].For, min(room, time.Duration(profiledShare*float64(life)), longestProfile))
	return phases
}

// captureFor takes a profile for the time of its phase. A trace that is longer than usual ends when it has become too large.
func captureFor(ctx context.Context, src source, p Phase, w io.Writer) error {
	if p.Name != "trace" || p.For <= phaseKinds["trace"].length {
		return src.capture(ctx, p.Name, p.For, w)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	return src.capture(ctx, p.Name, p.For, &fullWriter{w: w, left: mostTraced, full: cancel})
}

// fullWriter says when it has been written as much as there is room for, once; what comes until the writer has heard that
// is written, too.
type fullWriter struct {
	w    io.Writer
	left int
	full func()
}

func (f *fullWriter) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 && f.full != nil {
		f.full()
		f.full = nil
	}
	return f.w.Write(b)
}
