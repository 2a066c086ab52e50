package load

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"loupe/capture/collect"
	"loupe/capture/load"
	"loupe/format/loadlog"
	"loupe/insight"
	"loupe/internal/cli/command"
	"loupe/internal/cli/examine"
	"loupe/internal/cli/loadflags"
	"loupe/internal/cli/record"
	"loupe/recording"
	"loupe/report"
	"loupe/value/secret"
)

// loadRecord records the service while loupe load sends.
type loadRecord struct {
	dir, pprof string
}

func (r *loadRecord) declare(fs *command.FlagSet) {
	fs.StringVar(&r.dir, "record", "", "also record the service into `dir`, a .zip file, or a new folder (auto): its\nmetrics during the load, then, under the same load again, an execution trace\nof at most 5s; shows what the slowest requests overlapped with")
	fs.StringVar(&r.pprof, "pprof", "", "with -record: `address` of the service's /debug/pprof, if it is not the URL's")
	fs.Needs([]string{"pprof"}, "record")
}

func (r *loadRecord) used() bool { return r.dir != "" }

// Length of the trace under load: long enough for the slowest 1 % of a thousand
// requests a second, short enough for a file that can be looked at.
const (
	maxLoadTrace     = 5 * time.Second
	defaultLoadTrace = 2 * time.Second
)

// run puts the load on the service twice, bare and with the tracer on, so that
// what is printed of it was measured without. config makes the load afresh for
// each; judge says what the load amounts to for the exit code.
func (r *loadRecord) run(e *command.Env, run *loadRun, f *loadflags.Flags, address string, config func() (load.Config, error)) error {
	write, err := loadOutput(run.out, run.template)
	if err != nil {
		return err
	}
	if run.find != "" {
		return command.Usagef("-record and -find-max cannot both be given: find the rate first, then record at it")
	}
	c, err := config()
	if err != nil {
		return command.Usage(err)
	}
	out := r.dir
	if out == "auto" {
		out = ""
	}
	if err := record.CheckPlace(out); err != nil {
		return errors.New(strings.Replace(err.Error(), "with -o)", "with -record)", 1))
	}
	target := r.pprof
	switch {
	case target == "" && address == "":
		return command.Usagef("-record: with several URLs, use -pprof to say where the service's /debug/pprof is")
	case target == "":
		target = address
	case address == "":
		address = target
	}
	access, err := f.Access(target)
	if err != nil {
		return command.Usage(err)
	}
	service, err := collect.Find(e.Ctx, target, access)
	if err != nil {
		return command.Unreachable(fmt.Errorf("cannot record the service: %w; -pprof ADDRESS names another place, and loupe run -load records programs without it", err))
	}
	address = secret.URL(address)
	dir, zip := record.Place(out, "load "+strings.TrimPrefix(strings.TrimPrefix(address, "http://"), "https://"))
	w, err := recording.Create(dir, recording.Manifest{Title: "load on " + address, Tool: command.Version(), Host: collect.HostFacts()})
	if err != nil {
		return err
	}
	defer e.Keeps()()
	logs := map[string]*loadlog.Log{}
	var live liveRun
	plan := collect.Plan{Phases: []collect.Phase{{Name: "bare"}, {Name: "trace", For: traceLength(&c)}}}
	if plan.WaitFor, err = record.Endpoints(&c); err != nil {
		return err
	}
	series := &load.Series{}
	plan.Load = func(ctx context.Context, d collect.Demand) error {
		c, err := config()
		if err != nil {
			return err
		}
		c.Boundary, c.Series = d.Boundary, series
		log, err := live.run(ctx, e, c)
		if err != nil {
			return err
		}
		log.Wanted = ""
		if d.Phase == "bare" && e.Ctx.Err() == nil {
			log.Wanted = run.fail.wanted
		}
		logs[d.Phase] = log
		return record.KeepLoad(w, d.Phase, address, log)
	}
	rec, err := collect.Attach(e.Ctx, w, service, collect.RecorderOptions{Progress: e.Progress(run.out != ""), Sampled: live.sampled})
	if err != nil {
		return errors.Join(command.Unreachable(err), w.Close())
	}
	err = rec.RecordAttached(e.Ctx, plan)
	err = errors.Join(err, rec.Close())
	dir, perr := record.Pack(dir, zip)
	if err = errors.Join(err, perr); err != nil && logs["bare"] == nil {
		return err
	}
	log := logs["bare"]
	if run.save != "" {
		err = errors.Join(err, saveLoad(run.save, log))
	}
	return errors.Join(err, r.tell(e, run.out, log, write, dir), verdict(e, &c, log.Summary()))
}

// traceLength is how long the load is traced.
func traceLength(c *load.Config) time.Duration {
	if c.Duration > 0 {
		return min(c.Duration, maxLoadTrace)
	}
	return defaultLoadTrace
}

// tell prints the load, and what its slowest requests met where the form has
// room for it.
func (r *loadRecord) tell(e *command.Env, form string, log *loadlog.Log, write writeLoad, dir string) error {
	if form != "" && form != "json" {
		w := bufio.NewWriter(e.Stdout)
		return errors.Join(write(w, log), w.Flush())
	}
	x, err := examine.Recorded([]string{dir})[0].Examine()
	if err != nil {
		return err
	}
	defer x.Close()
	found := loadFindings(x.Report.Findings)
	if form == "json" {
		return command.Buffered(e.Stdout, func(w io.Writer) error {
			return report.WriteJSON(w, &report.RecordedLoad{Summary: log.Summary(), Slow: x.Report.Slow, Findings: found, Recording: dir})
		})
	}
	err = command.Buffered(e.Stdout, func(w io.Writer) error {
		return errors.Join(write(w, log), report.WriteRecordedLoad(w, x.Report.Slow, found, e.Style()))
	})
	examine.Next(e, []string{dir}, false)
	return err
}

// loadFindings are the answers of the rules about loads.
func loadFindings(all []insight.Finding) []insight.Finding {
	out := []insight.Finding{}
	for _, f := range all {
		if f.State == insight.Found && strings.HasPrefix(f.Rule, "LD") {
			out = append(out, f)
		}
	}
	return out
}
