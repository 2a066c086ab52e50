package collect

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"time"

	"loupe/recording"
	"loupe/value/timeline"
)

// begin records the start of a phase and returns how to end it. What is set of the phase until then is recorded with its end; where that has a time by
// then, it stays.
func (r *running) begin(p Phase, plan Plan) (phase *recording.Phase, end func(error) error) {
	phase = &recording.Phase{
		Name: p.Name, Round: plan.Round, Order: plan.Order, Run: r.run,
		Span: timeline.Span{Start: r.w.Now()},
	}
	if p.Name != "bare" {
		phase.Profiler = p.Name
	} else if plan.Round > 1 {
		// The other phases are there once, after the last round.
		phase.Name = fmt.Sprintf("%s-%d", p.Name, plan.Round)
	}
	before := r.sampler.take()
	if p.Name == "bare" && plan.Load == nil && r.proc != nil {
		// It begins with the process: what a short program does may be over
		// before loupe has looked.
		phase.Span.Start = r.w.At(r.proc.Started)
		before.User, before.System = 0, 0
	}
	werr := r.w.SetPhase(*phase)
	return phase, func(err error) error {
		after := r.sampler.take()
		if phase.Span.End == 0 {
			phase.Span.End = r.w.Now()
		}
		phase.User, phase.System = max(0, after.User-before.User), max(0, after.System-before.System)
		phase.MaxRSS = after.MaxRSS
		if r.proc != nil && r.proc.ended() && r.pid == r.proc.PID {
			r.proc.peak = r.sampler.peakOf(r.pid)
			run := r.proc.run(r.w)
			phase.User, phase.System = max(0, run.User-before.User), max(0, run.System-before.System)
			phase.MaxRSS = run.MaxRSS
		}
		if r.answers.mixed() {
			phase.Elsewhere, phase.User, phase.System, phase.MaxRSS = true, 0, 0, 0
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			phase.Error = strings.ReplaceAll(err.Error(), "\n", "; ")
		}
		return errors.Join(werr, r.w.SetPhase(*phase))
	}
}

// bare runs the first phase: the load, or a length of time, or the program's
// own life, whichever ends first.
func (r *Recorder) bare(ctx context.Context, p Phase, plan Plan) error {
	phase, end := r.begin(p, plan)
	ctx, cancel := r.whileRunning(ctx)
	defer cancel()
	defer followPeaks(r, phase.Name)()
	if plan.Load == nil {
		r.opt.Progress("phase %s: %v", phase.Name, p.For)
		if o := (&overtime{r: r, bare: p, plan: plan}); o.lasts(ctx, p.For) {
			beyond(ctx, o)
		}
		return end(nil)
	}
	r.opt.Progress("phase %s: load", phase.Name)
	err := plan.Load(ctx, Demand{Phase: phase.Name, Run: r.run, Boundary: func() { r.follow.boundary(ctx) }})
	if r.proc != nil && r.proc.ended() {
		err = fmt.Errorf("%s ended under load: %s%s", r.prog.name(), r.ending(), daemons(r.proc))
	}
	return errors.Join(err, end(err))
}

// ending says how the process ended, with the last lines it printed.
func (r *running) ending() string {
	r.log.wait()
	text := r.proc.cmd.ProcessState.String()
	if tail := r.log.tail(); tail != "" {
		text += "; its last words were:\n" + tail
	}
	return text
}

// whileRunning derives a context that also ends with the process.
func (r *running) whileRunning(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	if r.proc != nil {
		done := r.proc.done
		go func() {
			select {
			case <-done:
				cancel()
			case <-ctx.Done():
			}
		}()
	}
	return ctx, cancel
}

// atWork are the profiles that are taken at once, but under load if there is one.
var atWork = []string{"goroutine", "goroutineleak", "stacks"}

// goroutineSettle is how long the load runs before the goroutines are looked
// at, so that the picture shows them at work.
const goroutineSettle = 500 * time.Millisecond

// profile runs one phase with a profiler, under load if there is one.
func (r *Recorder) profile(ctx context.Context, p Phase, plan Plan) error {
	switch p.Name {
	case "growth":
		return r.growth(ctx, p, plan)
	case "core":
		return recordCore(ctx, r, p, plan)
	}
	kind := phaseKinds[p.Name]
	underLoad := plan.Load != nil && (!kind.snapshot || slices.Contains(atWork, p.Name))
	length := ""
	if !kind.snapshot {
		length = ": " + p.For.String()
	}
	r.opt.Progress("phase %s%s", p.Name, length)
	phase, end := r.begin(p, plan)
	entry, err := r.w.Create(recording.Entry{
		Path: kind.file, Kind: kind.kind, Phase: phase.Name, Run: max(r.run, 0), Source: r.src.String(),
	})
	if err != nil {
		return errors.Join(err, end(err))
	}
	ctx, cancel := r.whileRunning(ctx)
	defer cancel()
	var load *background
	if underLoad {
		load = inBackground(func(ctx context.Context) error {
			return plan.Load(ctx, Demand{Phase: phase.Name, Run: r.run, UntilCancelled: true})
		})
		if kind.snapshot {
			sleep(ctx, goroutineSettle)
		}
	}
	began := time.Now()
	err = captureFor(ctx, r.src, p, entry)
	if took := time.Since(began); err == nil && !kind.snapshot && took < p.For && r.proc != nil {
		// The agent ends a capture before its time when the program ends.
		r.proc.endsWithin(endNotice)
	}
	if load != nil {
		err = errors.Join(err, load.stop())
	}
	if r.own.instead(p.Name, phase.Span.Start, err) {
		entry.Abort(err) // without a byte it goes away
		return end(nil)
	}
	if at, cut := r.own.since(p.Name, phase.Span.Start); cut {
		entry.EndAt(at)
	}
	if err != nil {
		if errors.Is(err, errNoAgent) && r.proc != nil && !r.proc.ended() {
			err = fmt.Errorf("the agent in the program does not answer any more, although its process runs (has the program replaced itself by exec?): %w", err)
		}
		err = abort(entry, err)
	} else {
		err = entry.Close()
	}
	return errors.Join(err, end(err))
}

// abort ends an entry whose source failed. When it was the disk that failed,
// the entry knows that itself.
func abort(entry *recording.EntryWriter, err error) error {
	if diskFailed(err) {
		return entry.Close()
	}
	return entry.Abort(err)
}

// diskFailed tells whether err is of a file and not of the network.
func diskFailed(err error) bool {
	_, ok := errors.AsType[*fs.PathError](err)
	return ok
}

// diskFull tells whether err says that no more can be written.
func diskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}
