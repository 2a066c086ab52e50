package account

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"loupe/format/exectrace"
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
		for _, g := range a.Groups {
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
