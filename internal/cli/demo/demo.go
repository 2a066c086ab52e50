// Package demo has loupe demo, which shows the whole loop, and with it the labs.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"loupe/analysis/compare"
	"loupe/capture/collect"
	"loupe/capture/load"
	"loupe/format/loadlog"
	"loupe/insight"
	"loupe/internal/cli/command"
	"loupe/internal/cli/examine"
	"loupe/internal/cli/lab"
	"loupe/internal/cli/loadflags"
	"loupe/internal/cli/record"
	"loupe/labs"
	"loupe/report"
	"loupe/value/unit"
)

// Command is loupe demo.
var Command = &command.Command{
	Name:  "demo",
	Short: "record a web service in its slow and fixed form, and compare them",
	Args:  "[flags]",
	Example: []string{
		"loupe demo",
		"loupe demo -all        also with GC off: what GC costs, and what allocation costs",
	},
	About: `
Builds the lab newssearch, runs both forms alternately under 10,000 requests from 100
connections, records both, and prints the comparison and the findings. It needs only Go: no
checkout of loupe (the lab's sources are embedded in the binary) and no network. Both
recordings are kept.

It takes about a minute on a quiet machine and at most two minutes on any, plus the time of a
first build. A slow or busy machine gets fewer requests and fewer rounds, which is reported.
With -n, -rounds or -all there is no time limit.`,
	Setup: func(fs *command.FlagSet) func(*command.Env, []string) error {
		var d demo
		fs.StringVar(&d.out, "o", "", "write the recordings below `dir` (default loupe-demo-TIME)")
		fs.BoolVar(&d.all, "all", false, "also run both forms with GOGC=off")
		fs.IntVar(&d.rounds, "rounds", 0, "`number` of rounds (default 5, which reach a probability of 0.8%)")
		fs.IntVar(&d.n, "n", 10000, "`number` of requests in each round; fewer on a slow machine")
		fs.IntVar(&d.c, "c", 100, "`number` of connections")
		fs.BoolVar(&d.json, "json", false, "print the comparison as JSON")
		fs.BoolVar(&d.quiet, "quiet", false, "print no progress")
		fs.StringVar(&d.addr, "addr", "", "`address` for the service (default "+demoAddress+", or a free port if that is taken)")
		return func(e *command.Env, args []string) error {
			if err := command.NoArgs(args); err != nil {
				return err
			}
			d.fit = !fs.Given("rounds") && !fs.Given("n") && !d.all
			if !fs.Given("rounds") {
				d.rounds = demoRounds
			}
			if d.rounds < 1 || d.n < 1 || d.c < 1 {
				return command.Usagef("-rounds, -n and -c want at least 1")
			}
			return e.WithTemp(func(temp string) error { return d.run(e, temp) })
		}
	},
}

// Labs is loupe labs, whose labs the demo runs one of.
var Labs = lab.Command

type demo struct {
	out, addr        string
	all, json, quiet bool
	rounds, n, c     int
	// fit lets a slow machine have less; cut says what.
	fit bool
	cut []string
}

// form is one way to run the lab.
type form struct {
	name string
	args []string
	env  []string
}

func (d *demo) forms(lab labs.Lab) []form {
	forms := []form{{"slow", lab.Slow, nil}, {"fixed", lab.Fixed, nil}}
	if d.all {
		off := collectorOff()
		forms = append(forms, form{"slow, GOGC=off", lab.Slow, off}, form{"fixed, GOGC=off", lab.Fixed, off})
	}
	return forms
}

// collectorOff switches the collector off, up to half of the machine's memory:
// the slow form allocates about four gigabytes in a round.
func collectorOff() []string {
	env := []string{"GOGC=off"}
	host := collect.HostFacts()
	if limit := min(nonZero(host.Memory), nonZero(host.MemoryLimit)); limit < math.MaxInt64 {
		env = append(env, fmt.Sprintf("GOMEMLIMIT=%d", limit/2))
	}
	return env
}

// nonZero turns an unknown amount into no bound.
func nonZero(n int64) int64 {
	if n <= 0 {
		return math.MaxInt64
	}
	return n
}

func (d *demo) run(e *command.Env, temp string) error {
	of, ok := labs.Named("newssearch")
	if !ok {
		return errors.New("BUG: the lab newssearch is gone")
	}
	begun := time.Now()
	stopPulse := e.ShowPulse(d.quiet)
	defer stopPulse()
	progress := e.Progress(d.quiet)
	if d.addr == "" {
		var release func()
		d.addr, release = collect.ReservePort(demoAddress)
		defer release()
		if d.addr != demoAddress {
			progress("%s is taken; the service will listen on %s", demoAddress, d.addr)
		}
	}
	prog, err := d.build(e, of, temp)
	if err != nil {
		return err
	}
	if d.out == "" {
		d.out = "loupe-demo-" + begun.Format("20060102-150405")
	}
	forms := d.forms(of)
	plan := d.plan(e, prog, of, forms, begun)
	turns, err := d.turns(e, prog, of, forms, plan, temp)
	if err != nil {
		return err
	}
	var dirs []string
	for _, t := range turns {
		dirs = append(dirs, t.Dir)
	}
	err = d.record(e, turns, plan, begun)
	if (e.Ctx.Err() != nil || errors.Is(err, errDemoDeadline)) && someRounds(turns) {
		if errors.Is(err, errDemoDeadline) {
			err = nil // it is said
		}
		stopPulse()
		return errors.Join(err, d.conclude(e, dirs)) // what there is
	}
	if err != nil {
		if os.Remove(d.out) != nil { // it goes when it is empty
			progress("what was recorded so far is in %s", d.out)
		}
		return err
	}
	progress("done in %s", time.Since(begun).Round(time.Second))
	e.Doing("comparing")
	return d.conclude(e, dirs, stopPulse)
}

// plan decides how much there is to be, by how long a few requests take now.
func (d *demo) plan(e *command.Env, prog *collect.Program, lab labs.Lab, forms []form, begun time.Time) demoPlan {
	progress := e.Progress(d.quiet)
	full := fullDemo(d.n)
	full.rounds = d.rounds
	plan := full
	if d.fit {
		e.Doing("measuring how fast this machine is")
		request := d.try(e, prog, lab, forms)
		plan = fitDemo(d.n, len(forms), request, max(demoBudget-time.Since(begun), leastRecorded-10*time.Second))
		if less := plan.less(full, request); less != "" {
			d.cut = append(d.cut, less)
			progress("%s", less)
		}
	}
	quiet := plan.time(len(forms), requestTime)
	e.Expect(time.Since(begun) + quiet)
	progress("%d rounds of %s requests for each of %d forms, then their profiles: about %d s on a quiet machine",
		plan.rounds, unit.Count(int64(plan.n)), len(forms), int(quiet.Seconds()))
	return plan
}

// try returns how long a request takes now, the mean of the forms. Where it cannot
// be found out it is as on a quiet machine: the recording will say what is wrong.
func (d *demo) try(e *command.Env, prog *collect.Program, lab labs.Lab, forms []form) time.Duration {
	const requests, longest = 500, 3 * time.Second
	var sum time.Duration
	for _, form := range forms {
		words := []string{command.ShellWord(prog.Path), "-addr", d.addr}
		for _, a := range form.args {
			words = append(words, command.ShellWord(a))
		}
		server, err := collect.StartServer(e.Ctx, strings.Join(words, " "), collect.TCP(d.addr), 10*time.Second)
		if err != nil {
			return requestTime
		}
		flags := d.loading(requests)
		c, err := flags.Config(d.url(lab))
		if err == nil {
			c.Duration = longest
			var log *loadlog.Log
			if log, err = load.Run(e.Ctx, c); err == nil {
				sum += log.Elapsed / time.Duration(max(1, log.Len()))
			}
		}
		server.Stop()
		if err != nil {
			return requestTime
		}
	}
	return sum / time.Duration(len(forms))
}

func (d *demo) url(lab labs.Lab) string { return strings.Replace(lab.URL, demoAddress, d.addr, 1) }

// loading are the flags of a load of so many requests.
func (d *demo) loading(requests int) loadflags.Flags {
	return loadflags.Flags{N: requests, C: d.c, Timeout: "20s", Method: "POST", ContentType: "text/html"}
}

// turns makes what is recorded of each form.
func (d *demo) turns(e *command.Env, prog *collect.Program, lab labs.Lab, forms []form, plan demoPlan, temp string) ([]*record.Turn, error) {
	f := record.Flags{
		Phases: fmt.Sprintf("bare,allocs,heap,goroutine,cpu:%v,trace:%v", plan.cpu, plan.trace),
		Length: "10s", Wait: "30s", Interval: "250ms", Load: d.url(lab), Quiet: d.quiet, Loading: d.loading(plan.n),
	}
	phases, err := f.Plan()
	if err != nil {
		return nil, err
	}
	var turns []*record.Turn
	for i, form := range forms {
		sub := filepath.Join(temp, fmt.Sprint(i))
		if err := os.Mkdir(sub, 0o700); err != nil {
			return nil, err
		}
		opt, err := f.Options(e, sub)
		if err != nil {
			return nil, err
		}
		opt.Progress, opt.Diagnose = quietPhases(e, d.quiet), record.Diagnosis()
		opt.Launch = collect.LaunchOptions{
			Args: append([]string{"-addr", d.addr}, form.args...), Env: form.env, GODEBUG: collect.RuntimeDebug,
		}
		t := &record.Turn{Program: prog, Name: form.name, Dir: filepath.Join(d.out, record.SafeName(form.name)), Options: opt, Plan: phases, Load: f.LoadInto}
		if len(form.env) > 0 {
			// What the collector costs is seen in the bare phases.
			t.Plan.Phases = phases.Phases[:2]
		}
		turns = append(turns, t)
	}
	return turns, nil
}

// errDemoDeadline ends a demo that takes longer than it may.
var errDemoDeadline = errors.New("the demo has ended")

// record takes the turns. On a machine that has become slower since there are fewer
// of them, and none when the time is over.
func (d *demo) record(e *command.Env, turns []*record.Turn, plan demoPlan, begun time.Time) error {
	if !d.fit {
		return record.TakeTurns(e, turns, record.Rounds{Number: plan.rounds, Turns: true})
	}
	progress := e.Progress(d.quiet)
	deadline := begun.Add(demoDeadline)
	if least := time.Now().Add(leastRecorded); deadline.Before(least) {
		deadline = least
	}
	outer := e.Ctx
	ctx, cancel := context.WithDeadline(outer, deadline)
	defer cancel()
	e.Ctx = ctx
	err := record.TakeTurns(e, turns, record.Rounds{Number: plan.rounds, Turns: true})
	e.Ctx = outer
	if ctx.Err() == nil || outer.Err() != nil {
		return err
	}
	late := fmt.Sprintf("this machine is too busy to finish in two minutes: recording ended after %d s with the results so far", int(time.Since(begun).Seconds()))
	d.cut = append(d.cut, late)
	progress("%s", late)
	return errDemoDeadline
}

// demoAddress is where the lab listens, as its documents have it.
const demoAddress = "localhost:5000"

// someRounds tells whether every form has a round to show.
func someRounds(turns []*record.Turn) bool {
	for _, t := range turns {
		if t.Recorder == nil || len(t.Recorder.Writer().Manifest().Phases) == 0 {
			return false
		}
	}
	return true
}

// quietPhases passes on what tells rounds, and the phases that take long. The line of
// who waits tells all of them.
func quietPhases(e *command.Env, quiet bool) func(string, ...any) {
	progress := e.Progress(quiet)
	return func(format string, args ...any) {
		text := fmt.Sprintf(format, args...)
		e.Doing(text)
		if !strings.HasPrefix(text, "phase bare") {
			progress("%s", text)
		}
	}
}

// build makes the lab's program of the sources that are in loupe itself. They
// stand in the user's cache, so that the next time there is nothing to build.
func (d *demo) build(e *command.Env, of labs.Lab, temp string) (*collect.Program, error) {
	e.Doing("building the service")
	dir, err := lab.Unpack(temp, e.Progress(d.quiet))
	if err != nil {
		return nil, err
	}
	sub := filepath.Join(temp, "build")
	if err := os.Mkdir(sub, 0o700); err != nil {
		return nil, err
	}
	prog, err := collect.Build(e.Ctx, collect.BuildOptions{
		Target: "./" + of.Name, Dir: dir, Temp: sub, Progress: e.Progress(d.quiet),
	})
	if err == nil && !prog.Agent {
		return nil, fmt.Errorf("the lab was %s", strings.Join(prog.Notes, "; "))
	}
	if prog != nil {
		prog.Dir = "" // it runs where the user is
	}
	return prog, err
}

// conclude prints the comparison, the findings of the slow form, and what to
// type next.
func (d *demo) conclude(e *command.Env, dirs []string, ready ...func()) error {
	e.HoldWhenLeaving()
	all, closeAll, err := examine.All(examine.Recorded(dirs))
	if err != nil {
		return err
	}
	defer closeAll()
	c := examine.SideBySide(all)
	for _, f := range ready {
		f()
	}
	if d.json {
		return command.Buffered(e.Stdout, func(w io.Writer) error { return examine.WriteComparisonJSON(w, c) })
	}
	err = command.Buffered(e.Stdout, func(w io.Writer) error { return report.WriteDemo(w, c, e.Style()) })
	if err != nil {
		return err
	}
	if d.all {
		collectorCost(e, all)
	}
	for _, less := range d.cut {
		fmt.Fprintf(e.Stdout, "\n  Note: %s.\n", less)
	}
	fmt.Fprintf(e.Stdout, "\nBoth recordings are kept:\n")
	for _, dir := range dirs {
		fmt.Fprintf(e.Stdout, "  %s\n", dir)
	}
	fmt.Fprintf(e.Stdout, "\nNext:\n  loupe report %s\n", command.ShellWord(dirs[0]))
	if line := listLine(all[0].Report.Findings, dirs[0]); line != "" {
		fmt.Fprintf(e.Stdout, "  %s\n", line)
	}
	fmt.Fprintf(e.Stdout, "  loupe run -rounds 5 -vs @HEAD -load http://localhost:8080/ ./cmd/server    the same for your own service\n")
	return nil
}

// collectorCost says what the collector costs each form: the form with it
// against the same without. The recordings are in the order of forms.
func collectorCost(e *command.Env, all []*examine.Examined) {
	half := len(all) / 2
	fmt.Fprintln(e.Stdout)
	for i := range half {
		row, ok := compare.Compare(all[i].Facts, all[half+i].Facts).Row("requests_per_sec")
		if !ok || !row.Changes[0].Ratio.Known() {
			continue
		}
		doubt := ""
		if row.Changes[0].Verdict == compare.Undecided {
			doubt = ", which may be chance"
		}
		fmt.Fprintf(e.Stdout, "  without the collector %s serves %s requests/sec%s\n", all[i].Facts.Title, unit.Change(float64(row.Changes[0].Ratio)), doubt)
	}
}

// listLine is the command that shows the lines of the first finding with a
// function.
func listLine(findings []insight.Finding, dir string) string {
	for _, f := range findings {
		for _, x := range f.Evidence {
			if f.State == insight.Found && f.Rule == "AL09" && x.Function != "" {
				return fmt.Sprintf("loupe pprof -list %s -sample_index alloc_space %s", insight.Pattern(x.Function), filepath.Join(dir, x.Path))
			}
		}
	}
	return ""
}
