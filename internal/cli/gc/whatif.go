package gc

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/analysis/gc"
	"loupe/capture/collect"
	"loupe/format/godebug"
	"loupe/internal/cli/command"
	"loupe/report"
	"loupe/source/system"
	"loupe/value/unit"
)

// whatIfFlags are the flags of loupe gc that ask about other settings.
type whatIfFlags struct {
	settings, container, measured, limit string
	verify, advise, asJSON               bool
}

func (f *whatIfFlags) declare(fs *command.FlagSet) {
	fs.StringVar(&f.settings, "what-if", "", "predict these `settings`: 'GOGC=200 GOMEMLIMIT=400MiB', several separated by\nsemicolons, or all for the usual ones")
	fs.StringVar(&f.container, "container", "", "recommend settings for a container with this much `memory` (512MiB)")
	fs.BoolVar(&f.advise, "advise", false, "recommend GOGC and GOMEMLIMIT for a memory limit, with predictions")
	fs.StringVar(&f.limit, "limit", "", "with -advise: the container's `memory` (512MiB; default the recorded cgroup's)")
	fs.StringVar(&f.measured, "measured", "", "compare the prediction with this log or `recording`, made with the settings")
	fs.BoolVar(&f.verify, "verify", false, "what follows is a command: run it unchanged and with the settings, and show\npredicted next to measured")
}

func (f *whatIfFlags) asked() bool {
	return f.settings != "" || f.container != "" || f.measured != "" || f.verify
}

// plan is what whatIfFlags ask for, understood.
type whatIfPlan struct {
	settings  []gc.Settings
	all       bool
	container int64
}

func (f *whatIfFlags) plan() (p whatIfPlan, err error) {
	if f.container != "" {
		size, err := unit.ParseBytes(f.container)
		if err != nil {
			return p, command.Usagef("-container: %w", err)
		}
		if p.container = int64(size); p.container <= 0 {
			return p, command.Usagef("-container: want a size above zero")
		}
	}
	if p.all = f.settings == "all" || f.settings == ""; !p.all {
		for text := range strings.SplitSeq(f.settings, ";") {
			s, err := gc.ParseSettings(text, gc.Settings{GOGC: 100})
			if err != nil {
				return p, command.Usagef("-what-if: %w", err)
			}
			p.settings = append(p.settings, s)
		}
	}
	switch {
	case f.measured != "" && f.verify:
		return p, command.Usagef("-measured replaces what -verify would measure: give only one of them")
	case f.measured != "" && len(p.settings) != 1:
		return p, command.Usagef("-measured needs the settings that it was made with: -what-if 'GOGC=200'")
	}
	return p, nil
}

// predict asks a replay for all that the plan has.
func (p *whatIfPlan) predict(r *gc.Replay) *gc.WhatIf {
	settings := p.settings
	if p.all {
		settings = append(settings, gc.UsualSettings(r, p.container)...)
	}
	w := r.WhatIf(settings)
	if p.container > 0 {
		c := r.Choose(p.container)
		w.Choice = &c
	}
	return w
}

// whatIf predicts from a log or a recording.
func (f *whatIfFlags) whatIf(e *command.Env, name string) error {
	p, err := f.plan()
	if err != nil {
		return err
	}
	r, phase, err := openReplay(e, name)
	if err != nil {
		return err
	}
	w := p.predict(r)
	w.Phase = phase
	if f.measured != "" {
		l, err := openRuntime(e, f.measured)
		if err != nil {
			return err
		}
		defer l.close()
		s, round := l.collections()
		if s == nil {
			return l.nothing("gctrace", "gctrace=1")
		}
		o, err := r.Outcome(p.settings[0], s)
		if err != nil {
			return command.Nothingf("%s: %w", f.measured, err)
		}
		if round != nil && round.MaxRSS > 0 {
			o.MaxRSSMB = gc.Figure(float64(round.MaxRSS) / (1 << 20))
		}
		w.Outcomes = append(w.Outcomes, o)
	}
	return f.write(e, w)
}

func (f *whatIfFlags) write(e *command.Env, w *gc.WhatIf) error {
	return command.Buffered(e.Stdout, func(out io.Writer) error {
		if f.asJSON {
			return report.WriteJSON(out, w)
		}
		return report.WriteWhatIf(out, w, e.Style())
	})
}

// collections is the summary with the most collections: of the log, or of the
// round of a recording that has them. nil when there is none.
func (l *runtimeLog) collections() (*gc.Summary, *facts.Round) {
	if l.log != nil {
		if len(l.log.Cycles) == 0 {
			return nil, nil
		}
		return gc.Analyse(l.log.Cycles, gc.Options{Names: l.log.Names}), nil
	}
	best := facts.MostCollections(l.rounds)
	if best == nil {
		return nil, nil
	}
	return best.GC, best
}

// openReplay reads what a replay follows. A recording tells the settings, the
// CPU time and the memory beside the heap.
func openReplay(e *command.Env, name string) (*gc.Replay, string, error) {
	l, err := openRuntime(e, name)
	if err != nil {
		return nil, "", err
	}
	defer l.close()
	return l.replay()
}

// replay follows the collections of a log, or of the round of a recording with the most.
func (l *runtimeLog) replay() (r *gc.Replay, phase string, err error) {
	s, round := l.collections()
	if s == nil {
		return nil, "", l.nothing("gctrace", "gctrace=1")
	}
	if round != nil {
		phase = round.Phase.Name
		r, err = round.Replay(l.session)
	} else {
		r, err = gc.NewReplay(s, gc.ReplayOptions{})
	}
	if err != nil {
		return nil, "", command.Nothingf("%s: %w", l.name, err)
	}
	return r, phase, nil
}

// verifyRun is a command that was run under settings.
type verifyRun struct {
	summary *gc.Summary
	cpu     time.Duration
	rss     int64
}

// report.Verify runs a command as it is and under other settings. The runs
// tell of each other: two that are far apart give the CPU time of the rest.
func (f *whatIfFlags) verifyCommand(e *command.Env, words []string) error {
	p, err := f.plan()
	if err != nil {
		return err
	}
	if len(words) == 0 {
		return command.Usagef("-verify needs a command (loupe gc -what-if GOGC=200 -verify -- ./tool -n 5)")
	}
	progress := e.Progress(false)
	base := ambientSettings()
	progress("running %s with %s", words[0], base)
	first, err := runUnder(e, words, base)
	if err != nil {
		return err
	}
	r, err := gc.NewReplay(first.summary, gc.ReplayOptions{Base: &base, CPU: first.cpu})
	if err != nil {
		return command.Nothing(err)
	}
	settings := p.settings
	if p.all {
		settings = []gc.Settings{{GOGC: 50}, {GOGC: 200}, {GOGC: 400}}
	}
	far := gc.Settings{GOGC: 4 * max(base.GOGC, 50)}
	progress("running it with %s, to measure what a collection costs", far)
	second, err := runUnder(e, words, far)
	if err != nil {
		return err
	}
	r.Calibrate(far, second.cpu)
	w := p.predict(r)
	for _, s := range settings {
		run := second
		if s != far {
			progress("running it with %s", s)
			if run, err = runUnder(e, words, s); err != nil {
				return err
			}
		}
		o, err := r.Outcome(s, run.summary)
		if err != nil {
			return command.Nothingf("with %s: %w", s, err)
		}
		o.MaxRSSMB, o.CPUMS = gc.Figure(float64(run.rss)/(1<<20)), gc.Figure(float64(run.cpu)/1e6)
		if run == second {
			o.CPUMS = gc.Unknown() // it is what the prediction was made from
		}
		if run.rss == 0 {
			o.MaxRSSMB = gc.Unknown()
		}
		w.Outcomes = append(w.Outcomes, o)
	}
	return f.write(e, w)
}

// ambientSettings are those that a program of this environment starts with.
func ambientSettings() gc.Settings {
	s, err := gc.ParseSettings(strings.Join(settingsOf(os.Environ()), " "), gc.Settings{GOGC: 100})
	if err != nil {
		return gc.Settings{GOGC: 100} // the runtime takes no other either
	}
	return s
}

func settingsOf(env []string) (out []string) {
	for _, kv := range env {
		if strings.HasPrefix(kv, "GOGC=") || strings.HasPrefix(kv, "GOMEMLIMIT=") {
			out = append(out, kv)
		}
	}
	return out
}

// runUnder runs a command to its end and reads what its collector said.
func runUnder(e *command.Env, words []string, s gc.Settings) (*verifyRun, error) {
	c := exec.CommandContext(e.Ctx, words[0], words[1:]...)
	var log bytes.Buffer
	c.Stdin, c.Stderr = nil, &log
	c.Env = append(append(os.Environ(), s.Environ()...), "GODEBUG="+collect.MergeGODEBUG(os.Getenv("GODEBUG"), "gctrace=1"))
	if err := c.Run(); err != nil {
		if c.ProcessState == nil {
			return nil, command.Nothingf("cannot run %s: %w", words[0], err)
		}
		said := log.Bytes()
		return nil, fmt.Errorf("%s failed with %s: %w: %q", words[0], s, err, said[max(0, len(said)-300):])
	}
	all, err := godebug.Collect(&log)
	if err != nil {
		return nil, err
	}
	if len(all.Cycles) == 0 {
		return nil, command.Nothingf("with %s, %s made no collection (is it a Go program that allocates?)", s, words[0])
	}
	return &verifyRun{
		summary: gc.Analyse(all.Cycles, gc.Options{}), cpu: c.ProcessState.UserTime() + c.ProcessState.SystemTime(),
		rss: system.PeakMemory(c.ProcessState),
	}, nil
}
