package fleet_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"loupe/format/profile"
	"loupe/internal/long"
	"loupe/store"
	"loupe/store/storetest"
	"loupe/value/stack"
	"loupe/web"
	"loupe/web/fleet"
)

// deployed is a service of which a new version appears in a generated store.
type deployed struct {
	seed uint64
	// change is what each function takes in the new version, as a factor.
	change func(function int) float64
	// beside tells that the new version runs on one of two pods, for an hour beside the old one; otherwise it
	// takes the place of the old one on both, at one o'clock.
	beside bool
	label  string
	length time.Duration // of the new version
}

// some are so many functions, of which the first take most: f0 takes 9 % of everything.
const some = 60

// pages fills a store with CPU profiles of ten seconds in each fifteen. The load wanders, and so does what each function
// takes of it, with a memory of a minute.
func (d deployed) pages(t *testing.T) *fleet.Pages {
	t.Helper()
	r := rand.New(rand.NewPCG(d.seed, 42))
	engine := storetest.NewMemory()
	types := []store.Type{
		{Name: "process_cpu", Sample: "samples", Unit: "count", Period: "cpu", PeriodUnit: "nanoseconds"},
		{Name: "process_cpu", Sample: "cpu", Unit: "nanoseconds", Period: "cpu", PeriodUnit: "nanoseconds"},
	}
	var weight [some]float64
	sum := 0.0
	for i := range weight {
		weight[i] = 1 / float64(i+4)
		sum += weight[i]
	}
	keep := math.Exp(-15.0 / 60)
	change := noon.Add(time.Hour)
	for n, pod := range []string{"a", "b"} {
		var wander [some + 1]float64
		for at := noon; at.Before(change.Add(d.length)); at = at.Add(15 * time.Second) {
			isNew := !at.Before(change) && (!d.beside || n == 1)
			p := &profile.Profile{SampleTypes: []profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}}, Stacks: new(stack.Table), Values: make([][]int64, 2)}
			for i := range wander {
				wander[i] = keep*wander[i] + math.Sqrt(1-keep*keep)*r.NormFloat64()
			}
			for i := range some {
				rate := 1500 * weight[i] / sum * math.Exp(0.2*wander[some]+0.025*wander[i])
				if isNew && d.change != nil {
					rate *= d.change(i)
				}
				n := max(0, int64(math.Round(rate+math.Sqrt(rate)*r.NormFloat64())))
				name := fmt.Sprint("main.f", i)
				leaf := p.Stacks.InternFrame(stack.Frame{Func: name, System: name, File: "main.go", Line: i + 1})
				root := p.Stacks.InternFrame(stack.Frame{Func: "main.main", System: "main.main", File: "main.go", Line: 1000})
				p.StackIDs = append(p.StackIDs, p.Stacks.Intern([]stack.FrameID{leaf, root}))
				p.Values[0], p.Values[1] = append(p.Values[0], n), append(p.Values[1], n*1e7)
			}
			version := "v1.41"
			if isNew {
				version = "v1.42"
			}
			err := engine.Write(t.Context(), []*store.Profile{{Labels: store.LabelsOf(store.ServiceLabel, "shop", "pod", pod, d.label, version), Time: at, Duration: 10 * time.Second, Types: types, Samples: p}})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return fleet.NewPages(engine, fleet.PageOptions{Now: func() time.Time { return change.Add(d.length) }})
}

// judged is the release that the pages tell of.
func (d deployed) judged(t *testing.T) web.FleetRelease {
	t.Helper()
	if d.label == "" {
		d.label = store.VersionLabel
	}
	if d.length == 0 {
		d.length = time.Hour
	}
	got, err := d.pages(t).Regressions(t.Context(), web.FleetQuestion{Last: d.length + 5*time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Releases) != 1 || got.Services != 1 || got.Of != "all CPU" {
		t.Fatalf("%+v", got)
	}
	r := got.Releases[0]
	if r.Service != "shop" || r.Label != d.label || r.Old != "v1.41" || r.New != "v1.42" || r.At != noon.Add(time.Hour).UnixMilli() || r.Beside != d.beside {
		t.Fatalf("%+v", r)
	}
	return r
}

// only changes one function.
func only(function int, factor float64) func(int) float64 {
	return func(i int) float64 {
		if i == function {
			return factor
		}
		return 1
	}
}

// rounds is how often something is tried.
func rounds() int {
	if long.Wanted() {
		return 40
	}
	return 8
}

// TestRegressionsSame: a new version in which nothing has changed has no regressions: of all functions at most
// 5 % are told, before and after as well as beside each other, in an hour and in a quarter of one.
func TestRegressionsSame(t *testing.T) {
	for name, d := range map[string]deployed{"after": {}, "beside": {beside: true}, "short": {length: 18 * time.Minute}} {
		t.Run(name, func(t *testing.T) {
			judged, wrong, told := 0, 0, 0
			for seed := range rounds() {
				d.seed = uint64(seed)
				r := d.judged(t)
				judged += r.Judged
				n := len(r.More) + len(r.Less) + r.Others
				wrong += n
				if n > 0 {
					told++
				}
			}
			t.Logf("%d of %d functions differ by chance, in %d of %d releases", wrong, judged, told, rounds())
			if judged < some*rounds()*9/10 {
				t.Errorf("%d of %d functions were judged", judged, some*rounds())
			}
			if float64(wrong) > 0.05*float64(judged) {
				t.Errorf("%d of %d functions of the same program are told to differ", wrong, judged)
			}
			if float64(told) > 0.2*float64(rounds()) {
				t.Errorf("%d of %d releases without a change are told to have one", told, rounds())
			}
		})
	}
}

// TestRegressionsPlanted: 3 % more of one function, which takes 9 % of everything, is found within an hour of two pods, and
// 5 % where either version has one;
// its interval has the truth as often as it says.
func TestRegressionsPlanted(t *testing.T) {
	for name, d := range map[string]deployed{"after": {change: only(0, 1.03)}, "beside": {change: only(0, 1.05), beside: true}} {
		t.Run(name, func(t *testing.T) {
			found, others, held := 0, 0, 0
			for seed := range rounds() {
				d.seed = uint64(seed) + 1000
				r := d.judged(t)
				for _, c := range r.More {
					if c.Function != "main.f0" {
						others++
						continue
					}
					found++
					if truth := (d.change(0) - 1) * c.Old; c.Low <= truth && truth <= c.High {
						held++
					}
				}
				others += len(r.Less)
			}
			t.Logf("found in %d of %d, the interval holds in %d, and %d other functions are told", found, rounds(), held, others)
			if float64(found) < 0.8*float64(rounds()) {
				t.Errorf("%.0f %% more of one function were found in %d of %d hours", 100*(d.change(0)-1), found, rounds())
			}
			if float64(held) < 0.8*float64(found) {
				t.Errorf("%d of %d intervals have the truth", held, found)
			}
			if float64(others) > 0.05*float64(some*rounds()) {
				t.Errorf("%d other functions are told", others)
			}
		})
	}
}

// TestRegressionsMuchLess: where a version does half of the work of its largest functions, the shares of all others
// grow; that is no regression of theirs.
func TestRegressionsMuchLess(t *testing.T) {
	found, wrong := 0, 0
	for seed := range rounds() {
		r := deployed{seed: uint64(seed) + 2000, change: func(i int) float64 {
			if i < 2 {
				return 0.5
			}
			return 1
		}}.judged(t)
		wrong += len(r.More)
		for _, c := range r.Less {
			if (c.Function == "main.f0" || c.Function == "main.f1") && math.Abs(c.Change+0.5*c.Old) < 0.1*c.Old {
				found++
			} else {
				wrong++
			}
		}
	}
	if found != 2*rounds() || float64(wrong) > 0.05*float64(some*rounds()) {
		t.Errorf("%d of %d functions that take half are found, and %d others told", found, 2*rounds(), wrong)
	}
}

// TestRegressionsLittle: what was only begun is not judged, versions may be told by their builds, and
// without a new one there is nothing.
func TestRegressionsLittle(t *testing.T) {
	r := deployed{length: 8 * time.Minute, change: only(0, 3)}.judged(t)
	if r.Note != "Too little data: less than 15 minutes with profiles of v1.42." || len(r.More) > 0 {
		t.Errorf("%+v", r)
	}
	r = deployed{length: 8 * time.Minute, beside: true}.judged(t)
	if r.Note != "Too little data: less than 15 minutes with profiles of both versions side by side." {
		t.Errorf("%+v", r)
	}
	r = deployed{label: store.BuildLabel, change: only(0, 2)}.judged(t)
	if len(r.More) != 1 || r.More[0].Function != "main.f0" || !strings.HasPrefix(r.More[0].Shown, "+") || !strings.Contains(r.Note, "the mix of requests may have changed") {
		t.Errorf("%+v", r)
	}
	pages := deployed{label: store.VersionLabel, length: time.Hour}.pages(t)
	for _, q := range []web.FleetQuestion{
		{From: noon, Until: noon.Add(50 * time.Minute)},                        // one version alone
		{From: noon.Add(70 * time.Minute), Until: noon.Add(2 * time.Hour)},     // it was there before
		{From: noon.Add(-2 * time.Hour), Until: noon.Add(-time.Hour)},          // nothing
		{Last: time.Hour, Select: `{service_name="other"}`},                    // nobody
		{From: noon.Add(-50 * time.Minute), Until: noon.Add(20 * time.Minute)}, // the first that there ever was
	} {
		if got, err := pages.Regressions(t.Context(), q); err != nil || len(got.Releases) != 0 {
			t.Errorf("%+v: %+v, %v", q, got, err)
		}
	}
	if _, err := pages.Regressions(t.Context(), web.FleetQuestion{Last: time.Hour, Type: "inuse_space"}); err == nil {
		t.Error("no error of a type that there is not")
	}
}
