package comparetest

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
)

// Rate is how many comparisons of some called the sides different; a part of one, where that
// depends on the draw of the order.
type Rate struct {
	Different float64
	Of        int
}

// Percent is the share in a hundred.
func (r Rate) Percent() float64 { return 100 * r.Different / float64(r.Of) }

// seed is that of all draws: the same series give the same tables.
const seed = 17

// draws is how often the order is drawn in one window of equal sides: each draw is a comparison that
// could have been made, and one alone would leave the rate to the luck of the seed.
const draws = 20

// Wrong is how often a judge calls equal sides of n rounds different, in all windows of the series
// that have no round in common. Where sides take turns, a window counts as the mean over many draws of
// their order.
func Wrong(all []Series, j Judge, n int) (r Rate) {
	random := rand.New(rand.NewPCG(seed, uint64(n)))
	for i := range all {
		for at := 0; at+2*n <= len(all[i].Rounds[0]); at += 2 * n {
			r.Of++
			times := 1
			if j.InTurns {
				times = draws
			}
			for range times {
				if j.Differ(all[i].Equal(at, n, j.InTurns, 0, random)) {
					r.Different += 1 / float64(times)
				}
			}
		}
	}
	return r
}

// windows is how many windows of a series are compared where something is to be found. They
// overlap.
const windows = 60

// Found is how often a judge finds an effect in n rounds a side: in what did as much more work, or,
// where a series has one side alone, in rounds that are scaled.
func Found(s *Series, j Judge, n int, effect float64) (r Rate) {
	random := rand.New(rand.NewPCG(seed, uint64(n)))
	side := slices.Index(s.Work, 1+effect)
	needs := 2 * n
	if len(s.Work) > 1 && j.InTurns {
		needs = n
	}
	room := len(s.Rounds[0]) - needs
	if room < 0 || len(s.Work) > 1 && side < 0 {
		return r
	}
	for range windows {
		at := random.IntN(room + 1)
		var a, b []float64
		if len(s.Work) > 1 {
			a, b = s.Planted(at, n, j.InTurns, side)
		} else {
			a, b = s.Equal(at, n, j.InTurns, effect, random)
		}
		if j.Differ(a, b) {
			r.Different++
		}
		r.Of++
	}
	return r
}

// WriteWrong writes the table of how often equal sides are called different, by unit, for several
// numbers of rounds a side.
func WriteWrong(w io.Writer, all []Series, rounds ...int) {
	fmt.Fprint(w, "| called different, of equal sides |")
	var units []string
	for _, s := range all {
		if !slices.Contains(units, s.Unit) {
			units = append(units, s.Unit)
		}
	}
	for _, unit := range units {
		for _, n := range rounds {
			fmt.Fprintf(w, " %s, %d a side |", unit, n)
		}
	}
	fmt.Fprintln(w, " all |\n|---|"+strings.Repeat("---|", len(units)*len(rounds)+1))
	for _, j := range Judges {
		fmt.Fprintf(w, "| %s |", j.Name)
		sum := Rate{}
		for _, unit := range units {
			of := slices.DeleteFunc(slices.Clone(all), func(s Series) bool { return s.Unit != unit })
			for _, n := range rounds {
				r := Wrong(of, j, n)
				sum.Different, sum.Of = sum.Different+r.Different, sum.Of+r.Of
				fmt.Fprintf(w, " %.1f %% of %d |", r.Percent(), r.Of)
			}
		}
		fmt.Fprintf(w, " **%.1f %%** of %d |\n", sum.Percent(), sum.Of)
	}
}

// WriteFound writes the table of how often effects are found in n rounds a side, in a hundred.
func WriteFound(w io.Writer, all []Series, n int, effects ...float64) {
	fmt.Fprintf(w, "| found with %d rounds a side |", n)
	for _, e := range effects {
		fmt.Fprintf(w, " +%g %% |", 100*e)
	}
	fmt.Fprintln(w, "\n|---|"+strings.Repeat("---|", len(effects)))
	for i := range all {
		for _, j := range Judges {
			line, known := fmt.Sprintf("| %s, %s: %s |", all[i].Name, all[i].Unit, j.Name), false
			for _, e := range effects {
				r := Found(&all[i], j, n, e)
				if r.Of == 0 {
					line += " – |"
					continue
				}
				known = true
				line += fmt.Sprintf(" %.0f |", r.Percent())
			}
			if known {
				fmt.Fprintln(w, line)
			}
		}
	}
}
