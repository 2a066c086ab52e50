package collect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"loupe/recording"
)

// repeatsPhase is the phase that counts which calls repeat: in a build of its own, which is run
// once more after all other phases.
const repeatsPhase = "repeats"

// repeatsFile is its entry.
const repeatsFile = "repeats.json"

// longestBuild is how long building may take: all packages of the user's modules are compiled once more.
const longestBuild = 90 * time.Second

// longestCount is how long a program that ends by itself is counted.
const longestCount = time.Minute

// countsBuilt says what has to be built.
const countsBuilt = "calls can be counted in a program alone that loupe builds (loupe run PACKAGE)"

// muchSlower is how many times as long as otherwise a run takes at most in which calls are counted. Chosen: counting ends when it costs too much.
const muchSlower = 6

// mostPackages is how many packages are counted in.
const mostPackages = 150

// Counter makes copies of the source of packages, by their import paths ("main" of a command) with the paths of their files,
// that count calls. minor is the minor version of the toolchain, arch the GOARCH of the program. In the packages of lines, calls of other modules'
// functions are counted at their lines, and the copies may not compile.
type Counter func(packages map[string][]string, minor int, arch string, lines map[string]bool) (Counted, error)

// Counted is a program's source as it is built to count calls.
type Counted interface {
	// Files are the texts by the paths that they are laid over; root is GOROOT/src.
	Files(root string) map[string]string
	// Env is the variable that names the file which the program writes.
	Env() string
	// Uncounted says which files are not counted, and why; empty where all are.
	Uncounted() string
	// Read makes an entry of a recording of what the program has written. loaded tells that a load was put on it, ended that it has ended by
	// itself.
	Read(counts io.Reader, loaded, ended bool) ([]byte, error)
}

// countRepeats builds the program so that it counts its calls, runs it once and keeps which of them
// repeat. What stands in the way is told in the recording, and is no error: the other phases have
// all that they had. Nothing that this run does is part of the figures of the program.
func countRepeats(ctx context.Context, r *Recorder, p Phase, plan Plan) error {
	err := countOnce(ctx, r, p, plan)
	switch {
	case err == nil || diskFull(err):
		return err
	case ctx.Err() != nil:
		r.w.Miss(repeatsPhase, "the recording was interrupted")
		return ctx.Err()
	}
	r.opt.Progress("phase %s: %v", repeatsPhase, err)
	return r.w.Miss(repeatsPhase, oneLine(err.Error()))
}

func countOnce(ctx context.Context, r *Recorder, p Phase, plan Plan) error {
	switch stdin := r.opt.Launch.Stdin; {
	case r.opt.Count == nil || r.prog == nil || r.prog.compile == nil:
		return errors.New(countsBuilt)
	case r.prog.compile.Test:
		return errors.New("the functions of tests are not counted")
	case hasFlag(r.prog.compile.Flags, "race"), hasFlag(r.prog.compile.Flags, "msan"), hasFlag(r.prog.compile.Flags, "asan"):
		return errors.New("calls are not counted in a build with -race, -msan or -asan: what is read of arguments would be told as the program's own faults")
	case stdin != nil && !replayable(stdin):
		return errors.New(noReplay)
	}
	temp := filepath.Join(r.opt.Temp, repeatsPhase)
	if err := os.MkdirAll(temp, 0o700); err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	prog, counted, err := buildCounted(ctx, r, temp)
	if err != nil {
		return err
	}
	counts := filepath.Join(temp, "counts")
	began := r.w.Now()
	ended, err := runCounted(ctx, r, prog, counted.Env()+"="+counts, p, plan)
	if err != nil {
		return err
	}
	f, err := os.Open(counts)
	if err != nil {
		return errors.New("the program has written no counts (did it end at once, or replace itself?)")
	}
	defer f.Close()
	if left := counted.Uncounted(); left != "" {
		r.w.Note("calls were not counted in " + left)
	}
	text, err := counted.Read(f, plan.Load != nil, ended)
	if err != nil {
		return fmt.Errorf("the counts of the program cannot be read: %w", err)
	}
	e := recording.Entry{Path: repeatsFile, Kind: recording.Repeats, Source: r.prog.Target.Name}
	e.Span.Start, e.Span.End = began, r.w.Now()
	return r.w.Put(e, text)
}

// runCounted runs the program that counts, under load if there is one, until it ends or has been counted
// long enough. ended tells the former.
func runCounted(ctx context.Context, r *Recorder, prog *Program, env string, p Phase, plan Plan) (ended bool, err error) {
	if err := portFree(plan.WaitFor...); err != nil {
		return false, err
	}
	reader, err := newStderrReader(r.opt.Launch.Pipe)
	if err != nil {
		return false, err
	}
	sink := &quietLog{done: make(chan struct{})}
	opt := LaunchOptions{
		Args: r.opt.Launch.Args, Env: append(slices.Clip(r.opt.Launch.Env), env), Stdin: r.opt.Launch.Stdin,
		Pipe: r.opt.Launch.Pipe, StopWait: r.opt.Launch.StopWait,
	}
	again(r)
	proc, err := prog.launch(opt, r.opt.Temp, output{reader: reader, sink: sink})
	if err != nil {
		return false, err
	}
	proc.hurry = ctx.Done()
	r.live.Store(proc)
	defer r.live.Store(nil)
	defer func() {
		proc.Stop()
		proc.family.end(leftGrace)
		<-sink.done
	}()
	if plan.Load == nil {
		long, quick := longestCount, false
		if runs := r.w.Manifest().Target.Runs; len(runs) > 0 {
			if quick = time.Duration(runs[0].Span.Len()) < longestCount/muchSlower; runs[0].Stopped {
				long, quick = p.For, false // it does not end by itself
			}
		}
		r.opt.Progress("phase %s: a run that counts which calls repeat, at most %v", repeatsPhase, long)
		ended = proc.endsWithin(long)
		if !ended && quick && ctx.Err() == nil {
			r.w.Note(fmt.Sprintf("the program had not ended after %v in the run that counts its calls: counting may slow it that much, or it waits for what counting holds (results, until it is known who changes them, so that no finalizer of theirs runs)", long))
		}
		if ended && !proc.cmd.ProcessState.Success() && ctx.Err() == nil {
			return true, fmt.Errorf("the program failed in the run that counts its calls, and in no other: %s%s", proc.cmd.ProcessState, sink.words())
		}
		return ended, ctx.Err()
	}
	r.opt.Progress("phase %s: load, while it is counted which calls repeat", repeatsPhase)
	gone := func() error {
		if proc.ended() {
			return fmt.Errorf("the program ended before it listened: %s", sink.last.String())
		}
		return nil
	}
	for _, e := range plan.WaitFor {
		if err := dialUntil(ctx, r.prog.name(), e, plan.Wait, gone); err != nil {
			return false, err
		}
	}
	if _, err := newLookout(plan.WaitFor, r.prog.name(), proc.PID, proc.mark).who(); err != nil {
		return false, err
	}
	load := inBackground(func(ctx context.Context) error {
		return plan.Load(ctx, Demand{Phase: repeatsPhase, Run: -2, UntilCancelled: true, Unkept: true})
	})
	select {
	case <-proc.done:
	case <-ctx.Done():
	case <-time.After(p.For):
	}
	err = load.stop()
	if err == nil && proc.ended() {
		err = fmt.Errorf("the program ended under load: %s", sink.last.String())
	}
	return false, errors.Join(err, ctx.Err())
}

// quietLog forgets what a program prints, but for the end.
type quietLog struct {
	last  lastLines
	fault string // the line with which it failed, as far as it is there
	done  chan struct{}
}

func (l *quietLog) started(int) {}

func (l *quietLog) packet(p []byte, _ time.Time, _ int) {
	for line := range bytes.Lines(p) {
		begins := bytes.HasPrefix(line, []byte("fatal error: ")) || bytes.HasPrefix(line, []byte("panic: "))
		// The runtime writes a line in several parts.
		if l.fault == "" && begins || l.fault != "" && !strings.HasSuffix(l.fault, "\n") && len(l.fault) < lastBytes {
			l.fault += string(line)
		}
	}
	l.last.add(p)
}

// words are those in which it failed, else its last ones.
func (l *quietLog) words() string {
	if l.fault != "" {
		return " (" + strings.TrimSpace(l.fault) + ")"
	}
	if text := l.last.String(); text != "" {
		return "; its last words were: " + text
	}
	return ""
}
func (l *quietLog) end() { close(l.done) }
