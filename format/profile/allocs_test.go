package profile_test

import (
	"testing"

	"loupe/format/profile"
	"loupe/format/profile/profiletest"
	"loupe/value/stack"
)

// TestSharing guards what makes merging many profiles and renaming a large
// one cheap: no allocation for a location, a stack or a sample.
func TestSharing(t *testing.T) {
	p := mustDecode(t, profiletest.Synthetic(5000, 300))
	var m profile.Merger
	for range 2 {
		if err := m.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	f := func(what string, most float64, do func()) {
		t.Helper()
		if n := testing.AllocsPerRun(10, do); n > most {
			t.Errorf("%s allocates %v times, want at most %v", what, n, most)
		}
	}
	// One label set costs some, of which there are as many as sizes, and the
	// tables of what went where.
	f("adding a profile whose parts are known", 200, func() {
		if err := m.Add(p); err != nil {
			t.Fatal(err)
		}
	})
	f("Rename", 10, func() { p.Rename(func(f *stack.Frame) string { return f.Func }) })
	f("HasLabels", 0, func() { p.HasLabels("pprof::base") })
}
