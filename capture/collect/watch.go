package collect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"loupe/capture/alert"
	"loupe/recording"
	"loupe/value/secret"
	"loupe/value/timeline"
)

// WatchOptions say how a program is watched.
type WatchOptions struct {
	Launch LaunchOptions
	// Temp is a private directory for sockets.
	Temp string
	// Interval is the time between two readings; a second when zero.
	Interval time.Duration
	// History is for how long readings are kept, for the recording of an
	// alert; ten minutes when zero.
	History time.Duration
	// Flight is how much of an execution trace the program keeps in memory,
	// so that a recording has what led to the alert; 0 switches it off. It
	// needs the agent and Go 1.25.
	Flight time.Duration
	// Limit is what percentages of memory are of; 0 takes the least of the
	// cgroup's and the machine's.
	Limit int64
	// Access is how a service is asked that was found running.
	Access Access
}

// Watcher follows one program and keeps in memory what it has seen last. It is
// used by one goroutine at a time.
type Watcher struct {
	opt     WatchOptions
	prog    *Program // nil for a target that was found running
	proc    *Process
	target  recording.Target
	src     source // nil when there is only what the system tells
	pid     int
	tick    *time.Ticker
	follow  *background
	flight  *background
	flights bool // the flight recorder is on
	words   passing
	notes   []string
	seen    readings

	unreached  error // why the service did not answer the last time
	unanswered int   // how often in a row

	oomKills func() int64 // how often the kernel has killed in the program's cgroup
	kills    int64        // and had at first
}

// ErrEnded is returned when the watched program is no more.
var ErrEnded = errors.New("the program has ended")

func newWatcher(opt WatchOptions) *Watcher {
	if opt.Interval <= 0 {
		opt.Interval = time.Second
	}
	if opt.History <= 0 {
		opt.History = 10 * time.Minute
	}
	cpus := float64(runtime.NumCPU())
	if quota := HostFacts().Quota; quota > 0 {
		cpus = min(cpus, quota)
	}
	return &Watcher{opt: opt, seen: readings{
		interval: opt.Interval, history: opt.History, limit: opt.Limit, cpus: cpus, began: time.Now(),
	}}
}

// Watch begins to watch a running program: target is as in [Find]. A process
// that serves no /debug/pprof is watched from outside.
func Watch(ctx context.Context, target string, opt WatchOptions) (*Watcher, error) {
	w := newWatcher(opt)
	found, err := Find(ctx, target, opt.Access)
	w.target = recording.Target{Kind: "url", Name: secret.URL(target)}
	pid, isProcess := isPID(target)
	switch {
	case isProcess && err != nil:
		w.pid = pid
		w.notes = append(w.notes, "only what the system tells is known; "+err.Error())
	case err != nil:
		return nil, err
	default:
		w.src, w.pid = found.src, found.pid
	}
	if isProcess {
		w.target.Kind = "pid"
	}
	if w.pid > 0 {
		describeProcess(&w.target, w.pid)
		w.target.Runs = []recording.Run{{PID: w.pid}}
	}
	w.begin()
	return w, nil
}

// Watch starts the program and begins to watch it. It gets no GODEBUG and no
// profiler; a package has the agent.
func (p *Program) Watch(ctx context.Context, opt WatchOptions) (*Watcher, error) {
	w := newWatcher(opt)
	w.prog, w.target = p, p.Target
	w.target.Args, w.target.Dir = opt.Launch.Args, p.Dir
	w.words.to = opt.Launch.Stderr
	reader, err := newStderrReader(true)
	if err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", p.name(), err)
	}
	if w.proc, err = p.launch(opt.Launch, opt.Temp, output{reader: reader, sink: &w.words}); err != nil {
		return nil, err
	}
	w.pid, w.seen.began = w.proc.PID, w.proc.Started
	w.target.Runs = []recording.Run{{PID: w.pid}}
	switch {
	case w.proc.waitAgent(ctx):
		w.src = agentSource{socket: w.proc.agent}
	case p.Target.Go != "":
		if k, ok := outside(ctx, w.pid); ok {
			w.src = k
		}
	}
	w.begin()
	return w, nil
}

// passing hands on what the program prints, and keeps the end of it.
type passing struct {
	to   io.Writer
	mu   sync.Mutex
	last []byte
}

// lastWords is how much of what a program has printed is kept: a panic with some
// thousand goroutines.
const lastWords = 4 << 20

func (p *passing) started(int) {}

func (p *passing) packet(text []byte, _ time.Time, _ int) {
	if p.to != nil {
		p.to.Write(text)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = append(p.last, text...)
	if n := len(p.last); n > 2*lastWords {
		p.last = append(p.last[:0], p.last[n-lastWords:]...)
	}
}

func (p *passing) end() {}

// text is the end of what was printed.
func (p *passing) text() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return bytes.Clone(p.last[max(0, len(p.last)-lastWords):])
}

// keep writes the last that was printed into a recording.
func (p *passing) keep(w *recording.Writer) error {
	text := p.text()
	if len(text) == 0 {
		return nil
	}
	return w.Put(recording.Entry{Path: "stderr.log", Kind: recording.Stderr, Source: "standard error"}, text)
}

// begin follows the program's own metrics and switches the flight recorder on.
func (w *Watcher) begin() {
	w.tick = time.NewTicker(w.opt.Interval)
	w.oomKills = oomCounter(w.pid)
	w.kills = w.oomKills()
	if w.src == nil {
		return
	}
	w.follow = inBackground(func(ctx context.Context) error {
		return w.src.follow(ctx, w.opt.Interval, func() timeline.Time { return timeline.Time(time.Since(w.seen.began)) }, &lineWriter{take: w.seen.take})
	})
	if a, ok := w.src.(agentSource); ok && w.opt.Flight > 0 {
		on := make(chan error, 1)
		w.flight = inBackground(func(ctx context.Context) error {
			err := a.ask(ctx, "flight "+strconv.FormatInt(w.opt.Flight.Milliseconds(), 10), &lineWriter{take: func([]byte) { on <- nil }})
			select {
			case on <- err: // it has not come to being on
			default:
			}
			return err
		})
		if err := <-on; err == nil {
			w.flights = true
		} else {
			w.notes = append(w.notes, "no flight recorder: "+err.Error())
		}
	}
}

// lineWriter hands on whole lines.
type lineWriter struct {
	take func(line []byte)
	part []byte
}

// Write takes a piece of the lines.
func (l *lineWriter) Write(p []byte) (int, error) {
	l.part = append(l.part, p...)
	for {
		line, rest, found := bytes.Cut(l.part, []byte("\n"))
		if !found {
			return len(p), nil
		}
		l.take(bytes.Clone(line))
		l.part = append(l.part[:0], rest...)
	}
}

// Notes are remarks on what cannot be seen, and why.
func (w *Watcher) Notes() []string { return w.notes }

// Name says in a word what is watched: the program's name where it runs on this
// machine, else the address.
func (w *Watcher) Name() string {
	if w.pid > 0 {
		if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", w.pid)); err == nil {
			return filepath.Base(strings.TrimSuffix(exe, " (deleted)"))
		}
	}
	if u, err := PprofURL(w.target.Name); w.target.Kind == "url" && err == nil {
		return u.Host
	}
	return filepath.Base(w.target.Name)
}

// PID returns the number of the process, 0 where it is not known.
func (w *Watcher) PID() int { return w.pid }

// Next waits for the next reading. It returns [ErrEnded] when there is none
// because the program is no more, and the context's error when that ends.
func (w *Watcher) Next(ctx context.Context) (alert.Reading, error) {
	var done <-chan struct{}
	if w.proc != nil {
		done = w.proc.done
	}
	select {
	case <-ctx.Done():
		return alert.Reading{}, ctx.Err()
	case <-done:
		return alert.Reading{}, ErrEnded
	case <-w.tick.C:
	}
	if w.proc == nil && w.pid > 0 && !ProcessExists(w.pid) {
		return alert.Reading{}, ErrEnded
	}
	r := w.read(ctx)
	if w.pid == 0 && w.unanswered > 0 && (w.unanswered >= patience || errors.Is(w.unreached, syscall.ECONNREFUSED)) {
		return r, fmt.Errorf("%w: %s does not answer any more", ErrEnded, w.target.Name)
	}
	return r, ctx.Err()
}

// patience is how many times in a row a service elsewhere may not answer: a
// network has its moments.
const patience = 5

// shortWait bounds how long a reading waits for the service: what the system
// tells must not be late because the program is busy dying.
const shortWait = time.Second

// read takes a reading, and asks the service where it has a page.
func (w *Watcher) read(ctx context.Context) alert.Reading {
	now := w.seen.read(w.pid)
	if w.pid == 0 {
		elsewhereAlone(&now, w.opt.Limit)
	}
	if h, ok := w.src.(*httpSource); ok {
		w.ask(ctx, h, &now)
	}
	return now
}

// elsewhereAlone leaves out what is of this machine, of a process that is none of its own
// as far as is known: its memory, and what percentages would be of.
func elsewhereAlone(now *alert.Reading, limit int64) {
	for _, name := range []string{"machine", "cgroup"} {
		delete(now.Values, name)
	}
	if limit == 0 {
		clear(now.Wholes)
		return
	}
	for _, name := range []string{"machine", "cpu", "gccpu"} {
		delete(now.Wholes, name)
	}
}

// ask adds what the service's own page tells.
func (w *Watcher) ask(ctx context.Context, h *httpSource, now *alert.Reading) {
	ctx, cancel := context.WithTimeout(ctx, max(shortWait, w.opt.Interval))
	defer cancel()
	n, err := h.goroutines(ctx)
	if w.unreached = err; err != nil {
		w.unanswered++
		return
	}
	w.unanswered = 0
	now.Values["goroutines"] = float64(n)
}

// goroutineCount finds the number of goroutines on the first page of /debug/pprof.
var goroutineCount = regexp.MustCompile(`<td>(\d+)</td>\s*<td><a href=['"]goroutine\?`)

// goroutines asks how many goroutines there are, which the first page of
// /debug/pprof tells without stopping anything.
func (h *httpSource) goroutines(ctx context.Context) (int64, error) {
	text, err := h.page(ctx, h.base.String())
	if err != nil {
		return 0, err
	}
	m := goroutineCount.FindSubmatch(text)
	if m == nil {
		return 0, fmt.Errorf("the page at %s has no number of goroutines", h)
	}
	return strconv.ParseInt(string(m[1]), 10, 64)
}

// Capture writes a recording of the program as it is: the readings that led
// there as its bare phase, then each of the phases in turn. What fails, because
// the program dies meanwhile for instance, is noted; what was captured before
// stays.
func (w *Watcher) Capture(ctx context.Context, dir, title, tool, why string, phases []Phase) error {
	return w.capture(ctx, dir, title, tool, why, phases, w.src)
}

// capture is Capture of what answers: the source that w follows, nil once the program
// has ended.
func (w *Watcher) capture(ctx context.Context, dir, title, tool, why string, phases []Phase, src source) error {
	epoch := w.seen.began
	if len(w.seen.samples) > 0 && w.seen.samples[0].at.After(epoch) {
		epoch = w.seen.samples[0].at
	}
	rec, err := recording.Create(dir, recording.Manifest{Title: title, Tool: tool, Host: HostFacts(), Start: epoch})
	if err != nil {
		return err
	}
	r := newRecorder(rec, RecorderOptions{})
	r.prog, r.src, r.pid, r.run = w.prog, src, w.pid, 0
	err = errors.Join(
		rec.UpdateTarget(func(t *recording.Target) { *t = w.target }),
		rec.Mark(why),
		w.seen.keep(r, w.pid, w.src),
		w.words.keep(rec),
		rec.SetPhase(recording.Phase{Name: "bare", Run: 0, Span: timeline.Span{End: rec.Now()}}),
	)
	if err != nil {
		return errors.Join(err, rec.Close())
	}
	switch {
	case src == nil && w.src != nil, src == nil && !ProcessExists(w.pid):
		phases, err = nil, rec.Note("no profiles: the program had ended")
	case src == nil:
		phases, err = nil, rec.Note("no profiles: the program has no agent and serves no /debug/pprof")
	}
	for _, p := range r.possible(phases) {
		switch {
		case p.Name == "trace" && w.flights:
			err = w.flown(ctx, r)
		case p.Name == "bare":
			continue
		default:
			err = r.profile(ctx, p, Plan{})
		}
		if diskFull(err) || ctx.Err() != nil {
			break
		}
	}
	if diskFull(err) {
		return errors.Join(err, r.Close())
	}
	return r.Close()
}

// Failed tells that the program has ended and that it was no success: it was started
// here and has another exit code than 0. Of one that was found running only its parent
// learns how it has ended; whoever watches a service does not expect its end.
func (w *Watcher) Failed() bool {
	if w.proc == nil {
		return true
	}
	<-w.proc.done
	return !w.proc.cmd.ProcessState.Success()
}

// Started tells that the program was started here.
func (w *Watcher) Started() bool { return w.proc != nil }

// CaptureEnd writes a recording of a program that is no more: the readings that led
// there, and the last that it has printed.
func (w *Watcher) CaptureEnd(ctx context.Context, dir, title, tool, why string) error {
	return w.capture(ctx, dir, title, tool, why, nil, nil)
}

// flown writes what the flight recorder has kept as the trace.
func (w *Watcher) flown(ctx context.Context, r *Recorder) error {
	phase, end := r.begin(Phase{Name: "trace"}, Plan{})
	kind := phaseKinds["trace"]
	entry, err := r.w.Create(recording.Entry{Path: kind.file, Kind: kind.kind, Phase: phase.Name, Source: "the flight recorder"})
	if err != nil {
		return errors.Join(err, end(err))
	}
	if err = w.src.(agentSource).ask(ctx, "flown", entry); err != nil {
		err = abort(entry, err)
	} else {
		err = entry.Close()
	}
	return errors.Join(err, end(err))
}

// Ending says how the program ended, as far as that is known: for one that the
// kernel killed, what its log tells.
func (w *Watcher) Ending() string {
	var text string
	switch {
	case w.proc != nil:
		<-w.proc.done
		text = w.proc.cmd.ProcessState.String()
	case w.pid > 0:
		text = fmt.Sprintf("process %d is gone; its exit status is not known, because it was not started here", w.pid)
	default:
		text = w.target.Name + " does not answer any more; whether it has failed or was stopped is not known"
		if w.unreached != nil {
			text += " (" + w.unreached.Error() + ")"
		}
	}
	if why := oomKill(w.pid); why != "" {
		return text + "; the kernel killed it for want of memory: " + why
	}
	switch n := w.oomKills() - w.kills; {
	case n == 1:
		text += "; in its cgroup the kernel has killed once for want of memory meanwhile"
	case n > 1:
		text += fmt.Sprintf("; in its cgroup the kernel has killed %d times for want of memory meanwhile", n)
	}
	return text
}

// Close stops watching. A program that was started here is stopped.
func (w *Watcher) Close() error {
	w.tick.Stop()
	if w.flight != nil {
		w.flight.stop()
	}
	var err error
	if w.follow != nil {
		if err = w.follow.stop(); errors.Is(err, errNoMetrics) || errors.Is(err, errNoAgent) || errors.Is(err, os.ErrClosed) {
			err = nil
		}
	}
	if w.proc != nil {
		w.proc.Stop()
	}
	return err
}
