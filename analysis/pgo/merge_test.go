package pgo_test

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"loupe/analysis/pgo"
	"loupe/format/profile"
	"loupe/value/stack"
)

// pod is a profile of a process that was recorded for so long and has so many samples in
// one call.
func pod(callee string, samples int64, length time.Duration) *profile.Profile {
	p := made([]int64{samples}, []stack.Frame{at(callee, 12, 1, false), at("serve", 11, 2, false)})
	p.Duration, p.Time = length, time.Unix(int64(samples), 0)
	return p
}

// TestMerge: an hour of one pod and a minute of another, which is twice as busy.
func TestMerge(t *testing.T) {
	hour, minute := pod("a", 36000, time.Hour), pod("b", 1200, time.Minute)
	f := func(how pgo.Weighing, weight, a float64) *profile.Profile {
		t.Helper()
		p, parts, err := pgo.Merge([]pgo.Source{{Name: "hour", Profile: hour, Weight: weight}, {Name: "minute", Profile: minute, Weight: 1}}, how, true)
		if err != nil {
			t.Fatal(err)
		}
		calls, err := pgo.CallsOf(p)
		if err != nil {
			t.Fatal(err)
		}
		got := float64(calls.Weight[pgo.Call{Caller: "serve", Callee: "a", Offset: 1}]) / float64(calls.Total)
		if math.Abs(got-a) > 1e-6 || math.Abs(parts[0].Share-a) > 1e-6 {
			t.Errorf("%s, %v: the hour counts %v (said: %v), want %v", how, weight, got, parts[0].Share, a)
		}
		return p
	}
	f(pgo.BySum, 1, 36000./37200)
	f(pgo.BySum, 2, 72000./73200)
	f(pgo.Equally, 1, 0.5)
	p := f(pgo.ByRate, 1, 1./3) // 10 samples a second against 20
	if p.Duration != time.Hour+time.Minute || !p.Time.Equal(minute.Time) {
		t.Errorf("%v, %v", p.Duration, p.Time)
	}
	minute.Duration = 0
	if _, _, err := pgo.Merge([]pgo.Source{{Name: "a", Profile: hour, Weight: 1}, {Name: "b", Profile: minute, Weight: 1}}, pgo.ByRate, true); !errors.Is(err, pgo.ErrNoDuration) {
		t.Error(err)
	}
}

// TestMergeSums: without factors it is what go tool pprof -proto and the compiler's tool make of
// both, sample by sample.
func TestMergeSums(t *testing.T) {
	a, b := pod("a", 3, time.Second), pod("a", 4, time.Second)
	sum, _, err := pgo.Merge([]pgo.Source{{Name: "a", Profile: a, Weight: 1}, {Name: "b", Profile: b, Weight: 1}}, pgo.ByRate, false)
	if err != nil {
		t.Fatal(err)
	}
	both, err := profile.Merge(a, b)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := preprofile(t, encoded(t, sum)), preprofile(t, encoded(t, both)); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if sum.SampleTypes[0].Type != "samples" || sum.Stacks.Frame(0).File == "" {
		t.Errorf("%v, %+v: whole stacks are kept", sum.SampleTypes, sum.Stacks.Frame(0))
	}
}

// TestMergePeriods: samples of different lengths are added by their CPU time.
func TestMergePeriods(t *testing.T) {
	a, b := pod("a", 10, time.Second), pod("b", 10, time.Second)
	for _, p := range []*profile.Profile{a, b} {
		p.SampleTypes, p.Values = p.SampleTypes[:1], p.Values[:1]
	}
	b.Period *= 3
	p, _, err := pgo.Merge([]pgo.Source{{Name: "a", Profile: a, Weight: 1}, {Name: "b", Profile: b, Weight: 1}}, pgo.BySum, true)
	if err != nil {
		t.Fatal(err)
	}
	if p.SampleTypes[0].Type != "cpu" || p.Values[0][0] != 3*p.Values[0][1] {
		t.Errorf("%v %v", p.SampleTypes, p.Values)
	}
	b.PeriodType = profile.ValueType{}
	if _, _, err = pgo.Merge([]pgo.Source{{Name: "a", Profile: a, Weight: 1}, {Name: "b", Profile: b, Weight: 1}}, pgo.BySum, true); err == nil {
		t.Error("nobody knows how long a sample of b is")
	}
}

// TestNoted: what is known of the program stays with its profile, also when it is trimmed and
// merged.
func TestNoted(t *testing.T) {
	built := []string{"go1.26"}
	a := pgo.Note(pod("a", 1, time.Second), pgo.Origin{Revisions: []string{"abc"}, Edited: []string{""}, Go: built})
	b := pgo.Note(pod("b", 1, time.Second), pgo.Origin{Revisions: []string{"def"}, Edited: []string{"def"}, Go: built})
	p, _, err := pgo.Merge([]pgo.Source{{Name: "a", Profile: a, Weight: 1}, {Name: "b", Profile: b, Weight: 1}}, pgo.BySum, true)
	if err != nil {
		t.Fatal(err)
	}
	if p, err = profile.Decode(encoded(t, p), profile.Options{}); err != nil {
		t.Fatal(err)
	}
	o := pgo.Noted(p)
	if !slices.Equal(o.Revisions, []string{"abc", "def"}) || !slices.Equal(o.Edited, []string{"def"}) || !slices.Equal(o.Go, built) {
		t.Errorf("%+v", o)
	}
}
