package account

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"loupe/format/exectrace"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// adds tells whether the parts of a part add up to its wall time.
func adds(t *testing.T, what string, p *Part) {
	t.Helper()
	sum := time.Duration(0)
	for _, r := range p.Rows {
		if r.Time <= 0 {
			t.Errorf("%s: a row of %v: %+v", what, r.Time, r)
		}
		sum += r.Time
	}
	if sum != p.Wall {
		t.Errorf("%s: the rows are %v together, the units %v", what, sum, p.Wall)
	}
}

// Check holds what is true of every account.
func Check(t *testing.T, name string, a *Account) {
	t.Helper()
	for _, g := range a.Groups {
		what := name + ": " + g.Unit.String() + " " + g.Name
		adds(t, what, &g.All)
		adds(t, what+", typical", &g.Typical)
		adds(t, what+", slow", &g.Slow)
		if g.All.Wall != g.Wall.Sum || g.All.Units != g.Wall.Count {
			t.Errorf("%s: %d units of %v, and %d of %v", what, g.All.Units, g.All.Wall, g.Wall.Count, g.Wall.Sum)
		}
		for _, one := range g.Slowest {
			adds(t, what+", one", &one.Part)
			if one.Part.Wall != one.Span.Len() {
				t.Errorf("%s: a unit of %v has parts of %v", what, one.Span.Len(), one.Part.Wall)
			}
		}
	}
	if p := a.Wall(); p != nil {
		all := time.Duration(0)
		for _, g := range a.Best() {
			all += g.Wall.Sum
		}
		if total := p.Total(); total.Time != all {
			t.Errorf("%s: the profile is of %v, the units of %v", name, total.Time, all)
		}
	}
}

// TestRecorded: the parts of all units add up to their wall time, in traces of all
// versions and damaged ones.
func TestRecorded(t *testing.T) {
	var files []string
	for _, pattern := range []string{"recorded/*.trace", "old/*.trace"} {
		found, err := filepath.Glob(filepath.Join("../../format/exectrace/testdata", pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v, %v", pattern, found, err)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, cut := range []int{len(data), len(data) * 2 / 3} {
			trace, err := exectrace.Open(data[:cut], exectrace.Options{})
			if err != nil {
				continue // not even a header of the old format is whole
			}
			a, err := Of(trace, Options{Wall: true}, nil)
			if err != nil {
				t.Errorf("%s: %v", file, err)
				continue
			}
			t.Logf("%s: %d groups, %d cut", filepath.Base(file), len(a.Groups), a.Cut)
			Check(t, filepath.Base(file), a)
		}
	}
}

// TestDamaged: a trace with garbage in it has an account of what can be read.
func TestDamaged(t *testing.T) {
	data, err := os.ReadFile("../../format/exectrace/testdata/recorded/medium.trace")
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		bad := slices.Clone(data)
		for range 1 + random.IntN(20) {
			bad[16+random.IntN(len(bad)-16)] = byte(random.Uint32())
		}
		trace, err := exectrace.Open(bad, exectrace.Options{})
		if err != nil {
			continue
		}
		if a, err := Of(trace, Options{Wall: true, ID: 1}, nil); err == nil {
			Check(t, "damaged", a)
		}
	}
}

// TestHistory: whatever is packed away, the parts of a history add up to its time, and
// what is recent is exact.
func TestHistory(t *testing.T) {
	w := newWords(nil, stack.Scope{})
	var keys []keyID
	for i := range 200 {
		keys = append(keys, w.id(key{kind: Kind(1 + i%3), site: siteID(2 + i)}))
	}
	random := rand.New(rand.NewPCG(3, 4))
	for _, crowd := range []int{0, manyBlocks + 1} {
		h := history{}
		h.reset(1000)
		at, all := timeline.Time(1000), []amount(nil)
		for range 10_000 {
			d := timeline.Time(1 + random.IntN(1000))
			at += d
			all = append(all, amount{keys[random.IntN(len(keys))], d})
			h.push(w, at, all[len(all)-1].key, crowd)
		}
		for _, long := range []timeline.Time{1, 999, 20_000, 500_000, at - 1000, at} {
			got, known := h.within(at-long, at, nil)
			sum := timeline.Time(0)
			for _, a := range got {
				sum += a.d
			}
			if want := max(at-long, 1000); known != want || sum != at-want {
				t.Errorf("the last %d: %d in %d parts, known from %d, want from %d", long, sum, len(got), known, want)
			}
		}
		got, _ := h.within(at-3000, at, nil)
		for i, a := range got[:2] {
			if b := all[len(all)-1-i]; a.key != b.key || a.d != b.d {
				t.Errorf("the last but %d is %+v, want %+v", i, a, b)
			}
		}
		if len(h.blocks) > maxBlocks || len(h.pieces) > maxPieces || crowd > 0 && len(h.blocks) > 1 {
			t.Errorf("it has %d blocks and %d pieces", len(h.blocks), len(h.pieces))
		}
	}
}
