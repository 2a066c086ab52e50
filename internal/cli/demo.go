package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"loupe/collect"
	"loupe/compare"
	"loupe/insight"
	"loupe/labs"
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
needs Go and nothing else, and works without a network. Both recordings are
kept.

It takes about a minute on a quiet machine. Where five rounds would take longer
than 90 seconds there are four, the fewest that a verdict can rest on; this is
said.`,
	setup: func(fs *flagSet) func(*env, []string) error {
		var d demo
		fs.StringVar(&d.out, "o", "", "write the recordings below `dir` (default loupe-demo-TIME)")
		fs.BoolVar(&d.all, "all", false, "also run both forms with GOGC=off")
		fs.IntVar(&d.rounds, "rounds", 0, "`number` of rounds (default 5, which reach a probability of 0.8%,\nor 4 on a slow machine)")
		fs.IntVar(&d.n, "n", 10000, "`number` of requests in each round")
		fs.IntVar(&d.c, "c", 100, "`number` of connections")
		fs.BoolVar(&d.json, "json", false, "print the comparison as JSON")
		fs.BoolVar(&d.quiet, "quiet", false, "tell no progress")
		fs.StringVar(&d.addr, "addr", "", "`address` for the service (default "+demoAddress+", or a free port where that is taken)")
		return func(e *env, args []string) error {
			if err := noArgs(args); err != nil {
				return err
			}
			given := false
			fs.Visit(func(f *flag.Flag) { given = given || f.Name == "rounds" })
			if d.fit = !given; d.fit {
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
	// fit lets a slow machine have fewer rounds; cut says that it did.
	fit bool
	cut string
}

const (
	demoRounds = 5
	// demoBudget is how long two forms should take at most.
	demoBudget = 90 * time.Second
	// profilesTime is how long the profilers' phases of a form take: 5 s for
	// the CPU profile and the trace, and what is around them.
	profilesTime = 7 * time.Second
	// requestTime is what a request of the demo takes on a quiet machine of
	// two CPUs, the mean of both forms.
	requestTime = 350 * time.Microsecond
)

// quietTime is about how long the demo takes on a quiet machine.
func (d *demo) quietTime(forms int) time.Duration {
	round := 500*time.Millisecond + time.Duration(d.n)*requestTime
	return time.Duration(forms) * (profilesTime + time.Duration(d.rounds)*round)
}

// fitRounds returns how many rounds fit into the time of so many forms, when
// done of them took took, and everything up to now spent.
func fitRounds(forms, done int, took, spent time.Duration) int {
	left := time.Duration(forms)*(demoBudget/2-profilesTime) - spent
	more := int(max(0, left) * time.Duration(done) / max(1, took))
	return min(demoRounds, max(compare.EnoughRounds, done+more))
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
	url := strings.Replace(lab.URL, demoAddress, d.addr, 1)
	f := recordFlags{phases: "bare,allocs,heap,goroutine,cpu:4s,trace:1s", length: "10s", wait: "30s", interval: "250ms", load: url, quiet: d.quiet}
	f.loading = loadFlags{n: d.n, c: d.c, timeout: "20s", method: "POST", contentType: "text/html"}
	plan, err := f.plan()
	if err != nil {
		return err
	}
	var turns []*turn
	var dirs []string
	for i, form := range d.forms(lab) {
		sub := filepath.Join(temp, fmt.Sprint(i))
		if err := os.Mkdir(sub, 0o700); err != nil {
			return err
		}
		opt, err := f.options(e, sub)
		if err != nil {
			return err
		}
		opt.Progress, opt.Diagnose = quietPhases(progress), diagnosis()
		opt.Launch = collect.LaunchOptions{
			Args: append([]string{"-addr", d.addr}, form.args...), Env: form.env, GODEBUG: collect.RuntimeDebug,
		}
		t := &turn{prog: prog, name: form.name, dir: filepath.Join(d.out, safeName(form.name)), opt: opt, plan: plan, load: f.loadInto}
		if len(form.env) > 0 {
			// What the collector costs is seen in the bare phases.
			t.plan.Phases = plan.Phases[:2]
		}
		turns, dirs = append(turns, t), append(dirs, t.dir)
	}
	progress("%d rounds of %s requests for each of %d forms, then their profiles: about %d s on a quiet machine",
		d.rounds, unit.Count(int64(d.n)), len(turns), int(d.quietTime(len(turns)).Seconds()))
	var fit func(done int, took time.Duration) int
	if d.fit {
		fit = func(done int, took time.Duration) int {
			n := fitRounds(len(turns), done, took, time.Since(begun))
			if n < d.rounds && d.cut == "" {
				d.cut = fmt.Sprintf("a round takes %s on this machine: there are %d of them instead of %d, to keep it short", unit.Duration(took/time.Duration(done)), n, d.rounds)
				progress("%s", d.cut)
			}
			return n
		}
	}
	err = takeTurns(e, turns, d.rounds, true, fit)
	if e.ctx.Err() != nil && someRounds(turns) {
		return errors.Join(err, d.conclude(e, dirs)) // what there is
	}
	if err != nil {
		if os.Remove(d.out) != nil { // it goes when it is empty
			progress("what was recorded so far is in %s", d.out)
		}
		return err
	}
	progress("done in %s", time.Since(begun).Round(time.Second))
	return d.conclude(e, dirs)
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

// quietPhases passes on what tells rounds, and the phases that take long.
func quietPhases(progress func(string, ...any)) func(string, ...any) {
	return func(format string, args ...any) {
		if text := fmt.Sprintf(format, args...); !strings.HasPrefix(text, "phase bare") {
			progress("%s", text)
		}
	}
}

// build makes the lab's program from the sources that loupe itself was built
// from.
func (d *demo) build(e *env, lab labs.Lab, temp string) (*collect.Program, error) {
	dir, err := sourceDir()
	if err != nil {
		return nil, err
	}
	sub := filepath.Join(temp, "build")
	if err := os.Mkdir(sub, 0o700); err != nil {
		return nil, err
	}
	prog, err := collect.Build(e.ctx, collect.BuildOptions{
		Target: filepath.Join(dir, "labs", lab.Name), Temp: sub, Progress: e.progress(d.quiet),
	})
	if err == nil && !prog.Agent {
		return nil, fmt.Errorf("the lab was %s", strings.Join(prog.Notes, "; "))
	}
	return prog, err
}

// sourceDir finds loupe's own source: the working directory's module, or
// where this binary was compiled.
func sourceDir() (string, error) {
	var tried []string
	if dir, err := os.Getwd(); err == nil {
		for ; ; dir = filepath.Dir(dir) {
			tried = append(tried, dir)
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	if _, file, _, ok := runtime.Caller(0); ok {
		tried = append(tried, filepath.Dir(filepath.Dir(filepath.Dir(file))))
	}
	for _, dir := range tried {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err != nil || !strings.HasPrefix(string(text), "module loupe\n") {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, "labs", "labs.go")); err == nil {
			return dir, nil
		}
	}
	return "", errors.New("cannot find loupe's own source, which holds the sample service: run this in a checkout of loupe")
}

// conclude prints the comparison, the findings of the slow form, and what to
// type next.
func (d *demo) conclude(e *env, dirs []string) error {
	e.holdWhenLeaving()
	all, closeAll, err := examineAll(dirs)
	if err != nil {
		return err
	}
	defer closeAll()
	c := sideBySide(all)
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
	if d.cut != "" {
		fmt.Fprintf(e.stdout, "\n  Note: %s.\n", d.cut)
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
