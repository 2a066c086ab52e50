package incident

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"loupe/recording"
	"loupe/store/blob/blobtest"
)

// monitor makes one over a folder and a bucket. What it tells is added to told.
func monitor(t *testing.T, dir string, bucket *blobtest.Memory, told *strings.Builder, pinned func() (func(*Incident) bool, error)) *Monitor {
	t.Helper()
	m, err := New(&fleet{}, Options{Dir: dir, Tool: "test", Bucket: bucket, Pinned: pinned, Tell: func(format string, args ...any) { fmt.Fprintf(told, format+"\n", args...) }})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// taken is an incident with a recording, as record leaves it.
func taken(t *testing.T, m *Monitor, service string, at time.Time) *Incident {
	t.Helper()
	in := &Incident{At: at, Rule: "goroutines>1", Why: "goroutines is 2", Service: service, Target: "http://one", Labels: map[string]string{"service_name": service}}
	if err := m.kept.add(in); err != nil {
		t.Fatal(err)
	}
	w, err := recording.Create(m.kept.place(in), recording.Manifest{Title: service})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Put(recording.Entry{Path: "text", Kind: recording.Stderr}, []byte("what "+service+" said")), w.Close()); err != nil {
		t.Fatal(err)
	}
	if err := m.kept.change(in, func(in *Incident) { in.Recorded, in.Bytes = true, size(m.kept.place(in)) }); err != nil {
		t.Fatal(err)
	}
	return in
}

// says holds the recording of an incident, wherever it comes from, against what it was.
func says(t *testing.T, m *Monitor, id, service string) {
	t.Helper()
	where, err := m.Fetch(t.Context(), id)
	if err != nil {
		t.Fatalf("%s: %v", id, err)
	}
	r, err := recording.OpenFile(where)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	text, err := r.ReadFile("text", 1000)
	if err != nil || string(text) != "what "+service+" said" || r.Manifest.Title != service {
		t.Errorf("%s in %s says %q, %v", id, where, text, err)
	}
}

func good(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestLostDisk: what was captured is in the bucket, and another disk has all of it back.
func TestLostDisk(t *testing.T) {
	var looks atomic.Int64
	bucket := blobtest.NewMemory()
	f := &fleet{targets: nil}
	f.targets = append(f.targets, target(t, service(t, &looks), "shop"))
	c, err := parse("alerts.yml", []byte("interval: 100ms\nalerts: [{rule: goroutines>=1, capture: goroutine}]\n"))
	good(t, err)
	m, err := New(f, Options{Dir: t.TempDir(), Tool: "test", Bucket: bucket})
	good(t, err)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { m.Run(ctx, c) })
	for all := m.List(); len(all) == 0 || all[0].Pending; all = m.List() {
		if t.Context().Err() != nil {
			t.Fatal("it does not come to the bucket")
		}
		time.Sleep(time.Millisecond)
	}
	stop()
	running.Wait()
	in := m.List()[0]
	names := bucket.Names()
	if len(names) != 2 || in.Stored == nil || !slices.Contains(names, in.Stored.Name) || m.Place(in.ID) == "" {
		t.Fatalf("%v for %+v", names, in)
	}

	var told strings.Builder
	dir := t.TempDir()
	again := monitor(t, dir, bucket, &told, nil)
	good(t, again.tier.sync(t.Context()))
	back := again.List()
	if len(back) != 1 || back[0].ID != in.ID || !back[0].At.Equal(in.At) || back[0].Why != in.Why || !back[0].Recorded || again.Place(in.ID) != "" {
		t.Fatalf("after the loss of the disk %+v", back)
	}
	where, err := again.Fetch(t.Context(), in.ID)
	good(t, err)
	if where != again.Place(in.ID) {
		t.Errorf("it is in %s and %s", where, again.Place(in.ID))
	}
	r, err := recording.OpenFile(where)
	good(t, err)
	defer r.Close()
	kinds := map[recording.Kind]bool{}
	for _, e := range r.Manifest.Entries {
		kinds[e.Kind] = true
	}
	if !kinds["pprof.goroutine"] || !r.Complete || !strings.HasPrefix(r.Manifest.Title, "shop: goroutines is ") {
		t.Errorf("the recording %q has %v", r.Manifest.Title, kinds)
	}
	// A third start knows it without the bucket.
	good(t, again.Close())
	bucket.Fail = func(string, string) error { return errors.New("down") }
	third := monitor(t, dir, bucket, &told, nil)
	if third.Place(in.ID) != where || len(third.List()) != 1 {
		t.Errorf("%+v", third.List())
	}
}

// TestBucketDown: while the bucket does not answer, recordings stay here whatever the bounds are, and nothing more is
// recorded when they take all the room; afterwards everything is brought there, and goes here as the bounds say.
func TestBucketDown(t *testing.T) {
	bucket := blobtest.NewMemory()
	down := errors.New("connection refused")
	bucket.Fail = func(string, string) error { return down }
	var told strings.Builder
	m := monitor(t, t.TempDir(), bucket, &told, nil)
	m.kept.count, m.kept.bytes = 2, 10
	var list []*Incident
	for i := range 3 {
		list = append(list, taken(t, m, fmt.Sprint("shop", i), time.Unix(1e9+int64(i), 0)))
	}
	if err := m.tier.sync(t.Context()); !errors.Is(err, down) {
		t.Fatalf("%v", err)
	}
	good(t, m.kept.bound())
	for i, in := range list {
		if !recorded(m.kept.place(in)) {
			t.Fatalf("recording %d is lost", i)
		}
	}
	if why := m.tier.full(); !strings.Contains(why, "keep.bytes reached by ") || !strings.Contains(why, "does not have yet") {
		t.Errorf("full: %q", why)
	}
	// It is told once for as long as nothing changes.
	ctx, stop := context.WithCancel(t.Context())
	var tries atomic.Int64
	bucket.Fail = func(string, string) error {
		if tries.Add(1) == 5 {
			stop()
		}
		return down
	}
	m.tier.retry = time.Millisecond
	m.tier.run(ctx)
	if n := strings.Count(told.String(), "connection refused (kept here; retried every"); n != 1 {
		t.Errorf("told %d times:\n%s", n, &told)
	}
	bucket.Fail = nil
	good(t, m.tier.sync(t.Context()))
	if m.tier.full() != "" {
		t.Error("still full")
	}
	all := m.List()
	if len(all) != 2 || all[1].ID != list[1].ID {
		t.Fatalf("%+v", all)
	}
	for i, in := range all {
		if in.Pending || in.Stored == nil || recorded(m.kept.place(&in)) {
			t.Errorf("%d: %+v", i, in)
		}
		says(t, m, in.ID, in.Service)
	}
	good(t, m.tier.sync(t.Context())) // the dropped one goes there as well
	if names := bucket.Names(); len(names) != 4 || strings.HasPrefix(names[0], list[0].ID+"/") {
		t.Errorf("the bucket has %v", names)
	}
	for _, in := range all { // opened ones stay
		if m.Place(in.ID) == "" {
			t.Errorf("%s is gone while somebody may look at it", in.ID)
		}
	}
}

// TestFailures has each request to the bucket fail once, and the process end there: whatever was captured is there
// afterwards, once.
func TestFailures(t *testing.T) {
	for fails := 1; ; fails++ {
		bucket := blobtest.NewMemory()
		var told strings.Builder
		dir, calls := t.TempDir(), 0
		bucket.Fail = func(string, string) error {
			if calls++; calls >= fails {
				return errors.New("killed")
			}
			return nil
		}
		m := monitor(t, dir, bucket, &told, nil)
		one := taken(t, m, "shop", time.Unix(1e9, 0))
		two := taken(t, m, "cart", time.Unix(1e9+1, 0))
		err := m.tier.sync(t.Context())
		good(t, m.kept.change(one, func(in *Incident) { in.Again++ }))
		err = errors.Join(err, m.tier.sync(t.Context()))

		bucket.Fail = nil
		good(t, m.Close())
		next := monitor(t, dir, bucket, &told, nil)
		good(t, next.tier.sync(t.Context()))
		good(t, next.tier.sync(t.Context()))
		names := bucket.Names()
		if len(names) != 4 {
			t.Fatalf("after failure %d the bucket has %v", fails, names)
		}
		lost := monitor(t, t.TempDir(), bucket, &told, nil)
		good(t, lost.tier.sync(t.Context()))
		back := lost.List()
		if len(back) != 2 || back[1].ID != one.ID || back[1].Again != 1 || back[0].ID != two.ID {
			t.Fatalf("after failure %d: %+v", fails, back)
		}
		says(t, lost, one.ID, "shop")
		says(t, lost, two.ID, "cart")
		if err == nil {
			if fails < 10 {
				t.Errorf("only %d requests", fails)
			}
			return
		}
	}
}

// TestTierBounds: the bucket keeps to its room, what is pinned stays, and what is gone says why; with the pins unknown nothing
// is deleted.
func TestTierBounds(t *testing.T) {
	bucket := blobtest.NewMemory()
	var told strings.Builder
	var unknown error
	pinned := func() (func(*Incident) bool, error) {
		return func(in *Incident) bool { return in.Service == "pinned" }, unknown
	}
	dir := t.TempDir()
	m := monitor(t, dir, bucket, &told, pinned)
	first := taken(t, m, "pinned", time.Unix(1e9, 0))
	second := taken(t, m, "shop", time.Unix(1e9+1, 0))
	third := taken(t, m, "cart", time.Unix(1e9+2, 0))
	good(t, m.tier.sync(t.Context()))
	m.kept.room = first.Stored.Bytes + third.Stored.Bytes
	unknown = errors.New("the store is closed")
	if err := m.kept.bound(); !errors.Is(err, unknown) || !second.Recorded {
		t.Errorf("%v, %+v", err, second)
	}
	unknown = nil
	good(t, m.kept.bound())
	good(t, m.tier.sync(t.Context()))
	if second.Recorded || second.Stored != nil || !strings.Contains(second.Note, "keep.bucket") || recorded(m.kept.place(second)) || !first.Recorded || !third.Recorded {
		t.Errorf("%+v %+v %+v", first, second, third)
	}
	if names := bucket.Names(); len(names) != 5 {
		t.Errorf("%v", names)
	}
	if _, err := m.Fetch(t.Context(), second.ID); !errors.Is(err, ErrNone) {
		t.Errorf("a recording that is gone: %v", err)
	}
	m.kept.count = 1
	good(t, m.kept.bound())
	good(t, m.tier.sync(t.Context()))
	if all := m.List(); len(all) != 1 || all[0].ID != first.ID {
		t.Errorf("%+v", all)
	}
	if names := bucket.Names(); len(names) != 2 || !strings.HasPrefix(names[0], first.ID+"/") {
		t.Errorf("%v", names)
	}

	// Without a bucket pins hold as well.
	local, err := New(&fleet{}, Options{Dir: t.TempDir(), Pinned: pinned})
	good(t, err)
	one := taken(t, local, "pinned", time.Unix(1e9, 0))
	two := taken(t, local, "shop", time.Unix(1e9+1, 0))
	local.kept.bytes = 1
	good(t, local.kept.bound())
	if !one.Recorded || two.Recorded {
		t.Errorf("%+v %+v", one, two)
	}
}

// TestOtherBucket: a bucket that lacks what the folder thinks it has gets it, and a recording that is nowhere
// says so; one that is damaged there is not opened.
func TestOtherBucket(t *testing.T) {
	var told strings.Builder
	dir, first := t.TempDir(), blobtest.NewMemory()
	m := monitor(t, dir, first, &told, nil)
	one, two := taken(t, m, "shop", time.Unix(1e9, 0)), taken(t, m, "cart", time.Unix(1e9+1, 0))
	good(t, m.tier.sync(t.Context()))
	m.kept.bytes = 1
	good(t, m.kept.bound())
	if m.Place(one.ID) != "" || m.Place(two.ID) != "" {
		t.Fatal("nothing goes")
	}
	says(t, m, two.ID, "cart")

	second := blobtest.NewMemory()
	good(t, m.Close())
	m = monitor(t, dir, second, &told, nil)
	good(t, m.tier.sync(t.Context()))
	good(t, m.tier.sync(t.Context()))
	all := m.List()
	if !all[0].Recorded || all[0].Stored == nil || all[1].Recorded || !strings.Contains(all[1].Note, "deleted by somebody else") || len(second.Names()) != 3 {
		t.Errorf("%+v, %v", all, second.Names())
	}
	second.Change(all[0].Stored.Name, func(data []byte) []byte { data[len(data)/2] ^= 1; return data })
	good(t, os.Remove(m.Place(two.ID)))
	if where, err := m.Fetch(t.Context(), two.ID); err == nil || !strings.Contains(err.Error(), "it is damaged") {
		t.Errorf("a damaged recording is in %q, %v", where, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, temporary+"*")); len(left) > 0 {
		t.Errorf("it leaves %q", left)
	}

	// Two servers of one prefix: the second does not replace what the first has.
	third := monitor(t, t.TempDir(), second, &told, nil)
	third.kept.listed = true // both began at the same time
	other := taken(t, third, "shop", time.Unix(1e9, 0))
	good(t, third.kept.change(other, func(in *Incident) { in.Target = "http://another" }))
	if err := third.tier.sync(t.Context()); err == nil || !strings.Contains(err.Error(), "two servers must not use one prefix") || !other.Recorded {
		t.Errorf("%v", err)
	}
}
