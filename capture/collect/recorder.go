package collect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"loupe/capture/debuginfo"
	"loupe/recording"
	"loupe/value/timeline"
)

// RuntimeDebug is the GODEBUG that a launched program gets, merged with the
// user's own: it is what the bare phase is made of.
const RuntimeDebug = "gctrace=1,schedtrace=1000"

// Load puts load on the target until it is done or ctx ends. It writes what it
// kept into the recording itself, under the name of the phase.
type Load func(ctx context.Context, d Demand) error

// Demand is what a load is asked for.
type Demand struct {
	// Phase is the name of the phase that it is put on in.
	Phase string
	// Run is which process of the target it is put on: an index of Target.Runs, below 0 for one
	// that was found running. In the phases of one process the load goes on, rather than begin again.
	Run int
	// Unkept tells that its requests are not to be kept.
	Unkept bool
	// UntilCancelled tells that only the context bounds it, as in a profiler's phase.
	UntilCancelled bool
	// Boundary, if set, is to be called right before the first request that is kept, and
	// when the last has its answer.
	Boundary func()
	// Ours, if set, is to be asked before the requests are kept: an error says that others than the
	// target have answered, and that nothing is to be kept.
	Ours func() error
}

// Plan is what a recorder does with one process of its target.
type Plan struct {
	Phases []Phase // the first is the bare one
	Load   Load    // nil: the program works by itself
	// WaitFor is where the load connects to: the target must accept connections there before the
	// first phase, and nobody else. One that was found running is not waited for, and another
	// process that answers is only said. It is empty when there is no load.
	WaitFor []Endpoint
	// Wait is how long to wait for it.
	Wait time.Duration
	// Patience is how long the bare phase may become for a program that works and
	// serves nobody, so that it will end by itself; it is cut where that is over.
	Patience time.Duration
	// Round and Order number the interleaved rounds, see recording.Phase.
	Round, Order int
}

// Has tells whether a phase of that name is planned.
func (p *Plan) Has(name string) bool {
	return slices.ContainsFunc(p.Phases, func(p Phase) bool { return p.Name == name })
}

// RecorderOptions say how a recorder works.
type RecorderOptions struct {
	Launch LaunchOptions
	// Temp is a private directory for sockets and whole-life captures.
	Temp string
	// Interval is the time between samples of the system and the runtime;
	// a second when zero.
	Interval time.Duration
	// Pprof is where the program's own /debug/pprof answers, if it has one
	// and no agent.
	Pprof string
	// Access is how that is reached.
	Access Access
	// Diagnose, if set, is how [Recorder.Diagnose] learns what to keep.
	Diagnose *Diagnosis
	// Count, if set, has a program count which of its calls repeat.
	Count Counter
	// HeapProfiling allows to switch on the heap profile of a process that is
	// looked at from outside and keeps none, by writing to its memory.
	HeapProfiling bool
	// CoreLimit is how much memory of the process the phase core copies at the most, in
	// bytes; [DefaultCoreLimit] when zero.
	CoreLimit int64
	// Progress, if set, is told what happens.
	Progress func(format string, args ...any)
	// Sampled, if set, is given each sample of a service's own metrics when it
	// was written, {"t_ns":…,"vars":{…}}.
	Sampled func(line []byte)
}

// Recorder records one target into one recording: it works through the phases of a plan.
// It is used by one goroutine at a time.
type Recorder struct {
	running
	aborted atomic.Bool // by another goroutine
}

// running is the process that is recorded, from its start to its end, and what is captured
// of it all the time: what it prints, the samples of the runtime and of the system, the
// bounds of its phases. A recorder has one process after the other.
type running struct {
	w    *recording.Writer
	prog *Program // nil for a target that was found running
	opt  RecorderOptions

	proc   *Process // if loupe started it
	src    source   // of profiles; nil when there is none
	run    int      // index in Target.Runs
	pid    int      // 0 when unknown
	log    *stderrLog
	out    *stdoutLog // nil when it is not kept
	follow *following // samples of the runtime

	sampler *sampler
	own     *owns // what the program captures of itself

	answers answers // who answers the load

	without string                  // why there are no profiles
	failure string                  // how the first process that failed did
	live    atomic.Pointer[Process] // what [Recorder.Abort] needs, which comes from another goroutine
}

// NewRecorder begins the recording of a program into w.
func NewRecorder(w *recording.Writer, prog *Program, opt RecorderOptions) (*Recorder, error) {
	r := newRecorder(w, opt)
	r.prog = prog
	env := append(os.Environ(), opt.Launch.Env...)
	notes := prog.Notes
	if ours := prog.debugs(opt.Launch.GODEBUG); ours != "" {
		env = append(env, "GODEBUG="+MergeGODEBUG(lastEnv(env, "GODEBUG"), ours))
		if !prog.Agent {
			notes = append(slices.Clone(notes), environmentNote)
		}
	} else if prog.isToolchain() {
		notes = append(slices.Clone(notes), "no gctrace and schedtrace: the go command would keep what its compiler prints, for every later build")
	}
	err := Describe(w, prog, notes, func(t *recording.Target) {
		t.Args, t.Env = opt.Launch.Args, runtimeEnv(env)
	})
	if err == nil {
		err = r.startSampler()
	}
	return r, err
}

// Describe puts what is known of a program into a recording: the target, which more may be
// said of, remarks, how it was built and the profile that the compiler went by.
func Describe(w *recording.Writer, prog *Program, notes []string, more func(*recording.Target)) error {
	err := w.UpdateTarget(func(t *recording.Target) {
		*t = prog.Target
		t.Dir = prog.Dir
		more(t)
	})
	for _, note := range notes {
		err = errors.Join(err, w.Note(note))
	}
	if text := buildInfoText(prog.Path); text != "" && err == nil {
		err = w.Put(recording.Entry{Path: "buildinfo.txt", Kind: recording.BuildInfo, Source: prog.Target.Name}, []byte(text))
	}
	if err == nil {
		err = keepPGO(w, prog.Target.BuildSettings["-pgo"])
	}
	return err
}

func newRecorder(w *recording.Writer, opt RecorderOptions) *Recorder {
	if opt.Interval <= 0 {
		opt.Interval = time.Second
	}
	if opt.Progress == nil {
		opt.Progress = func(string, ...any) {}
	}
	return &Recorder{running: running{w: w, opt: opt, run: -1, own: newOwns(w, opt.Temp)}}
}

// Writer returns the recording that is written.
func (r *Recorder) Writer() *recording.Writer { return r.w }

// start launches the program once more.
func (r *running) start(ctx context.Context, whole, wholeFile string) error {
	opt := r.opt.Launch
	opt.Whole, opt.WholeFile = whole, wholeFile
	r.run++
	r.own.run = r.run
	opt.Own = r.own.dir()
	if err := os.Mkdir(opt.Own, 0o700); err != nil {
		return fmt.Errorf("cannot start %s: %w", r.prog.name(), err)
	}
	reader, err := newStderrReader(opt.Pipe)
	if err != nil {
		return fmt.Errorf("cannot start %s: %w", r.prog.name(), err)
	}
	log, err := newStderrLog(r.w, r.run, opt.Stderr, !reader.packets, r.prog.Target.Go != "")
	if err != nil {
		reader.close()
		return err
	}
	log.holding = r.answers.awaited
	to := output{reader: reader, sink: log}
	if opt.KeepStdout {
		if to.out, err = newStdoutLog(r.w, r.run, opt.Show); err != nil {
			to.close()
			log.end()
			return err
		}
	}
	proc, err := r.prog.launch(opt, r.opt.Temp, to)
	if err != nil {
		log.end()
		return err
	}
	proc.hurry = ctx.Done()
	r.proc, r.log, r.out, r.pid = proc, log, to.out, proc.PID
	r.live.Store(proc)
	r.own.on = true
	r.sampler.follow(proc.family)
	r.sampler.watch(proc.PID)
	err = r.w.UpdateTarget(func(t *recording.Target) { t.Runs = append(t.Runs, proc.run(r.w)) })
	// The runtime counts its time from a moment after the process began;
	// readers narrow the error down by the arrival times.
	err = errors.Join(err, r.w.SetClock(runtimeClock(log.path, r.w.At(proc.Started))))
	if err == nil && whole == "" {
		r.findSource(ctx)
	}
	return err
}

// runtimeClock is that of the lines of a runtime in a file, of a process that began at a moment.
func runtimeClock(path string, began timeline.Time) recording.Clock {
	return recording.Clock{Path: path, Clock: timeline.Clock{Offset: began, Error: 20 * time.Millisecond}}
}

// findSource decides where profiles come from: the agent, or the program's
// own /debug/pprof once it answers.
func (r *running) findSource(ctx context.Context) {
	r.src = nil
	if r.proc.waitAgent(ctx) {
		r.src = agentSource{socket: r.proc.agent}
		if !r.answers.awaited { // or it is another process that answers
			r.startFollowing()
		}
	}
}

// findPprof looks for the /debug/pprof of a program without the agent, now
// that it serves.
func (r *running) findPprof(ctx context.Context) {
	if r.src != nil {
		return
	}
	candidates := listeningPorts(r.pid)
	if r.opt.Pprof != "" {
		candidates = slices.Insert(candidates, 0, r.opt.Pprof)
	}
	for _, c := range candidates {
		base, err := PprofURL(c)
		if err != nil {
			continue
		}
		h := newHTTPSource(base, r.opt.Access)
		if h.probe(ctx) == nil {
			r.src = h
			r.opt.Progress("profiles come from %s", h)
			r.startFollowing()
			return
		}
	}
}

// startFollowing samples the runtime's metrics until the process is stopped.
func (r *running) startFollowing() {
	entry, err := r.w.Append(recording.Entry{
		Path: r.runFile("metrics.ndjson"), Kind: r.src.metricsKind(), Run: max(r.run, 0), Source: r.src.String(),
	})
	if err != nil {
		r.w.Note(err.Error())
		return
	}
	src, own := r.src, r.own.dir()
	f := &following{src: src, to: entry}
	if r.opt.Sampled != nil && r.src.metricsKind() == recording.Vars {
		f.to = &told{entry, r.opt.Sampled}
	}
	r.follow = f
	f.background = inBackground(func(ctx context.Context) error {
		err := src.follow(ctx, r.opt.Interval, r.w.Now, &lineWriter{take: f.keep})
		if errors.Is(err, errNoAgent) {
			err = nil // a program may end before it was asked at all
		}
		if diskFailed(err) {
			err = nil // the entry knows
		}
		keepEnd(entry, src, own)
		return errors.Join(entry.Close(), err)
	})
}

// told writes lines and tells of each.
type told struct {
	w    io.Writer
	tell func(line []byte)
}

// Write writes one line.
func (t *told) Write(line []byte) (int, error) {
	n, err := t.w.Write(line)
	if err == nil {
		t.tell(line)
	}
	return n, err
}

// runFile names a file of the present process: "stderr.log", "stderr-2.log".
func (r *running) runFile(name string) string { return numbered(name, r.run) }

func numbered(name string, index int) string {
	if index <= 0 {
		return name
	}
	ext := filepath.Ext(name)
	return fmt.Sprintf("%s-%d%s", strings.TrimSuffix(name, ext), index+1, ext)
}

// Record starts a process of the target, works through the plan and stops the
// process. What was captured when ctx ends or something fails is kept.
//
// A program that ends by itself during the bare phase is started again for
// each of the other phases, which then cover its whole life. Where that is longer
// than the phase, it is started again once, for all of them.
func (r *Recorder) Record(ctx context.Context, plan Plan) error {
	counting := slices.IndexFunc(plan.Phases, func(p Phase) bool { return p.Name == repeatsPhase })
	if counting < 0 {
		return recordOnce(ctx, r, plan)
	}
	last := plan.Phases[counting]
	plan.Phases = slices.Delete(slices.Clone(plan.Phases), counting, counting+1)
	err := recordOnce(ctx, r, plan)
	switch {
	case err != nil && ctx.Err() == nil:
		return errors.Join(err, r.w.Miss(repeatsPhase, "an earlier phase failed"))
	case err != nil:
		return errors.Join(err, r.w.Miss(repeatsPhase, "the recording was interrupted"))
	case r.failure != "":
		return r.w.Miss(repeatsPhase, "the program failed: "+r.failure)
	}
	return countRepeats(ctx, r, last, plan)
}

// recordOnce is [Recorder.Record] without the phase that has a build of its own.
func recordOnce(ctx context.Context, r *Recorder, plan Plan) error {
	if err := portFree(plan.WaitFor...); err != nil {
		return err
	}
	r.answers.expect(plan.WaitFor)
	defer func() { r.answers.awaited = false }()
	if err := r.start(ctx, "", ""); err != nil {
		return err
	}
	err := r.recordRunning(ctx, plan)
	r.noteMissed(ctx, plan, err)
	return errors.Join(err, r.stop())
}

// noteMissed keeps which phases of the plan the recording has not come to, and why.
func (r *Recorder) noteMissed(ctx context.Context, plan Plan, err error) {
	why := r.without
	switch {
	case ctx.Err() != nil:
		why = "the recording was interrupted"
	case err != nil:
		why, _, _ = strings.Cut(err.Error(), "; its last words")
	case why == "":
		return
	}
	for _, p := range plan.Phases[1:] {
		if !slices.ContainsFunc(r.w.Manifest().Phases, func(done recording.Phase) bool { return done.Profiler == p.Name }) {
			r.w.Miss(p.Name, why)
		}
	}
}

// noProfiles keeps why there are none.
func (r *running) noProfiles(why string) error {
	r.without = why
	return r.w.Note("no profiles: " + why)
}

func (r *Recorder) recordRunning(ctx context.Context, plan Plan) error {
	if len(plan.WaitFor) > 0 && r.proc != nil {
		if err := r.waitPort(ctx, plan); err != nil {
			return err
		}
		plan.Load = guarded(&r.running, plan.Load)
		if err := adopt(&r.running); err != nil {
			return err
		}
	}
	bare := plan.Phases[0]
	err := r.bare(ctx, bare, plan)
	if err != nil || ctx.Err() != nil {
		return errors.Join(err, ctx.Err())
	}
	if outlived(r, bare, plan) {
		return secondLife(ctx, r, plan)
	}
	return restOf(ctx, r, plan)
}

// restOf works through the phases of a plan behind the bare one.
func restOf(ctx context.Context, r *Recorder, plan Plan) error {
	for i, p := range plan.Phases[1:] {
		if r.proc != nil && r.proc.ended() {
			if plan.Load != nil {
				// A server does not end by itself: starting it again
				// would wait for an end that never comes.
				return fmt.Errorf("%s ended between two phases under load: %s", r.prog.name(), r.ending())
			}
			return r.wholeLives(ctx, plan.Phases[1+i:], plan)
		}
		if plan.Load != nil {
			if err := adopt(&r.running); err != nil {
				return err
			}
		}
		if r.src == nil {
			r.findPprof(ctx)
		}
		if r.src == nil && (r.proc == nil || r.pid == r.proc.PID) {
			return r.noProfiles("the program has no agent and serves no /debug/pprof that loupe could find (tell it with -pprof)")
		}
		if r.src == nil {
			return r.noProfiles("those of the process that was started would not be those of the requests, and what answers serves no /debug/pprof that loupe could find (tell it with -pprof)")
		}
		err := r.profile(ctx, p, plan)
		if ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		if err != nil && r.endedWith(err) {
			if plan.Load != nil {
				return fmt.Errorf("%s ended in phase %s: %s", r.prog.name(), p.Name, r.ending())
			}
			return r.wholeLives(ctx, plan.Phases[1+i:], plan)
		}
		if errors.Is(err, ErrForeign) {
			return err
		}
		if diskFull(err) {
			return err // the next one would fail as well
		}
		if err != nil {
			r.opt.Progress("phase %s: %v", p.Name, err)
		}
	}
	return nil
}

// endNotice is how long the end of a process may be noticed after its agent has
// hung up, or has ended a capture because of it: a program that panics prints its
// goroutines first.
const endNotice = 5 * time.Second

// endedWith tells whether the process has ended, now that a capture has failed.
func (r *running) endedWith(err error) bool {
	if r.proc == nil {
		return false
	}
	if errors.Is(err, errNoAgent) {
		r.proc.endsWithin(endNotice)
	}
	return r.proc.ended()
}

// stop ends the process, if loupe started it, and records how it ended.
func (r *running) stop() error {
	var err error
	if r.follow != nil {
		// A program that has ended in the middle of a sample is told of elsewhere.
		if ferr := r.follow.stop(); !errors.Is(ferr, errNoMetrics) && !errors.Is(ferr, errNoAgent) {
			err = ferr
		}
		r.follow = nil
	}
	if r.proc == nil {
		return err
	}
	proc := r.proc
	r.sampler.take()
	proc.peak = r.sampler.peakOf(proc.PID) // a signal leaves it no time to tell, and it may have no agent
	proc.Stop()
	r.noteKilled()
	ended, survived := proc.family.end(leftGrace)
	if ended != "" {
		r.opt.Progress("%s had left %s running, and loupe has ended that as well", r.prog.name(), ended)
	}
	if survived != "" {
		r.tell("%s has left %s running, which loupe could not end", r.prog.name(), survived)
	}
	err = errors.Join(err, keepLateEnd(r))
	r.sampler.watch(0)
	lerr := errors.Join(r.log.wait(), r.own.keep())
	if r.out != nil {
		lerr = errors.Join(lerr, r.out.wait())
	}
	r.noteFailure()
	uerr := r.w.UpdateTarget(func(t *recording.Target) { t.Runs[r.run] = proc.run(r.w) })
	r.proc, r.src, r.pid = nil, nil, 0
	r.live.Store(nil)
	r.own.on = false
	return errors.Join(err, lerr, uerr)
}

// noteKilled tells, once in a recording, that the process did not end when it was asked to.
func (r *running) noteKilled() {
	const begin = "did not end within "
	told := slices.ContainsFunc(r.w.Manifest().Notes, func(n string) bool { return strings.Contains(n, begin) })
	state := r.proc.cmd.ProcessState
	byItself := !r.proc.killed && (state == nil || state.Exited()) // at SIGTERM, which it handles
	if r.proc.late == 0 || byItself || told {
		return
	}
	how := "-stop-wait gives it more time"
	select {
	case <-r.proc.hurry:
		how = "after Ctrl-C it has no more"
	default:
	}
	by := "SIGTERM ended it at once"
	if r.proc.killed {
		by = "was killed"
	}
	r.tell("%s %s%s of the interrupt, and %s: what it was still writing may be incomplete (%s)", r.prog.name(), begin, r.proc.late.Round(10*time.Millisecond), by, how)
}

// noteFailure remembers that the process, now that it is stopped, ended by itself
// and not well. The first time it is told at once.
func (r *running) noteFailure() {
	state := r.proc.cmd.ProcessState
	if r.failure != "" || !r.proc.ended() || r.proc.run(r.w).Stopped || state.Success() {
		return
	}
	r.failure = state.String()
	for _, p := range r.w.Manifest().Phases {
		if p.Has(r.run) && !p.Bare() {
			r.failure += " in phase " + p.Name
		}
	}
	if r.opt.Launch.Stderr == nil {
		r.opt.Progress("%s failed: %s", r.prog.name(), r.ending())
	} else {
		r.opt.Progress("%s failed: %s", r.prog.name(), r.failure)
	}
}

// Failure says how the program failed, in whichever of its processes was the
// first: "exit status 2 in phase cpu". It is empty where each ended well or was stopped.
func (r *Recorder) Failure() string { return r.failure }

// Abort kills the process at once; the recording stays as it is.
func (r *Recorder) Abort() {
	r.aborted.Store(true)
	if p := r.live.Load(); p != nil {
		p.Kill()
	}
}

var errAborted = errors.New("the recording was aborted")

// Close ends the recording: the sources that its profiles point into are
// copied, the manifest is written.
func (r *Recorder) Close() error {
	if r.aborted.Load() {
		return errAborted // the journal says how far it came
	}
	err := r.stop()
	err = errors.Join(err, r.sampler.close(), r.own.note())
	root, program, local := "", "", []string(nil)
	if r.prog != nil {
		root, program, local = r.prog.Root, r.prog.Path, r.prog.local
	}
	return errors.Join(err, debuginfo.Sources(r.w, root, program, local), r.w.Close())
}
