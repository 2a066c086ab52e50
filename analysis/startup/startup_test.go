package startup_test

import (
	"slices"
	"testing"
	"time"

	"loupe/analysis/startup"
	"loupe/format/godebug"
)

func TestAnalyse(t *testing.T) {
	const log = `init a @0.10 ms, 0.50 ms clock, 100 bytes, 1 allocs
init b @0.70 ms, 2.0 ms clock, 3000 bytes, 30 allocs
noise
init c @2.8 ms, 0.50 ms clock, 200 bytes, 2 allocs
init main @3.4 ms, 0 ms clock, 0 bytes, 0 allocs
init a @0.20 ms, 0.10 ms clock, 100 bytes, 1 allocs
`
	l := godebug.Parse([]byte(log))
	all := startup.Analyse(l.Inits, l.Names)
	if len(all) != 2 {
		t.Fatalf("%d runs, want 2", len(all))
	}
	s := all[0]
	var order []string
	for _, p := range s.Packages {
		order = append(order, p.Package)
	}
	if want := []string{"b", "c", "a", "main"}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
	if s.Clock != 3*time.Millisecond || s.Bytes != 3300 || s.Allocs != 33 || s.Main != 3400*time.Microsecond {
		t.Errorf("sums: %+v", *s)
	}
	if s := all[1]; s.Run != 1 || s.Main != 300*time.Microsecond || len(s.Packages) != 1 {
		t.Errorf("second run: %+v", *s)
	}
}
