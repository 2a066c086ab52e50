package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestProto(t *testing.T) {
	trials := *trials
	var search ChangeSearch
	search.Shuffles = 1999
	kinds := noises[:10]
	for _, slope := range []float64{.001, .002, .005} {
		kinds = append(kinds, struct {
			name string
			make func(r *rand.Rand, n int) []float64
		}{"slope", func(r *rand.Rand, n int) []float64 {
			return series(n, func(i int) float64 { return slope*float64(i) + 0.03*r.NormFloat64() })
		}})
	}
	for _, n := range []int{12, 20, 40, 80} {
		for _, noise := range kinds {
			r := rand.New(rand.NewPCG(17, uint64(n)))
			var wrong [5]int // any, sure step, gradual, either, wanders
			var found [5][4]int
			extra := 0
			for range trials {
				x := noise.make(r, n)
				one := func(y []float64, got *[5]int) {
					for i := range y {
						y[i] = math.Exp(y[i])
					}
					c := search.Course(y, 0.05)
					var seen [5]bool
					for _, m := range c.Moves {
						seen[0] = true
						switch {
						case m.Wanders:
							seen[4] = true
						case m.Shape == Step:
							seen[1] = true
						case m.Shape == Gradual:
							seen[2] = true
						default:
							seen[3] = true
						}
					}
					for i, s := range seen {
						if s {
							got[i]++
						}
					}
				}
				y := make([]float64, n)
				copy(y, x)
				one(y, &wrong)
				for i, c := range []struct {
					at  int
					eff float64
				}{{n / 2, .05}, {n / 2, .1}, {n - 5, .05}, {n - 5, .10}, {n / 2, .1}} {
					y := make([]float64, n)
					for j := range y {
						y[j] = x[j]
						if j >= c.at && (i < 4 || j < n*2/3) {
							y[j] += math.Log1p(c.eff)
						}
						y[j] = math.Exp(y[j])
					}
					co := search.Course(y, .05)
					for _, cp := range co.Moves {
						if cp.From <= c.at+3 && cp.To >= c.at-3 {
							found[i][0]++
							if !cp.Wanders && cp.Shape == Step {
								found[i][1]++
							}
							if !cp.Wanders && cp.Shape == Gradual {
								found[i][2]++
							}
							if cp.Wanders {
								found[i][3]++
							}
							break
						}
					}
					if i == 1 && len(co.Moves) > 1 {
						extra++
					}
				}
			}
			for i := range wrong {
				wrong[i] = wrong[i] * 100 / trials
			}
			for i := range found {
				for j := range found[i] {
					found[i][j] = found[i][j] * 100 / trials
				}
			}
			t.Logf("%3d %-25s wrong any/step/grad/either/wanders %v  found any/step/grad/wander: mid5 %v mid10 %v end5 %v end10 %v blip10 %v extra %d", n, noise.name, wrong, found[0], found[1], found[2], found[3], found[4], extra*100/trials)
		}
	}
}
