// Package tuning is the advice of loupe run -tune gc: settings for a memory limit out of a run, checked by others.
package tuning

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"loupe/analysis/facts"
	"loupe/analysis/gc"
	"loupe/internal/cli/command"
	"loupe/recording"
	"loupe/report"
	"loupe/session"
)

// Tuning is the advice for a program that loupe runs, with the runs that check it.
type Tuning struct {
	advice *gc.Advice
	replay *gc.Replay
	opt    gc.AdviceOptions
	base   gc.Settings
	// cpu is the CPU time of the first run, as it is.
	cpu time.Duration
	// ends tells that the program ends by itself, so that each run does the same work.
	ends bool
}

// New takes the advice for a memory limit from a recording of the program as it is; 0 is the
// limit of its cgroup.
func New(dir string, limit int64) (*Tuning, error) {
	t := &Tuning{opt: gc.AdviceOptions{Container: limit, From: "-limit", Outside: -1}}
	err := t.round(dir, func(f *facts.Facts, r *facts.Round, s *session.Session) (err error) {
		if limit := facts.MemoryLimit(f); t.opt.Container == 0 {
			t.opt.Container, t.opt.From = limit, "the cgroup"
		}
		if t.opt.Container == 0 {
			return command.Usagef("no memory limit is known: the program runs in no cgroup with one (give it: loupe run -tune gc -limit 512MiB …)")
		}
		if m, _, ok := facts.ResidentIn(f); ok {
			t.opt.Outside = max(0, m.Anon-m.Go)
		}
		t.ends, t.cpu, t.base = r.Ended, r.CPU, gc.Settings{GOGC: 100}
		if in := f.Settings(r).Collector; in != nil {
			t.base = *in
		}
		t.replay, err = r.Replay(s)
		return err
	})
	if err != nil {
		return nil, err
	}
	t.advice = gc.Advise(t.replay, t.opt)
	if t.Refused() {
		t.advice.Notes = append([]gc.Note{{ID: gc.NoteUnchecked, Text: "nothing was checked: the program ran once, as it is, and not with other settings; all but the recorded figures are predicted"}}, t.advice.Notes...)
	}
	return t, nil
}

// round opens a recording and hands its round with the most collections on.
func (t *Tuning) round(dir string, use func(*facts.Facts, *facts.Round, *session.Session) error) error {
	rec, err := recording.OpenFile(dir)
	if err != nil {
		return err
	}
	defer rec.Close()
	s := session.New(rec)
	f := facts.Gather(s)
	r := facts.MostCollections(f.Rounds)
	if r == nil {
		return command.Nothingf("no collection was seen: there is nothing to tune (let it run longer with -for, or give it more to do)")
	}
	if err := use(f, r, s); err != nil {
		if errors.Is(err, command.ErrFound) {
			return err
		}
		return command.Nothing(err)
	}
	return nil
}

// Refused tells that nothing is advised.
func (t *Tuning) Refused() bool { return t.advice.Refused != "" }

// Advised are the environment of the advised settings, and their name.
func (t *Tuning) Advised() (env []string, name string) {
	return t.advice.Advised.Settings.Environ(), t.advice.Advised.Settings.String()
}

// farther is the GOGC of the run that tells what a collection costs, by the one in force.
const farther = 4

// Far are the settings of a run that shows what a collection costs in CPU time: few of them.
func (t *Tuning) Far() []string { return t.far().Environ() }

func (t *Tuning) far() gc.Settings { return gc.Settings{GOGC: farther * max(t.base.GOGC, 50)} }

// Calibrate takes the run with the settings of [Tuning.Far]: two runs tell what a collection
// costs.
func (t *Tuning) Calibrate(dir string) error {
	err := t.round(dir, func(_ *facts.Facts, r *facts.Round, _ *session.Session) error {
		cpu := r.CPU
		if !t.ends {
			cpu = time.Duration(float64(cpu) / gc.WorkOf(t.replay, r.GC))
		}
		t.replay.Calibrate(t.far(), cpu)
		return nil
	})
	t.advice = gc.Advise(t.replay, t.opt)
	if a := t.advice.Advised; err == nil && a != nil && !a.CPUMS.Estimate.Known() {
		t.advice.Notes = append(t.advice.Notes, gc.Note{ID: gc.NoteCPU, Text: "the CPU time is not predicted: between the two runs it differs by less than other work on the machine makes it differ, or the program sets GOGC itself"})
	}
	return err
}

// Measured sets the runs as it is and as advised beside what was predicted of them.
func (t *Tuning) Measured(asIs, advised string) error {
	for _, one := range []struct {
		dir string
		s   gc.Settings
	}{{asIs, t.base}, {advised, t.advice.Advised.Settings}} {
		err := t.round(one.dir, func(_ *facts.Facts, r *facts.Round, _ *session.Session) error {
			o, err := gc.OutcomeOfTime(t.replay, one.s, r.GC)
			if t.ends && r.Ended {
				o, err = t.replay.Outcome(one.s, r.GC)
			}
			if err != nil {
				return err
			}
			o.MaxRSSMB, o.CPUMS = gc.Unknown(), gc.Unknown()
			if r.MaxRSS > 0 {
				o.MaxRSSMB = gc.Figure(float64(r.MaxRSS) / (1 << 20))
			}
			if r.CPU > 0 {
				o.CPUMS = gc.Figure(float64(r.CPU) / 1e6)
			}
			if one.dir == asIs {
				again := r.CPU
				if !t.ends {
					again = time.Duration(float64(again) / gc.WorkOf(t.replay, r.GC))
				}
				t.advice.WeighCPU(t.cpu, again)
			}
			t.advice.Outcomes = append(t.advice.Outcomes, o)
			return nil
		})
		if err != nil {
			return fmt.Errorf("with %s: %w", one.s, err)
		}
	}
	return nil
}

// Write prints the advice with its runs.
func (t *Tuning) Write(e *command.Env, asJSON bool) error {
	slices.SortStableFunc(t.advice.Compared, func(a, b gc.Prediction) int { return cmp.Compare(a.PeakHeapMB.Estimate, b.PeakHeapMB.Estimate) })
	return command.Buffered(e.Stdout, func(out io.Writer) error {
		if asJSON {
			return report.WriteJSON(out, t.advice)
		}
		return report.WriteAdvice(out, t.advice, e.Style())
	})
}
