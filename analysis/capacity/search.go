package capacity

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"loupe/format/loadlog"
	"loupe/value/unit"
)

const (
	// Start is the rate at which a search begins, in requests a second.
	Start        = 100.0
	findLowest   = 0.5
	findClose    = 1.05 // ratio at which a search ends
	findConfirms = 2    // more runs at the answer
	// unknownMost is how many times the first rate is tried while no step can tell.
	unknownMost = 64
	// longestTrial bounds a step that needs more answers.
	longestTrial = time.Minute
)

// Trial is one run at one rate.
type Trial struct {
	Rate     float64 `json:"rate"` // asked for
	Answered float64 `json:"answered"`
	Seconds  float64 `json:"seconds"`
	P50      Time    `json:"p50_ns"`
	P95      Time    `json:"p95_ns,omitempty"`
	P99      Time    `json:"p99_ns,omitempty"`
	Errors   float64 `json:"errors"` // share
	Met      bool    `json:"met"`
	// Unknown tells that the step cannot tell: it is neither met nor missed.
	Unknown bool   `json:"unknown,omitempty"`
	Why     string `json:"why,omitempty"` // it is not met, or not known to be
	// Limited says that the generator and not the service gave out.
	Limited string `json:"limited,omitempty"`
}

// Time is a percentile of a step; null in JSON where it falls among requests that
// were never answered.
type Time time.Duration

// MarshalJSON writes ns, or null.
func (d Time) MarshalJSON() ([]byte, error) {
	if time.Duration(d) == loadlog.Never {
		return []byte("null"), nil
	}
	return json.Marshal(int64(d))
}

// String is the time in words; 0 is a percentile that too few requests lie beyond.
func (d Time) String() string {
	switch time.Duration(d) {
	case 0:
		return "n/a"
	case loadlog.Never:
		return "never"
	}
	return unit.Duration(time.Duration(d))
}

// Search looks for the highest rate that is met: in steps of two up to the
// first that is not, and from there by halves of the ratio. What is not met is
// tried twice. A step that cannot tell is no step that is not met: at a higher rate
// more requests come, and may.
type Search struct {
	// Run tries a rate, in requests a second.
	Run func(rate float64) (Trial, error)
	// Trials are those so far.
	Trials []Trial
	// Answer is what came of it.
	Answer Answer
}

// Answer is the highest rate that was met, and the lowest that was not.
type Answer struct {
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

// measure makes one step.
func (f *Search) measure(rate float64) (Trial, error) {
	s, err := f.Run(rate)
	if err == nil {
		f.Trials = append(f.Trials, s)
	}
	return s, err
}

// believe measures a rate, and once more when it is not met: on a busy machine
// one bad run is soon there.
func (f *Search) believe(rate float64) (Trial, error) {
	s, err := f.measure(rate)
	if err != nil || s.Met || s.Limited != "" {
		return s, err
	}
	return f.measure(rate)
}

// Find finds the answer; what is known so far stays in the search when it fails.
func (f *Search) Find(start float64) error {
	a := &f.Answer
	for rate := tidy(start); ; {
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
		if down && a.Unknown > 0 || s.Unknown && rate >= unknownMost*tidy(start) {
			break
		}
		if down {
			rate = tidy(rate / 2)
		} else {
			rate = tidy(rate * 2)
		}
		if rate > 1e9 || rate < findLowest {
			break
		}
	}
	for a.Limited == "" && a.Rate > 0 && a.TooFar/a.Rate > findClose {
		rate := tidy(math.Sqrt(a.Rate * a.TooFar))
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
func (f *Search) confirm() error {
	a := &f.Answer
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
		for _, s := range f.Trials {
			if s.Met && s.Rate < a.TooFar {
				a.Rate = max(a.Rate, s.Rate)
			}
		}
	}
	return nil
}

// tidy rounds to three digits: a fourth would be noise.
func tidy(rate float64) float64 {
	if rate <= 0 {
		return rate
	}
	scale := math.Pow(10, 2-math.Floor(math.Log10(rate)))
	return math.Round(rate*scale) / scale
}

// Full is where a service is full: the steps that [Knee] finds among the trials, by the
// percentile that all of them have, the 99th or else the 95th. A trial in which the
// generator gave out says nothing of the service.
type Full struct {
	Percentile    string
	Last, Beyond  Trial
	Before, After Time // the percentile in both
}

// Full finds that place; ok is false where none of the trials was beyond it.
func (f *Search) Full() (full Full, ok bool) {
	trials := slices.DeleteFunc(slices.Clone(f.Trials), func(t Trial) bool { return t.Limited != "" })
	slices.SortStableFunc(trials, func(a, b Trial) int { return cmp.Compare(a.Rate, b.Rate) })
	name, of := "p99", func(t Trial) Time { return t.P99 }
	if slices.ContainsFunc(trials, func(t Trial) bool { return t.P99 == 0 }) {
		name, of = "p95", func(t Trial) Time { return t.P95 }
	}
	trials = slices.DeleteFunc(trials, func(t Trial) bool { return of(t) == 0 })
	steps := make([]Step, len(trials))
	for i, t := range trials {
		steps[i] = Step{Offered: t.Rate, RPS: t.Answered, P99: time.Duration(of(t))}
	}
	i, j, ok := Knee(steps, 1)
	if !ok {
		return Full{}, false
	}
	for i+1 < j && KneeP99*of(trials[i+1]) <= of(trials[j]) { // it still was fast there
		i++
	}
	return Full{name, trials[i], trials[j], of(trials[i]), of(trials[j])}, true
}

// TrialLength is how long a step at a rate must be for the conditions to be judged:
// as long as was asked for at least, and a minute at most if that is shorter.
func TrialLength(wanted []loadlog.Condition, rate float64, asked time.Duration) time.Duration {
	length := asked
	for _, w := range wanted {
		needs := 1.1*float64(w.Answers())/rate + 1/rate
		length = max(length, time.Duration(min(needs, longestTrial.Seconds())*1e9))
	}
	return length
}

// TrialOf judges a run at a rate by the conditions that its summary has.
func TrialOf(s *loadlog.Summary, rate float64) Trial {
	out := Trial{
		Rate: rate, Answered: s.RPS, Seconds: s.Seconds, P50: Time(s.Latency.P50), P95: Time(s.Latency.P95), P99: Time(s.Latency.P99),
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
	if due := s.Due(); float64(s.Responses) < KeptUp*float64(due) {
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
