package storetest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"loupe/store"
)

// late is when the suite's profiles are some hours old.
var late = noon.Add(26 * time.Hour)

// ever is a policy that drops nothing.
var ever = store.Policy{Bytes: -1, Raw: -1, FiveMinutes: -1, Hours: -1}

func maintain(t *testing.T, policy store.Policy, now time.Time, engines ...store.Engine) {
	t.Helper()
	for _, e := range engines {
		for range 2 { // what is in memory becomes old by the second
			if err := e.Maintain(t.Context(), policy, now); err != nil {
				t.Fatal(err)
			}
			now = now.Add(11 * time.Minute)
		}
	}
}

func answers(t *testing.T, o Opener) {
	e, oracle := o.Open(t), NewMemory()
	same(t, e, oracle) // nothing of nothing
	list := corpus(1, 120)
	for i, part := range [][]*store.Profile{list[:60], list[60:90], list[90:]} {
		write(t, part, e, oracle)
		if i < 2 {
			maintain(t, ever, noon.Add(2*time.Hour), e)
		}
	}
	same(t, e, oracle)
	maintain(t, ever, late, e)
	same(t, e, oracle)
	if _, err := e.Totals(t.Context(), store.TotalsQuery{Selection: store.Selection{Type: goroutines}, Over: store.Sum}); !errors.Is(err, store.ErrAggregation) {
		t.Errorf("goroutines are summed over time: %v", err)
	}
	if _, err := e.Stacks(t.Context(), store.StacksQuery{Selection: store.Selection{Type: inUse}, Over: store.Sum}); !errors.Is(err, store.ErrAggregation) {
		t.Errorf("memory in use is summed over time: %v", err)
	}
	if _, err := e.Top(t.Context(), store.TopQuery{Selection: store.Selection{Type: cpuTime}, Over: store.Last}); !errors.Is(err, store.ErrAggregation) {
		t.Errorf("of CPU time there is a last: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func restart(t *testing.T, o Opener) {
	oracle := NewMemory()
	list := corpus(2, 90)
	for i := range 3 {
		e := o.Open(t)
		same(t, e, oracle)
		write(t, list[30*i:30*i+30], e, oracle)
		if i == 1 {
			maintain(t, ever, late, e)
		}
		same(t, e, oracle)
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func repeats(t *testing.T, o Opener) {
	e, oracle := o.Open(t), NewMemory()
	list := corpus(3, 40)
	write(t, list, e, oracle)
	write(t, list, e, oracle) // from memory
	write(t, append(list[:1:1], list[0], list[0]), e, oracle)
	same(t, e, oracle)
	maintain(t, ever, late, e)
	write(t, list, e) // from blocks
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = o.Open(t)
	write(t, list, e) // after a restart
	same(t, e, oracle)
	anonymous := *list[0]
	anonymous.ID = store.ID{}
	before := total(t, e, store.Selection{Type: cpuTime})
	write(t, []*store.Profile{&anonymous, &anonymous}, e, oracle)
	if got := total(t, e, store.Selection{Type: cpuTime}); got <= before {
		t.Error("profiles without an ID are stored once")
	}
	same(t, e, oracle)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

func invalid(t *testing.T, o Opener) {
	e, oracle := o.Open(t), NewMemory()
	list := corpus(4, 2)
	bad := *list[1]
	bad.Labels = store.LabelsOf("pod", "a")
	if err := e.Write(t.Context(), []*store.Profile{list[0], &bad}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("a profile without a service: %v", err)
	}
	same(t, e, oracle) // nothing of it is there
	write(t, list, e, oracle)
	same(t, e, oracle)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

func limits(t *testing.T, o Opener) {
	e := o.Open(t)
	write(t, corpus(5, 60), e)
	maintain(t, ever, late, e)
	ctx := t.Context()
	for name, l := range map[string]store.Limits{"samples": {Samples: 10}, "nodes": {Nodes: 5}, "series": {Series: 1}, "groups": {Groups: 1}} {
		s := store.Selection{Type: cpuTime, Limits: l}
		if _, err := e.Stacks(ctx, store.StacksQuery{Selection: s, By: []string{"pod"}}); !errors.Is(err, store.ErrTooMuch) {
			t.Errorf("stacks: no limit of %s: %v", name, err)
		}
	}
	s := store.Selection{Type: cpuTime, Limits: store.Limits{Groups: 1}}
	if _, err := e.Totals(ctx, store.TotalsQuery{Selection: s, By: []string{"pod"}}); !errors.Is(err, store.ErrTooMuch) {
		t.Errorf("totals: no limit of groups: %v", err)
	}
	s.Limits = store.Limits{Series: 1}
	if _, err := e.Series(ctx, s); !errors.Is(err, store.ErrTooMuch) {
		t.Errorf("series: no limit: %v", err)
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := e.Stacks(gone, store.StacksQuery{Selection: store.Selection{Type: cpuTime}}); !errors.Is(err, context.Canceled) {
		t.Errorf("a query goes on when nobody waits: %v", err)
	}
	if err := e.Write(gone, corpus(6, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("a write goes on when nobody waits: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// concurrent writes from many sides, the same profile from two, while others read and the
// owner maintains.
func concurrent(t *testing.T, o Opener) {
	e, oracle := o.Open(t), NewMemory()
	list := corpus(7, 200)
	write(t, list, oracle)
	var writers, others sync.WaitGroup
	for i := range 8 {
		writers.Go(func() {
			for k := i % 4; k < len(list); k += 4 {
				if err := e.Write(t.Context(), list[k:k+1]); err != nil {
					t.Error(err)
				}
			}
		})
	}
	stop := make(chan struct{})
	others.Go(func() {
		last := int64(0)
		for {
			got := total(t, e, store.Selection{Type: cpuSamples})
			if got < last {
				t.Errorf("the total falls from %d to %d", last, got)
			}
			last = got
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	others.Go(func() {
		for now := noon.Add(3 * time.Hour); ; now = now.Add(11 * time.Minute) {
			if err := e.Maintain(t.Context(), ever, now); err != nil {
				t.Error(err)
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	writers.Wait()
	close(stop)
	others.Wait()
	same(t, e, oracle)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

func drop(t *testing.T, o Opener) {
	e, oracle := o.Open(t), NewMemory()
	list := corpus(8, 100)
	write(t, list[:60], e, oracle)
	maintain(t, ever, late, e)
	write(t, list[60:], e, oracle)
	m, err := store.ParseMatchers(`{pod="pod-2"}`)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []store.Selection{{Matchers: m}, {Type: goroutines}, {Range: store.Range{Start: noon.Add(20 * time.Minute), End: noon.Add(25 * time.Minute)}}} {
		for _, e := range []store.Engine{e, oracle} {
			if err := e.Drop(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
		same(t, e, oracle)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = o.Open(t)
	same(t, e, oracle)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// Aged makes profiles over forty days, and when the last one is a minute old.
func Aged(seed uint64) (list []*store.Profile, now time.Time) { return aged(seed) }

// aged is a corpus over forty days: of each day some profiles.
func aged(seed uint64) (list []*store.Profile, now time.Time) {
	list = corpus(seed, 120)
	for i, p := range list {
		p.Time = p.Time.Add(time.Duration(i/3) * 24 * time.Hour)
	}
	return list, list[len(list)-1].Time.Add(time.Minute)
}

func retention(t *testing.T, o Opener) {
	e, oracle := o.Open(t), NewMemory()
	list, now := aged(9)
	write(t, list, e, oracle)
	policy := store.Policy{Bytes: -1, Raw: 10 * 24 * time.Hour, FiveMinutes: time.Nanosecond, Hours: time.Nanosecond}
	maintain(t, policy, now, e)
	// An engine may keep whole blocks until all of one is old: a day more.
	recent := store.Selection{Type: cpuTime, Range: store.Range{Start: now.Add(-9 * 24 * time.Hour)}}
	if got, want := total(t, e, recent), total(t, oracle, recent); got != want || want == 0 {
		t.Errorf("of what is to be kept there is %d, want %d", got, want)
	}
	old := store.Selection{Type: cpuTime, Range: store.Range{End: now.Add(-12 * 24 * time.Hour)}}
	if got := total(t, e, old); got != 0 {
		t.Errorf("of what is old there is %d", got)
	}
	if err := e.Maintain(t.Context(), store.Policy{Bytes: 1}, now); err != nil {
		t.Fatal(err)
	}
	if got := total(t, e, store.Selection{Type: cpuTime}); got != 0 {
		t.Errorf("in a store of no bytes there is %d", got)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

func pins(t *testing.T, o Opener) {
	e, oracle := o.Open(t), NewMemory()
	list, now := aged(10)
	write(t, list, e, oracle)
	m, err := store.ParseMatchers(`{pod=~"pod-[0-3]"}`)
	if err != nil {
		t.Fatal(err)
	}
	p := store.Pin{Name: "baseline", Matchers: m, Range: store.Range{Start: noon, End: noon.Add(5 * 24 * time.Hour)}, Reason: "v1"}
	for _, pin := range []store.Pin{{Name: "baseline"}, {Name: "other"}, p} {
		if err := e.Pin(t.Context(), pin); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Unpin(t.Context(), "other"); err != nil {
		t.Fatal(err)
	}
	maintain(t, store.Policy{Bytes: 1, Raw: time.Hour, FiveMinutes: time.Nanosecond, Hours: time.Nanosecond}, now, e)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = o.Open(t)
	got, err := e.Pins(t.Context())
	if err != nil || len(got) != 1 || got[0].Name != "baseline" || got[0].Matchers.String() != m.String() || !got[0].Range.End.Equal(p.Range.End) || got[0].Reason != "v1" {
		t.Errorf("the pins are %v, %v", got, err)
	}
	pinned := store.Selection{Type: cpuTime, Matchers: m, Range: p.Range}
	if got, want := total(t, e, pinned), total(t, oracle, pinned); got != want || want == 0 {
		t.Errorf("of what is pinned there is %d, want %d", got, want)
	}
	if got := total(t, e, store.Selection{Type: cpuTime}); got != total(t, oracle, pinned) {
		t.Errorf("there is more than what is pinned: %d", got)
	}
	sameStacks(t, e, oracle, pinned) // as it came
	sameTotals(t, e, oracle, pinned)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// thinned holds what an engine makes of old profiles to their sums: of activity over
// whole intervals nothing is lost, and a state has the mean that it had.
func thinned(t *testing.T, o Opener) {
	e, oracle := o.Open(t), NewMemory()
	list, now := aged(11)
	write(t, list, e, oracle)
	maintain(t, store.Policy{Bytes: -1, Raw: 5 * 24 * time.Hour, FiveMinutes: 20 * 24 * time.Hour, Hours: -1}, now, e)
	hour := store.Range{Start: noon, End: now.Add(24 * time.Hour)}
	for _, typ := range []store.Type{cpuSamples, cpuTime, allocated} {
		s := store.Selection{Type: typ, Range: hour}
		for _, by := range []string{store.ServiceLabel, store.VersionLabel} {
			q := store.TotalsQuery{Selection: s, Step: time.Hour, By: []string{by}}
			g, err := e.Totals(t.Context(), q)
			w, err2 := oracle.Totals(t.Context(), q)
			if err != nil || err2 != nil || text(g) != text(w) {
				t.Errorf("%s by %s: got %s, %v\nwant %s, %v", typ, by, text(g), err, text(w), err2)
			}
		}
	}
	five := store.Range{Start: now.Add(-19 * 24 * time.Hour).Truncate(24 * time.Hour), End: now.Add(time.Hour)}
	for _, typ := range []store.Type{inUse, goroutines} {
		q := store.TotalsQuery{Selection: store.Selection{Type: typ, Range: five}, Step: 5 * time.Minute, By: []string{"pod", store.VersionLabel}}
		g, err := e.Totals(t.Context(), q)
		w, err2 := oracle.Totals(t.Context(), q)
		if err != nil || err2 != nil || text(g) != text(w) {
			t.Errorf("%s: got %s, %v\nwant %s, %v", typ, text(g), err, text(w), err2)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

func closed(t *testing.T, o Opener) {
	e := o.Open(t)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if err := e.Write(t.Context(), corpus(12, 1)); !errors.Is(err, store.ErrClosed) {
		t.Errorf("a closed store is written: %v", err)
	}
	if _, err := e.Stacks(t.Context(), store.StacksQuery{Selection: store.Selection{Type: cpuTime}}); !errors.Is(err, store.ErrClosed) {
		t.Errorf("a closed store is read: %v", err)
	}
	if err := e.Close(); !errors.Is(err, store.ErrClosed) {
		t.Errorf("it is closed twice: %v", err)
	}
}
