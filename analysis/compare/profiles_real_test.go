package compare_test

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"loupe/analysis/compare"
	"loupe/format/profile"
)

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
