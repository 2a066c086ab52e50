package compare_test

import (
	"bytes"
	"fmt"
	"regexp"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"

	"loupe/compare"
	"loupe/profile"
)

// digits is compiled once, as it should be.
var digits = regexp.MustCompile(`[0-9]+e[a-f]{1,3}`)

// search does some work. The slow form compiles its expression every time.
//
//go:noinline
func search(rounds int, slow bool) (n int) {
	text := strings.Repeat("a quick 12 brown 34ef fox 5 jumps ", 8)
	for i := range rounds {
		re := digits
		if slow {
			re = compileAgain()
		}
		n += len(re.FindAllString(text, -1)) + len(fmt.Sprintf("%d %s", i, text))
	}
	return n
}

//go:noinline
func compileAgain() *regexp.Regexp { return regexp.MustCompile(`[0-9]+e[a-f]{1,3}`) }

// recorded is a real CPU profile of some work.
func recorded(t *testing.T, rounds int, slow bool) *profile.Profile {
	t.Helper()
	var b bytes.Buffer
	if err := pprof.StartCPUProfile(&b); err != nil {
		t.Skipf("another profile is being taken: %v", err)
	}
	n := search(rounds, slow)
	pprof.StopCPUProfile()
	p, err := profile.Decode(b.Bytes(), profile.Options{})
	if err != nil || n == 0 {
		t.Fatal(err)
	}
	return p
}

// TestProfilesRecorded compares profiles that were really taken: of the same
// work hardly anything may differ, and what changed must be found.
func TestProfilesRecorded(t *testing.T) {
	if testing.Short() {
		t.Skip("takes CPU profiles for seconds")
	}
	a, again, slow := recorded(t, 250000, false), recorded(t, 250000, false), recorded(t, 80000, true)
	for _, p := range []*profile.Profile{a, again, slow} {
		t.Logf("%d samples in %v", p.Total(0), p.Duration)
		if p.Total(0) < 60 {
			t.Skipf("the profiler delivered only %d samples", p.Total(0))
		}
	}
	for _, cum := range []bool{false, true} {
		d := difference(t, one(a), one(again), compare.ProfileOptions{Share: true, Cum: cum})
		beyond := 0
		for i := range d.Rows {
			if x := d.Key(&d.Rows[i]); x.Significance.Beyond() {
				t.Logf("the same work: %s %+v", d.Rows[i].Name, x)
				beyond++
			}
		}
		// One of twenty comparisons may name something, and something that
		// is on a call path names its callers too.
		if beyond > 5 {
			t.Errorf("%d rows of %d differ between profiles of the same work", beyond, d.Judged)
		}
	}
	d := difference(t, one(a), one(slow), compare.ProfileOptions{Share: true, Cum: true})
	if r := row(t, d, "loupe/compare_test.compileAgain"); r.Cum.Significance != compare.Grew || !r.New() {
		t.Errorf("what was made slow: %+v", r.Cum)
	}
	if r := row(t, d, "regexp.MustCompile"); r.Cum.Significance != compare.Grew {
		t.Errorf("what it calls: %+v", r.Cum)
	}
	if !slices.ContainsFunc(d.Paths, func(p compare.PathDelta) bool { return slices.Contains(p.Path, "loupe/compare_test.compileAgain") }) {
		t.Errorf("no call path leads through what was made slow: %+v", d.Paths)
	}
}
