package plan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// all returns the turns of a part.
func all(p Plan, i, of int) (out []Turn) {
	turns := p.Part(i, of)
	for t, ok := turns.Next(); ok; t, ok = turns.Next() {
		out = append(out, t)
	}
	if _, ok := turns.Next(); ok {
		panic("a plan went on after its end")
	}
	return out
}

func constant(t testing.TB, rate float64, o Options) *Paced {
	t.Helper()
	p, err := Constant(rate, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func stages(t testing.TB, s string, o Options) *Paced {
	t.Helper()
	list, err := ParseStages(s)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Stages(list, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestConstant(t *testing.T) {
	f := func(rate float64, o Options, count int, last time.Duration) {
		t.Helper()
		p := constant(t, rate, o)
		turns := all(p, 0, 1)
		if len(turns) != count || turns[len(turns)-1].Due != last || turns[0].Due != 0 || int(p.Count()) != count {
			t.Errorf("%s %+v has %d (%d) turns from %v to %v, want %d to %v", p, o, len(turns), p.Count(), turns[0].Due, turns[len(turns)-1].Due, count, last)
		}
	}
	f(1000, Options{Requests: 3}, 3, 2*time.Millisecond)
	f(1000, Options{Duration: 10 * time.Second}, 10_000, 9999*time.Millisecond)
	f(3, Options{Duration: time.Second}, 3, 666666667)
	f(0.1, Options{Duration: time.Minute}, 6, 50*time.Second)
	f(7, Options{Duration: 10 * time.Second, Requests: 5}, 5, 571428571)
	f(7, Options{Duration: time.Second, Requests: 500}, 7, 857142857)
	p := constant(t, 5000, Options{Duration: 2 * time.Second})
	if p.String() != "5,000/s" || p.Peak() != 5000 || p.Length() != 2*time.Second {
		t.Errorf("%s, peak %v, length %v", p, p.Peak(), p.Length())
	}
	p = constant(t, 5000, Options{Arrival: Poisson})
	if p.String() != "5,000/s, Poisson arrivals" || p.Length() != 0 || p.Count() != 0 {
		t.Errorf("%s, length %v, count %d", p, p.Length(), p.Count())
	}
	if _, ok := p.Part(0, 1).Next(); !ok {
		t.Error("a plan without a bound has no turn")
	}
	for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1), 1e10} {
		if _, err := Constant(bad, Options{}); err == nil {
			t.Errorf("rate %v is taken", bad)
		}
	}
}

func TestStages(t *testing.T) {
	f := func(s string, count int, text string, at map[int]time.Duration) {
		t.Helper()
		p := stages(t, s, Options{})
		turns := all(p, 0, 1)
		if len(turns) != count || p.String() != text {
			t.Errorf("%s: %q has %d turns, want %d: %q", s, p, len(turns), count, text)
			return
		}
		for i, want := range at {
			if d := turns[i].Due - want; d < -time.Microsecond || d > time.Microsecond {
				t.Errorf("%s: turn %d is due at %v, want %v", s, i, turns[i].Due, want)
			}
		}
	}
	// 30 s to 1,000/s are 15,000, a minute to 5,000/s 180,000, 30 s to none 75,000.
	f("30s:1k,1m:5k,30s:0", 270_000, "0 to 5,000/s to 0/s in 3 stages, 2m0s", map[int]time.Duration{15_000: 30 * time.Second, 195_000: 90 * time.Second})
	f("10s:10", 50, "0 to 10.0/s, 10s", map[int]time.Duration{0: 0, 49: 9899494936})
	f("0:10,10s:10", 100, "10.0/s, 10s", map[int]time.Duration{99: 9900 * time.Millisecond})
	// A hold, a pause, a jump back: the request that is due when the pause
	// begins waits for its end.
	f("0:10,10s:10,0:0,10s:0,0:10,1s:10", 110, "10.0/s in 3 stages, 21s", map[int]time.Duration{99: 9900 * time.Millisecond, 100: 20 * time.Second})
	f("5s:0,10s:10", 50, "0 to 10.0/s in 2 stages, 15s", map[int]time.Duration{0: 5 * time.Second})
	f("0:100,10s:0", 500, "100/s to 0/s, 10s", map[int]time.Duration{0: 0})

	p := stages(t, "10s:10", Options{Duration: 5 * time.Second})
	if n := len(all(p, 0, 1)); n != 13 { // 12.5 and the one at 0
		t.Errorf("half a rise has %d turns", n)
	}
	for _, bad := range []string{"10s:0", "0:10", "0:0,10s:0"} {
		list, err := ParseStages(bad)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Stages(list, Options{}); err == nil {
			t.Errorf("stages %s without requests are taken", bad)
		}
	}
	if _, err := Stages(nil, Options{}); err == nil {
		t.Error("no stages are taken")
	}
}

// randomPlans makes plans of every kind.
func randomPlans(t *testing.T, visit func(name string, p Plan)) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 200 {
		o := Options{Arrival: Arrival(r.IntN(2)), Seed: r.Uint64()}
		if r.IntN(2) == 0 {
			o.Requests = r.Int64N(500) + 1
		}
		if o.Requests == 0 || r.IntN(2) == 0 {
			o.Duration = time.Duration(r.IntN(3000)+1) * time.Millisecond
		}
		var p Plan
		var err error
		switch r.IntN(3) {
		case 0:
			p, err = Constant(r.Float64()*1000+0.1, o)
		case 1:
			var list []Stage
			for range r.IntN(6) + 1 {
				list = append(list, Stage{Length: time.Duration(r.IntN(4)) * 250 * time.Millisecond, Rate: float64(r.IntN(5) * 200)})
			}
			list = append(list, Stage{Length: time.Second, Rate: 300})
			p, err = Stages(list, o)
		default:
			turns := make([]Turn, r.IntN(300)+1)
			for j := range turns {
				turns[j] = Turn{Due: time.Duration(r.IntN(20)) * time.Millisecond, Target: j}
			}
			o.Duration = 0
			p, err = Replay(turns, o)
		}
		if err != nil {
			t.Fatal(err)
		}
		visit(fmt.Sprintf("plan %d, %s, %+v", i, p, o), p)
	}
}

// TestPartsAreThePlan checks for all kinds of plans that turns ascend, keep
// their bounds, are the same every time, and that the parts of any number of
// threads are the plan.
func TestPartsAreThePlan(t *testing.T) {
	randomPlans(t, func(name string, p Plan) {
		whole := all(p, 0, 1)
		if !slices.Equal(whole, all(p, 0, 1)) {
			t.Errorf("%s: differs from itself", name)
		}
		if !slices.IsSortedFunc(whole, func(a, b Turn) int { return int(min(max(a.Due-b.Due, -1), 1)) }) {
			t.Errorf("%s: turns do not ascend", name)
		}
		if paced, ok := p.(*Paced); ok {
			if n := paced.options.Requests; n > 0 && int64(len(whole)) > n {
				t.Errorf("%s: has %d turns", name, len(whole))
			}
			if d := paced.options.Duration; d > 0 && len(whole) > 0 && whole[len(whole)-1].Due >= d+1 {
				t.Errorf("%s: last turn at %v", name, whole[len(whole)-1].Due)
			}
		}
		for _, of := range []int{2, 3, 7} {
			parts := make([]Turns, of)
			for i := range parts {
				parts[i] = p.Part(i, of)
			}
			for n, want := range whole {
				if got, ok := parts[n%of].Next(); !ok || got != want {
					t.Fatalf("%s: turn %d of %d parts is %v, %v; want %v", name, n, of, got, ok, want)
				}
			}
			for i := range parts {
				if _, ok := parts[i].Next(); ok {
					t.Errorf("%s: part %d of %d has too many turns", name, i, of)
				}
			}
		}
	})
}

// TestCountIsIntegral checks that at any time as many uniform turns have come
// as the rate adds up to by then.
func TestCountIsIntegral(t *testing.T) {
	for _, s := range []string{"30s:1k,1m:5k,30s:0", "1s:100,0:7,20s:7,5s:0,5s:300", "0:33.3,40s:11.1", "1h:1"} {
		list, err := ParseStages(s)
		if err != nil {
			t.Fatal(err)
		}
		turns := all(stages(t, s, Options{}), 0, 1)
		var at, rate, sum float64
		for _, g := range list {
			// In small steps: the trapezium rule is exact for a line.
			length := g.Length.Seconds()
			for k := range 50 {
				x := float64(k) / 50
				due := sum + length*x*(rate+rate+(g.Rate-rate)*x)/2
				before := time.Duration((at + length*x) * 1e9)
				n, _ := slices.BinarySearchFunc(turns, before, func(t Turn, d time.Duration) int { return int(min(max(t.Due-d, -1), 1)) })
				if math.Abs(float64(n)-due) > 1.001 {
					t.Errorf("%s: %d turns before %v, want %.3f", s, n, before, due)
				}
			}
			sum += length * (rate + g.Rate) / 2
			at, rate = at+length, g.Rate
		}
	}
}

// TestPoisson checks the distances between turns against the exponential
// distribution (Kolmogorov-Smirnov), their independence, and that the count in
// a fixed time varies as it must.
func TestPoisson(t *testing.T) {
	const rate = 1000.0
	p := constant(t, rate, Options{Requests: 100_000, Arrival: Poisson, Seed: 7})
	turns := all(p, 0, 1)
	if len(turns) != 100_000 {
		t.Fatalf("there are %d turns", len(turns))
	}
	gaps := make([]float64, 0, len(turns))
	var last time.Duration
	for _, turn := range turns {
		gaps = append(gaps, (turn.Due-last).Seconds()*rate)
		last = turn.Due
	}
	var mean, product float64
	for i, g := range gaps {
		mean += g / float64(len(gaps))
		if i > 0 {
			product += (g - 1) * (gaps[i-1] - 1) / float64(len(gaps))
		}
	}
	// Four standard errors; the seed is fixed, so that nothing is left to chance.
	if limit := 4 / math.Sqrt(1e5); math.Abs(mean-1) > limit || math.Abs(product) > limit {
		t.Errorf("mean gap %.4f, correlation %.4f", mean, product)
	}
	slices.Sort(gaps)
	worst := 0.0
	for i, g := range gaps {
		worst = max(worst, math.Abs(1-math.Exp(-g)-(float64(i)+0.5)/float64(len(gaps))))
	}
	if worst > 1.63/math.Sqrt(1e5) { // 1%
		t.Errorf("gaps are %.4f away from an exponential distribution", worst)
	}
}

// TestPoissonStages checks that random turns follow the rate: the counts of
// many runs have the mean and the variance of a Poisson distribution in a
// rising, a level and a falling stage, and the seed alone tells runs apart.
func TestPoissonStages(t *testing.T) {
	const runs = 400
	edges := []time.Duration{10 * time.Second, 20 * time.Second, 30 * time.Second}
	want := []float64{50, 100, 50}
	var sum, squares [3]float64
	for seed := range uint64(runs) {
		var counts [3]float64
		for _, turn := range all(stages(t, "10s:10,10s:10,10s:0", Options{Arrival: Poisson, Seed: seed}), 0, 1) {
			counts[slices.IndexFunc(edges, func(e time.Duration) bool { return turn.Due < e })]++
		}
		for i, c := range counts {
			sum[i] += c
			squares[i] += c * c
		}
	}
	for i, w := range want {
		mean := sum[i] / runs
		variance := squares[i]/runs - mean*mean
		if math.Abs(mean-w) > 4*math.Sqrt(w/runs) || variance < w*0.7 || variance > w*1.3 {
			t.Errorf("stage %d has %.1f ± %.1f turns, want %v ± %.1f", i, mean, math.Sqrt(variance), w, math.Sqrt(w))
		}
	}
}

func TestReplay(t *testing.T) {
	list := []Turn{{Due: 1500 * time.Millisecond, Target: 1}, {Due: 0, Target: 2}, {Due: 999 * time.Millisecond, Target: 3}, {Due: 0, Target: 4}, {Due: time.Second, Target: 5}}
	p, err := Replay(list, Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, turn := range all(p, 0, 1) {
		got += fmt.Sprint(turn.Target)
	}
	if got != "24351" || p.Peak() != 3 || p.Length() != 1500*time.Millisecond || p.String() != "5 requests at recorded times, 1.5s" {
		t.Errorf("order %s, peak %v, %s", got, p.Peak(), p)
	}
	if list[0].Target != 1 {
		t.Error("the list was changed")
	}
	if p, err = Replay(list, Options{Duration: time.Second}); err != nil || p.Count() != 3 {
		t.Errorf("a second of it: %v, %v", p, err)
	}
	if p, err = Replay(list, Options{Requests: 2}); err != nil || p.Count() != 2 {
		t.Errorf("two of it: %v, %v", p, err)
	}
	for _, bad := range [][]Turn{nil, {{Due: -1}}} {
		if _, err := Replay(bad, Options{}); err == nil {
			t.Errorf("%v is taken", bad)
		}
	}
	if _, err := Replay(list[:1], Options{Duration: time.Second}); err == nil || !strings.Contains(err.Error(), "due after 1s") {
		t.Errorf("a list that begins too late: %v", err)
	}
}

func TestNextAllocatesNothing(t *testing.T) {
	replayed, err := Replay(make([]Turn, 5000), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []Plan{
		constant(t, 1000, Options{}), constant(t, 1000, Options{Arrival: Poisson}),
		stages(t, "1m:1k,1m:0", Options{}), stages(t, "1m:1k,1m:0", Options{Arrival: Poisson}), replayed,
	} {
		turns := p.Part(0, 2)
		if n := testing.AllocsPerRun(1000, func() { turns.Next() }); n != 0 {
			t.Errorf("%s: a turn allocates %v times, want 0", p, n)
		}
	}
}

func BenchmarkNext(b *testing.B) {
	for _, p := range []Plan{constant(b, 1000, Options{}), constant(b, 1000, Options{Arrival: Poisson}), stages(b, "1000h:1k", Options{})} {
		b.Run(p.String(), func(b *testing.B) {
			turns := p.Part(0, 1)
			for b.Loop() {
				turns.Next()
			}
		})
	}
}
