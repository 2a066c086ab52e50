package leak

import (
	"math"
	"strings"
	"testing"

	"loupe/analysis/facts"
	"loupe/recording"
	"loupe/value/stack"
)

// taken are looks half a minute apart at one line, with what is in use and what was allocated.
func taken(looks ...facts.Taken) *facts.Growth {
	g := &facts.Growth{Looks: looks}
	s := &facts.GrowingSite{At: stack.Frame{Func: "main.take", File: "/src/main.go", Line: 21}, User: true}
	for i, l := range looks {
		v := l.Allocated - l.Freed
		g.Times, g.Totals, s.Values = append(g.Times, 30*float64(i)), append(g.Totals, v), append(s.Values, v)
	}
	g.Sites = []*facts.GrowingSite{s}
	return g
}

// look is one of them, of which nobody knows how many collections there were.
func look(inUse, freed float64) facts.Taken {
	return facts.Taken{Allocated: inUse + freed, Freed: freed, Collections: -1}
}

// TestPartsOf: looks that cannot be compared are not.
func TestPartsOf(t *testing.T) {
	const mib = 1 << 20
	shapes := func(name string, g *facts.Growth, want ...Shape) []*Looked {
		t.Helper()
		d := &gatherer{least: 10}
		d.judgeParts(g, Heap, "heap profile", leastSampled, nil)
		var got []Shape
		for _, l := range d.all {
			got = append(got, l.Shape)
		}
		if len(got) != len(want) {
			t.Fatalf("%s: %v, want %v", name, got, want)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s: part %d: %s (%s), want %s", name, i+1, got[i], d.all[i].Why, want[i])
			}
		}
		return d.all
	}
	var growing, never, once, again, deltas, outside, forced, two []facts.Taken
	for i := range 12 {
		f := float64(i)
		growing = append(growing, look((10+10*f)*mib, (5+5*f)*mib))
		never = append(never, look((10+10*f)*mib, 0))
		once = append(once, look((10+10*math.Floor(f/6))*mib, (5+5*math.Floor(f/6))*mib))
		again = append(again, look((10+10*float64(i%8))*mib, (5+5*float64(i%8))*mib))
		deltas = append(deltas, facts.Taken{Allocated: 10 * mib, Freed: 5 * mib, Delta: true, Collections: -1})
		outside = append(outside, facts.Taken{Allocated: (10 + 10*f) * mib, Collections: 3, Entry: recording.Entry{Source: "process 7, from outside"}})
		forced = append(forced, facts.Taken{Allocated: (10 + 10*f) * mib, Collections: -1, Entry: recording.Entry{Source: "http://127.0.0.1:6060/debug/pprof/"}})
		l := look((10+10*f)*mib, (5+5*f)*mib)
		l.Program = []string{"a", "b"}[i%2]
		two = append(two, l)
	}
	shapes("after collections", taken(growing...), Grows)
	shapes("a collection was run for each", taken(forced...), Grows)
	for name, g := range map[string]*facts.Growth{"nothing was ever freed": taken(never...), "from outside, without a collection": taken(outside...)} {
		if l := shapes(name, g, Short)[0]; !strings.HasPrefix(l.Why, "no collection in the window") && !strings.HasPrefix(l.Why, "only 1 of 12") {
			t.Errorf("%s: %s", name, l.Why)
		}
	}
	shapes("two collections", taken(once...), Short)
	if l := shapes("differences", taken(deltas...), Short)[0]; !strings.Contains(l.Why, "heap?seconds=N") {
		t.Error(l.Why)
	}
	l := shapes("started anew", taken(again...), Grows, Short)
	if l[0].Process != "process 1 of 2, which was restarted" || l[0].Points != 8 {
		t.Errorf("%q, %d looks", l[0].Process, l[0].Points)
	}
	if l := shapes("two programs", taken(two...), Grows, Grows); l[1].Process != "program 2 of 2 (b)" {
		t.Error(l[1].Process)
	}
}

// TestHiddenSites: a line that grows below a sawtooth is seen, and one to which things move
// from another is not taken for a leak.
func TestHiddenSites(t *testing.T) {
	f := func(name string, want, alone bool, other func(i int) float64) {
		t.Helper()
		g := &facts.Growth{}
		grows := &facts.GrowingSite{At: stack.Frame{Func: "main.take", File: "/src/main.go", Line: 21}, User: true}
		rest := &facts.GrowingSite{At: stack.Frame{Func: "main.rest", File: "/src/main.go", Line: 40}, User: true}
		for i := range 14 {
			a, b := float64(5+2*i)*(1<<20), other(i)*(1<<20)
			g.Times, g.Totals = append(g.Times, 30*float64(i)), append(g.Totals, a+b)
			grows.Values, rest.Values = append(grows.Values, a), append(rest.Values, b)
		}
		g.Sites = []*facts.GrowingSite{grows, rest}
		l := &Looked{What: Heap, growth: g, Per: "s"}
		l.Judgement = judge(Quantity{Times: g.Times, Values: g.Totals, Least: leastSampled}, 10)
		if l.Shape == Grows {
			t.Fatalf("%s: the whole grows", name)
		}
		sites, own := (&decider{v: &Verdict{Looked: []*Looked{l}}}).hiddenSites(l)
		if got := len(sites) == 1 && sites[0].At.Line == 21; got != want || got && own != alone {
			t.Errorf("%s: %d sites, alone %v", name, len(sites), own)
		}
	}
	f("a sawtooth", true, true, func(i int) float64 { return float64(2 * (i * 37 % 100)) })
	f("what moves", true, false, func(i int) float64 { return float64(150 - 2*i) })
}

// TestFell: what grew until it fell in one step may have been started anew.
func TestFell(t *testing.T) {
	q := Quantity{Least: 4}
	for i := range 12 {
		q.Times, q.Values = append(q.Times, float64(10*i)), append(q.Values, float64(10+10*i))
	}
	q.Values[11] = 10
	if j := judge(q, 10); j.Shape != Late || !strings.Contains(j.Why, "started anew") {
		t.Errorf("%s: %s", j.Shape, j.Why)
	}
	saw := Quantity{Least: 4}
	for i := range 40 {
		saw.Times, saw.Values = append(saw.Times, float64(i)), append(saw.Values, float64(10+10*(i%10)))
	}
	saw.Values = append(saw.Values, 10)
	saw.Times = append(saw.Times, 40)
	if j := judge(saw, 10); j.Shape == Grows || strings.Contains(j.Why, "started anew") {
		t.Errorf("a sawtooth: %s: %s", j.Shape, j.Why)
	}
}
