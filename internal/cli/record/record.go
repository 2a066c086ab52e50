// Package record has the commands that record: loupe run and loupe attach; and loupe doctor,
// which says what can be recorded here.
package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"loupe/capture/collect"
	"loupe/capture/load"
	"loupe/format/loadlog"
	"loupe/internal/cli/command"
	"loupe/internal/cli/loadflags"
	"loupe/recording"
	"loupe/value/timeline"
	"loupe/value/unit"
)

// Flags are shared by the commands that make recordings.
type Flags struct {
	out      string
	title    string
	Phases   string
	Length   string
	Load     string
	Wait     string
	StopWait string
	pprof    string
	Quiet    bool
	json     bool
	Loading  loadflags.Flags
	Interval string
	// coreLimit is how large a core may become: "1GB".
	coreLimit string
	// lengthGiven tells whether the user has named a length of the bare phase; nil
	// that nobody asks.
	lengthGiven func() bool
	// heapProfiling is of loupe attach alone.
	heapProfiling bool
}

// patience is how long a program that works and serves nobody may take to end by itself,
// where no length is given.
const patience = time.Minute

// declare declares the flags of loupe run, and of loupe attach those that are of
// use there.
func (f *Flags) declare(fs *command.FlagSet, starts bool) {
	fs.StringVar(&f.out, "o", "", "write the recording to `dir`, or to one file that ends in .zip\n(default loupe-NAME-TIME)")
	fs.StringVar(&f.title, "title", "", "`name` of the recording in reports (default: the target's)")
	phases := collect.DefaultPhases
	if starts {
		phases = collect.DefaultRunPhases
	}
	fs.StringVar(&f.Phases, "phases", phases, "what to capture, one after another: a `list` of\n"+
		strings.Join(collect.PhaseNames, ", ")+", or all;\n\"cpu:10s\" sets a duration")
	fs.StringVar(&f.Length, "for", "10s", "`length` of the bare phase, unless -n or -z limits its load")
	if starts {
		f.lengthGiven = func() bool { return fs.Given("for") || strings.Contains(f.Phases, "bare:") }
	}
	fs.Func("load", "load this `URL` in every phase, with the flags of loupe load", func(url string) error {
		if f.Load != "" {
			return errors.New("there is one URL already; several are sent in turn from a file (-targets)")
		}
		f.Load = url
		return nil
	})
	f.Wait = "30s"
	if starts {
		fs.StringVar(&f.Wait, "wait", f.Wait, "with -load: how `long` to wait until the target listens")
		fs.StringVar(&f.StopWait, "stop-wait", collect.DefaultStopWait.String(), "how `long` the program may take to end after an interrupt, before SIGTERM\nand, 2 s later, SIGKILL")
		fs.StringVar(&f.pprof, "pprof", "", "`address` of the target's own /debug/pprof, when there is no agent")
		fs.Needs([]string{"wait"}, "load")
	}
	fs.StringVar(&f.coreLimit, "core-limit", "1GB", "phase core: skip a process with more memory than this `size`")
	fs.StringVar(&f.Interval, "interval", "1s", "`time` between samples of the system and the runtime")
	fs.BoolVar(&f.Quiet, "quiet", false, "print no progress")
	fs.BoolVar(&f.json, "json", false, "print the report as JSON")
	f.Loading.Declare(fs, 0)
	for _, name := range fs.Under(" of -load") {
		switch {
		case !slices.Contains(loadflags.AccessFlags, name):
			fs.Needs([]string{name}, "load")
		case starts: // the agent wants no access
			fs.Needs([]string{name}, "load", "pprof")
		}
	}
}

// Plan makes the phases and the load of the flags.
func (f *Flags) Plan() (collect.Plan, error) {
	var plan collect.Plan
	length, err := unit.ParseDuration(f.Length)
	if err != nil {
		return plan, command.Usagef("-for: %w", err)
	}
	if plan.Phases, err = collect.ParsePhases(f.Phases, length); err != nil {
		return plan, command.Usagef("-phases: %w", err)
	}
	if plan.Wait, err = unit.ParseDuration(f.Wait); err != nil {
		return plan, command.Usagef("-wait: %w", err)
	}
	if f.Load == "" && f.lengthGiven != nil && !f.lengthGiven() {
		plan.Patience = patience
	}
	if f.Load != "" {
		if _, err = loadflags.HostPort(f.Load); err != nil {
			return plan, command.Usagef("-load: %w", err)
		}
		// hey's 200 requests last a moment, in which no collection and no
		// sample falls.
		f.Loading.Length = plan.Phases[0].For
		cfg, err := f.Loading.Config(f.Load)
		if err == nil {
			plan.WaitFor, err = Endpoints(&cfg)
		}
		if err != nil {
			return plan, command.Usagef("-load: %w", err)
		}
	}
	return plan, nil
}

// Endpoints are where a load gets to.
func Endpoints(cfg *load.Config) (all []collect.Endpoint, err error) {
	to, err := cfg.Endpoints()
	for _, e := range to {
		all = append(all, collect.Endpoint(e))
	}
	return all, err
}

// Options makes the recorder's options of the flags; temp is a private
// directory.
func (f *Flags) Options(e *command.Env, temp string) (collect.RecorderOptions, error) {
	interval, err := unit.ParseDuration(f.Interval)
	if err == nil && interval < 10*time.Millisecond {
		err = errors.New("want at least 10ms")
	}
	if err != nil {
		return collect.RecorderOptions{}, command.Usagef("-interval: %w", err)
	}
	limit, err := unit.ParseBytes(cmp.Or(f.coreLimit, "0"))
	if err != nil {
		return collect.RecorderOptions{}, command.Usagef("-core-limit: %w", err)
	}
	access, err := f.Loading.Access(cmp.Or(f.pprof, "localhost"))
	if err != nil {
		return collect.RecorderOptions{}, command.Usage(err)
	}
	return collect.RecorderOptions{
		Temp: temp, Interval: interval, Pprof: f.pprof, Access: access, CoreLimit: int64(limit), Progress: e.Progress(f.Quiet),
	}, nil
}

// stopWait is how long the program may take to end after an interrupt.
func (f *Flags) stopWait() (time.Duration, error) {
	wait, err := unit.ParseDuration(f.StopWait)
	if err == nil && wait <= 0 {
		err = errors.New("want more than 0s")
	}
	if err != nil {
		return 0, command.Usagef("-stop-wait: %w", err)
	}
	return wait, nil
}

// LoadInto returns how to put the load of the flags on the target, with every
// request kept in w.
func (f *Flags) LoadInto(w *recording.Writer) collect.Load {
	if f.Load == "" {
		return nil
	}
	series, of := &load.Series{}, 0
	return func(ctx context.Context, d collect.Demand) error {
		cfg, err := f.Loading.Config(f.Load)
		if err != nil {
			return err
		}
		if d.Run != of { // a fresh process gets the same as the one before
			series, of = &load.Series{}, d.Run
		}
		cfg.Series = series
		cfg.Boundary = d.Boundary
		if d.UntilCancelled {
			if err := loadflags.Endless(&cfg); err != nil {
				return err
			}
		}
		log, err := load.Run(ctx, cfg)
		if err != nil {
			return err
		}
		if d.Ours != nil {
			if err := d.Ours(); err != nil {
				return err
			}
		}
		if d.Unkept {
			return nil
		}
		if err := KeepLoad(w, d.Phase, f.Load, log); err != nil {
			return err
		}
		if s := log.Summary(); s.Requests > 0 && s.Responses == 0 && ctx.Err() == nil {
			return fmt.Errorf("every one of %d requests failed, most with: %s", s.Requests, s.CommonError())
		}
		return nil
	}
}

// KeepLoad puts the requests of a phase into a recording, with where they lie on
// its time axis.
func KeepLoad(w *recording.Writer, phase, source string, log *loadlog.Log) error {
	if log.Monotonic == 0 {
		log.Monotonic, log.BootID = collect.Monotonic(log.Start)
	}
	path := "load-" + phase + ".requests"
	entry, err := w.Create(recording.Entry{Path: path, Kind: recording.Load, Phase: phase, Source: source})
	if err != nil {
		return err
	}
	if err := log.Encode(entry); err != nil {
		return entry.Abort(err)
	}
	return errors.Join(entry.Close(), w.SetClock(recording.Clock{Path: path, Clock: timeline.Clock{Offset: w.At(log.Start)}}))
}

// Place decides where a recording goes: the directory to write into, and the
// zip file to pack it into afterwards, if one was asked for.
func Place(out, name string) (dir, zip string) {
	if out == "" {
		return freeDir(fmt.Sprintf("loupe-%s-%s", SafeName(name), time.Now().Format("20060102-150405"))), ""
	}
	if strings.HasSuffix(out, ".zip") {
		return strings.TrimSuffix(out, ".zip") + ".recording", out
	}
	return out, ""
}

var unsafeRunes = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// SafeName makes a file name of what a user typed.
func SafeName(name string) string {
	name = strings.Trim(unsafeRunes.ReplaceAllString(name, "-"), "-.")
	if name == "" {
		return "recording"
	}
	return name[:min(len(name), 60)]
}

// freeDir makes a directory of a new name, so that two recordings that begin
// in the same second do not meet.
func freeDir(name string) string {
	dir := name
	for n := 2; n < 1000; n++ {
		if err := os.Mkdir(dir, 0o700); !errors.Is(err, fs.ErrExist) {
			break // any other failure is told when the recording is created
		}
		dir = fmt.Sprintf("%s-%d", name, n)
	}
	return dir
}

// CheckPlace fails before anything is built or started when there is no room
// for a recording at what -o says.
func CheckPlace(out string) error {
	dir := out
	if base, ok := strings.CutSuffix(out, ".zip"); ok {
		dir = base + ".recording"
		if _, err := os.Lstat(out); err == nil {
			return fmt.Errorf("cannot create recording: %s exists (choose another place with -o)", out)
		}
	}
	if names, err := os.ReadDir(dir); out != "" && err == nil && len(names) > 0 {
		return fmt.Errorf("cannot create recording: %s exists and is not empty (choose another place with -o)", dir)
	}
	return nil
}

// Pack puts a closed recording into a zip file, if one was asked for, and
// returns where the recording is now.
func Pack(dir, zip string) (string, error) {
	if zip == "" {
		return dir, nil
	}
	if err := recording.Zip(dir, zip); err != nil {
		return dir, fmt.Errorf("%w (the recording is in %s)", err, dir)
	}
	return zip, os.RemoveAll(dir)
}

// TargetName names a recording after its target.
func TargetName(target string) string {
	if abs, err := filepath.Abs(target); err == nil && (target == "." || target == ".." || strings.HasSuffix(target, "/..")) {
		target = abs
	}
	base := filepath.Base(strings.TrimSuffix(target, "/"))
	return strings.TrimSuffix(base, ".go")
}
