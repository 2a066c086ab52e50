package collect

import (
	"context"
	"fmt"
	"slices"
	"time"

	"loupe/recording"
)

// A tool does its work and ends, a server waits to be asked. The bare phase has a
// length for servers, and a tool that is cut in the middle tells neither how long it
// takes nor whether it is faster than before.

// toolCPU is the share of a CPU that a program has used from its start at least if it
// is at work, with the processes that it has started. What uses less waits for something, maybe for ever.
const toolCPU = 0.05

// idlePatience is for how long a program that serves nobody and does not work may go on: it may be a tool
// that waits for something else, as between tries, or a program that waits for ever. Chosen.
const idlePatience = 30 * time.Second

// servesNobody tells whether the process listens nowhere, as far as can be seen.
func servesNobody(r *Recorder) bool {
	if r.proc == nil || r.proc.ended() {
		return false
	}
	listens, known := listensAnywhere(r.pid, r.opt.Temp)
	return !listens && known
}

// worksNow tells whether the process, with those that it has started, has used the CPU.
func worksNow(r *Recorder) bool {
	used := r.sampler.take()
	return float64(used.User+used.System+used.Family) >= toolCPU*float64(time.Since(r.proc.Started))
}

// beyond lets the bare phase of a tool go on until the tool ends, or the plan's
// patience does.
func beyond(ctx context.Context, r *Recorder, p Phase, plan Plan) {
	if !servesNobody(r) {
		return
	}
	what, patience := "is at work", plan.Patience
	if !worksNow(r) {
		what, patience = "may be waiting for something", min(patience, idlePatience)
	}
	if more := patience - p.For; more > 0 {
		r.opt.Progress("it serves nobody and %s: the phase lasts until it ends, %v at most (-for %v is a length)", what, patience, p.For)
		t := time.NewTimer(more)
		defer t.Stop()
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
	// With other phases it goes on in them.
	if last := len(plan.Phases) == 1 || r.src == nil; last && servesNobody(r) && worksNow(r) {
		r.w.Note(fmt.Sprintf("the program had not ended after %v of the bare phase, and did not do all of its work (-for has a length for it)", max(p.For, patience)))
	}
}

// outlived tells whether the process has ended by itself after more than the length of
// the bare phase.
func outlived(r *Recorder, bare Phase, plan Plan) bool {
	if plan.Load != nil || len(plan.Phases) < 2 || r.proc == nil || !r.proc.ended() {
		return false
	}
	return plan.Patience > bare.For && r.proc.run(r.w).Span.Len() > bare.For
}

// secondLife starts a tool that takes long once more for all phases behind the
// bare one. Those that take time come first: what is there at once, such as what
// was allocated, has more to show by then.
func secondLife(ctx context.Context, r *Recorder, plan Plan) error {
	stdin := r.opt.Launch.Stdin
	if err := r.stop(); err != nil {
		return err
	}
	if stdin != nil && !replayable(stdin) {
		return r.w.Note(noReplay)
	}
	r.opt.Progress("the program ends by itself; starting it again for the profiles (-phases bare starts it once)")
	again(r)
	phases := slices.Clone(plan.Phases)
	slices.SortStableFunc(phases[1:], func(a, b Phase) int {
		return order(phaseKinds[a.Name].snapshot) - order(phaseKinds[b.Name].snapshot)
	})
	plan.Phases = phases
	first := r.lastRun()
	if err := r.start(ctx, "", ""); err != nil {
		return err
	}
	err := restOf(ctx, r, plan)
	if r.proc == nil || r.proc.ended() {
		r.noteOtherWork(first, r.lastRun())
	}
	return err
}

func order(last bool) int {
	if last {
		return 1
	}
	return 0
}

// lastRun returns the latest process as it ended.
func (r *running) lastRun() recording.Run {
	runs := r.w.Manifest().Target.Runs
	return runs[len(runs)-1]
}
