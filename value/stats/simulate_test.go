package stats

import (
	"flag"
	"math"
	"math/rand/v2"
	"testing"

	peer "github.com/aclements/go-moremath/stats"
)

// trials is how many comparisons of each kind of noise there are: 2000 make the tables of
// docs/statistics.md.
var trials = flag.Int("trials", 300, "comparisons of each kind of noise")

// noises are what rounds of one program look like on machines: logarithms of values, in
// the order in which they were measured.
var noises = []struct {
	name string
	make func(r *rand.Rand, n int) []float64
}{
	{"independent, normal", func(r *rand.Rand, n int) []float64 {
		return series(n, func(int) float64 { return math.Log(1 + 0.03*r.NormFloat64()) })
	}},
	{"independent, log-normal", func(r *rand.Rand, n int) []float64 {
		return series(n, func(int) float64 { return 0.03 * r.NormFloat64() })
	}},
	{"heavy tails", func(r *rand.Rand, n int) []float64 {
		return series(n, func(int) float64 { return 0.02 * math.Abs(r.NormFloat64()) / math.Sqrt(chi(r, 3)/3) })
	}},
	{"bimodal", func(r *rand.Rand, n int) []float64 {
		return series(n, func(int) float64 { return 0.1*float64(r.IntN(2)) + 0.01*r.NormFloat64() })
	}},
	{"AR(1), 0.5", func(r *rand.Rand, n int) []float64 { return autoregressive(r, n, 0.5) }},
	{"AR(1), 0.9", func(r *rand.Rand, n int) []float64 { return autoregressive(r, n, 0.9) }},
	{"AR(1), -0.5", func(r *rand.Rand, n int) []float64 { return autoregressive(r, n, -0.5) }},
	{"drift of 1 % a round", func(r *rand.Rand, n int) []float64 {
		return series(n, func(i int) float64 { return 0.01*float64(i) + 0.02*r.NormFloat64() })
	}},
	{"period of 2", func(r *rand.Rand, n int) []float64 {
		return series(n, func(i int) float64 { return 0.05*float64(i%2) + 0.01*r.NormFloat64() })
	}},
	{"period of 4", func(r *rand.Rand, n int) []float64 {
		phase := r.IntN(4) // two slow rounds, two fast ones
		return series(n, func(i int) float64 { return 0.05*float64((i+phase)/2%2) + 0.01*r.NormFloat64() })
	}},
	{"ticks", func(r *rand.Rand, n int) []float64 {
		return series(n, func(int) float64 { return math.Log(math.Round(30 * math.Exp(0.03*r.NormFloat64()))) })
	}},
}

func series(n int, at func(i int) float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = at(i)
	}
	return out
}

func chi(r *rand.Rand, freedom int) (sum float64) {
	for range freedom {
		x := r.NormFloat64()
		sum += x * x
	}
	return sum
}

func autoregressive(r *rand.Rand, n int, kept float64) []float64 {
	x := 0.03 * r.NormFloat64()
	return series(n, func(int) float64 {
		x = kept*x + 0.03*math.Sqrt(1-kept*kept)*r.NormFloat64()
		return x
	})
}

// layouts are the orders in which two sides have their rounds.
var layouts = map[string]func(r *rand.Rand, n int) []int{
	"drawn": func(r *rand.Rand, n int) (sides []int) {
		order := Order{r.Uint64()}
		for i := range n {
			sides = append(sides, order.Block(i, 2)...)
		}
		return sides
	},
	"ABBA":       func(_ *rand.Rand, n int) []int { return sidesOf(n, func(i int) int { return (i + 1) / 2 % 2 }) },
	"sequential": func(_ *rand.Rand, n int) []int { return sidesOf(n, func(i int) int { return i / n }) },
}

func sidesOf(n int, side func(i int) int) (sides []int) {
	for i := range 2 * n {
		sides = append(sides, side(i))
	}
	return sides
}

// rounds lays a series out on two sides, of which the second is larger by an effect.
func rounds(series []float64, sides []int, effect float64) (a, b Side) {
	var both [2]Side
	for i, side := range sides {
		s := &both[side]
		s.Values = append(s.Values, math.Exp(series[i])*(1+effect*float64(side)))
		s.Blocks = append(s.Blocks, i/2)
	}
	return both[0], both[1]
}

// method is a way to compare two sides: the larger of two equal sides is the error, of
// unequal ones what is found. held tells that the interval holds the truth.
type method struct {
	name, layout string
	compare      func(a, b Side, truth float64) (found, held bool)
}

var methods = []method{
	{"this package", "drawn", func(a, b Side, truth float64) (bool, bool) {
		c := Compare(a, b, 0.95)
		return c.Decide(0).Different(), c.Contains(truth)
	}},
	{"Mann–Whitney, A…AB…B", "sequential", mannWhitney},
	{"Mann–Whitney, ABBA", "ABBA", mannWhitney},
	{"paired t, drawn", "drawn", func(a, b Side, _ float64) (bool, bool) {
		r, err := peer.PairedTTest(logs(b.Values), logs(a.Values), 0, peer.LocationDiffers)
		return err == nil && r.P < 0.05, false
	}},
}

func mannWhitney(a, b Side, _ float64) (found, held bool) {
	c := Compare(Side{Values: a.Values}, Side{Values: b.Values}, 0.95)
	return c.P < 0.05, false
}

// outcome is how often, in percent, a method cried wolf, held the truth, and found 3 and 5 %.
type outcome struct{ wrong, held, three, five float64 }

func simulate(m method, noise func(*rand.Rand, int) []float64, n int) (o outcome) {
	r := rand.New(rand.NewPCG(17, uint64(n)))
	one := 100 / float64(*trials)
	for range *trials {
		series, sides := noise(r, 2*n), layouts[m.layout](r, n)
		for _, effect := range []float64{0, 0.03, 0.05} {
			a, b := rounds(series, sides, effect)
			found, held := m.compare(a, b, 1+effect)
			if held && effect == 0 {
				o.held += one
			}
			if !found {
				continue
			}
			switch effect {
			case 0:
				o.wrong += one
			case 0.03:
				o.three += one
			default:
				o.five += one
			}
		}
	}
	return o
}

// TestSimulation: whatever the noise is like, equal sides are called different no more
// often than promised, the interval holds the truth, and what differs is found. With -v it
// prints the tables of docs/statistics.md, the other methods beside ours:
//
//	go test ./value/stats -run TestSimulation -v -trials 2000
func TestSimulation(t *testing.T) {
	// What is found of +5 % at least, in ten blocks: about nine tenths of what 2,000
	// trials have found.
	finds := map[string]float64{"independent, normal": 75, "heavy tails": 88, "AR(1), 0.9": 95, "drift of 1 % a round": 90}
	sizes := []int{10}
	if *trials >= 1000 {
		sizes = []int{5, 7, 10, 20, 40}
	}
	// Five standard errors of a share of 5 %.
	slack := 500 * math.Sqrt(0.05*0.95/float64(*trials))
	for _, n := range sizes {
		t.Logf("%d blocks: wrong, held, +3 %%, +5 %% of 100", n)
		for _, noise := range noises {
			for _, m := range methods {
				o := simulate(m, noise.make, n)
				if m.name != methods[0].name {
					t.Logf("| %s | %s | %.1f | – | %.0f | %.0f |", noise.name, m.name, o.wrong, o.three, o.five)
					continue
				}
				t.Logf("| %s | **%s** | %.1f | %.1f | %.0f | %.0f |", noise.name, m.name, o.wrong, o.held, o.three, o.five)
				if o.wrong > 5+slack || o.held < 95-slack {
					t.Errorf("%d blocks, %s: %.1f of 100 are wrong, %.1f intervals hold the truth", n, noise.name, o.wrong, o.held)
				}
				if want := finds[noise.name]; n >= 10 && o.five < want {
					t.Errorf("%d blocks, %s: +5 %% is found in %.0f of 100, want %.0f", n, noise.name, o.five, want)
				}
			}
		}
	}
}

// TestExact: of all ways in which the draw could have laid out one and the same series,
// at most the promised share is called different, whichever test the rule has chosen. This
// is not an estimate: each of the 256 orders of eight blocks is tried.
func TestExact(t *testing.T) {
	const n = 8
	r := rand.New(rand.NewPCG(2, 3))
	for _, noise := range noises {
		both := map[Method]bool{}
		for range 12 {
			series := noise.make(r, 2*n)
			for _, alpha := range []float64{0.05, 0.01} {
				wrong := 0
				for order := range 1 << n {
					a, b := rounds(series, sidesOf(n, func(i int) int { return i%2 ^ order>>(i/2)&1 }), 0)
					c := Compare(a, b, 1-alpha)
					if both[c.Method] = true; c.P < alpha {
						wrong++
					}
				}
				if share := float64(wrong) / (1 << n); share > alpha {
					t.Fatalf("%s: %.3f of the orders of %v are called different at %v", noise.name, share, series, alpha)
				}
			}
		}
	}
}

// TestSequential: looks at fixed points keep to the error of one, and intervals hold the
// truth at every look. With -v it prints what share of comparisons is wrong at any look,
// and in which all intervals hold the truth; in how many +5 % is found, and after how many
// blocks on average.
func TestSequential(t *testing.T) {
	trials := max(100, *trials/3) // of three looks each
	looks := Looks{At: []int{10, 20, 40}, Error: 0.05}
	confidence := looks.Confidence()
	r := rand.New(rand.NewPCG(5, 5))
	for _, noise := range noises {
		wrong, missed, blocks, found := 0, 0, 0, 0
		for range trials {
			series, sides := noise.make(r, 80), layouts["drawn"](r, 40)
			crossed, out, decided, before := false, false, false, 0
			for _, n := range looks.At {
				c := compareFirst(series, sides, n, 0, confidence)
				crossed, out = crossed || c.Decide(0).Different(), out || !c.Contains(1)
				if !decided {
					blocks += n - before
					decided = compareFirst(series, sides, n, 0.05, confidence).Decide(0.01) == Larger
				}
				before = n
			}
			if crossed {
				wrong++
			}
			if out {
				missed++
			}
			if decided {
				found++
			}
		}
		share := func(k int) float64 { return 100 * float64(k) / float64(trials) }
		t.Logf("| %s | %.1f | %.1f | %.0f | %.0f |", noise.name, share(wrong), 100-share(missed), share(found), float64(blocks)/float64(trials))
		if most := 5 + 500*math.Sqrt(0.05*0.95/float64(trials)); share(wrong) > most || share(missed) > most {
			t.Errorf("%s: %.1f of 100 are wrong at a look, %.1f intervals miss", noise.name, share(wrong), share(missed))
		}
	}
}

// compareFirst compares the first blocks of a series.
func compareFirst(series []float64, sides []int, blocks int, effect, confidence float64) Comparison {
	a, b := rounds(series[:2*blocks], sides[:2*blocks], effect)
	return Compare(a, b, confidence)
}
