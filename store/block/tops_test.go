package block

import (
	"context"
	"reflect"
	"testing"
	"time"

	"loupe/store"
	"loupe/store/storetest"
)

// TestTops holds functions from roll-ups against those from stacks: of everything, of
// versions, of ranges that cut blocks, and of labels that roll-ups do not have.
func TestTops(t *testing.T) {
	ctx := context.Background()
	begin := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	list, _ := storetest.Aged(5)
	e, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	write := func(day, n int) {
		t.Helper()
		var all []*store.Profile
		for i := range n {
			p := *list[i%len(list)]
			p.ID, p.Time = store.ID{}, begin.AddDate(0, 0, day).Add(time.Duration(i)*20*time.Second)
			all = append(all, &p)
		}
		if err := e.Write(ctx, all); err != nil {
			t.Fatal(err)
		}
	}
	for day := range 3 {
		write(day, 3000)
		if err := e.flush(ctx, e.head); err != nil {
			t.Fatal(err)
		}
	}
	write(3, 100) // in memory
	rolled := 0
	for _, b := range e.blocks {
		for _, ref := range b.index.tops {
			if ref.raw > 0 {
				rolled++
			}
		}
	}
	if rolled != 6 {
		t.Fatalf("%d services in blocks have a roll-up, want 6", rolled)
	}
	types, err := e.Types(ctx, store.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	for _, selector := range []string{"{}", `{version="v1"}`, `{service_name=~"svc-.*",version!="v1"}`, `{pod="pod-1"}`, `{version="none"}`} {
		m, err := store.ParseMatchers(selector)
		if err != nil {
			t.Fatal(err)
		}
		for _, rng := range []store.Range{{}, {Start: begin.Add(9 * time.Hour)}, {Start: begin.Add(time.Hour), End: begin.AddDate(0, 0, 2)}} {
			for _, typ := range types {
				if typ.Over() != store.Sum && rng != (store.Range{}) {
					continue
				}
				sel := store.Selection{Type: typ, Matchers: m, Range: rng}
				stacks, err := e.Stacks(ctx, store.StacksQuery{Selection: sel})
				if err != nil {
					t.Fatal(err)
				}
				got, err := e.Top(ctx, store.TopQuery{Selection: sel, N: 7})
				if err != nil {
					t.Fatal(err)
				}
				if want := stacks.Top(0, 7); !reflect.DeepEqual(got, want) {
					t.Errorf("%s of %s in %v:\n%+v, want\n%+v", typ, selector, rng, got, want)
				}
			}
		}
	}
}
