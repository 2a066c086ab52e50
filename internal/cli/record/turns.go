package record

import (
	"cmp"
	"errors"
	"io"
	"os"
	"slices"
	"time"

	"loupe/capture/collect"
	"loupe/internal/cli/command"
	"loupe/recording"
	"loupe/value/stats"
)

// Turn is one of the programs that take turns.
type Turn struct {
	Program  *collect.Program
	Name     string
	role     string // before or after, of two that take turns
	Dir, zip string
	Options  collect.RecorderOptions
	Plan     collect.Plan
	Recorder *collect.Recorder
	Load     func(*recording.Writer) collect.Load
	// Made is what it takes to record it again, nil where that is not known.
	Made *recording.Made
}

// close ends the recording. One whose program was never started holds nothing
// and goes away.
func (t *Turn) close() error {
	err := t.Recorder.Close()
	if len(t.Recorder.Writer().Manifest().Target.Runs) == 0 {
		t.Recorder = nil
		os.RemoveAll(t.Dir) // a mount point stays
	}
	return err
}

// open begins the recording of the target.
func (t *Turn) open(e *command.Env, rounds *Rounds, drawn *stats.Order) error {
	w, err := recording.Create(t.Dir, recording.Manifest{
		Title: t.Name, Tool: command.Version(), Host: collect.HostFacts(), Turns: drawn, Looks: rounds.Looks, Made: t.Made,
	})
	if err != nil {
		return err
	}
	t.Plan.Load = t.Load(w)
	t.Recorder, err = collect.NewRecorder(w, t.Program, t.Options)
	if t.Recorder != nil {
		e.AtAbort(t.Recorder.Abort)
	}
	return err
}

// cut marks the round that was being recorded when the user ended it.
func (t *Turn) cut() error {
	w := t.Recorder.Writer()
	phases := w.Manifest().Phases
	if len(phases) == 0 {
		return nil
	}
	last := phases[len(phases)-1]
	if !last.Bare() || last.Round < 2 {
		return nil // of the first round what there is is shown
	}
	last.Cut = true
	return w.SetPhase(last)
}

// Rounds says how many there are, and whether programs take turns in them.
type Rounds struct {
	// Number is how many there are at most.
	Number int
	// Turns numbers the rounds also of one program, or in one round.
	Turns bool
	// Seed is what the order within the rounds is drawn from; 0 draws a seed too.
	Seed uint64
	// Looks are the numbers of rounds after which Decided is asked whether more are of any
	// use; without it all rounds are taken.
	Looks   []int
	Decided func() (bool, error)
	// Budget ends the rounds after the one that fits into it; 0 does not.
	Budget time.Duration
}

// open tells that nobody knows which round is the last.
func (r *Rounds) open() bool { return r.Decided != nil || r.Budget > 0 }

// TakeTurns records every target for a number of rounds, each in an order that is drawn.
// The bare phases are what is compared; the other phases follow the last one in the same
// process, or the first where rounds may end early. A recording that was begun is always
// closed.
func TakeTurns(e *command.Env, targets []*Turn, rounds Rounds) (err error) {
	defer e.Keeps()()
	var drawn *stats.Order
	if len(targets) > 1 {
		order := command.DrawOrder(rounds.Seed)
		drawn = &order
	}
	for _, t := range targets {
		oerr := t.open(e, &rounds, drawn)
		if t.Recorder != nil {
			defer func() { err = errors.Join(err, t.close()) }()
		}
		if oerr != nil {
			return oerr
		}
	}
	if err := rounds.take(e, targets, drawn); err != nil {
		return err
	}
	// When no program runs any more, the compiler takes no time from one.
	for _, t := range targets {
		if err := t.Recorder.Diagnose(e.Ctx); err != nil {
			return err
		}
	}
	return nil
}

// take takes the rounds.
func (r *Rounds) take(e *command.Env, targets []*Turn, drawn *stats.Order) error {
	tell := targets[0].Options.Progress
	begun := time.Now()
	for round := range r.Number {
		if next := bareTime(targets); r.Budget > 0 && round > 0 && time.Since(begun)+next > r.Budget {
			tell("the time budget of %v was spent after %d of at most %d rounds", r.Budget, round, r.Number)
			return nil
		}
		if err := r.block(e, targets, round, drawn); err != nil {
			return err
		}
		if r.Decided != nil && slices.ContainsFunc(targets, func(t *Turn) bool { return t.Recorder.Failure() != "" }) {
			tell("a program failed: no more rounds are run")
			return nil
		}
		if r.Decided == nil || !slices.Contains(r.Looks, round+1) {
			continue
		}
		if done, err := r.Decided(); err != nil || done {
			return err
		}
	}
	return nil
}

// block is a round of each target, in an order that is drawn.
func (r *Rounds) block(e *command.Env, targets []*Turn, round int, drawn *stats.Order) error {
	order := []int{0}
	if drawn != nil {
		order = drawn.Block(round, len(targets))
	}
	of := "of"
	profiled := r.Number - 1
	if r.open() {
		of, profiled = "of at most", 0
	}
	for at, i := range order {
		t := targets[i]
		plan := t.Plan
		if r.Turns || r.Number > 1 {
			plan.Round, plan.Order = round+1, round*len(targets)+at+1
			t.Options.Progress("round %d %s %d: %s", round+1, of, r.Number, t.Name)
		}
		if round != profiled {
			plan.Phases = plan.Phases[:1]
		}
		rewind(t.Options.Launch.Stdin)
		err := t.Recorder.Record(e.Ctx, plan)
		if e.Ctx.Err() != nil {
			err = errors.Join(err, t.cut())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// bareTime is how long the last round of all targets has measured.
func bareTime(targets []*Turn) (sum time.Duration) {
	for _, t := range targets {
		phases := t.Recorder.Writer().Manifest().Phases
		for _, p := range slices.Backward(phases) {
			if p.Bare() {
				sum += p.Span.Len()
				break
			}
		}
	}
	return sum
}

// usualBudget bounds rounds that go on until all is decided.
const usualBudget = 5 * time.Minute

// until has the rounds go on until decided says so of the recordings, of which there is a look
// at fixed points, or the budget is spent. A program that has failed decides nothing.
func (r *Rounds) until(targets []*Turn, decided func(dirs []string) (bool, error)) {
	r.Looks = stats.UsualLooks().At
	r.Number = r.Looks[len(r.Looks)-1]
	r.Budget = cmp.Or(r.Budget, usualBudget)
	r.Decided = func() (bool, error) {
		var dirs []string
		for _, t := range targets {
			dirs = append(dirs, t.Dir)
		}
		return decided(dirs)
	}
}

// rewind has a program read its input from the start, where that is a file: all rounds share it.
func rewind(input *os.File) {
	if inputOf(input) == recording.FileInput {
		input.Seek(0, io.SeekStart) // an error is that of the program that reads it
	}
}
