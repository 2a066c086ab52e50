// Package watch is loupe watch: it follows a program, and captures when something goes wrong.
package watch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"loupe/capture/alert"
	"loupe/capture/collect"
	"loupe/capture/hook"
	"loupe/internal/cli/command"
	"loupe/internal/cli/leak"
	"loupe/internal/cli/loadflags"
	"loupe/internal/cli/record"
	"loupe/source"
	"loupe/value/secret"
	"loupe/value/unit"
)

// Leak is loupe leak, which is of the same family: what memory does over time.
var Leak = leak.Command

// Command is loupe watch.
var Command = &command.Command{
	Name:  "watch",
	Short: "monitor memory and goroutines; capture when something goes wrong",
	Args:  "[flags] PID|URL|-- TARGET [args]",
	Example: []string{
		"loupe watch :6060                                      figures of /debug/pprof and the system, every second",
		"loupe watch -alert 'rss>50%' -alert 'goroutines>10000' 4711",
		"loupe watch -alert 'heap/s>1MB over 2m' -exec 'page-me' -- ./cmd/server",
		"loupe watch -once -json :6060 | jq .rss                until the first alert",
	},
	About: `
A running program is watched by its process ID or through its /debug/pprof; one named after --
is started, and a Go package gets the agent, as with loupe run. Nothing is recorded until an
alert. Then a recording is written: the readings that led to it, and profiles of the moment
(-capture). With the agent and Go 1.25 they include an execution trace of the last seconds
before the alert (flight recorder), which the program keeps in memory all the time (-flight).

` + alert.Help() + `

An alert fires again only after its condition was false in between; recordings are at least
-pause apart, and so are the calls of -exec and -webhook for each rule. They are also called
when a program started here fails, or a running one is gone (LOUPE_ALERT is "ended"). The
recording then has its last readings and, for a program started here, its last output; how
another program ended is known only to its parent. The -exec command is run by the shell with
LOUPE_ALERT, LOUPE_WHY, LOUPE_PID and LOUPE_RECORDING set; -webhook gets the same as JSON by
POST.

Exits with 3 if there was an alert, with 1 if the program failed or is gone, with 4 if it
cannot be reached.`,
	StopAtFirst: true,
	Setup: func(fs *command.FlagSet) func(*command.Env, []string) error {
		f := &watchFlags{}
		fs.Func("alert", "alert `rule` (repeatable; default 'rss>80%')", func(text string) error {
			r, err := alert.Parse(text)
			f.rules = append(f.rules, r)
			return err
		})
		fs.StringVar(&f.interval, "interval", "1s", "`time` between two readings")
		fs.StringVar(&f.history, "history", "10m", "how `long` readings are kept for the recording of an alert")
		fs.StringVar(&f.capture, "capture", "heap,goroutine,trace,allocs,cpu:2s", "what to capture on an alert, in this order: a `list` as for -phases of loupe\nrun")
		fs.StringVar(&f.flight, "flight", "10s", "`time` of execution trace that the program keeps in memory; 0 for none")
		fs.StringVar(&f.limit, "limit", "", "`memory` that percentages refer to, such as 2GB (default the smaller of the\ncgroup's and the machine's)")
		fs.StringVar(&f.pause, "pause", "10m", "minimum `time` between two recordings, and for each rule between two calls of\n-exec and -webhook")
		fs.StringVar(&f.forTime, "for", "", "`time` after which to stop watching (default never)")
		fs.StringVar(&f.out, "o", ".", "`folder` for the recordings")
		fs.StringVar(&f.exec, "exec", "", "shell `command` to run on an alert")
		fs.StringVar(&f.webhook, "webhook", "", "`URL` to post the alert to")
		fs.BoolVar(&f.once, "once", false, "stop after the first alert")
		fs.BoolVar(&f.json, "json", false, "print readings and alerts as JSON lines")
		fs.StringVar(&f.build, "build", "", "`flags` for go build of a target, such as '-tags foo'")
		f.asking.DeclareAccess(fs)
		return f.run
	},
}

type watchFlags struct {
	rules                                              []*alert.Rule
	interval, history, capture, flight, pause, forTime string
	limit, out, exec, webhook, build                   string
	once, json                                         bool
	every, kept, flying, resting, until                time.Duration
	memory                                             unit.Bytes
	phases                                             []collect.Phase
	asking                                             loadflags.Flags
}

// read checks the flags.
func (f *watchFlags) read() (err error) {
	for _, d := range []struct {
		name, text string
		to         *time.Duration
	}{{"interval", f.interval, &f.every}, {"history", f.history, &f.kept}, {"flight", f.flight, &f.flying}, {"pause", f.pause, &f.resting}, {"for", f.forTime, &f.until}} {
		if d.text == "" {
			continue
		}
		if *d.to, err = unit.ParseDuration(d.text); err != nil {
			return command.Usagef("-%s: %w", d.name, err)
		}
	}
	if f.every < 10*time.Millisecond {
		return command.Usagef("-interval: want at least 10ms")
	}
	if f.limit != "" {
		if f.memory, err = unit.ParseBytes(f.limit); err != nil {
			return command.Usagef("-limit: %w", err)
		}
	}
	phases, err := collect.ParsePhases(f.capture, 0)
	if err != nil {
		return command.Usagef("-capture: %w", err)
	}
	f.phases = phases[1:] // the bare one is what led to the alert
	if len(f.rules) == 0 {
		r, err := alert.Parse("rss>80%")
		if err != nil {
			return err
		}
		f.rules = []*alert.Rule{r}
	}
	return nil
}

func (f *watchFlags) run(e *command.Env, args []string) error {
	if err := f.read(); err != nil {
		return err
	}
	if len(args) == 0 {
		return command.Usagef("nothing to watch: want a process ID, a URL, or -- and a program")
	}
	ctx := e.Ctx
	if f.until > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, f.until)
		defer cancel()
	}
	return e.WithTemp(func(temp string) error {
		w, err := f.begin(e, args, temp)
		if err != nil {
			return command.Unreachable(err)
		}
		for _, n := range w.Notes() {
			fmt.Fprintln(e.Stderr, "note: "+n)
		}
		v := &watching{watchFlags: f, e: e, w: w, name: record.TargetName(args[0]), known: map[string]bool{}, told: map[*alert.Rule]time.Time{}}
		if running(args[0]) {
			v.name = w.Name()
		}
		defer e.Keeps()()
		err = v.loop(ctx)
		return errors.Join(err, w.Close())
	})
}

// begin starts the program, or finds the one that runs.
func (f *watchFlags) begin(e *command.Env, args []string, temp string) (*collect.Watcher, error) {
	opt := collect.WatchOptions{Temp: temp, Interval: f.every, History: f.kept, Flight: f.flying, Limit: int64(f.memory)}
	if running(args[0]) {
		if len(args) > 1 {
			return nil, command.Usagef("too many arguments: %q", args[1:])
		}
		if f.build != "" {
			return nil, command.Usagef("-build is for programs started here: %s is already running", secret.URL(args[0]))
		}
		var err error
		if opt.Access, err = f.asking.Access(args[0]); err != nil {
			return nil, command.Usage(err)
		}
		return collect.Watch(e.Ctx, args[0], opt)
	}
	if given := f.asking.GivenAccess(); len(given) > 0 {
		return nil, command.Usagef("-%s is for running services: %s is started here", given[0], args[0])
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	prog, err := collect.Build(e.Ctx, collect.BuildOptions{Target: args[0], Flags: record.SplitFlags(f.build), Dir: dir, Temp: temp, Progress: e.Progress(f.json)})
	if err != nil {
		return nil, err
	}
	prog.Dir = dir
	for _, note := range prog.Notes {
		fmt.Fprintln(e.Stderr, "note: "+note)
	}
	stdout := e.Stdout
	if f.json {
		stdout = e.Stderr
	}
	file, _ := command.FileOf(stdout)
	opt.Launch = collect.LaunchOptions{Args: args[1:], Stdin: e.Stdin, Stdout: file, Stderr: e.Stderr}
	return prog.Watch(e.Ctx, opt)
}

// running tells whether a target is that of a running program, rather than one
// to start.
func running(target string) bool {
	if strings.Contains(target, "://") || source.IsAddress(target) {
		return true
	}
	if _, err := os.Stat(target); err == nil {
		return false
	}
	return strings.Trim(target, "0123456789") == ""
}

// watching is a program that is being watched.
type watching struct {
	*watchFlags
	e      *command.Env
	w      *collect.Watcher
	name   string
	alerts int
	last   time.Time // when the last recording was written
	shown  time.Time
	told   map[*alert.Rule]time.Time // when the hooks were called for each rule

	readings int
	asked    bool            // whether there are rules of what is not known
	known    map[string]bool // the metrics that have had a value
}

// loop takes readings until the program or the time ends.
func (v *watching) loop(ctx context.Context) error {
	for {
		now, err := v.w.Next(ctx)
		switch {
		case errors.Is(err, collect.ErrEnded):
			return v.ended(ctx)
		case err != nil:
			return v.verdict() // Ctrl-C, or -for is over
		}
		v.show(now)
		v.unknown(now)
		for _, r := range v.rules {
			if why, fires := r.Check(now); fires {
				if err := v.raise(ctx, r, why); err != nil {
					return err
				}
				if v.once {
					return v.verdict()
				}
			}
		}
	}
}

// ended tells how the program has ended. One that has failed, or that was found running
// and is gone, is an alert of its own: it is recorded with its last readings and words,
// told to the hooks, and no success.
func (v *watching) ended(ctx context.Context) error {
	how := v.w.Ending()
	v.tell("ended", map[string]any{"ended": how}, "watch: "+how)
	if !v.w.Failed() {
		return v.verdict()
	}
	dir := v.place()
	if err := v.w.CaptureEnd(ctx, dir, v.name+": "+how, command.Version(), "ended: "+how); err != nil {
		v.tell("failed", map[string]any{"error": err.Error()}, "watch: "+err.Error())
	}
	v.tell("recording", map[string]any{"recording": dir}, "recording  "+dir+"\nnext       loupe report "+command.ShellWord(dir))
	v.notify(ctx, "ended", how, dir)
	if !v.w.Started() {
		return fmt.Errorf("%s: %s", v.name, how)
	}
	return fmt.Errorf("%s has failed: %s", v.name, how)
}

// settled is how long it takes until a figure that is known at all has come: rates
// need two readings, and to find out what a program is takes a moment.
const settled, settledReadings = 5 * time.Second, 10

// unknown says once of which rules the figure is not known: they would be silent
// for ever.
func (v *watching) unknown(now alert.Reading) {
	for name := range now.Values {
		v.known[name] = true
	}
	if v.readings++; v.asked || v.readings < settledReadings || now.At.Sub(0) < settled {
		return
	}
	v.asked = true
	for _, r := range v.rules {
		if !v.known[r.Metric.Name] {
			v.tell("unknown", map[string]any{"alert": r.String()}, fmt.Sprintf("watch: %s cannot fire yet: the %s of this program is not known", r, r.Metric.Name))
		}
	}
}

func (v *watching) verdict() error {
	if v.alerts > 0 {
		return command.ErrFound
	}
	if v.e.Ctx.Err() != nil {
		return v.e.Ctx.Err()
	}
	return nil
}

// tell prints a line about something that has happened.
func (v *watching) tell(kind string, values map[string]any, text string) {
	if !v.json {
		if command.IsTerminal(v.e.Stdout) {
			fmt.Fprint(v.e.Stdout, "\r\x1b[K")
		}
		fmt.Fprintln(v.e.Stdout, text)
		return
	}
	values["schema"], values["kind"], values["at"] = hook.Schema, kind, time.Now().Format(time.RFC3339Nano)
	line, err := json.Marshal(values)
	if err == nil {
		fmt.Fprintf(v.e.Stdout, "%s\n", line)
	}
}

// show prints a reading: on a terminal in place, elsewhere now and then.
func (v *watching) show(now alert.Reading) {
	if v.json {
		values := map[string]any{"t_ns": now.At}
		for name, x := range now.Values {
			values[name] = x
		}
		v.tell("reading", values, "")
		return
	}
	text := now.Line()
	if command.IsTerminal(v.e.Stdout) {
		if r := []rune(text); len(r) > command.Width(v.e.Stdout)-1 {
			text = string(r[:command.Width(v.e.Stdout)-1])
		}
		fmt.Fprint(v.e.Stdout, "\r\x1b[K"+text)
		return
	}
	if time.Since(v.shown) >= quietEvery {
		v.shown = time.Now()
		fmt.Fprintln(v.e.Stdout, text)
	}
}

// quietEvery is how often a reading is printed where there is no terminal.
const quietEvery = 10 * time.Second

// raise does what is to be done on an alert.
func (v *watching) raise(ctx context.Context, r *alert.Rule, why string) error {
	v.alerts++
	values := map[string]any{"alert": r.String(), "why": why, "pid": v.w.PID()}
	v.tell("alert", values, fmt.Sprintf("%s  ALERT %s: %s", time.Now().Format(time.TimeOnly), r, why))
	dir := ""
	if v.last.IsZero() || time.Since(v.last) >= v.resting {
		v.last = time.Now()
		dir = v.place()
		err := v.w.Capture(ctx, dir, v.name+": "+why, command.Version(), "alert "+r.String()+": "+why, v.phases)
		if err != nil {
			v.tell("failed", map[string]any{"error": err.Error()}, "watch: "+err.Error())
		}
		v.tell("recording", map[string]any{"recording": dir}, "recording  "+dir+"\nnext       loupe report "+command.ShellWord(dir))
	}
	if told, ok := v.told[r]; ok && time.Since(told) < v.resting {
		return nil
	}
	v.told[r] = time.Now()
	v.notify(ctx, r.String(), why, dir)
	return nil
}

// place names a folder for a recording that is not there yet.
func (v *watching) place() string {
	base := fmt.Sprintf("%s%cloupe-watch-%s-%s", strings.TrimSuffix(v.out, string(os.PathSeparator)), os.PathSeparator, record.SafeName(v.name), time.Now().Format("20060102-150405"))
	for n := 1; ; n++ {
		dir := base
		if n > 1 {
			dir = fmt.Sprintf("%s-%d", base, n)
		}
		if _, err := os.Stat(dir); err != nil {
			return dir
		}
	}
}

// notify runs the user's command and posts the webhook. What fails is told and
// stops nothing.
func (v *watching) notify(ctx context.Context, what, why, dir string) {
	host, _ := os.Hostname()
	hooks := hook.Hooks{Exec: v.exec, Webhook: v.webhook, Out: v.e.Stderr}
	err := hooks.Call(ctx, hook.Event{Alert: what, Why: why, PID: v.w.PID(), Target: v.name, Host: host, Recording: dir, Text: v.name + " on " + host + ": " + why})
	if err != nil {
		v.tell("failed", map[string]any{"error": err.Error()}, "watch: "+err.Error())
	}
}
