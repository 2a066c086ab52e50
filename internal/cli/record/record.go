package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"loupe/collect"
	"loupe/load"
	"loupe/loadlog"
	"loupe/recording"
	"loupe/timeline"
	"loupe/unit"
)

// recordFlags are shared by the commands that make recordings.
type recordFlags struct {
	out      string
	title    string
	phases   string
	length   string
	load     string
	wait     string
	pprof    string
	quiet    bool
	json     bool
	loading  loadFlags
	interval string
	// heapProfiling is of loupe attach alone.
	heapProfiling bool
}

// declare declares the flags of loupe run, and of loupe attach those that are of
// use there.
func (f *recordFlags) declare(fs *flagSet, starts bool) {
	fs.StringVar(&f.out, "o", "", "write the recording to `dir`, or to one file that ends in .zip\n(default loupe-NAME-TIME)")
	fs.StringVar(&f.title, "title", "", "`name` of the recording in reports (default that of the target)")
	fs.StringVar(&f.phases, "phases", collect.DefaultPhases, "what to capture, one after the other: a `list` of\n"+
		strings.Join(collect.PhaseNames, ", ")+", or all;\n\"cpu:10s\" gives a length")
	fs.StringVar(&f.length, "for", "10s", "`length` of the bare phase, unless -n or -z bounds its load")
	fs.StringVar(&f.load, "load", "", "put load on this `URL` in every phase, with the flags of loupe load")
	f.wait = "30s"
	if starts {
		fs.StringVar(&f.wait, "wait", f.wait, "with -load: how `long` to wait until the target listens")
		fs.StringVar(&f.pprof, "pprof", "", "`address` of the target's own /debug/pprof, when there is no agent")
		fs.needs([]string{"wait"}, "load")
	}
	fs.StringVar(&f.interval, "interval", "1s", "`time` between samples of the system and the runtime")
	fs.BoolVar(&f.quiet, "quiet", false, "tell no progress")
	fs.BoolVar(&f.json, "json", false, "print the report as JSON")
	f.loading.declare(fs, 0)
	for _, name := range fs.under(" of -load") {
		switch {
		case !slices.Contains(accessFlags, name):
			fs.needs([]string{name}, "load")
		case starts: // the agent wants no access
			fs.needs([]string{name}, "load", "pprof")
		}
	}
}

// plan makes the phases and the load of the flags.
func (f *recordFlags) plan() (collect.Plan, error) {
	var plan collect.Plan
	length, err := unit.ParseDuration(f.length)
	if err != nil {
		return plan, usagef("-for: %w", err)
	}
	if plan.Phases, err = collect.ParsePhases(f.phases, length); err != nil {
		return plan, usagef("-phases: %w", err)
	}
	if plan.Wait, err = unit.ParseDuration(f.wait); err != nil {
		return plan, usagef("-wait: %w", err)
	}
	if f.load != "" {
		if plan.WaitFor, err = hostPort(f.load); err != nil {
			return plan, usagef("-load: %w", err)
		}
		// hey's 200 requests last a moment, in which no collection and no
		// sample falls.
		f.loading.length = plan.Phases[0].For
		if _, err = f.loading.config(f.load); err != nil {
			return plan, usagef("-load: %w", err)
		}
	}
	return plan, nil
}

// options makes the recorder's options of the flags; temp is a private
// directory.
func (f *recordFlags) options(e *env, temp string) (collect.RecorderOptions, error) {
	interval, err := unit.ParseDuration(f.interval)
	if err == nil && interval < 10*time.Millisecond {
		err = errors.New("want at least 10ms")
	}
	if err != nil {
		return collect.RecorderOptions{}, usagef("-interval: %w", err)
	}
	access, err := f.loading.access(cmp.Or(f.pprof, "localhost"))
	if err != nil {
		return collect.RecorderOptions{}, usageError{err}
	}
	return collect.RecorderOptions{
		Temp: temp, Interval: interval, Pprof: f.pprof, Access: access, Progress: e.progress(f.quiet),
	}, nil
}

// loadInto returns how to put the load of the flags on the target, with every
// request kept in w.
func (f *recordFlags) loadInto(w *recording.Writer) collect.Load {
	if f.load == "" {
		return nil
	}
	return func(ctx context.Context, phase string, untilCancelled bool) error {
		cfg, err := f.loading.config(f.load)
		if err != nil {
			return err
		}
		if untilCancelled {
			if err := endless(&cfg); err != nil {
				return err
			}
		}
		log, err := load.Run(ctx, cfg)
		if err != nil {
			return err
		}
		if err := keepLoad(w, phase, f.load, log); err != nil {
			return err
		}
		if s := log.Summary(); s.Requests > 0 && s.Responses == 0 && ctx.Err() == nil {
			return fmt.Errorf("every one of %d requests failed, most with: %s", s.Requests, s.CommonError())
		}
		return nil
	}
}

// keepLoad puts the requests of a phase into a recording, with where they lie on
// its time axis.
func keepLoad(w *recording.Writer, phase, source string, log *loadlog.Log) error {
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

// hostPort returns what to dial for a URL.
func hostPort(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	port := u.Port()
	switch {
	case u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return "", fmt.Errorf("cannot use %q: want http://host:port/path", address)
	case port == "" && u.Scheme == "https":
		port = "443"
	case port == "":
		port = "80"
	}
	return net.JoinHostPort(u.Hostname(), port), nil
}

// place decides where a recording goes: the directory to write into, and the
// zip file to pack it into afterwards, if one was asked for.
func place(out, name string) (dir, zip string) {
	if out == "" {
		return freeDir(fmt.Sprintf("loupe-%s-%s", safeName(name), time.Now().Format("20060102-150405"))), ""
	}
	if strings.HasSuffix(out, ".zip") {
		return strings.TrimSuffix(out, ".zip") + ".recording", out
	}
	return out, ""
}

var unsafeRunes = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// safeName makes a file name of what a user typed.
func safeName(name string) string {
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

// checkPlace fails before anything is built or started when there is no room
// for a recording at what -o says.
func checkPlace(out string) error {
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

// pack puts a closed recording into a zip file, if one was asked for, and
// returns where the recording is now.
func pack(dir, zip string) (string, error) {
	if zip == "" {
		return dir, nil
	}
	if err := recording.Zip(dir, zip); err != nil {
		return dir, fmt.Errorf("%w (the recording is in %s)", err, dir)
	}
	return zip, os.RemoveAll(dir)
}

// withTemp calls f with a private directory that is removed afterwards, also
// when the user aborts.
func (e *env) withTemp(f func(temp string) error) error {
	temp, err := collect.NewTemp()
	if err != nil {
		return err
	}
	e.atAbort(temp.Remove)
	defer temp.Remove()
	return f(temp.Dir)
}

// targetName names a recording after its target.
func targetName(target string) string {
	if abs, err := filepath.Abs(target); err == nil && (target == "." || target == ".." || strings.HasSuffix(target, "/..")) {
		target = abs
	}
	base := filepath.Base(strings.TrimSuffix(target, "/"))
	return strings.TrimSuffix(base, ".go")
}
