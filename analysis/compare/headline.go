package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/value/stats"
	"loupe/value/unit"
)

const (
	// shortRound is the length below which a round is mostly the start of the
	// program, and its CPU time a few ticks of the kernel's clock (10 ms).
	shortRound = time.Second
	// shortROPE is then what a change has to be beyond.
	shortROPE = 0.10
)

// withhold takes back the verdicts that the circumstances of the recordings speak
// against, and holds the others to what all of them together allow.
func (t *Table) withhold(all []*facts.Facts) {
	for i, f := range all[1:] {
		if a, b := failed(all[0]), failed(f); a+b > 0 {
			// What a program took that did not come to the end of its work is no time
			// of the work.
			t.withdraw(i, false, func(*Change) bool { return true })
			t.closed = true
			for k, n := range []int{a, b} {
				if n > 0 {
					side := []*facts.Facts{all[0], f}[k]
					t.Notes = append(t.Notes, fmt.Sprintf("%s failed in %d of %d rounds (%s): their times say nothing about its work, and nothing is decided", side.Title, n, len(side.Rounds), failure(side)))
				}
			}
			continue
		}
		if sameBuild(all[0], f) {
			t.withdraw(i, false, func(*Change) bool { return true })
			t.closed = true
			t.Notes = append(t.Notes, fmt.Sprintf("%s and %s are the same build, run the same way: any difference between them is chance, or the machine", t.Titles[0], t.Titles[i+1]))
			continue
		}
		if short := min(typical(all[0]), typical(f)); short < shortRound {
			beyond := func(c *Change) bool { return c.Low < 1+shortROPE && c.High > 1-shortROPE }
			if t.withdraw(i, true, beyond) {
				t.Notes = append(t.Notes, fmt.Sprintf("a round took %s: below %s program startup and the kernel's clock are much of it, and a verdict needs a change of more than %s (give it more to do)",
					unit.Duration(short), unit.Duration(shortRound), unit.Percent(shortROPE)))
			}
		}
		t.settle(i)
	}
	if note := t.spread(); note != "" {
		t.Notes = append(t.Notes, note)
	}
}

// withdraw makes the verdicts of a recording undecided for which doubtful is
// true, of all rows or of those that decide. It tells whether there were any.
func (t *Table) withdraw(i int, keys bool, doubtful func(*Change) bool) (any bool) {
	for r := range t.Rows {
		c := &t.Rows[r].Changes[i]
		if decided(c.Verdict) && (t.Rows[r].Key || !keys) && doubtful(c) {
			c.Verdict, any = Undecided, true
		}
	}
	return any
}

// typical is the median length of the rounds; far more than any limit where that is
// not known.
func typical(f *facts.Facts) time.Duration {
	var all []float64
	for _, r := range f.Rounds {
		if r.Duration > 0 {
			all = append(all, float64(r.Duration))
		}
	}
	if len(all) == 0 {
		return math.MaxInt64
	}
	return time.Duration(stats.Median(all))
}

// failed counts the rounds in which the program ended by itself, and not well.
func failed(f *facts.Facts) (n int) {
	for i := range f.Rounds {
		if ending(f, i) != "" {
			n++
		}
	}
	return n
}

// failure is how the program of the recording failed in the first round in which it
// did, empty when it did not.
func failure(f *facts.Facts) string {
	for i := range f.Rounds {
		if end := ending(f, i); end != "" {
			return end
		}
	}
	return ""
}

// ending is how the process of a round ended, where that was not well.
func ending(f *facts.Facts, round int) string {
	run := f.Rounds[round].Phase.Run
	if run < 0 || run >= len(f.Manifest.Target.Runs) {
		return ""
	}
	r := &f.Manifest.Target.Runs[run]
	if r.Stopped || r.Exit == "" || r.Exit == "exit status 0" || r.Exit == "exit 0" {
		return ""
	}
	return r.Exit
}

// Failed says which of the recordings a program failed in, by its title and how it
// ended.
func Failed(all ...*facts.Facts) (each []string) {
	for _, f := range all {
		if n := failed(f); n > 0 {
			each = append(each, fmt.Sprintf("%s failed in %d of %d rounds: %s", f.Title, n, len(f.Rounds), failure(f)))
		}
	}
	return each
}

// sameBuild tells that two recordings are of one and the same program, run in
// the same way.
func sameBuild(a, b *facts.Facts) bool {
	x, y := &a.Manifest.Target, &b.Manifest.Target
	return x.Build != "" && x.Build == y.Build && slices.Equal(x.Args, y.Args) && slices.Equal(x.Env, y.Env)
}

// spread says how far apart the rounds of one side lie, in the rows that decide:
// what is not much larger than that nobody can tell from chance.
func (t *Table) spread() string {
	var parts []string
	for _, r := range t.Rows {
		most := 0.0
		for _, c := range r.Cells {
			if len(c.Rounds) < EnoughRounds || float64(c.Median) == 0 {
				continue
			}
			sorted := slices.Sorted(slices.Values(c.Rounds))
			most = max(most, (stats.Quantile(sorted, 0.75)-stats.Quantile(sorted, 0.25))/math.Abs(float64(c.Median)))
		}
		if r.Key && most > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", r.Name, unit.Percent(most)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "noise: the middle half of one side's rounds spreads over " + strings.Join(parts, ", ")
}

// unended says which recordings stopped their program before it came to its end:
// of those neither the wall time nor the CPU time of the work is known.
func unended(all []*facts.Facts) (notes []string) {
	for _, f := range all {
		for _, r := range f.Rounds {
			run := r.Phase.Run
			if r.Load != nil || r.Ended || run < 0 || run >= len(f.Manifest.Target.Runs) || !f.Manifest.Target.Runs[run].Stopped {
				continue
			}
			notes = append(notes, fmt.Sprintf("%s had not finished after %s, and was stopped: how long its work takes, and how much CPU time, is not known (-for gives it longer; a service needs -load)", f.Title, unit.Duration(r.Duration)))
			break
		}
	}
	return notes
}
