package collect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"loupe/recording"
	"loupe/value/timeline"
)

// wholeLives starts the program once for each phase and captures each life
// as a whole: the program ends by itself, so that there is no other way to
// have one profiler at a time.
func (r *Recorder) wholeLives(ctx context.Context, phases []Phase, plan Plan) error {
	if err := r.stop(); err != nil {
		return err
	}
	stdin := r.opt.Launch.Stdin
	switch {
	case !r.prog.ExitHook:
		return r.noProfiles("the program ends by itself, and its end cannot be seen in this build (a ready binary, or Go before 1.20)")
	case stdin != nil && !replayable(stdin):
		return r.noProfiles(noReplay)
	}
	var names []string
	for _, p := range phases {
		names = append(names, p.Name)
	}
	r.opt.Progress("the program ends by itself; starting it again for %s (-phases bare starts it once)", strings.Join(names, ", "))
	first := r.lastRun()
	var errs error
	for _, p := range phases {
		if ctx.Err() != nil {
			break
		}
		if p.Name == "growth" {
			errs = errors.Join(errs, r.w.Note("no growth: the program ends by itself, and a whole run is looked at only once (give it more to do)"))
			continue
		}
		again(r)
		var err error
		if p.Name == "core" {
			err = peakCore(ctx, r, p, plan)
		} else {
			err = r.wholeLife(ctx, p, plan)
		}
		if err != nil {
			r.opt.Progress("phase %s: %v", p.Name, err)
		}
		r.noteOtherWork(first, r.lastRun())
		errs = errors.Join(errs, ctx.Err())
	}
	return errs
}

const noReplay = "the program ends by itself and reads a pipe, so that it cannot be started again with the same input (give the input as a file: < file)"

// again prepares for another start of the program with the same input: its output was
// shown once.
func again(r *Recorder) {
	r.opt.Launch.Stdout, r.opt.Launch.Stderr, r.opt.Launch.Show = nil, nil, nil
	if stdin := r.opt.Launch.Stdin; stdin != nil {
		stdin.Seek(0, io.SeekStart) // replayable said that this works, or is not needed
	}
}

// otherWork is the ratio of CPU times from which two runs of a program cannot
// have done the same. Even an execution trace only doubles it.
const otherWork = 3

// enoughWork is the user time from which that is judged. Chosen: of less, starting the program and a busy machine are a large part.
const enoughWork = 250 * time.Millisecond

// noteOtherWork tells when a later run did much more or less than the first, by their user time: what the kernel takes for the same work
// depends on its caches, on free memory, and on what else the machine does.
func (r *running) noteOtherWork(first, later recording.Run) {
	if didOtherWork(first.User, later.User) {
		r.w.Note(fmt.Sprintf("the program did not do the same in every run: the first took %v of user CPU time, another %v (does it keep a cache?)", first.User.Round(time.Millisecond), later.User.Round(time.Millisecond)))
	}
}

func didOtherWork(a, b time.Duration) bool {
	return max(a, b) >= enoughWork && (a > otherWork*b || b > otherWork*a)
}

// replayable tells whether f gives the same again: a file, or nothing.
func replayable(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && (info.Mode().IsRegular() || info.Mode()&os.ModeCharDevice != 0)
}

func (r *Recorder) wholeLife(ctx context.Context, p Phase, plan Plan) error {
	kind := phaseKinds[p.Name]
	file := filepath.Join(r.opt.Temp, "whole-"+kind.file)
	r.opt.Progress("phase %s: a whole run", p.Name)
	r.run++ // for begin; start counts the same run
	phase, end := r.begin(p, plan)
	r.run--
	own, instead, err := oneLife(ctx, r, p.Name, file)
	if err == nil && !instead && own == 0 && p.Name == "cpu" {
		moreLives(ctx, r, p, phase, file)
	}
	if kerr := r.keepWhole(file, kind, *phase, own); err == nil && !instead {
		err = kerr
	}
	return errors.Join(err, end(err))
}

// oneLife runs the program once with a profiler, which writes into a file. It tells when the program began such a capture itself, and whether that
// stands for loupe's.
func oneLife(ctx context.Context, r *Recorder, profiler, file string) (own timeline.Time, instead bool, err error) {
	began := r.w.Now()
	if err := r.start(ctx, profiler, file); err != nil {
		return 0, false, err
	}
	select {
	case <-r.proc.done:
	case <-ctx.Done():
	}
	own, instead = r.own.since(profiler, began)
	return own, instead, r.stop()
}

// keepWhole moves a capture over a whole life into the recording. It ended at
// cut, if that is not zero.
func (r *running) keepWhole(file string, kind phaseKind, phase recording.Phase, cut timeline.Time) error {
	f, err := os.Open(file)
	if err != nil {
		return errors.New("the agent wrote nothing (did the program crash or exec another one?)")
	}
	defer os.Remove(file)
	defer f.Close()
	entry, err := r.w.Create(recording.Entry{
		Path: kind.file, Kind: kind.kind, Phase: phase.Name, Run: phase.Run, Span: timeline.Span{Start: phase.Span.Start, End: cut}, Source: "agent",
	})
	if err != nil {
		return err
	}
	if _, err := io.Copy(entry, f); err != nil {
		return entry.Abort(err)
	}
	return entry.Close()
}
