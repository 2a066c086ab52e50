package intake_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"loupe/format/profile"
	"loupe/store"
	"loupe/store/intake"
	"loupe/store/storetest"
	"loupe/value/stack"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// heap is an arrival of a heap profile some minutes after noon.
func heap(minute int, alloc, inuse int64) *intake.Arrival {
	p := &profile.Profile{
		SampleTypes: []profile.ValueType{{Type: "alloc_space", Unit: "bytes"}, {Type: "inuse_space", Unit: "bytes"}},
		PeriodType:  profile.ValueType{Type: "space", Unit: "bytes"}, Stacks: new(stack.Table), Values: [][]int64{{alloc}, {inuse}},
		Mappings: []profile.Mapping{{BuildID: "b1"}},
	}
	p.StackIDs = []stack.ID{p.Stacks.Intern([]stack.FrameID{p.Stacks.InternFrame(stack.Frame{Func: "f", System: "f"})})}
	at := noon.Add(time.Duration(minute) * time.Minute)
	return &intake.Arrival{Labels: store.LabelsOf(store.ServiceLabel, "shop"), Profile: p, At: at, ID: store.IDOf([]byte(at.String()))}
}

// total is the sum of what was allocated, and the mean of what is in use.
func total(t *testing.T, e store.Engine, sample string) (sum int64) {
	t.Helper()
	typ := store.Type{Name: "memory", Sample: sample, Unit: "bytes", Period: "space", PeriodUnit: "bytes"}
	got, err := e.Stacks(t.Context(), store.StacksQuery{Selection: store.Selection{Type: typ}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range got.Groups {
		sum += got.Total(i)
	}
	return sum
}

// TestDifferences: counters are written as what was added since the last reading, and that is
// where it stands in time; states as they are.
func TestDifferences(t *testing.T) {
	e := storetest.NewMemory()
	in := intake.New(e)
	for i, alloc := range []int64{1000, 1500, 1800} {
		if err := in.Add(t.Context(), heap(i, alloc, 100)); err != nil {
			t.Fatal(err)
		}
	}
	if a, u := total(t, e, "alloc_space"), total(t, e, "inuse_space"); a != 800 || u != 100 {
		t.Errorf("allocated %d, in use %d; want 800 and 100", a, u)
	}
	series, err := e.Series(t.Context(), store.Selection{})
	if err != nil || len(series) != 1 || series[0].Value(store.BuildLabel) != "b1" {
		t.Errorf("series %v, %v: the build is missing", series, err)
	}
	// From noon on the first one counts, up to a minute later alone.
	got, err := e.Totals(t.Context(), store.TotalsQuery{Selection: store.Selection{
		Type:  store.Type{Name: "memory", Sample: "alloc_space", Unit: "bytes", Period: "space", PeriodUnit: "bytes"},
		Range: store.Range{Start: noon, End: noon.Add(time.Minute)},
	}})
	if err != nil || len(got) != 1 || len(got[0].Points) != 1 || got[0].Points[0].Value != 500 {
		t.Errorf("in the first minute %+v, %v; want 500", got, err)
	}
}

// full is an engine whose disk is full for a while.
type full struct {
	store.Engine
	err error
}

// Write fails as long as there is an error.
func (f *full) Write(ctx context.Context, list []*store.Profile) error {
	if f.err != nil {
		return f.err
	}
	return f.Engine.Write(ctx, list)
}

// TestFailedWrite: what was not written is never counted as written. The next reading is what
// those after it are compared with.
func TestFailedWrite(t *testing.T) {
	e := &full{Engine: storetest.NewMemory()}
	in := intake.New(e)
	add := func(minute int, alloc int64) error { return in.Add(t.Context(), heap(minute, alloc, 100)) }
	if err := add(0, 1000); err != nil {
		t.Fatal(err)
	}
	e.err = errors.New("no room")
	if err := add(1, 1500); !errors.Is(err, e.err) {
		t.Errorf("a full disk: %v", err)
	}
	e.err = nil
	for i, alloc := range []int64{1800, 1900} {
		if err := add(2+i, alloc); err != nil {
			t.Fatal(err)
		}
	}
	if got := total(t, e, "alloc_space"); got != 100 {
		t.Errorf("allocated %d, want 100: from the first reading after the failure", got)
	}
}

// TestOnlyCounters: of a profile that counts alone, the first reading is nothing to write, and
// no error.
func TestOnlyCounters(t *testing.T) {
	e := storetest.NewMemory()
	in := intake.New(e)
	for i, delay := range []int64{1000, 1500} {
		a := heap(i, delay, 2*delay)
		a.Name = "mutex"
		a.Profile.SampleTypes = []profile.ValueType{{Type: "contentions", Unit: "count"}, {Type: "delay", Unit: "nanoseconds"}}
		a.Profile.PeriodType = profile.ValueType{Type: "contentions", Unit: "count"}
		if err := in.Add(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	types, err := e.Types(t.Context(), store.Selection{})
	if err != nil || len(types) != 2 || types[0].Name != "mutex" {
		t.Errorf("%v, %v", types, err)
	}
	got, err := e.Stacks(t.Context(), store.StacksQuery{Selection: store.Selection{Type: types[1]}})
	if err != nil || got.Total(0) != 1000 {
		t.Errorf("delayed for %d, %v; want 1000", got.Total(0), err)
	}
}

// TestInvalid: what cannot be stored says so, and is not asked for again.
func TestInvalid(t *testing.T) {
	in := intake.New(storetest.NewMemory())
	a := heap(0, 1, 1)
	a.Labels = store.LabelsOf("pod", "a")
	if err := in.Add(t.Context(), a); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("without a service: %v", err)
	}
}
