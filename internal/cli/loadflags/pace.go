package loadflags

import (
	"errors"
	"fmt"
	"time"

	"loupe/capture/load"
	"loupe/capture/load/plan"
	"loupe/capture/load/target"
	"loupe/internal/cli/command"
	"loupe/value/unit"
)

// pacing are the flags of when requests are due.
type pacing struct {
	rate, Stages, Arrival string
	Think, warmup         string
	Replay                string
	Seed                  uint64
	maxConns              int
}

func (p *pacing) declare(fs *command.FlagSet) {
	fs.StringVar(&p.rate, "rate", "", "start this `number` of requests a second, whatever the service does: 5k/s,\n300/m; for 10s without -n and -z")
	fs.StringVar(&p.Stages, "stages", "", "ramp linearly from rate to rate, starting at 0: 30s:1k,1m:5k,30s:0 is a `list`\nof durations and the rates at their ends; a duration of 0 is a jump")
	fs.StringVar(&p.Arrival, "arrival", "uniform", "how the requests of a rate are spaced: `name` uniform or poisson")
	fs.Uint64Var(&p.Seed, "seed", 1, "seed `number` for random arrivals and random values in templates")
	fs.StringVar(&p.Think, "think", "", "`time` that each worker waits between an answer and its next request")
	fs.StringVar(&p.warmup, "warmup", "", "warm up for this `time` before anything counts; auto: until two consecutive\nseconds are alike, at most 10s")
	fs.StringVar(&p.Replay, "replay", "", "send the requests of a `file` at their times: lines of milliseconds and a URL,\nor each once and in order if it has no times")
	fs.IntVar(&p.maxConns, "max-conns", 0, "maximum `number` of connections if requests have times; 0 is ten times -c")
}

// rateLength is how long a rate lasts that nothing bounds. hey's 200 requests
// would be over in a moment.
const rateLength = 10 * time.Second

// setPace puts into c when requests are due. list is what -replay read.
func (f *Flags) setPace(c *load.Config, list *target.List) error {
	p := &f.Pace
	kinds := 0
	for _, given := range []bool{f.Q > 0, p.rate != "", p.Stages != "", p.Replay != ""} {
		if given {
			kinds++
		}
	}
	if kinds > 1 {
		return errors.New("-q, -rate, -stages and -replay exclude each other")
	}
	arrival, err := plan.ParseArrival(p.Arrival)
	if err != nil {
		return fmt.Errorf("-arrival: %w", err)
	}
	if p.maxConns < 0 {
		return errors.New("-max-conns cannot be negative")
	}
	c.MaxConns, c.Seed = p.maxConns, p.Seed
	if p.Think != "" {
		if c.Think, err = unit.ParseDuration(p.Think); err != nil {
			return fmt.Errorf("-think: %w", err)
		}
		if kinds > 0 {
			return errors.New("-think is for workers that wait for answers: it cannot be combined with a rate")
		}
	}
	switch p.warmup {
	case "":
	case "auto":
		c.Warmup = load.AutoWarmup
	default:
		if c.Warmup, err = unit.ParseDuration(p.warmup); err != nil {
			return fmt.Errorf("-warmup: %w (or auto)", err)
		}
	}
	o := plan.Options{Arrival: arrival, Seed: p.Seed}
	bounded := f.IsGiven("n") || f.Z != ""
	switch {
	case p.rate != "":
		rate, err := plan.ParseRate(p.rate)
		if err == nil {
			c.Plan, err = plan.Constant(rate, o)
		}
		if err != nil {
			return fmt.Errorf("-rate: %w", err)
		}
		c.Rate = rate
		if !bounded && c.Duration == 0 {
			c.Requests, c.Duration = 0, rateLength
		}
	case f.Q > 0:
		c.Rate = f.Q * float64(f.C)
		if arrival != plan.Uniform {
			c.Plan, err = plan.Constant(c.Rate, o)
		}
	case p.Stages != "":
		err = f.setStages(c, o, bounded)
	case p.Replay != "":
		err = f.setReplay(c, list, bounded)
	case arrival != plan.Uniform:
		err = errors.New("-arrival needs a rate (-rate, -stages or -q)")
	}
	return err
}

func (f *Flags) setStages(c *load.Config, o plan.Options, bounded bool) error {
	stages, err := plan.ParseStages(f.Pace.Stages)
	if err != nil {
		return fmt.Errorf("-stages: %w", err)
	}
	p, err := plan.Stages(stages, o)
	if err != nil {
		return fmt.Errorf("-stages: %w", err)
	}
	c.Plan, c.Rate = p, p.Peak()
	if !bounded { // what is before a stage ends is in the plan
		c.Requests, c.Duration = 0, p.Length()
	} else if c.Duration > 0 {
		c.Duration = min(c.Duration, p.Length())
	}
	return nil
}

func (f *Flags) setReplay(c *load.Config, list *target.List, bounded bool) error {
	if len(list.Turns) == 0 {
		c.List = true
		if !bounded { // each once
			c.Requests, c.Duration = len(list.Targets), 0
		}
		return nil
	}
	turns := make([]plan.Turn, len(list.Turns))
	for i, t := range list.Turns {
		turns[i] = plan.Turn{Due: t.Due, Target: t.Target}
	}
	o := plan.Options{}
	if bounded {
		o.Duration, o.Requests = c.Duration, int64(c.Requests)
	}
	p, err := plan.Replay(turns, o)
	if err != nil {
		return fmt.Errorf("-replay: %w", err)
	}
	c.Plan, c.Rate = p, p.Peak()
	c.Requests, c.Duration = int(p.Count()), 0
	return nil
}

// Endless makes a load go on until it is stopped: stages and recorded times
// begin again when they are over.
func Endless(c *load.Config) error {
	c.Requests, c.Duration = 0, 0
	p, ok := c.Plan.(interface{ Length() time.Duration })
	if !ok || p.Length() == 0 {
		return nil
	}
	again, err := plan.Repeat(c.Plan, p.Length()+time.Duration(1e9/c.Plan.Peak()))
	if err != nil {
		return err
	}
	c.Plan = again
	return nil
}
