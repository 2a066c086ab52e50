package collect

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"loupe/capture/live"
	"loupe/recording"
	"loupe/value/timeline"
	"loupe/value/unit"
)

// DefaultCoreLimit is how large a core may become that a recording takes, in bytes. Chosen:
// the process stands still for some tenths of a second while a gigabyte is copied.
const DefaultCoreLimit = 1 << 30

// corePatience is how long the copying may take: the process stands still for it.
const corePatience = 20 * time.Second

// The entries of a phase core. The program lies beside the core under its own name, where
// loupe core finds it.
const (
	coreFile     = "memory/core"
	coreHeapFile = "memory/heap.pb.gz"
)

// recordCore takes the memory of the process once, under load if there is one, and the heap
// profile right before it.
func recordCore(ctx context.Context, r *Recorder, p Phase, plan Plan) error {
	r.opt.Progress("phase %s", p.Name)
	phase, end := r.begin(p, plan)
	ctx, cancel := r.whileRunning(ctx)
	defer cancel()
	var load *background
	if plan.Load != nil {
		load = inBackground(func(ctx context.Context) error {
			return plan.Load(ctx, Demand{Phase: phase.Name, Run: r.run, UntilCancelled: true})
		})
		sleep(ctx, goroutineSettle)
	}
	heapBefore(ctx, r, phase.Name)
	shot, err := shootCore(ctx, r)
	if load != nil {
		err = errors.Join(err, load.stop())
	}
	if shot != nil {
		err = errors.Join(err, shot.keep(r, *phase))
	}
	return errors.Join(err, end(err))
}

// heapBefore keeps the heap profile that goes before a core: of what it has, a core does not
// say where it was allocated. Where there is none, the core stands alone.
func heapBefore(ctx context.Context, r *Recorder, phase string) {
	entry, err := r.w.Create(recording.Entry{Path: coreHeapFile, Kind: recording.CoreHeap, Phase: phase, Run: max(r.run, 0), Source: r.src.String()})
	if err != nil {
		return
	}
	if err = r.src.capture(ctx, "heap", 0, entry); err == nil {
		err = entry.Close()
	} else {
		err = errors.Join(err, entry.Drop())
	}
	if err != nil {
		r.w.Note(fmt.Sprintf("no heap profile goes with the core, so that nothing says which lines allocated what it holds: %v", err))
	}
}

// coreShot is a core in a private file, and the program that it is of.
type coreShot struct {
	core, program *os.File
	executable    string // where the program lay
	at            timeline.Time
	run           int
	live.Captured
}

// shootCore copies the memory of the process; it goes on afterwards, and before anything
// else is done. Nothing of a core is left after an error.
func shootCore(ctx context.Context, r *Recorder) (s *coreShot, err error) {
	if r.pid == 0 {
		return nil, errors.New("no core: the process is not on this machine, or its number is not known (loupe attach PID)")
	}
	s = &coreShot{at: r.w.Now(), run: max(r.run, 0)}
	if r.proc != nil {
		err = holdable(r.proc.cmd.Process)
	}
	defer func() {
		if err != nil {
			s.drop()
			s, err = nil, fmt.Errorf("no core of process %d: %w", r.pid, err)
		}
	}()
	if err != nil {
		return s, err
	}
	if s.core, err = os.OpenFile(filepath.Join(r.opt.Temp, fmt.Sprintf("core-%d", s.at)), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return s, err
	}
	exe := fmt.Sprintf("/proc/%d/exe", r.pid)
	if s.program, err = os.Open(exe); err != nil {
		return s, err
	}
	s.executable, _ = os.Readlink(exe)
	ctx, cancel := context.WithTimeout(ctx, corePatience)
	defer cancel()
	s.Captured, err = live.CaptureWithin(ctx, r.pid, s.core, cmp.Or(r.opt.CoreLimit, DefaultCoreLimit))
	if errors.Is(err, live.ErrTooLarge) {
		err = fmt.Errorf("%w (-core-limit allows more: the process stands still while it is copied)", err)
	}
	return s, err
}

// drop releases the files, and removes the core.
func (s *coreShot) drop() {
	if s.core != nil {
		s.core.Close()
		os.Remove(s.core.Name())
	}
	if s.program != nil {
		s.program.Close()
	}
}

// keep moves a core into the recording, with its program.
func (s *coreShot) keep(r *Recorder, phase recording.Phase) error {
	defer s.drop()
	source := fmt.Sprintf("process %d", r.pid)
	span := timeline.Span{Start: s.at, End: s.at.Add(s.Stopped)}
	e := recording.Entry{Path: coreFile, Kind: recording.Core, Phase: phase.Name, Run: s.run, Span: span, Source: source}
	if err := keepWholly(r.w, e, s.core); err != nil {
		return err
	}
	e = recording.Entry{Path: programFile(s.executable), Kind: recording.Program, Phase: phase.Name, Run: s.run, Span: span, Source: source}
	if err := keepWholly(r.w, e, s.program); err != nil {
		return err
	}
	r.tell("the process stood still for %s while %s of its memory was copied to %s", unit.Duration(s.Stopped), unit.BytesOf(float64(s.Written)), coreFile)
	if s.Unreadable > 0 {
		r.tell("the kernel has refused to read %s of its memory", unit.BytesOf(float64(s.Unreadable)))
	}
	r.tell("this recording holds everything that the program knew, passwords and keys as well (%s): take care to whom you give it", coreFile)
	return nil
}

// programFile is where the program of a core lies: under its own name beside it.
func programFile(executable string) string {
	name := path.Base(strings.TrimSuffix(filepath.ToSlash(executable), " (deleted)"))
	if name == "." || name == "/" || name == path.Base(coreFile) || name == path.Base(coreHeapFile) {
		name = "program"
	}
	return path.Join(path.Dir(coreFile), name)
}

// coreChunk is how much is copied at once: what is a hole in a file becomes one again.
const coreChunk = 64 << 10

// keepWholly copies a file into the recording, or nothing of it.
func keepWholly(w *recording.Writer, e recording.Entry, from *os.File) error {
	entry, err := w.Create(e)
	if err != nil {
		return err
	}
	if _, err = from.Seek(0, io.SeekStart); err == nil {
		_, err = io.CopyBuffer(struct{ io.Writer }{entry}, struct{ io.Reader }{from}, make([]byte, coreChunk))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("cannot keep %s: %w", e.Path, err), entry.Drop())
	}
	return entry.Close()
}

// nearPeak is the share of the highest peak of the live heap from which a core is taken of
// a program that ends by itself. Peaks are known in steps of a quarter.
const nearPeak = 0.75

// peakCore starts a program that ends by itself once more, and takes its memory when the
// live heap is about as large as it was before at its peak.
func peakCore(ctx context.Context, r *Recorder, p Phase, plan Plan) error {
	r.opt.Progress("phase %s: at the peak of another run", p.Name)
	r.run++ // for begin; start counts the same run
	phase, end := r.begin(p, plan)
	r.run--
	if err := r.start(ctx, "", ""); err != nil {
		return errors.Join(err, end(err))
	}
	taker := peakTaker{from: int64(nearPeak * float64(highestPeak(r.w))), shoot: func() (*coreShot, error) { return shootCore(ctx, r) }}
	agent, ok := r.src.(agentSource)
	if ok {
		running, cancel := r.whileRunning(ctx)
		from, to := io.Pipe()
		stream := inBackground(func(context.Context) error {
			err := agent.ask(running, "peaks", to)
			to.CloseWithError(err)
			return err
		})
		err := readPeaks(bufio.NewReader(from), taker.take)
		from.CloseWithError(errors.Join(err, io.ErrClosedPipe))
		stream.stop()
		cancel()
	}
	select {
	case <-r.proc.done:
	case <-ctx.Done():
	}
	err := keepPeak(r, &taker, *phase)
	return errors.Join(err, r.stop(), end(err))
}

// keepPeak keeps what was taken at a peak, or says why nothing was.
func keepPeak(r *Recorder, t *peakTaker, phase recording.Phase) error {
	switch {
	case t.best != nil:
	case t.err != nil:
		return t.err
	case t.from == 0:
		return errors.New("no core: the program ends by itself, and its live heap had no peak of 8 MiB or more")
	default:
		return errors.New("no core: in another run the live heap did not come near the peak that it had")
	}
	if t.heap != nil {
		e := recording.Entry{Path: coreHeapFile, Kind: recording.CoreHeap, Phase: phase.Name, Run: t.best.run, Span: timeline.Span{Start: t.best.at, End: t.best.at}, Source: "agent"}
		if err := r.w.Put(e, t.heap); err != nil {
			t.best.drop()
			return err
		}
	}
	return t.best.keep(r, phase)
}

// peakTaker takes a core at a peak that is high enough, and again at each higher one.
type peakTaker struct {
	from  int64 // bytes live from which it does
	shoot func() (*coreShot, error)

	number int // of the peak that it was taken at
	best   *coreShot
	heap   []byte // the heap profile of that peak with the most in use
	inUse  int64
	err    error // why there is none
}

// take is told of each heap profile of a peak. The agent sends each peak twice.
func (t *peakTaker) take(number int, live int64, profile []byte) error {
	if t.from <= 0 || live < t.from {
		return nil
	}
	if number != t.number {
		shot, err := t.shoot()
		if err != nil {
			t.err = err
			return nil // an earlier one is better than none
		}
		if t.best != nil {
			t.best.drop()
		}
		t.number, t.best, t.heap, t.inUse = number, shot, nil, 0
	}
	if inUse := bytesInUse(profile); t.heap == nil || inUse >= t.inUse {
		t.heap, t.inUse = profile, inUse
	}
	return nil
}
