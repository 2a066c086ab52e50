package capacity_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"loupe/analysis/capacity"
	"loupe/format/loadlog"
	"loupe/format/loadlog/loadlogtest"
	"loupe/report"
)

// service is one of a known capacity; unlucky steps fail without a reason.
func service(most float64, unlucky ...int) *capacity.Search {
	f := &capacity.Search{}
	f.Run = func(rate float64) (capacity.Trial, error) {
		s := capacity.Trial{Rate: rate, Answered: min(rate, most), P50: capacity.Time(time.Millisecond), P99: capacity.Time(2 * time.Millisecond), Met: rate <= most}
		if rate > most {
			s.P99 = capacity.Time(300 * time.Millisecond)
		}
		for _, n := range unlucky {
			s.Met = s.Met && len(f.Trials) != n
		}
		return s, nil
	}
	return f
}

func TestFindMax(t *testing.T) {
	for _, capacity := range []float64{1, 7.5, 99, 100, 130, 4321, 65000} {
		for _, start := range []float64{1, 100, 5000} {
			f := service(capacity)
			if err := f.Find(start); err != nil {
				t.Fatal(err)
			}
			a := f.Answer
			if a.Rate > capacity || a.TooFar <= capacity || a.TooFar/a.Rate > 1.06 || a.Met != 3 || a.Runs != 3 {
				t.Errorf("capacity %v from %v: %+v", capacity, start, a)
			}
			if most := 18 + 2*int(math.Abs(math.Log2(capacity/start))); len(f.Trials) > most {
				t.Errorf("capacity %v from %v takes %d steps, more than %d", capacity, start, len(f.Trials), most)
			}
			if _, ok := f.Full(); !ok {
				t.Errorf("capacity %v from %v: nowhere full in %+v", capacity, start, f.Trials)
			}
		}
	}
}

func TestFindMaxWords(t *testing.T) {
	f := service(130)
	if err := f.Find(100); err != nil {
		t.Fatal(err)
	}
	text := report.SearchText(f, "p99<50ms", 5*time.Second)
	for _, want := range []string{
		"It meets p99<50ms up to 130/s, in 3 of 3 runs of 5s or more, and not at 135/s: the limit lies between them (3.85%).",
		"The service saturates at about 130/s: at a load of 135/s it answered 130/s, and p99 went from 2.00 ms to 300 ms.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the words are\n%s\nwant\n%s", text, want)
		}
	}

	// Luck at the highest rate is found out; one bad run of three is told.
	f = service(1000, 0)
	if err := f.Find(100); err != nil || f.Answer.Rate < 900 {
		t.Errorf("a first step without luck: %+v, %v", f.Answer, err)
	}
	f = service(1000, 0, 1)
	if err := f.Find(100); err != nil || f.Answer.Rate >= 100 || f.Answer.TooFar != 100 {
		t.Errorf("two steps without luck: %+v, %v", f.Answer, err)
	}
	f = service(110)
	if err := f.Find(100); err != nil {
		t.Fatal(err)
	}
	last := len(f.Trials) - 1
	f = service(110, last)
	if err := f.Find(100); err != nil || f.Answer.Met != 2 || !strings.Contains(report.SearchText(f, "p99<50ms", time.Second), "The runs disagree") {
		t.Errorf("one run of three: %+v, %v", f.Answer, err)
	}
	f = service(110, last-1, last)
	if err := f.Find(100); err != nil || f.Answer.Rate >= f.Answer.TooFar || f.Answer.TooFar > 110 || f.Answer.Met != 3 {
		t.Errorf("two runs of three: %+v, %v", f.Answer, err)
	}

	f = service(0.1)
	if err := f.Find(100); err != nil || f.Answer.Rate != 0 || !strings.Contains(report.SearchText(f, "p99<50ms", time.Second), "at any rate") {
		t.Errorf("a service that is never good: %+v, %v, %s", f.Answer, err, report.SearchText(f, "p99<50ms", time.Second))
	}
}

// TestFindMaxLimits checks searches that end otherwise: at the generator's own
// limit, and when the user stops them.
func TestFindMaxLimits(t *testing.T) {
	f := service(1e9)
	honest := f.Run
	f.Run = func(rate float64) (capacity.Trial, error) {
		s, err := honest(rate)
		if rate > 1000 {
			s.Met, s.Limited = false, "the sending thread was busy"
		}
		return s, err
	}
	if err := f.Find(100); err != nil || f.Answer.Rate != 800 || f.Answer.TooFar != 0 {
		t.Errorf("a weak generator: %+v, %v", f.Answer, err)
	}
	if text := report.SearchText(f, "p99<50ms", time.Second); !strings.Contains(text, "up to 800/s, in 3 of 3 runs of 1s or more.\nThe service may handle more: beyond that the sending thread") {
		t.Errorf("a weak generator: %s", text)
	}
	stop := errors.New("stopped")
	f = service(1000)
	honest = f.Run
	f.Run = func(rate float64) (capacity.Trial, error) {
		if len(f.Trials) == 3 {
			return capacity.Trial{}, stop
		}
		return honest(rate)
	}
	if err := f.Find(100); !errors.Is(err, stop) || f.Answer.Rate != 400 {
		t.Errorf("stopped: %+v, %v", f.Answer, err)
	}
}

// TestFindMaxCannotTell: a step that has too few requests to tell is none that is not
// met, so that a strong service is not taken for a weak one.
func TestFindMaxCannotTell(t *testing.T) {
	few := func(f *capacity.Search, below float64) *capacity.Search {
		honest := f.Run
		f.Run = func(rate float64) (capacity.Trial, error) {
			s, err := honest(rate)
			if rate < below {
				s.Met, s.Unknown, s.Why = false, true, "p99<50ms: cannot tell, p99 needs 1,000 requests"
			}
			return s, err
		}
		return f
	}
	f := few(service(6400), 500)
	if err := f.Find(100); err != nil || f.Answer.Rate < 6000 || f.Answer.Rate > 6400 {
		t.Errorf("a service that holds 6,400/s: %+v, %v", f.Answer, err)
	}
	f = few(service(300), 250)
	if err := f.Find(100); err != nil || f.Answer.Rate != 0 || f.Answer.TooFar == 0 || !strings.Contains(report.SearchText(f, "p99<50ms", time.Second), "Cannot tell: at 400/s it does not meet p99<50ms, and at 200/s a step was inconclusive") {
		t.Errorf("between what cannot be told and what is too much: %+v, %v: %s", f.Answer, err, report.SearchText(f, "p99<50ms", time.Second))
	}
	f = few(service(1e6), 1e9)
	if err := f.Find(100); err != nil || f.Answer.Rate != 0 || len(f.Trials) > 16 || !strings.Contains(report.SearchText(f, "p99<50ms", time.Second), "Cannot tell whether") {
		t.Errorf("nothing can be told: %+v, %d steps, %v", f.Answer, len(f.Trials), err)
	}
}

func TestStepLength(t *testing.T) {
	wanted, err := loadlog.ParseConditions("p99<50ms,errors<1%")
	if err != nil {
		t.Fatal(err)
	}
	for rate, want := range map[float64]time.Duration{100: 11010 * time.Millisecond, 1e4: time.Second, 1: time.Minute} {
		if got := capacity.TrialLength(wanted, rate, time.Second); got != want {
			t.Errorf("at %v/s a step takes %v, want %v", rate, got, want)
		}
	}
	if got := capacity.TrialLength(wanted, 1, 2*time.Minute); got != 2*time.Minute {
		t.Errorf("steps of two minutes take %v", got)
	}
}

// TestStepOf tells what is not met from what cannot be told.
func TestStepOf(t *testing.T) {
	l := loadlogtest.Log("begin service late\n3× 0s 1ms 0s")
	l.Wanted = "p99<50ms"
	if s := capacity.TrialOf(l.Summary(), 1); s.Met || !s.Unknown || !strings.Contains(s.Why, "p99 needs 1,000 requests") {
		t.Errorf("three answers: %+v", s)
	}
	l = loadlogtest.Log("begin service late\n1000× 0s 1ms 0s")
	l.Wanted = "p99<50ms"
	if s := capacity.TrialOf(l.Summary(), 1); !s.Met || s.Unknown {
		t.Errorf("a thousand answers: %+v", s)
	}
	l.Unsent = 200
	if s := capacity.TrialOf(l.Summary(), 1); s.Met || s.Unknown || s.P99.String() != "never" || !strings.Contains(s.Why, "1,000 of 1,200 requests were answered") {
		t.Errorf("a sixth unsent: %+v", s)
	}
}
