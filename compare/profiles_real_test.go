package compare_test

import (
	"bytes"
	"fmt"
	"os"
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

// TestProfilesRecorded finds what changed in a program that is running now.
func TestProfilesRecorded(t *testing.T) {
	if testing.Short() {
		t.Skip("takes CPU profiles for seconds")
	}
	a, slow := recorded(t, 150000, false), recorded(t, 80000, true)
	for _, p := range []*profile.Profile{a, slow} {
		t.Logf("%d samples in %v", p.Total(0), p.Duration)
		if p.Total(0) < 60 {
			t.Skipf("the profiler delivered only %d samples", p.Total(0))
		}
	}
	d := difference(t, one(a), one(slow), compare.ProfileOptions{Share: true, Cum: true})
	if r := row(t, d, "loupe/compare_test.compileAgain"); r.Cum.Significance != compare.Grew || !r.New() {
		t.Errorf("what was made slow: %+v", r.Cum)
	}
	if !slices.ContainsFunc(d.Paths, func(p compare.PathDelta) bool { return slices.Contains(p.Path, "loupe/compare_test.compileAgain") }) {
		t.Errorf("no call path leads through what was made slow: %+v", d.Paths)
	}
}

// kept reads three CPU profiles that were kept in testdata/regexp: runs of one
// program (before, again), and of the same with a regular expression compiled
// in each of its 80,000 rounds (after), recorded in turns on a busy machine.
func kept(t *testing.T, name string) (list []*profile.Profile) {
	t.Helper()
	for i := range 3 {
		data, err := os.ReadFile(fmt.Sprintf("testdata/regexp/%s%d.pb.gz", name, i+1))
		if err != nil {
			t.Fatal(err)
		}
		p, err := profile.Decode(data, profile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	return list
}

// beyond lists what differs beyond chance.
func beyond(d *compare.ProfileDiff) (names []string) {
	for i := range d.Rows {
		if d.Key(&d.Rows[i]).Significance.Beyond() {
			names = append(names, d.Rows[i].Name)
		}
	}
	return names
}

func TestProfilesKept(t *testing.T) {
	before, again, after := kept(t, "before"), kept(t, "again"), kept(t, "after")
	for _, opt := range []compare.ProfileOptions{{}, {Cum: true}, {Share: true}, {Share: true, Cum: true}} {
		d := difference(t, before, again, opt)
		if names := beyond(d); len(names) > 0 || len(d.Paths) > 0 {
			t.Errorf("%+v: the same program differs in %q and %d call paths", opt, names, len(d.Paths))
		}
		d = difference(t, before, after, opt)
		if names := beyond(d); opt.Cum && !slices.Contains(names, "regexp.Compile") {
			t.Errorf("%+v: what changed is not among %q", opt, names)
		}
		for _, p := range d.Paths {
			if !slices.Contains(p.Path, "main.find") {
				t.Errorf("%+v: the change was in main.find, not in %q", opt, p.Path)
			}
		}
		if len(d.Paths) == 0 {
			t.Errorf("%+v: no call path explains the change", opt)
		}
	}
	// Shares do not see that the machine was faster or slower.
	alarms := 0
	for i := range before {
		if len(beyond(difference(t, one(before[i]), one(again[i]), compare.ProfileOptions{Share: true}))) > 0 {
			alarms++
		}
	}
	if alarms > 1 {
		t.Errorf("%d of %d pairs of single profiles of one program differ", alarms, len(before))
	}
}
