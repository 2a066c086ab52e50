package fleet_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"loupe/analysis/compare"
	"loupe/format/profile"
	"loupe/store"
	"loupe/store/storetest"
	"loupe/value/stack"
	"loupe/web/fleet"
)

// served fills a store with two hours of a service on two pods, ten seconds of CPU profile in each
// fifteen. The load wanders, and so does what each of twenty functions takes of it, with a memory
// of a minute; in the second hour the first function takes more by a share.
func served(t *testing.T, seed uint64, more float64) *fleet.Pages {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 18))
	engine := storetest.NewMemory()
	const functions = 20
	types := []store.Type{
		{Name: "process_cpu", Sample: "samples", Unit: "count", Period: "cpu", PeriodUnit: "nanoseconds"},
		{Name: "process_cpu", Sample: "cpu", Unit: "nanoseconds", Period: "cpu", PeriodUnit: "nanoseconds"},
	}
	keep := math.Exp(-15.0 / 60)
	for _, pod := range []string{"a", "b"} {
		var wander [functions + 1]float64
		for at := noon; at.Before(noon.Add(2 * time.Hour)); at = at.Add(15 * time.Second) {
			p := &profile.Profile{SampleTypes: []profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}}, Stacks: new(stack.Table), Values: make([][]int64, 2)}
			for i := range wander {
				wander[i] = keep*wander[i] + math.Sqrt(1-keep*keep)*r.NormFloat64()
			}
			for i := range functions {
				rate := 1500 / float64(functions) * math.Exp(0.2*wander[functions]+0.025*wander[i])
				if i == 0 {
					rate *= 2
					if !at.Before(noon.Add(time.Hour)) {
						rate *= 1 + more
					}
				}
				n := int64(math.Round(rate + math.Sqrt(rate)*r.NormFloat64()))
				name := fmt.Sprint("main.f", i)
				p.StackIDs = append(p.StackIDs, p.Stacks.Intern([]stack.FrameID{p.Stacks.InternFrame(stack.Frame{Func: name, System: name, File: "main.go", Line: i + 1})}))
				p.Values[0], p.Values[1] = append(p.Values[0], max(n, 0)), append(p.Values[1], max(n, 0)*1e7)
			}
			err := engine.Write(t.Context(), []*store.Profile{{Labels: store.LabelsOf(store.ServiceLabel, "shop", "pod", pod), Time: at, Duration: 10 * time.Second, Types: types, Samples: p}})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return fleet.NewPages(engine, fleet.PageOptions{})
}

// compared holds the second hour against the first as the pages do: what of a difference is
// more than chance follows from the stretches of both.
func compared(t *testing.T, pages *fleet.Pages) *compare.ProfileDiff {
	t.Helper()
	var sides [2][]*profile.Profile
	for i := range sides {
		from := noon.Add(time.Duration(i) * time.Hour)
		src, err := pages.Source(fmt.Sprintf("query=%%7B%%7D&from=%d&until=%d", from.UnixMilli(), from.Add(time.Hour).UnixMilli()))
		if err != nil {
			t.Fatal(err)
		}
		o, err := src.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if sides[i], err = o.Parts(t.Context(), o.Files[0].Name); err != nil {
			t.Fatal(err)
		}
		whole, err := o.Session.ProfileAt(o.Files[0].Name)
		if err != nil {
			t.Fatal(err)
		}
		sum, covered := int64(0), time.Duration(0)
		for _, p := range sides[i] {
			sum, covered = sum+p.Total(1), covered+p.Duration
		}
		if len(sides[i]) != 20 || sum != whole.Total(1) || covered != 2*240*10*time.Second || whole.Period != 1e7 {
			t.Fatalf("%d stretches have %d of %d ns in %v, and a sample is %d ns", len(sides[i]), sum, whole.Total(1), covered, whole.Period)
		}
	}
	d, err := compare.Profiles(sides[0], sides[1], compare.ProfileOptions{SampleIndex: "cpu", Normalize: true})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestStretches wants an hour against the same service in the next to differ in few functions, and 3 % more
// of one function to be found.
func TestStretches(t *testing.T) {
	const rounds = 40
	rows, wrong, found := 0, 0, 0
	for seed := range rounds {
		for _, r := range compared(t, served(t, uint64(seed), 0)).Rows {
			rows++
			if r.Flat.Significance.Beyond() {
				wrong++
			}
		}
		for _, r := range compared(t, served(t, uint64(seed), 0.03)).Rows {
			if r.Name == "main.f0" && r.Flat.Significance == compare.Grew {
				found++
			}
		}
	}
	t.Logf("%d of %d functions differ by chance; 3 %% more of one were found in %d of %d", wrong, rows, found, rounds)
	if float64(wrong) > 0.05*float64(rows) {
		t.Errorf("%d of %d functions of the same service are told to differ", wrong, rows)
	}
	if float64(found) < 0.8*float64(rounds) {
		t.Errorf("3 %% more of one function were found in %d of %d hours", found, rounds)
	}
}
