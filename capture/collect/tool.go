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

// A tool may also play its own peer: it listens, as the fake of a service does, and calls itself.
// It ends like any other tool.

// callers are who is connected to the ports on which a program accepts connections.
type callers struct {
	// known tells that there is no other way to reach the program than these ports.
	known bool
	// private tells that each port was chosen by the kernel or is for this machine alone,
	// hidden that each is both: nobody knows of it whom the program does not tell.
	private, hidden bool
	// itself tells that the program is connected to itself, others that somebody else is, before
	// that a connection was closed a moment ago: nobody can tell whose it was.
	itself, others, before bool
}

// used tells whether others use the program, or may: connections that were closed between two looks are
// anybody's where others know of a port.
func (c callers) used() bool { return c.others || c.before && !c.hidden }

// itselfAlone tells whether a program listens for itself alone, as far as was seen. It must have
// been seen to do so: what listens and has no peer is a service that nobody asks.
func (c callers) itselfAlone() bool {
	return c.known && !c.used() && (c.itself && c.private || c.before)
}

// callersEvery is how often it is looked who is connected: what calls itself again and again is
// likely to be seen in ten looks, each of which takes about a millisecond, or more of many connections:
// callersPart is which part of the time the looks may take. Chosen.
const (
	callersEvery = time.Second
	callersPart  = 50
)

// nextLook is how long to wait after a look that took so long.
func nextLook(took time.Duration) time.Duration { return max(callersEvery, callersPart*took) }

// overtime decides for how long the bare phase of a program goes on that has no load.
type overtime struct {
	r       *Recorder
	bare    Phase
	plan    Plan
	callers callers // in all looks
	begun   bool    // the phase has had its length
}

// lasts waits for a time, and looks meanwhile who is connected to the program. It is false where
// the program or ctx ended before.
func (o *overtime) lasts(ctx context.Context, length time.Duration) bool {
	over, next := time.NewTimer(length), time.NewTimer(callersEvery)
	defer over.Stop()
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-over.C:
			o.look()
			return true
		case <-next.C:
			from := time.Now()
			if o.look(); o.begun && o.callers.used() {
				return true // it was taken for a tool, and is a service
			}
			next.Reset(nextLook(time.Since(from)))
		}
	}
}

// look notes who is connected now, where that may make the phase longer. A program that others use is
// a service whatever comes.
func (o *overtime) look() {
	if o.r.proc == nil || o.plan.Patience <= o.bare.For || o.callers.others {
		return
	}
	o.note(callersOf(o.r.pid, o.r.opt.Temp))
}

// note adds a look to those before.
func (o *overtime) note(now callers) {
	now.itself = now.itself || o.callers.itself
	now.others = now.others || o.callers.others
	now.before = now.before || o.callers.before
	o.callers = now
}

// servesItself tells whether the program listens for itself alone, as far as was seen.
func (o *overtime) servesItself() bool {
	return o.callers.itselfAlone() && o.r.proc != nil && !o.r.proc.ended()
}

// beyond lets the bare phase of a tool go on until the tool ends, or the plan's
// patience does.
func beyond(ctx context.Context, o *overtime) {
	r, who := o.r, "serves nobody"
	if !servesNobody(r) {
		if !o.servesItself() {
			return
		}
		who = "serves nobody but itself"
	}
	what, patience := "is at work", o.plan.Patience
	if !worksNow(r) {
		what, patience = "may be waiting for something", min(patience, idlePatience)
	}
	if more := patience - o.bare.For; more > 0 {
		r.opt.Progress("it %s and %s: the phase lasts until it ends, %v at most (-for %v is a length)", who, what, patience, o.bare.For)
		if o.begun = true; !o.lasts(ctx, more) {
			return
		}
	}
	// With other phases it goes on in them.
	if last := len(o.plan.Phases) == 1 || r.src == nil; last && (servesNobody(r) || o.servesItself()) && worksNow(r) {
		r.w.Note(fmt.Sprintf("the program had not ended after %v of the bare phase, and did not do all of its work (-for has a length for it)", max(o.bare.For, patience)))
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
	first := r.lastRun()
	plan.Phases = traceWaits(profileMore(phases, first), first)
	if err := r.start(ctx, "", ""); err != nil {
		return err
	}
	err := restOf(ctx, r, plan)
	switch {
	case r.proc == nil:
		r.noteOtherWork(first, r.lastRun())
	case r.proc.ended():
		r.noteOtherWork(first, r.proc.run(r.w)) // which the manifest does not have yet
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
