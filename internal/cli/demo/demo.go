package cli

import (
	"context"
	"errors"

	"fmt"
	"io"
	"math"
	"net"
	"os"
	"path/filepath"

	"strings"
	"time"

	"loupe/collect"
	"loupe/compare"
	"loupe/insight"
	"loupe/labs"
	"loupe/load"
	"loupe/loadlog"
	"loupe/report"
	"loupe/unit"
)

var demoCommand = &command{
	name:  "demo",
	short: "record a web service in its slow and its fixed form, and compare them",
	args:  "[flags]",
	example: []string{
		"loupe demo",
		"loupe demo -all        also with the collector off: what it costs, and what the allocations cost",
	},
	about: `
Builds the lab newssearch, runs both forms in turns under 10,000 requests from
100 connections, records both, and prints the comparison and the findings. It
needs Go and nothing else: no checkout of loupe, for the lab's sources are in the
program, and no network. Both recordings are kept.

It takes about a minute on a quiet machine and two minutes at most on any, but for
the time of a first build. A slow or busy machine gets fewer requests and fewer
rounds, which is said. With -n, -rounds or -all it takes what it takes.`,
	setup: func(fs *flagSet) func(*env, []string) error {
		var d demo
		fs.StringVar(&d.out, "o", "", "write the recordings below `dir` (default loupe-demo-TIME)")
		fs.BoolVar(&d.all, "all", false, "also run both forms with GOGC=off")
		fs.IntVar(&d.rounds, "rounds", 0, "`number` of rounds (default 5, which reach a probability of 0.8%)")
		fs.IntVar(&d.n, "n", 10000, "`number` of requests in each round; fewer on a slow machine")
		fs.IntVar(&d.c, "c", 100, "`number` of connections")
		fs.BoolVar(&d.json, "json", false, "print the comparison as JSON")
		fs.BoolVar(&d.quiet, "quiet", false, "tell no progress")
		fs.StringVar(&d.addr, "addr", "", "`address` for the service (default "+demoAddress+", or a free port where that is taken)")
		return func(e *env, args []string) error {
			if err := noArgs(args); err != nil {
				return err
			}
			d.fit = !fs.given("rounds") && !fs.given("n") && !d.all
			if !fs.given("rounds") {
				d.rounds = demoRounds
			}
			if d.rounds < 1 || d.n < 1 || d.c < 1 {
				return usagef("-rounds, -n and -c want at least 1")
			}
			return e.withTemp(func(temp string) error { return d.run(e, temp) })
		}
	},
}

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

func (d *demo) run(e *env, temp string) error {
	lab, ok := labs.Named("newssearch")
	if !ok {
		return errors.New("BUG: the lab newssearch is gone")
	}
	begun := time.Now()
	stopPulse := e.showPulse(d.quiet)
	defer stopPulse()
	progress := e.progress(d.quiet)
	if d.addr == "" {
		if d.addr = freeAddress(demoAddress); d.addr != demoAddress {
			progress("%s is taken; the service will listen on %s", demoAddress, d.addr)
		}
	}
	prog, err := d.build(e, lab, temp)
	if err != nil {
		return err
	}
	if d.out == "" {
		d.out = "loupe-demo-" + begun.Format("20060102-150405")
	}
	forms := d.forms(lab)
	plan := d.plan(e, prog, lab, forms, begun)
	turns, err := d.turns(e, prog, lab, forms, plan, temp)
	if err != nil {
		return err
	}
	var dirs []string
	for _, t := range turns {
		dirs = append(dirs, t.dir)
	}
	err = d.record(e, turns, plan, begun)
	if (e.ctx.Err() != nil || errors.Is(err, errDemoDeadline)) && someRounds(turns) {
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
	e.doing("comparing")
	return d.conclude(e, dirs, stopPulse)
}

// plan decides how much there is to be, by how long a few requests take now.
func (d *demo) plan(e *env, prog *collect.Program, lab labs.Lab, forms []form, begun time.Time) demoPlan {
	progress := e.progress(d.quiet)
	full := fullDemo(d.n)
	full.rounds = d.rounds
	plan := full
	if d.fit {
		e.doing("trying how fast this machine is")
		request := d.try(e, prog, lab, forms)
		plan = fitDemo(d.n, len(forms), request, max(demoBudget-time.Since(begun), leastRecorded-10*time.Second))
		if less := plan.less(full, request); less != "" {
			d.cut = append(d.cut, less)
			progress("%s", less)
		}
	}
	quiet := plan.time(len(forms), requestTime)
	e.expect(time.Since(begun) + quiet)
	progress("%d rounds of %s requests for each of %d forms, then their profiles: about %d s on a quiet machine",
		plan.rounds, unit.Count(int64(plan.n)), len(forms), int(quiet.Seconds()))
	return plan
}

// try returns how long a request takes now, the mean of the forms. Where it cannot
// be found out it is as on a quiet machine: the recording will say what is wrong.
func (d *demo) try(e *env, prog *collect.Program, lab labs.Lab, forms []form) time.Duration {
	const requests, longest = 500, 3 * time.Second
	var sum time.Duration
	for _, form := range forms {
		words := []string{shellWord(prog.Path), "-addr", d.addr}
		for _, a := range form.args {
			words = append(words, shellWord(a))
		}
		server, err := collect.StartServer(e.ctx, strings.Join(words, " "), d.addr, 10*time.Second)
		if err != nil {
			return requestTime
		}
		flags := d.loading(requests)
		c, err := flags.config(d.url(lab))
		if err == nil {
			c.Duration = longest
			var log *loadlog.Log
			if log, err = load.Run(e.ctx, c); err == nil {
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
func (d *demo) loading(requests int) loadFlags {
	return loadFlags{n: requests, c: d.c, timeout: "20s", method: "POST", contentType: "text/html"}
}

// turns makes what is recorded of each form.
func (d *demo) turns(e *env, prog *collect.Program, lab labs.Lab, forms []form, plan demoPlan, temp string) ([]*turn, error) {
	f := recordFlags{
		phases: fmt.Sprintf("bare,allocs,heap,goroutine,cpu:%v,trace:%v", plan.cpu, plan.trace),
		length: "10s", wait: "30s", interval: "250ms", load: d.url(lab), quiet: d.quiet, loading: d.loading(plan.n),
	}
	phases, err := f.plan()
	if err != nil {
		return nil, err
	}
	var turns []*turn
	for i, form := range forms {
		sub := filepath.Join(temp, fmt.Sprint(i))
		if err := os.Mkdir(sub, 0o700); err != nil {
			return nil, err
		}
		opt, err := f.options(e, sub)
		if err != nil {
			return nil, err
		}
		opt.Progress, opt.Diagnose = e.quietPhases(d.quiet), diagnosis()
		opt.Launch = collect.LaunchOptions{
			Args: append([]string{"-addr", d.addr}, form.args...), Env: form.env, GODEBUG: collect.RuntimeDebug,
		}
		t := &turn{prog: prog, name: form.name, dir: filepath.Join(d.out, safeName(form.name)), opt: opt, plan: phases, load: f.loadInto}
		if len(form.env) > 0 {
			// What the collector costs is seen in the bare phases.
			t.plan.Phases = phases.Phases[:2]
		}
		turns = append(turns, t)
	}
	return turns, nil
}

// errDemoDeadline ends a demo that takes longer than it may.
var errDemoDeadline = errors.New("the demo is over")

// record takes the turns. On a machine that has become slower since there are fewer
// of them, and none when the time is over.
func (d *demo) record(e *env, turns []*turn, plan demoPlan, begun time.Time) error {
	if !d.fit {
		return takeTurns(e, turns, plan.rounds, true)
	}
	progress := e.progress(d.quiet)
	deadline := begun.Add(demoDeadline)
	if least := time.Now().Add(leastRecorded); deadline.Before(least) {
		deadline = least
	}
	outer := e.ctx
	ctx, cancel := context.WithDeadline(outer, deadline)
	defer cancel()
	e.ctx = ctx
	err := takeTurns(e, turns, plan.rounds, true)
	e.ctx = outer
	if ctx.Err() == nil || outer.Err() != nil {
		return err
	}
	late := fmt.Sprintf("this machine is too busy for all of it in two minutes: recording ended after %d s, with what there was by then", int(time.Since(begun).Seconds()))
	d.cut = append(d.cut, late)
	progress("%s", late)
	return errDemoDeadline
}

// demoAddress is where the lab listens, as its documents have it.
const demoAddress = "localhost:5000"

// freeAddress returns address, or another port of the same host where something
// answers there already: on macOS AirPlay has port 5000.
func freeAddress(address string) string {
	c, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return address
	}
	c.Close()
	host, _, _ := net.SplitHostPort(address)
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return address
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return net.JoinHostPort(host, port)
}

// someRounds tells whether every form has a round to show.
func someRounds(turns []*turn) bool {
	for _, t := range turns {
		if t.rec == nil || len(t.rec.Writer().Manifest().Phases) == 0 {
			return false
		}
	}
	return true
}

// quietPhases passes on what tells rounds, and the phases that take long. The line of
// who waits tells all of them.
func (e *env) quietPhases(quiet bool) func(string, ...any) {
	progress := e.progress(quiet)
	return func(format string, args ...any) {
		text := fmt.Sprintf(format, args...)
		e.doing(text)
		if !strings.HasPrefix(text, "phase bare") {
			progress("%s", text)
		}
	}
}

// build makes the lab's program of the sources that are in loupe itself. They
// stand in the user's cache, so that the next time there is nothing to build.
func (d *demo) build(e *env, lab labs.Lab, temp string) (*collect.Program, error) {
	e.doing("building the service")
	dir, err := demoSources(temp)
	if err != nil {
		return nil, err
	}
	sub := filepath.Join(temp, "build")
	if err := os.Mkdir(sub, 0o700); err != nil {
		return nil, err
	}
	// What the user has set for other modules is not for this one.
	for name, value := range map[string]string{"GOFLAGS": "-buildvcs=false", "GOWORK": "off", "GO111MODULE": "on", "GOOS": "", "GOARCH": ""} {
		if err := os.Setenv(name, value); err != nil {
			return nil, err
		}
	}
	prog, err := collect.Build(e.ctx, collect.BuildOptions{
		Target: "./labs/" + lab.Name, Dir: dir, Temp: sub, Progress: e.progress(d.quiet),
	})
	if err == nil && !prog.Agent {
		return nil, fmt.Errorf("the lab was %s", strings.Join(prog.Notes, "; "))
	}
	if prog != nil {
		prog.Dir = "" // it runs where the user is
	}
	return prog, err
}

// demoSources writes the sources of the service into the user's cache, or into
// temp where there is none.
func demoSources(temp string) (string, error) {
	if cache, err := os.UserCacheDir(); err == nil {
		if dir, err := labs.WriteDemoSources(filepath.Join(cache, "loupe")); err == nil {
			return dir, nil
		}
	}
	return labs.WriteDemoSources(temp)
}

// conclude prints the comparison, the findings of the slow form, and what to
// type next.
func (d *demo) conclude(e *env, dirs []string, ready ...func()) error {
	e.holdWhenLeaving()
	all, closeAll, err := examineAll(dirs)
	if err != nil {
		return err
	}
	defer closeAll()
	c := sideBySide(all)
	for _, f := range ready {
		f()
	}
	if d.json {
		return buffered(e.stdout, func(w io.Writer) error { return writeComparisonJSON(w, c) })
	}
	err = buffered(e.stdout, func(w io.Writer) error { return report.WriteDemo(w, c, e.style()) })
	if err != nil {
		return err
	}
	if d.all {
		collectorCost(e, all)
	}
	for _, less := range d.cut {
		fmt.Fprintf(e.stdout, "\n  Note: %s.\n", less)
	}
	fmt.Fprintf(e.stdout, "\nBoth recordings are kept:\n")
	for _, dir := range dirs {
		fmt.Fprintf(e.stdout, "  %s\n", dir)
	}
	fmt.Fprintf(e.stdout, "\nNext:\n  loupe report %s\n", shellWord(dirs[0]))
	if line := listLine(all[0].report.Findings, dirs[0]); line != "" {
		fmt.Fprintf(e.stdout, "  %s\n", line)
	}
	fmt.Fprintf(e.stdout, "  loupe run -rounds 5 -vs @HEAD -load http://localhost:8080/ ./cmd/server    the same for your own service\n")
	return nil
}

// collectorCost says what the collector costs each form: the form with it
// against the same without. The recordings are in the order of forms.
func collectorCost(e *env, all []*examined) {
	half := len(all) / 2
	fmt.Fprintln(e.stdout)
	for i := range half {
		row, ok := compare.Compare(all[i].facts, all[half+i].facts).Row("requests_per_sec")
		if !ok || !row.Changes[0].Ratio.Known() {
			continue
		}
		doubt := ""
		if row.Changes[0].Verdict == compare.Undecided {
			doubt = ", which may be chance"
		}
		fmt.Fprintf(e.stdout, "  without the collector %s serves %s requests/sec%s\n", all[i].facts.Title, unit.Change(float64(row.Changes[0].Ratio)), doubt)
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
