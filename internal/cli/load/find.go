package load

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"loupe/analysis/capacity"
	"loupe/capture/load"
	"loupe/capture/load/plan"
	"loupe/format/loadlog"
	"loupe/internal/cli/command"
	"loupe/internal/cli/loadflags"
	"loupe/report"
	"loupe/value/secret"
)

const (
	findLength = 5 * time.Second
	findPause  = 500 * time.Millisecond
)

// findMax runs -find-max.
func (r *loadRun) findMax(e *command.Env, f *loadflags.Flags, c load.Config) error {
	wanted, err := loadlog.ParseConditions(r.find)
	switch {
	case err != nil:
		return command.Usagef("-find-max: %w", err)
	case f.Q > 0 || f.Pace.Stages != "" || f.Pace.Replay != "" || f.Pace.Think != "":
		return command.Usagef("-find-max sets the rate: it excludes -q, -stages, -replay and -think")
	case r.out != "" && r.out != "json" || r.template != "" || r.save != "" || r.fail.wanted != "":
		return command.Usagef("-find-max has its own table: it excludes -o (except json), -template, -save and -fail")
	}
	start := capacity.Start
	if c.Rate > 0 {
		start = c.Rate
	}
	length := findLength
	if f.Z != "" {
		length = c.Duration
	}
	fd := &capacity.Search{}
	c.Series = &load.Series{} // the same service answers all trials
	quiet := r.out == "json"
	if !quiet {
		if err := report.WriteTrialHead(e.Stdout); err != nil {
			return err
		}
	}
	fd.Run = func(rate float64) (capacity.Trial, error) {
		s, err := r.findOne(e, f, c, rate, length, len(fd.Trials))
		if err == nil && !quiet {
			err = report.WriteTrial(e.Stdout, s)
		}
		return s, err
	}
	err = fd.Find(start)
	if err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	names := make([]string, len(wanted))
	for i, w := range wanted {
		names[i] = w.String()
	}
	text := strings.Join(names, ",")
	if quiet {
		err = report.WriteJSON(e.Stdout, struct {
			Schema     string           `json:"schema"`
			URL        string           `json:"url"`
			Conditions string           `json:"conditions"`
			Answer     capacity.Answer  `json:"answer"`
			Steps      []capacity.Trial `json:"steps"`
		}{"loupe.load.find/1", secret.URL(c.URL), text, fd.Answer, fd.Trials})
	} else {
		_, err = fmt.Fprintf(e.Stdout, "\n%s", report.SearchText(fd, text, length))
	}
	if err == nil && fd.Answer.Rate == 0 && e.Ctx.Err() == nil {
		return command.ErrFound
	}
	return err
}

// findOne runs one step. One that a percentile needs more requests for is longer
// than was asked for.
func (r *loadRun) findOne(e *command.Env, f *loadflags.Flags, c load.Config, rate float64, length time.Duration, done int) (capacity.Trial, error) {
	if done > 0 { // what the step before left in the service's queues
		select {
		case <-time.After(findPause):
		case <-e.Ctx.Done():
			return capacity.Trial{}, context.Canceled
		}
	}
	wanted, err := loadlog.ParseConditions(r.find)
	if err != nil {
		return capacity.Trial{}, err
	}
	length = capacity.TrialLength(wanted, rate, length)
	arrival, err := plan.ParseArrival(f.Pace.Arrival)
	if err != nil {
		return capacity.Trial{}, command.Usagef("-arrival: %w", err)
	}
	p, err := plan.Constant(rate, plan.Options{Arrival: arrival, Seed: f.Pace.Seed})
	if err != nil {
		return capacity.Trial{}, err
	}
	c.Plan, c.Rate, c.Duration, c.Requests = p, rate, length, 0
	log, err := runLoad(e, c)
	if err != nil {
		return capacity.Trial{}, refusal(err)
	}
	if e.Ctx.Err() != nil {
		return capacity.Trial{}, context.Canceled
	}
	log.Wanted = r.find
	s := log.Summary()
	if done == 0 && s.Responses == 0 {
		return capacity.Trial{}, allFailed(&c, s)
	}
	return capacity.TrialOf(s, rate), nil
}
