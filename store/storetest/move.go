package storetest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"loupe/format/profile"
	"loupe/store"
	"loupe/store/transfer"
	"loupe/value/stack"
)

var _ store.Importer = (*Memory)(nil)
var _ store.Exporter = (*Memory)(nil)

// Days is that of [store.Exporter].
func (m *Memory) Days(ctx context.Context) ([]time.Time, error) {
	if err := m.begin(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	days := map[time.Time]bool{}
	for _, r := range m.rows {
		days[r.time.UTC().Truncate(24*time.Hour)] = true
	}
	return slices.SortedFunc(maps.Keys(days), time.Time.Compare), nil
}

// Export is that of [store.Exporter].
func (m *Memory) Export(ctx context.Context, s store.Selection, f func(*store.Moved) error) error {
	if err := m.begin(ctx); err != nil {
		return err
	}
	rows := m.selected(s)
	m.mu.Unlock()
	slices.SortStableFunc(rows, func(a, b row) int { return a.labels.Compare(b.labels) })
	for _, r := range rows {
		one := &store.Moved{Labels: r.labels, Types: r.types, Time: r.time, Duration: r.duration, Resolution: r.resolution, Count: r.count, Weight: r.weight,
			Samples: func() (*profile.Profile, error) { return profileOf(&r), nil }}
		for _, t := range r.types {
			one.Totals = append(one.Totals, r.total(t))
		}
		if err := f(one); err != nil {
			return err
		}
	}
	return nil
}

// profileOf undoes rowOf.
func profileOf(r *row) *profile.Profile {
	p := &profile.Profile{Stacks: new(stack.Table), Values: make([][]int64, len(r.types))}
	for _, s := range r.samples {
		var frames []stack.FrameID
		for _, f := range slices.Backward(s.path) {
			f.System = f.Func
			frames = append(frames, p.Stacks.InternFrame(f))
		}
		p.StackIDs = append(p.StackIDs, p.Stacks.Intern(frames))
		for k, v := range s.values {
			p.Values[k] = append(p.Values[k], v)
		}
	}
	return p.WithLabels(func(i int) (list []profile.Label) {
		for name, value := range r.samples[i].labels.All() {
			list = append(list, profile.Label{Key: name, Str: value})
		}
		return list
	})
}

// Import is that of [store.Importer].
func (m *Memory) Import(ctx context.Context, list []*store.Moved) error {
	if err := m.begin(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	for _, one := range list {
		if err := one.Check(); err != nil {
			return err
		}
		p, err := one.Samples()
		if err != nil {
			return err
		}
		if m.ids[one.ID()] {
			continue
		}
		m.ids[one.ID()] = true
		r := rowOf(&store.Profile{Labels: one.Labels, Types: one.Types, Time: one.Time, Duration: one.Duration, Samples: p})
		r.resolution, r.count, r.weight = one.Resolution, one.Count, one.Weight
		m.rows = append(m.rows, r)
	}
	return nil
}

// moved copies what an engine has into the plain one and from there into another place of
// the engine: profiles as they came, and thinned out ones in both resolutions.
func moved(t *testing.T, o, second Opener) {
	e := o.Open(t)
	from, ok := whole(e).(store.Exporter)
	if !ok {
		t.Fatalf("%T hands nothing out", e)
	}
	list, now := aged(13)
	write(t, list, e)
	pin := store.Pin{Name: "first days", Range: store.Range{Start: noon, End: noon.Add(3 * 24 * time.Hour)}}
	if err := e.Pin(t.Context(), pin); err != nil {
		t.Fatal(err)
	}
	maintain(t, store.Policy{Bytes: -1, Raw: 5 * 24 * time.Hour, FiveMinutes: 20 * 24 * time.Hour, Hours: -1}, now, e)
	twice := *list[0]
	twice.ID = store.ID{}
	write(t, []*store.Profile{&twice, &twice}, e) // equal, and two

	plain := NewMemory()
	report := copied(t, from, plain)
	if resolutions := resolutionsOf(plain); resolutions != "0s 5m0s 1h0m0s" {
		t.Errorf("the copy has profiles of the resolutions %s", resolutions)
	}
	same(t, e, plain)
	other := second.Open(t)
	to, ok := whole(other).(store.Importer)
	if !ok {
		t.Fatalf("%T takes nothing over", e)
	}
	again := copied(t, plain, to)
	if again.Profiles != report.Profiles || len(again.Lines) != len(report.Lines) {
		t.Errorf("of %d profiles in %d lines, %d in %d went on", report.Profiles, len(report.Lines), again.Profiles, len(again.Lines))
	}
	same(t, other, plain)
	if pins, err := to.Pins(t.Context()); err != nil || len(pins) != 1 || pins[0].Name != pin.Name || !pins[0].Range.End.Equal(pin.Range.End) {
		t.Errorf("the pins of the copy are %v, %v", pins, err)
	}
	if third := copied(t, plain, to); third.Written != 0 {
		t.Errorf("a copy that is complete writes %d profiles", third.Written)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	reopened := second.Open(t)
	same(t, reopened, plain)
	maintain(t, ever, now, reopened)
	same(t, reopened, plain)
	for _, one := range []store.Engine{e, reopened} {
		if err := one.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// whole is an engine that is asked some of the selections alone, as itself.
func whole(e store.Engine) store.Engine {
	if s, ok := e.(some); ok {
		return s.Engine
	}
	return e
}

func resolutionsOf(m *Memory) string {
	set := map[time.Duration]bool{}
	for _, r := range m.rows {
		set[r.resolution] = true
	}
	text := fmt.Sprint(slices.Sorted(maps.Keys(set)))
	return text[1 : len(text)-1]
}

// copied copies everything, in a stumbling way: it is stopped once.
func copied(t *testing.T, from store.Exporter, to store.Importer) *transfer.Report {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	days := 0
	stopped, err := transfer.Copy(ctx, from, to, transfer.Options{Tell: func(transfer.Day) {
		if days++; days == 15 {
			cancel()
		}
	}})
	if ctx.Err() == nil || err == nil {
		t.Fatalf("a copy that is stopped after %d days ends with %v, %v", days, stopped, err)
	}
	report, err := transfer.Copy(t.Context(), from, to, transfer.Options{})
	if err != nil {
		t.Fatalf("the copy ends after %v: %v", report, err)
	}
	return report
}
