package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"loupe/load"
	"loupe/load/plan"
	"loupe/loadlog"
	"loupe/report"
	"loupe/secret"
	"loupe/unit"
)

// findStep is one run at one rate.
type findStep struct {
	Rate     float64  `json:"rate"` // asked for
	Answered float64  `json:"answered"`
	Seconds  float64  `json:"seconds"`
	P50      findTime `json:"p50_ns"`
	P95      findTime `json:"p95_ns,omitempty"`
	P99      findTime `json:"p99_ns,omitempty"`
	Errors   float64  `json:"errors"` // share
	Met      bool     `json:"met"`
	// Unknown tells that the step cannot tell: it is neither met nor missed.
	Unknown bool   `json:"unknown,omitempty"`
	Why     string `json:"why,omitempty"` // it is not met, or not known to be
	// Limited says that the generator and not the service gave out.
	Limited string `json:"limited,omitempty"`
}

// findTime is a percentile of a step; null in JSON where it falls among requests that
// were never answered.
type findTime time.Duration

// MarshalJSON writes ns, or null.
func (d findTime) MarshalJSON() ([]byte, error) {
	if time.Duration(d) == loadlog.Never {
		return []byte("null"), nil
	}
	return json.Marshal(int64(d))
}

// String is the time in words; 0 is a percentile that too few requests lie beyond.
func (d findTime) String() string {
	switch time.Duration(d) {
	case 0:
		return "n/a"
	case loadlog.Never:
		return "never"
	}
	return unit.Duration(time.Duration(d))
}

// finder looks for the highest rate that is met: in steps of two up to the
// first that is not, and from there by halves of the ratio. What is not met is
// tried twice. A step that cannot tell is no step that is not met: at a higher rate
// more requests come, and may.
type finder struct {
	run   func(rate float64) (findStep, error)
	steps []findStep
	// answer is what came of it.
	answer findAnswer
}

// findAnswer is the highest rate that was met, and the lowest that was not.
type findAnswer struct {
	Rate   float64 `json:"rate"` // 0: none was met
	Met    int     `json:"met"`  // so many runs at it
	Runs   int     `json:"runs"`
	TooFar float64 `json:"too_far,omitempty"` // 0: none was too far
	// Unknown is the last rate at which no step could tell, and Why; 0 when all
	// did.
	Unknown float64 `json:"unknown,omitempty"`
	Why     string  `json:"why,omitempty"`
	// Limited is set where the search ended because the generator could
	// send no more.
	Limited string `json:"limited,omitempty"`
}

const (
	findStart    = 100.0 // requests a second
	findLowest   = 0.5
	findClose    = 1.05 // ratio at which a search ends
	findConfirms = 2    // more runs at the answer
	// unknownMost is how many times the first rate is tried while no step can tell.
	unknownMost = 64
)

// measure makes one step.
func (f *finder) measure(rate float64) (findStep, error) {
	s, err := f.run(rate)
	if err == nil {
		f.steps = append(f.steps, s)
	}
	return s, err
}

// believe measures a rate, and once more when it is not met: on a busy machine
// one bad run is soon there.
func (f *finder) believe(rate float64) (findStep, error) {
	s, err := f.measure(rate)
	if err != nil || s.Met || s.Limited != "" {
		return s, err
	}
	return f.measure(rate)
}

// search finds the answer; what is known so far stays in the finder when it
// fails.
func (f *finder) search(start float64) error {
	a := &f.answer
	for rate := tidyRate(start); ; {
		s, err := f.believe(rate)
		if err != nil {
			return err
		}
		switch {
		case s.Met:
			a.Rate = rate
		case s.Limited != "":
			a.Limited = s.Limited
		case s.Unknown:
			a.Unknown, a.Why = rate, s.Why
		default:
			a.TooFar = rate
		}
		if a.Limited != "" || a.Rate > 0 && a.TooFar > 0 {
			break
		}
		// Down where it was too much, unless even less could not tell.
		down := a.TooFar > 0
		if down && a.Unknown > 0 || s.Unknown && rate >= unknownMost*tidyRate(start) {
			break
		}
		if down {
			rate = tidyRate(rate / 2)
		} else {
			rate = tidyRate(rate * 2)
		}
		if rate > 1e9 || rate < findLowest {
			break
		}
	}
	for a.Limited == "" && a.Rate > 0 && a.TooFar/a.Rate > findClose {
		rate := tidyRate(math.Sqrt(a.Rate * a.TooFar))
		if rate <= a.Rate || rate >= a.TooFar {
			break
		}
		s, err := f.believe(rate)
		if err != nil {
			return err
		}
		switch {
		case s.Met:
			a.Rate = rate
		case s.Unknown || s.Limited != "":
			a.Unknown, a.Why = rate, cmp.Or(s.Limited, s.Why)
			return f.confirm()
		default:
			a.TooFar = rate
		}
	}
	return f.confirm()
}

// confirm runs the answer again; when most runs at a rate fail it was luck,
// and the next lower rate is the answer.
func (f *finder) confirm() error {
	a := &f.answer
	for a.Rate > 0 {
		a.Met, a.Runs = 1, 1
		for range findConfirms {
			s, err := f.measure(a.Rate)
			if err != nil {
				return err
			}
			if s.Unknown {
				a.Why = s.Why
			}
			a.Runs++
			if s.Met {
				a.Met++
			}
		}
		if 2*a.Met > a.Runs {
			return nil
		}
		a.TooFar = a.Rate
		a.Rate = 0
		for _, s := range f.steps {
			if s.Met && s.Rate < a.TooFar {
				a.Rate = max(a.Rate, s.Rate)
			}
		}
	}
	return nil
}

// tidyRate rounds to three digits: a fourth would be noise.
func tidyRate(rate float64) float64 {
	if rate <= 0 {
		return rate
	}
	scale := math.Pow(10, 2-math.Floor(math.Log10(rate)))
	return math.Round(rate*scale) / scale
}

// tail is the 99th percentile, or the 95th of steps that have too few answers
// for it; 0 when there is neither.
func tail(a, b findStep) (name string, x, y findTime) {
	if a.P99 > 0 && b.P99 > 0 {
		return "p99", a.P99, b.P99
	}
	return "p95", a.P95, b.P95
}

// bend is where a service gives out: where a step makes p99 at least twice as
// long and gives less than a tenth more answers (rule LD01).
func (f *finder) bend() (before, behind findStep, ok bool) {
	steps := slices.Clone(f.steps)
	slices.SortStableFunc(steps, func(a, b findStep) int {
		switch {
		case a.Rate < b.Rate:
			return -1
		case a.Rate > b.Rate:
			return 1
		}
		return 0
	})
	for i := 1; i < len(steps); i++ {
		a, b := steps[i-1], steps[i]
		_, x, y := tail(a, b)
		if a.Rate < b.Rate && x > 0 && y/2 >= x && b.Answered < a.Answered*1.1 && b.Limited == "" {
			return a, b, true
		}
	}
	return before, behind, false
}

// words say what came of the search, with its doubt.
func (f *finder) words(wanted string, length time.Duration) string {
	var b strings.Builder
	a := f.answer
	rate := func(r float64) string { return unit.Number(r) + "/s" }
	switch {
	case a.Rate == 0 && a.Limited != "":
		fmt.Fprintf(&b, "No answer: at the first rate already %s.\n", a.Limited)
	case a.Rate == 0 && a.Unknown > 0 && a.TooFar > 0:
		fmt.Fprintf(&b, "Cannot tell: at %s it does not meet %s, and at %s a step could not tell: %s. Take longer steps (-z), or begin at a higher rate (-rate).\n", rate(a.TooFar), wanted, rate(a.Unknown), a.Why)
	case a.Rate == 0 && a.Unknown > 0:
		fmt.Fprintf(&b, "Cannot tell whether it meets %s, up to %s no step could: %s. Take longer steps (-z), or begin at a higher rate (-rate).\n", wanted, rate(a.Unknown), a.Why)
	case a.Rate == 0 && a.TooFar == 0:
		b.WriteString("No answer: no step was finished.\n")
	case a.Rate == 0:
		fmt.Fprintf(&b, "It does not meet %s at any rate: not even at %s.\n", wanted, rate(a.TooFar))
	default:
		fmt.Fprintf(&b, "It meets %s up to %s, in %d of %d runs of %s or more", wanted, rate(a.Rate), a.Met, a.Runs, length)
		if a.TooFar > 0 {
			fmt.Fprintf(&b, ", and not at %s: the limit lies between them (%s).\n", rate(a.TooFar), unit.Percent(a.TooFar/a.Rate-1))
		} else {
			b.WriteString(".\n")
		}
		if a.Met < a.Runs {
			b.WriteString("The runs disagree: take a lower rate, or longer steps (-z).\n")
		}
		if a.Unknown > a.Rate {
			fmt.Fprintf(&b, "It may take more: at %s a step could not tell: %s.\n", rate(a.Unknown), a.Why)
		}
		if a.Limited != "" {
			fmt.Fprintf(&b, "The service may take more: beyond that %s.\n", a.Limited)
		}
	}
	if x, y, ok := f.bend(); ok {
		name, from, to := tail(x, y)
		fmt.Fprintf(&b, "The service bends between %s and %s: %s goes from %s to %s, and answers from %s to %s.\n",
			rate(x.Rate), rate(y.Rate), name, from, to, rate(x.Answered), rate(y.Answered))
	}
	return b.String()
}

const (
	findLength = 5 * time.Second
	findMost   = time.Minute // of a step that needs more answers
	findPause  = 500 * time.Millisecond
)

// findMax runs -find-max.
func (r *loadRun) findMax(e *env, f *loadFlags, c load.Config) error {
	wanted, err := loadlog.ParseConditions(r.find)
	switch {
	case err != nil:
		return usagef("-find-max: %w", err)
	case f.q > 0 || f.pace.stages != "" || f.pace.replay != "" || f.pace.think != "":
		return usagef("-find-max sets the rate: it excludes -q, -stages, -replay and -think")
	case r.out != "" && r.out != "json" || r.template != "" || r.save != "" || r.fail.wanted != "":
		return usagef("-find-max has a table of its own: it excludes -o but json, -template, -save and -fail")
	}
	start := findStart
	if c.Rate > 0 {
		start = c.Rate
	}
	length := findLength
	if f.z != "" {
		length = c.Duration
	}
	fd := &finder{}
	quiet := r.out == "json"
	if !quiet {
		fmt.Fprintf(e.stdout, "%10s  %10s  %9s  %9s  %9s  %7s\n", "asked", "answered", "p50", "p95", "p99", "errors")
	}
	fd.run = func(rate float64) (findStep, error) {
		s, err := r.findOne(e, f, c, rate, length, len(fd.steps))
		if err == nil && !quiet {
			printStep(e.stdout, s)
		}
		return s, err
	}
	err = fd.search(start)
	if err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	names := make([]string, len(wanted))
	for i, w := range wanted {
		names[i] = w.String()
	}
	text := strings.Join(names, ",")
	if quiet {
		err = report.WriteJSON(e.stdout, struct {
			Schema     string     `json:"schema"`
			URL        string     `json:"url"`
			Conditions string     `json:"conditions"`
			Answer     findAnswer `json:"answer"`
			Steps      []findStep `json:"steps"`
		}{"loupe.load.find/1", secret.URL(c.URL), text, fd.answer, fd.steps})
	} else {
		_, err = fmt.Fprintf(e.stdout, "\n%s", fd.words(text, length))
	}
	if err == nil && fd.answer.Rate == 0 && e.ctx.Err() == nil {
		return exitError{code: exitFound}
	}
	return err
}

// findOne runs one step. One that a percentile needs more requests for is longer
// than was asked for.
func (r *loadRun) findOne(e *env, f *loadFlags, c load.Config, rate float64, length time.Duration, done int) (findStep, error) {
	if done > 0 { // what the step before left in the service's queues
		select {
		case <-time.After(findPause):
		case <-e.ctx.Done():
			return findStep{}, context.Canceled
		}
	}
	wanted, err := loadlog.ParseConditions(r.find)
	if err != nil {
		return findStep{}, err
	}
	length = stepLength(wanted, rate, length)
	arrival, err := plan.ParseArrival(f.pace.arrival)
	if err != nil {
		return findStep{}, usagef("-arrival: %w", err)
	}
	p, err := plan.Constant(rate, plan.Options{Arrival: arrival, Seed: f.pace.seed})
	if err != nil {
		return findStep{}, err
	}
	c.Plan, c.Rate, c.Duration, c.Requests = p, rate, length, 0
	log, err := e.runLoad(e.ctx, c)
	if err != nil {
		return findStep{}, refusal(err)
	}
	if e.ctx.Err() != nil {
		return findStep{}, context.Canceled
	}
	log.Wanted = r.find
	s := log.Summary()
	if done == 0 && s.Responses == 0 {
		return findStep{}, allFailed(&c, s)
	}
	return stepOf(s, rate), nil
}

// stepLength is how long a step at a rate must be for the conditions to be judged:
// as long as was asked for at least, and a minute at most if that is shorter.
func stepLength(wanted []loadlog.Condition, rate float64, asked time.Duration) time.Duration {
	length := asked
	for _, w := range wanted {
		needs := 1.1*float64(w.Answers())/rate + 1/rate
		length = max(length, time.Duration(min(needs, findMost.Seconds())*1e9))
	}
	return length
}

// answeredShare is how much of what was asked for must be answered for a rate
// to be met: a service that falls behind has not met it, whatever its times.
const answeredShare = 0.95

func stepOf(s *loadlog.Summary, rate float64) findStep {
	out := findStep{
		Rate: rate, Answered: s.RPS, Seconds: s.Seconds, P50: findTime(s.Latency.P50), P95: findTime(s.Latency.P95), P99: findTime(s.Latency.P99),
		Errors: float64(s.Unanswered()) / float64(max(1, s.Due())), Limited: s.Generator.Limited,
	}
	var missed, doubted []string
	slow := false
	for _, j := range s.Conditions {
		switch {
		case j.Met:
		case j.Doubt != "":
			doubted = append(doubted, j.String())
		default:
			missed = append(missed, j.String())
			slow = slow || j.Condition.OfTime()
		}
	}
	if due := s.Due(); float64(s.Responses) < answeredShare*float64(due) {
		missed = append(missed, fmt.Sprintf("%s of %s requests were answered", unit.Count(int64(s.Responses)), unit.Count(due)))
	}
	out.Met = len(missed)+len(doubted) == 0
	out.Unknown = len(missed) == 0 && len(doubted) > 0
	out.Why = strings.Join(append(missed, doubted...), "; ")
	if starved := s.Generator.Starved; starved != "" && slow {
		// Whose fault it is that times were too long nobody knows.
		out.Limited = cmp.Or(out.Limited, starved)
	}
	return out
}

func printStep(w io.Writer, s findStep) {
	verdict := "met"
	switch {
	case s.Unknown:
		verdict = "cannot tell: " + s.Why
	case !s.Met:
		verdict = s.Why
	}
	if s.Limited != "" {
		verdict += " (" + s.Limited + ")"
	}
	fmt.Fprintf(w, "%8s/s  %8s/s  %9s  %9s  %9s  %7s  %s\n",
		unit.Number(s.Rate), unit.Number(s.Answered), s.P50, s.P95, s.P99, unit.Percent(s.Errors), verdict)
}
