package overlap

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"loupe/format/loadlog/loadlogtest"
	"loupe/value/timeline"
)

const (
	us = time.Microsecond
	ms = time.Millisecond
)

// series makes requests, one every pace, whose latency is what latency gives for
// the number and the begin.
func series(n int, pace time.Duration, latency func(i int, at timeline.Time) time.Duration) *Requests {
	r := &Requests{}
	for i := range n {
		at := timeline.Time(time.Duration(i) * pace)
		r.Start, r.End = append(r.Start, at), append(r.End, at.Add(latency(i, at)))
		r.Conn, r.Late, r.Dial = append(r.Conn, 0), append(r.Late, 0), append(r.Dial, 0)
	}
	return r
}

// every makes a span of a length at a pace, the first of them late by offset.
func every(n int, offset, pace, length time.Duration) (out []timeline.Span) {
	for i := range n {
		at := timeline.Time(offset + time.Duration(i)*pace)
		out = append(out, timeline.Span{Start: at, End: at.Add(length)})
	}
	return out
}

func TestSet(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var spans []timeline.Span
		in := [300]bool{}
		for range rnd.IntN(20) {
			from := rnd.IntN(250)
			to := from + rnd.IntN(30)
			spans = append(spans, timeline.Span{Start: timeline.Time(from), End: timeline.Time(to)})
			for i := from; i < to; i++ {
				in[i] = true
			}
		}
		s := newSet(spans)
		for range 100 {
			from := rnd.IntN(300)
			to := from + rnd.IntN(300-from)
			want := 0
			for i := from; i < to; i++ {
				if in[i] {
					want++
				}
			}
			f, u := timeline.Time(from), timeline.Time(to)
			if got := s.Time(f, u); got != time.Duration(want) {
				t.Fatalf("Time(%d, %d) of %v = %d, want %d", from, to, spans, got, want)
			}
			if got := s.Meets(f, u); got != (want > 0) && from < to {
				t.Fatalf("Meets(%d, %d) of %v = %v", from, to, spans, got)
			}
		}
	}
	if s := newSet(nil); s.Meets(0, 100) || s.Time(0, 100) != 0 || s.Len() != 0 {
		t.Error("the empty set is not empty")
	}
}

// jitter is a source of lengths between 0 and its argument.
func jitter(seed uint64) func(time.Duration) time.Duration {
	rnd := rand.New(rand.NewPCG(seed, 9))
	return func(d time.Duration) time.Duration { return time.Duration(rnd.Int64N(int64(d))) }
}

// collecting is a run in which every request that meets a collection takes ten
// times as long; collections come after irregular times.
func collecting(n int) (*Requests, *Set) {
	rnd := jitter(5)
	var spans []timeline.Span
	for at := time.Duration(0); at < time.Duration(n)*ms; at += 60*ms + rnd(80*ms) {
		spans = append(spans, timeline.Span{Start: timeline.Time(at), End: timeline.Time(at + 10*ms)})
	}
	set := newSet(spans)
	return series(n, ms, func(i int, at timeline.Time) time.Duration {
		if set.Meets(at, at.Add(400*us)) {
			return 5*ms + rnd(5*ms)
		}
		return 300*us + rnd(100*us)
	}), set
}

func TestJoin(t *testing.T) {
	r, set := collecting(10_000)
	table := Join(r, []Kind{{Key: "gc", Name: "GC", Set: set}}, Options{Window: timeline.Span{End: timeline.Time(10 * time.Second)}})
	if table.Requests+table.Cut != 10_000 || table.Cut > 9 || table.Tails[0].Requests != 100 || table.Tails[0].From < 9*ms || table.Tails[1].From >= table.Tails[0].From {
		t.Errorf("table = %+v", table)
	}
	row := table.Row("gc")
	if row.Own || row.Doubt != "" || math.Abs(row.Busy-0.1) > 0.01 || math.Abs(row.All-0.1) > 0.02 || row.Typical != 10*ms {
		t.Errorf("row = %+v", row)
	}
	if row.With < 7*ms || row.With > 8*ms || row.Without < 340*us || row.Without > 360*us {
		t.Errorf("medians %v with, %v without", row.With, row.Without)
	}
	m := row.Slow[0]
	if m.Share != 1 || math.Abs(m.Lift-1/row.All) > 1e-9 || *m.P > 0.01 || *m.Fisher > 1e-50 || *m.Chance > 0.3 || m.Time < 3*ms || m.Time > 10*ms {
		t.Errorf("the slowest met %+v (p %v, by chance %v, Fisher %v)", m, *m.P, *m.Chance, *m.Fisher)
	}
	if Join(series(99, ms, func(int, timeline.Time) time.Duration { return us }), nil, Options{}) != nil {
		t.Error("99 requests have a slowest part")
	}
}

// TestChance: what goes on independently of the requests is no cause, though
// long requests meet more of it.
func TestChance(t *testing.T) {
	rnd := jitter(3)
	r := series(10_000, ms, func(i int, _ timeline.Time) time.Duration {
		if i%100 < 2 { // in bunches
			return 50 * ms
		}
		return 300*us + rnd(us)
	})
	rnd = jitter(4)
	var spans []timeline.Span
	for at := time.Duration(0); at < 10*time.Second; at += 40*ms + rnd(80*ms) {
		spans = append(spans, timeline.Span{Start: timeline.Time(at), End: timeline.Time(at + 10*ms)})
	}
	row := Join(r, []Kind{{Key: "gc", Set: newSet(spans)}}, Options{}).Row("gc")
	m := row.Slow[0]
	if m.Lift < 3 || *m.P < 0.05 || math.Abs(*m.Chance-m.Share) > 0.15 {
		t.Errorf("lift %.1f, %.2f by chance %.2f, p = %v, want no cause", m.Lift, m.Share, *m.Chance, *m.P)
	}
	if *m.Fisher > 1e-6 {
		t.Errorf("Fisher's p = %v: the test shows nothing any more", *m.Fisher)
	}
}

func TestDoubt(t *testing.T) {
	r := series(1000, ms, func(i int, _ timeline.Time) time.Duration { return time.Duration(i) * us })
	f := func(want string, k Kind) {
		t.Helper()
		k.Key = "x"
		row := Join(r, []Kind{k}, Options{}).Row("x")
		if row == nil || row.Doubt != want {
			t.Errorf("row = %+v, want doubt %q", row, want)
		}
	}
	f("", Kind{Set: newSet(every(20, 0, 50*ms, 5*ms)), Error: 4 * ms})
	f("the clocks are less precise than these are long", Kind{Set: newSet(every(20, 0, 50*ms, 3*ms)), Error: 4 * ms})
	f("it runs nearly all the time", Kind{Set: newSet(every(20, 0, 50*ms, 49*ms))})
	f("it happened too rarely", Kind{Set: newSet(every(4, 0, 250*ms, 5*ms))})
}

func TestParts(t *testing.T) {
	l := loadlogtest.Log(`
		begin late service dial
		100× 0s 0s  1ms  0s
		50×  1s 3ms 1ms  0s
		50×  2s 0s  1ms  1ms
	`)
	table := Join(Of(l, timeline.Clock{Offset: 7}), ofRequests(), Options{})
	late, dial := table.Row("late"), table.Row("dial")
	if !table.Due || table.Window.Start != 7 || late.All != 0.25 || dial.All != 0.25 || late.Slow[1].Share != 1 || dial.Slow[1].Share != 0 ||
		late.Time != 750*us || late.Slow[0].P != nil {
		t.Errorf("late = %+v, dial = %+v", late, dial)
	}
}

func TestCycles(t *testing.T) {
	kinds := Cycles([]Cycle{{At: 100, STW1: 10, Mark: 50, STW2: 5}}, 3)
	if got := fmt.Sprint(kinds[0].Set.At(0), kinds[1].Set.At(0), kinds[1].Set.At(1), kinds[0].Error); got != "{110 160} {100 110} {160 165} 3ns" {
		t.Errorf("kinds = %s", got)
	}
}

// trials is how many runs TestFalseAlarms makes; docs/statistics.md has the
// figures of 2,000.
var trials = flag.Int("trials", 200, "runs of TestFalseAlarms")

// TestFalseAlarms measures how often the shift test calls independent things a
// cause: slow requests come in bunches, as behind a queue, and collections at
// nearly equal distances. And how often it finds a cause that there is.
func TestFalseAlarms(t *testing.T) {
	n := *trials
	if testing.Short() {
		n = min(n, 50)
	}
	alarms := func(slower float64) (shift, strict, fisher int) {
		for trial := range n {
			m := simulated(uint64(trial), slower).Slow[0]
			if *m.P <= 0.05 {
				shift++
			}
			if *m.P <= 0.01 {
				strict++
			}
			if *m.Fisher <= 0.05 {
				fisher++
			}
		}
		t.Logf("of %d runs in which requests get on %.3g times slower in a collection, the shift test calls %d at p = 0.05 and %d at 0.01, Fisher's %d at 0.05", n, slower, shift, strict, fisher)
		return shift, strict, fisher
	}
	shift, _, fisher := alarms(1)
	if share := float64(shift) / float64(n); share > 0.05+2*math.Sqrt(0.05*0.95/float64(n)) {
		t.Errorf("the shift test has false alarms in %d of %d runs", shift, n)
	}
	if fisher < 3*shift {
		t.Errorf("Fisher's test has hardly more false alarms (%d) than the shift test (%d): why is there one?", fisher, shift)
	}
	if found, _, _ := alarms(10); found < n*9/10 {
		t.Errorf("what makes requests ten times as slow is found in %d of %d runs", found, n)
	}
	if *trials > 200 {
		alarms(2)
		alarms(4)
	}
}

// simulated joins 3,000 requests, the logarithm of whose lengths is a process with
// a correlation of 0.98, with collections that know nothing of them. While one
// goes on, a request gets on by so many times slower.
func simulated(seed uint64, slower float64) *Row {
	rnd := rand.New(rand.NewPCG(seed, 7))
	var spans []timeline.Span
	for at := time.Duration(rnd.Int64N(int64(100 * ms))); at < 3*time.Second; at += 80*ms + time.Duration(rnd.Int64N(int64(40*ms))) {
		spans = append(spans, timeline.Span{Start: timeline.Time(at), End: timeline.Time(at + 15*ms)})
	}
	set := newSet(spans)
	spread := 1.2
	if slower > 1 {
		spread = 0.7 // else what makes most requests slow is chance
	}
	x := rnd.NormFloat64()
	r := series(3000, ms, func(_ int, at timeline.Time) time.Duration {
		x = 0.98*x + math.Sqrt(1-0.98*0.98)*rnd.NormFloat64()
		left, now := float64(ms)*math.Exp(spread*x), at
		for i := set.after(at); i < set.Len() && left > 0; i++ {
			if before := float64(set.At(i).Start - now); before > 0 {
				if left <= before {
					break
				}
				left, now = left-before, set.At(i).Start
			}
			done := min(left, float64(set.At(i).End-now)/slower)
			left, now = left-done, now.Add(time.Duration(done*slower))
		}
		return now.Sub(at) + time.Duration(left)
	})
	return Join(r, []Kind{{Key: "gc", Set: set}}, Options{Seed: seed + 1, Shifts: 199}).Row("gc")
}

func BenchmarkJoin(b *testing.B) {
	for _, n := range []int{10_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			r, set := collecting(n)
			for b.Loop() {
				Join(r, []Kind{{Key: "gc", Set: set}}, Options{})
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/request")
		})
	}
}
