package repetition

import (
	"testing"
	"time"

	"loupe/format/repeats"
)

// TestRewrittenIn: whole files that are written again with what they have are told, with the function that does nothing but make and write them;
// what was not compared as a whole, fails, differs mostly or is written under a load is not.
func TestRewrittenIn(t *testing.T) {
	for _, c := range []struct {
		name   string
		loaded bool
		change func(s *repeats.Set, write *repeats.Func)
		share  float64 // 0 is none
		around string
	}{
		{"once in each call", false, func(*repeats.Set, *repeats.Func) {}, 0.8 * 599.0 / 600, "main.save"},
		{"of two in each call", false, func(s *repeats.Set, f *repeats.Func) { f.Calls = 1200 }, 0.05, ""},
		{"by ioutil", false, func(s *repeats.Set, f *repeats.Func) { f.Name = "ioutil.WriteFile" }, 0.8 * 599.0 / 600, "main.save"},
		{"a method of that name", false, func(s *repeats.Set, f *repeats.Func) { f.Name = "fs.WriteFile" }, 0, ""},
		{"a program under load", true, func(*repeats.Set, *repeats.Func) {}, 0, ""},
		{"most of it is new", false, func(s *repeats.Set, f *repeats.Func) { f.Everywhere.Again = 290 }, 0, ""},
		{"a few times", false, func(s *repeats.Set, f *repeats.Func) { f.Everywhere.Calls, f.Everywhere.Again = 8, 7 }, 0, ""},
		{"compared in part", false, func(s *repeats.Set, f *repeats.Func) { f.Everywhere.Partial = true }, 0, ""},
		{"compared at its ends", false, func(s *repeats.Set, f *repeats.Func) { f.Everywhere.Large = true }, 0, ""},
		{"it fails", false, func(s *repeats.Set, f *repeats.Func) { f.Everywhere.Fails = true }, 0, ""},
		{"counting ended", false, func(s *repeats.Set, f *repeats.Func) { f.Cut = true }, 0, ""},
	} {
		s := counted(t, c.loaded, func(s *repeats.Set) {
			s.Functions = append(s.Functions,
				repeats.Func{Name: "main.save", File: "/src/main.go", Line: 90, Calls: 600, Time: 8 * time.Second},
				repeats.Func{Name: "os.WriteFile", File: "/src/main.go", Line: 95, Caller: "main.save", Calls: 600, Time: time.Second,
					Everywhere: &repeats.Counts{Calls: 600, Time: time.Second, Distinct: 1, Again: 599, AgainTime: 500 * time.Millisecond, Traits: repeats.Traits{Plain: true, Void: true}}})
			at := len(s.Functions)
			for i, took := range []time.Duration{8 * time.Second, time.Second} {
				s.Within = append(s.Within, repeats.Within{In: handle, Call: at - 2 + i, Around: 1, AroundTime: 10 * time.Second, Most: 600, MostOne: 600,
					Counts: repeats.Counts{Calls: 600, Time: took, Distinct: 1, Again: 599, AgainTime: took / 2, Traits: repeats.Traits{Void: true}}})
			}
			c.change(s, &s.Functions[at-1])
		})
		all, err := RewrittenIn(s)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if len(all) != min(1, int(1000*c.share)) {
			t.Errorf("%s: %+v", c.name, all)
			continue
		}
		if len(all) > 0 && (all[0].Share < c.share-1e-9 || all[0].Share > c.share+1e-9 || all[0].Around.Name != c.around || all[0].Unit.Name != "main.handle") {
			t.Errorf("%s: %.4f of %s in %q, want %.4f in %q", c.name, all[0].Share, all[0].Unit.Name, all[0].Around.Name, c.share, c.around)
		}
	}
}
