package collect

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"loupe/capture/agent"
	"loupe/capture/counting"
	"loupe/format/repeats"
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

// mostPackages is how many packages are counted in.
const mostPackages = 150

// countRepeats builds the program so that it counts its calls, runs it once and keeps which of them
// repeat. What stands in the way is told in the recording, and is no error: the other phases have
// all that they had. Nothing that this run does is part of the figures of the program.
func (r *Recorder) countRepeats(ctx context.Context, p Phase, plan Plan) error {
	err := r.countOnce(ctx, p, plan)
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

func (r *Recorder) countOnce(ctx context.Context, p Phase, plan Plan) error {
	switch stdin := r.opt.Launch.Stdin; {
	case r.prog == nil || r.prog.compile == nil:
		return errors.New("calls can be counted in a program that loupe builds alone (give the package)")
	case stdin != nil && !replayable(stdin):
		return errors.New(noReplay)
	}
	temp := filepath.Join(r.opt.Temp, repeatsPhase)
	if err := os.MkdirAll(temp, 0o700); err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	prog, funcs, err := r.prog.counted(ctx, temp)
	if err != nil {
		return err
	}
	counts := filepath.Join(temp, "counts")
	began := r.w.Now()
	if err := r.runCounted(ctx, prog, counts, p, plan); err != nil {
		return err
	}
	f, err := os.Open(counts)
	if err != nil {
		return errors.New("the program has written no counts (did it end at once, or replace itself?)")
	}
	defer f.Close()
	set, err := repeats.ReadCounts(f, funcs)
	if err != nil {
		return fmt.Errorf("the counts of the program cannot be read: %w", err)
	}
	set.Loaded = plan.Load != nil
	var text bytes.Buffer
	if err := set.Encode(&text); err != nil {
		return err
	}
	e := recording.Entry{Path: repeatsFile, Kind: recording.Repeats, Source: r.prog.Target.Name}
	e.Span.Start, e.Span.End = began, r.w.Now()
	return r.w.Put(e, text.Bytes())
}

// counted builds the program once more, so that it counts its calls.
func (p *Program) counted(ctx context.Context, temp string) (*Program, []repeats.Func, error) {
	c := p.compile
	packages, err := p.ownPackages(ctx, temp)
	if err != nil {
		return nil, nil, err
	}
	goes := toolchainIn(ctx, temp, c.Dir)
	pkg, files, err := agent.Counts(goes.minor, runtime.GOARCH)
	if err != nil {
		return nil, nil, err
	}
	src, err := counting.Of(packages, pkg)
	if err != nil {
		return nil, nil, err
	}
	if len(src.Files) == 0 {
		return nil, nil, errors.New("no file of the module can be counted: " + strings.Join(src.Left, "; "))
	}
	limited, cancel := context.WithTimeout(ctx, longestBuild)
	defer cancel()
	built, err := Build(limited, BuildOptions{
		Target: c.Target, Test: c.Test, Flags: c.Flags, Dir: c.Dir, Temp: temp,
		Std: func(root string) (map[string]string, error) {
			for _, f := range files {
				src.Files[filepath.Join(root, pkg, f.Name)] = f.Text
			}
			return src.Files, nil
		},
	})
	switch {
	case limited.Err() != nil && ctx.Err() == nil:
		return nil, nil, fmt.Errorf("the program could not be built so that it counts within %v", longestBuild)
	case err != nil:
		return nil, nil, err
	case !built.Std:
		return nil, nil, errors.New("the program could not be built so that it counts: " + strings.Join(built.Notes, "; "))
	}
	built.Dir, built.Target.Name = p.Dir, p.Target.Name
	return built, src.Funcs, nil
}

// ownPackages are those of the user's modules that the program is built of.
func (p *Program) ownPackages(ctx context.Context, temp string) (out []counting.Package, err error) {
	c := p.compile
	words := slices.Concat([]string{"list", "-e", "-deps", "-json=ImportPath,Name,Dir,GoFiles,CgoFiles,Standard,Module"}, tagFlags(c.Flags),
		[]string{"--"}, strings.Split(c.Target, ","))
	text, err := run(goCommand(ctx, temp, c.Dir, words...))
	if err != nil {
		return nil, fmt.Errorf("cannot list the packages of %s: %w", p.Target.Name, err)
	}
	modules := p.Modules()
	dec := json.NewDecoder(bytes.NewReader(text))
	for dec.More() {
		var g goPackage
		if err := dec.Decode(&g); err != nil {
			return nil, fmt.Errorf("cannot read the answer of go list: %w", err)
		}
		own := g.Module == nil || slices.Contains(modules, g.Module.Path)
		if g.Standard || !own || len(g.CgoFiles) > 0 {
			continue
		}
		of := counting.Package{Path: g.ImportPath}
		if g.Name == "main" {
			of.Path = "main"
		}
		for _, name := range g.GoFiles {
			if !filepath.IsAbs(name) {
				name = filepath.Join(g.Dir, name)
			}
			of.Files = append(of.Files, name)
		}
		out = append(out, of)
	}
	if len(out) == 0 {
		return nil, errors.New("the program has no package of its own module")
	}
	// Those that it imports come first: what is left out lies deepest.
	return out[max(0, len(out)-mostPackages):], nil
}

// runCounted runs the program that counts, under load if there is one, until it ends or has been counted
// long enough.
func (r *Recorder) runCounted(ctx context.Context, prog *Program, counts string, p Phase, plan Plan) error {
	if err := portFree(plan.WaitFor...); err != nil {
		return err
	}
	reader, err := newStderrReader(r.opt.Launch.Pipe)
	if err != nil {
		return err
	}
	sink := &quietLog{done: make(chan struct{})}
	opt := LaunchOptions{
		Args: r.opt.Launch.Args, Env: append(slices.Clip(r.opt.Launch.Env), agent.RepeatsEnv+"="+counts), Stdin: r.opt.Launch.Stdin,
		Pipe: r.opt.Launch.Pipe, StopWait: r.opt.Launch.StopWait,
	}
	again(r)
	proc, err := prog.launch(opt, r.opt.Temp, output{reader: reader, sink: sink})
	if err != nil {
		return err
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
		r.opt.Progress("phase %s: a run that counts which calls repeat", repeatsPhase)
		proc.endsWithin(longestCount)
		return ctx.Err()
	}
	r.opt.Progress("phase %s: load, while it is counted which calls repeat", repeatsPhase)
	ended := func() error {
		if proc.ended() {
			return fmt.Errorf("the program ended before it listened: %s", sink.last.String())
		}
		return nil
	}
	for _, e := range plan.WaitFor {
		if err := dialUntil(ctx, r.prog.name(), e, plan.Wait, ended); err != nil {
			return err
		}
	}
	if _, err := newLookout(plan.WaitFor, r.prog.name(), proc.PID, proc.mark).who(); err != nil {
		return err
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
	return errors.Join(err, ctx.Err())
}

// quietLog forgets what a program prints, but for the end.
type quietLog struct {
	last lastLines
	done chan struct{}
}

func (l *quietLog) started(int)                         {}
func (l *quietLog) packet(p []byte, _ time.Time, _ int) { l.last.add(p) }
func (l *quietLog) end()                                { close(l.done) }
