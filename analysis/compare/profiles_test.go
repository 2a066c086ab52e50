package compare_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"loupe/analysis/compare"
	"loupe/format/profile"
	"loupe/format/profile/profiletest"
)

func decode(t *testing.T, picture string, opt profiletest.Options) *profile.Profile {
	t.Helper()
	p, err := profile.Decode(profiletest.Encode(picture, opt), profile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// cpu is a CPU profile of a picture, which gives the samples; each is 10 ms.
func cpu(t *testing.T, seconds int, picture string) *profile.Profile {
	t.Helper()
	var rows []string
	for _, line := range strings.Split(picture, "\n") {
		rows = append(rows, line)
		if counts, ok := strings.CutPrefix(strings.TrimSpace(line), "="); ok {
			var ns []string
			for _, n := range strings.Fields(counts) {
				ns = append(ns, n+"0000000")
			}
			rows = append(rows, "= "+strings.Join(ns, " "))
		}
	}
	return decode(t, strings.Join(rows, "\n"), profiletest.Options{
		Types: []string{"samples/count", "cpu/nanoseconds"}, Duration: time.Duration(seconds) * time.Second,
	})
}

func difference(t *testing.T, a, b []*profile.Profile, opt compare.ProfileOptions) *compare.ProfileDiff {
	t.Helper()
	d, err := compare.Profiles(a, b, opt)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func row(t *testing.T, d *compare.ProfileDiff, name string) *compare.ProfileRow {
	t.Helper()
	i := slices.IndexFunc(d.Rows, func(r compare.ProfileRow) bool { return r.Name == name })
	if i < 0 {
		t.Fatalf("there is no row %s", name)
	}
	return &d.Rows[i]
}

// before and after differ in main.find, which calls main.compile only after.
const (
	before = `
		main.main main.main  main.main
		main.find main.parse main.old
		= 100     300        30`
	after = `
		main.main main.main    main.main
		main.find main.find    main.parse
		-         main.compile
		= 110     200          310`
)

func one(p *profile.Profile) []*profile.Profile { return []*profile.Profile{p} }

func TestProfilesBySamples(t *testing.T) {
	a := cpu(t, 10, before)
	b := cpu(t, 10, strings.ReplaceAll(after, "-         main.compile", "          main.compile"))
	d := difference(t, one(a), one(b), compare.ProfileOptions{})
	if d.Type.Type != "cpu" || d.Doubt != compare.FromSamples || d.A.Samples != 430 || d.B.Total != 6.2e9 {
		t.Fatalf("%+v", d)
	}
	f := func(name string, flatA, flatB, cumA, cumB float64, want compare.Significance, isNew, gone bool) {
		t.Helper()
		r := row(t, d, name)
		const each = 1e7
		if r.Flat.A != flatA*each || r.Flat.B != flatB*each || r.Cum.A != cumA*each || r.Cum.B != cumB*each || r.Flat.Significance != want {
			t.Errorf("%s: %+v", name, r)
		}
		if r.New() != isNew || r.Gone() != gone {
			t.Errorf("%s: new is %v, gone is %v", name, r.New(), r.Gone())
		}
		if r.Flat.SamplesA != flatA || r.Cum.SamplesB != cumB {
			t.Errorf("%s: samples %g and %g", name, r.Flat.SamplesA, r.Cum.SamplesB)
		}
	}
	f("main.compile", 0, 200, 0, 200, compare.Grew, true, false)
	f("main.find", 100, 110, 100, 310, compare.NoDifference, false, false)
	f("main.old", 30, 0, 30, 0, compare.Shrank, false, true)
	f("main.parse", 300, 310, 300, 310, compare.NoDifference, false, false)
	f("main.main", 0, 0, 430, 620, compare.TooLittle, false, false)
	if got := row(t, d, "main.find").Cum.Significance; got != compare.Grew {
		t.Errorf("main.find with what it calls: %s", got)
	}
	if d.Rows[0].Name != "main.compile" || d.Rows[1].Name != "main.old" || d.Judged != 4 {
		t.Errorf("rows begin with %s and %s, %d judged", d.Rows[0].Name, d.Rows[1].Name, d.Judged)
	}
	// 200 samples of nothing: about ±28 of them.
	if i := row(t, d, "main.compile").Flat.Difference; i.Low < 1.6e9 || i.Low > 1.8e9 || i.High < 2.2e9 || i.High > 2.4e9 {
		t.Errorf("interval %+v", i)
	}
	if d.Total.Significance != compare.Grew || !d.GrewBeyond(0.4) || d.GrewBeyond(0.5) {
		t.Errorf("total %+v", d.Total)
	}
	checkPaths(t, d, "main.main main.find main.compile 2e+09", "main.main main.old -3e+08")
	if d.Rest != 2e8 {
		t.Errorf("rest %g, want 2e8", d.Rest)
	}
}

func checkPaths(t *testing.T, d *compare.ProfileDiff, want ...string) {
	t.Helper()
	var got []string
	for _, p := range d.Paths {
		got = append(got, fmt.Sprintf("%s %g", strings.Join(p.Path, " "), p.Difference.Estimate))
	}
	if !slices.Equal(got, want) {
		t.Errorf("paths\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// Twice the load for twice the time is no difference, once it is normalised.
func TestProfilesNormalised(t *testing.T) {
	a := cpu(t, 10, "main.f main.g\n= 100 400")
	b := cpu(t, 20, "main.f main.g\n= 200 800")
	f := func(opt compare.ProfileOptions, basis string, wantA, wantB float64) {
		t.Helper()
		d := difference(t, one(a), one(b), opt)
		r := row(t, d, "main.f")
		if d.Basis != basis || math.Abs(r.Flat.A-wantA) > 1e-9*wantA || math.Abs(r.Flat.B-wantB) > 1e-9*wantB {
			t.Errorf("%+v: %s, %g and %g, want %g and %g", opt, d.Basis, r.Flat.A, r.Flat.B, wantA, wantB)
		}
		if wantA == wantB != (r.Flat.Significance == compare.NoDifference) {
			t.Errorf("%+v: %s", opt, r.Flat.Significance)
		}
	}
	f(compare.ProfileOptions{}, "", 1e9, 2e9)
	f(compare.ProfileOptions{Per: "none"}, "", 1e9, 2e9)
	f(compare.ProfileOptions{Per: "second"}, "second", 1e8, 1e8)
	f(compare.ProfileOptions{Per: "sample"}, "sample", 2e6, 2e6)
	f(compare.ProfileOptions{Per: "samples"}, "samples", 2e6, 2e6)
	f(compare.ProfileOptions{Normalize: true}, "total", 1e9, 1e9)
	f(compare.ProfileOptions{Share: true}, "share", 0.2, 0.2)
	f(compare.ProfileOptions{Divide: [2][]float64{{1000}, {2000}}}, "given", 1e6, 1e6)
	f(compare.ProfileOptions{Divide: [2][]float64{{1000}, {1000}}}, "given", 1e6, 2e6)
	d := difference(t, one(a), one(b), compare.ProfileOptions{})
	if len(d.Notes) == 0 || !strings.Contains(d.Notes[0], "different durations") {
		t.Errorf("notes %q do not tell of the durations", d.Notes)
	}
}

func TestProfilesGrouped(t *testing.T) {
	const a = `
		app/x.Sum[go.shape.int]:a.go:3 app/x.Sum[go.shape.string]:a.go:4 app/y.Run:b.go:7
		= 100 50 70
		@ tenant=red tenant=blue size=64`
	p := decode(t, a, profiletest.Options{})
	f := func(by string, fold bool, want ...string) {
		t.Helper()
		g, err := compare.ParseGrouping(by)
		if err != nil {
			t.Fatal(err)
		}
		d := difference(t, one(p), one(p), compare.ProfileOptions{By: g, FoldGenerics: fold})
		var got []string
		for _, r := range d.Rows {
			got = append(got, fmt.Sprintf("%s=%g", r.Name, r.Flat.B))
		}
		slices.Sort(got)
		if !slices.Equal(got, want) || g.String() != by {
			t.Errorf("-by %s: %q, want %q", by, got, want)
		}
	}
	f("function", false, "app/x.Sum[go.shape.int]=100", "app/x.Sum[go.shape.string]=50", "app/y.Run=70")
	f("function", true, "app/x.Sum[...]=150", "app/y.Run=70")
	f("package", false, "app/x=150", "app/y=70")
	f("file", false, "a.go=150", "b.go=70")
	f("line", true, "app/x.Sum[...] a.go:3=100", "app/x.Sum[...] a.go:4=50", "app/y.Run b.go:7=70")
	f("label:tenant", false, "(no tenant)=70", "blue=50", "red=100")
	f("label:size", false, "(no size)=150", "64=70")
	for _, bad := range []string{"label:", "colour"} {
		if _, err := compare.ParseGrouping(bad); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

// What the profiles do not tell is not made up.
func TestProfilesUnfounded(t *testing.T) {
	a := decode(t, "main.f main.g\n= 10 20\n= 1000 2000", profiletest.Options{Types: []string{"contentions/count", "delay/nanoseconds"}})
	b := decode(t, "main.f main.g\n= 40 20\n= 9000 2000", profiletest.Options{Types: []string{"contentions/count", "delay/nanoseconds"}})
	d := difference(t, one(a), one(b), compare.ProfileOptions{})
	r := row(t, d, "main.f")
	if d.Doubt != compare.Unfounded || r.Flat.Significance != compare.Untold || !math.IsNaN(r.Flat.Difference.Low) || !math.IsNaN(r.Flat.SamplesA) || !math.IsNaN(r.Flat.P) {
		t.Errorf("%s: %+v", d.Doubt, r)
	}
	if d.Rows[0].Name != "main.f" || d.GrewBeyond(0) {
		t.Errorf("first %s", d.Rows[0].Name)
	}
	checkPaths(t, d, "main.f 8000")
	// With several on both sides it is known after all.
	scaled := func(p *profile.Profile, ratios ...float64) (out []*profile.Profile) {
		for _, x := range ratios {
			out = append(out, p.Scale(x, x))
		}
		return out
	}
	d = difference(t, scaled(a, 1, 1.1, 0.9, 1), scaled(b, 1, 1.1, 0.9, 1.05), compare.ProfileOptions{})
	if d.Doubt != compare.FromRuns || row(t, d, "main.f").Flat.Significance != compare.Grew || row(t, d, "main.g").Flat.Significance != compare.NoDifference {
		t.Errorf("several: %s, %+v", d.Doubt, d.Rows)
	}
	if d = difference(t, scaled(a, 1, 1.1), one(b), compare.ProfileOptions{}); d.Doubt != compare.Unfounded || len(d.Notes) == 0 {
		t.Errorf("two against one: %s, notes %q", d.Doubt, d.Notes)
	}
	counted := decode(t, "main.f\n= 10", profiletest.Options{Types: []string{"goroutine/count"}})
	if d = difference(t, one(counted), one(counted), compare.ProfileOptions{}); d.Doubt != compare.Unfounded || d.Sampling != profile.Exact {
		t.Errorf("goroutines: %s, %d", d.Doubt, d.Sampling)
	}
}

func TestProfilesWrong(t *testing.T) {
	cpuA := cpu(t, 10, "main.f\n= 100")
	timeless := cpu(t, 0, "main.f\n= 100")
	heap := decode(t, "main.f\n= 1\n= 64", profiletest.Options{Types: []string{"alloc_objects/count", "alloc_space/bytes"}, Period: 512 << 10})
	none := cpu(t, 10, "main.f\n= 0")
	f := func(a, b *profile.Profile, opt compare.ProfileOptions, incomparable bool, want string) {
		t.Helper()
		_, err := compare.Profiles(one(a), one(b), opt)
		if err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, compare.ErrIncomparable) != incomparable {
			t.Errorf("error %v, want %q (incomparable: %v)", err, want, incomparable)
		}
	}
	f(cpuA, heap, compare.ProfileOptions{}, true, "no sample type in common")
	f(cpuA, timeless, compare.ProfileOptions{Per: "second"}, true, "profile B has no duration")
	f(none, none, compare.ProfileOptions{}, true, "no cpu/nanoseconds")
	f(none, cpuA, compare.ProfileOptions{Normalize: true}, true, "zero")
	f(cpuA, cpuA, compare.ProfileOptions{SampleIndex: "heap"}, false, "heap")
	f(cpuA, cpuA, compare.ProfileOptions{Per: "apple"}, false, "apple")
	f(cpuA, cpuA, compare.ProfileOptions{Per: "second", Share: true}, false, "two ways")
	f(cpuA, cpuA, compare.ProfileOptions{Divide: [2][]float64{{1, 2}, {1}}}, false, "2 numbers")
	f(cpuA, cpuA, compare.ProfileOptions{Divide: [2][]float64{{1}, {-1}}}, false, "-1")
	if _, err := compare.Profiles(nil, one(cpuA), compare.ProfileOptions{}); !errors.Is(err, compare.ErrIncomparable) {
		t.Errorf("no profile: %v", err)
	}
}

// simulated draws a CPU profile of a program with many functions, each of which
// has as many samples as chance wills (and as the machine is fast in this run).
func simulated(t *testing.T, r *rand.Rand, means []float64, overdispersion float64) *profile.Profile {
	t.Helper()
	var names, counts []string
	for i, mean := range means {
		mean *= math.Exp(overdispersion * r.NormFloat64())
		names = append(names, fmt.Sprintf("main.f%d", i))
		counts = append(counts, fmt.Sprint(poisson(r, mean)))
	}
	return cpu(t, 10, strings.Join(names, " ")+"\n= "+strings.Join(counts, " "))
}

// poisson draws from the distribution of that name by the waiting times.
func poisson(r *rand.Rand, mean float64) (n int) {
	for at := r.ExpFloat64(); at < mean; at += r.ExpFloat64() {
		n++
	}
	return n
}

// TestProfilesFalseAlarms looks at pairs of profiles between which nothing has
// changed. Of single rows 5 % may have a p below 0.05; of whole comparisons 5 %
// may name a row at all. The bounds leave room for the few pairs of a test:
// of 1,000 pairs 4.9 and 5.0 % of the rows, 5.9 and 6.3 % of the comparisons did.
func TestProfilesFalseAlarms(t *testing.T) {
	means := make([]float64, 40)
	for i := range means {
		means[i] = 12 + 6*float64(i)
	}
	f := func(name string, pairs, runs int, opt compare.ProfileOptions, spread float64) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(7, uint64(runs)))
			looks, below, covered, alarms := 0, 0, 0, 0
			for range pairs {
				var a, b []*profile.Profile
				for range runs {
					a, b = append(a, simulated(t, r, means, spread)), append(b, simulated(t, r, means, spread))
				}
				d := difference(t, a, b, opt)
				alarm := false
				for i := range d.Rows {
					x := &d.Rows[i].Flat
					alarm = alarm || x.Significance.Beyond()
					if math.IsNaN(x.P) {
						continue
					}
					looks++
					if x.P < 0.05 {
						below++
					}
					if x.Difference.Contains(0) {
						covered++
					}
				}
				if alarm {
					alarms++
				}
			}
			t.Logf("of %d looks %.1f%% below 0.05, %.1f%% of the intervals hold 0, %.1f%% of %d comparisons with an alarm", looks,
				100*float64(below)/float64(looks), 100*float64(covered)/float64(looks), 100*float64(alarms)/float64(pairs), pairs)
			if share := float64(below) / float64(looks); share > 0.065 {
				t.Errorf("%.3f of the rows have p below 0.05", share)
			}
			if share := float64(covered) / float64(looks); share < 0.935 {
				t.Errorf("%.3f of the intervals hold the truth", share)
			}
			if share := float64(alarms) / float64(pairs); share > 0.1 {
				t.Errorf("%.3f of the comparisons raise an alarm", share)
			}
		})
	}
	f("one against one", 200, 1, compare.ProfileOptions{}, 0)
	f("one against one, shares", 200, 1, compare.ProfileOptions{Share: true}, 0)
	f("three against three", 60, 3, compare.ProfileOptions{}, 0.1)
	f("five against five", 50, 5, compare.ProfileOptions{Share: true}, 0.1)
	f("five against five, equal runs", 50, 5, compare.ProfileOptions{}, 0)
}

// TestProfilesPower looks for a change that is there: one function of forty got
// slower, and a new one came, in runs that differ from each other by a tenth.
func TestProfilesPower(t *testing.T) {
	t.Parallel()
	means := make([]float64, 40)
	for i := range means {
		means[i] = 12 + 6*float64(i)
	}
	slower := append(slices.Clone(means), 15)
	slower[20] *= 1.5
	for _, runs := range []int{3, 5} {
		r := rand.New(rand.NewPCG(11, uint64(runs)))
		const trials = 30
		grown, came, others := 0, 0, 0
		for range trials {
			var a, b []*profile.Profile
			for range runs {
				a, b = append(a, simulated(t, r, means, 0.1)), append(b, simulated(t, r, slower, 0.1))
			}
			d := difference(t, a, b, compare.ProfileOptions{})
			for i := range d.Rows {
				switch x := &d.Rows[i]; {
				case !x.Flat.Significance.Beyond():
				case x.Name == "main.f20":
					grown++
				case x.Name == "main.f40":
					came++
				default:
					others++
				}
			}
		}
		t.Logf("%d runs a side: of %d trials the slower function is found in %d, the new one in %d, %d others", runs, trials, grown, came, others)
		if grown < trials*runs/8 || came < trials*8/10 || others > trials/4 {
			t.Errorf("%d runs a side: found %d and %d of %d, and %d others", runs, grown, came, trials, others)
		}
	}
}

// Runs that are the same to the last digit do not make a difference either.
func TestProfilesEqualRuns(t *testing.T) {
	same := cpu(t, 10, before)
	d := difference(t, []*profile.Profile{same, same, same}, []*profile.Profile{same, same, same}, compare.ProfileOptions{})
	for _, r := range d.Rows {
		if r.Flat.Significance.Beyond() {
			t.Errorf("equal runs: %+v", r)
		}
	}
}
