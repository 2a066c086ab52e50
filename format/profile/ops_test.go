package profile_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	google "github.com/google/pprof/profile"

	"loupe/format/profile"
)

// raw prints a profile as pprof -raw.
func raw(t testing.TB, p *profile.Profile) string {
	t.Helper()
	var b strings.Builder
	if err := p.WriteRaw(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// diff shows the first line that differs.
func diff(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(a), len(b)) {
		x, y := "<end>", "<end>"
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			return fmt.Sprintf("line %d:\n%s\nwant:\n%s", i+1, x, y)
		}
	}
	return ""
}

// bothProfiles decodes real profiles twice.
func bothProfiles(t *testing.T, f func(t *testing.T, ours *profile.Profile, theirs func() *google.Profile)) {
	for name, data := range realProfiles(t) {
		if _, err := google.ParseData(data); err != nil {
			continue // the compiler writes broken ones at times
		}
		t.Run(name, func(t *testing.T) {
			f(t, mustDecode(t, data), func() *google.Profile {
				p, err := google.ParseData(data)
				if err != nil {
					t.Fatal(err)
				}
				return p
			})
		})
	}
}

// TestOperations applies every operation with ours and with google/pprof and
// compares all that -raw shows. The profile that an operation was applied to
// must not have changed.
func TestOperations(t *testing.T) {
	type ours = *profile.Profile
	type theirs = *google.Profile
	re := regexp.MustCompile
	names := func(focus, ignore, hide, show string) [2]any {
		opt := func(s string) *regexp.Regexp {
			if s == "" {
				return nil
			}
			return re(s)
		}
		return [2]any{
			func(p ours) ours {
				q, _ := p.FilterNames(profile.NameFilter{Focus: opt(focus), Ignore: opt(ignore), Hide: opt(hide), Show: opt(show)})
				return q
			},
			func(p theirs) { p.FilterSamplesByName(opt(focus), opt(ignore), opt(hide), opt(show)) },
		}
	}
	ops := map[string][2]any{
		"nothing":         {func(p ours) ours { return p }, func(theirs) {}},
		"focus":           names("mallocgc|grow", "", "", ""),
		"focus file":      names(`\.go$`, "", "", ""),
		"ignore":          names("", "strings|ssa", "", ""),
		"focus ignore":    names("main|runtime", "malloc", "", ""),
		"hide":            names("", "", "runtime|main.parse", ""),
		"show":            names("", "", "", "main|sort|compile"),
		"hide show focus": names("e", "gc", "runtime", "[a-m]"),
		"nobody":          names("no such function", "", "", ""),
		"show_from": {
			func(p ours) ours { q, _ := p.ShowFrom(re("main|parse|work")); return q },
			func(p theirs) { p.ShowFrom(re("main|parse|work")) },
		},
		"prune_from": {
			func(p ours) ours { return p.PruneFrom(re("parse|grow|Sprintf|mallocgc")) },
			func(p theirs) { p.PruneFrom(re("parse|grow|Sprintf|mallocgc")) },
		},
		"labels": {
			func(p ours) ours {
				return p.FilterLabels(func(key string) bool { return key != "kind" && key != "bytes" })
			},
			func(p theirs) { p.FilterTagsByName(nil, re("kind|bytes")) },
		},
		"no labels": {
			func(p ours) ours { return p.FilterLabels(func(string) bool { return false }) },
			func(p theirs) { p.FilterTagsByName(nil, re(".")) },
		},
		"set label": {
			func(p ours) ours { return p.WithLabel("worker", "7").WithLabel("pprof::base", "true") },
			func(p theirs) { p.SetLabel("worker", []string{"7"}); p.SetLabel("pprof::base", []string{"true"}) },
		},
		"negate": {func(p ours) ours { return p.Negate() }, func(p theirs) { p.Scale(-1) }},
		"scale": {
			func(p ours) ours {
				r := make([]float64, len(p.SampleTypes))
				for i := range r {
					r[i] = 0.3
				}
				return p.Scale(r...)
			},
			func(p theirs) { p.Scale(0.3) },
		},
		"noinlines": {
			func(p ours) ours { return p.WithoutInlines(false) },
			func(p theirs) { _ = p.Aggregate(false, true, true, true, false, true) },
		},
		"uninteresting": {
			func(p ours) ours {
				q := *p
				q.DropFrames, q.KeepFrames = `runtime\..*|strings\..*|main\.g.*`, `runtime\.main|runtime\.goexit`
				r, err := q.RemoveUninteresting()
				if err != nil {
					panic(err)
				}
				r.DropFrames, r.KeepFrames = p.DropFrames, p.KeepFrames
				return r
			},
			func(p theirs) {
				p.Prune(re(`^(runtime\..*|strings\..*|main\.g.*)$`), re(`^(runtime\.main|runtime\.goexit)$`))
			},
		},
	}
	bothProfiles(t, func(t *testing.T, p *profile.Profile, official func() *google.Profile) {
		before := raw(t, p)
		for name, op := range ops {
			got := op[0].(func(ours) ours)(p)
			want := official()
			op[1].(func(theirs))(want)
			if d := diff(raw(t, got), want.String()); d != "" {
				t.Errorf("%s: %s", name, d)
			}
			if again := mustDecode(t, encode(t, got)); diff(raw(t, again), raw(t, got)) != "" {
				t.Errorf("%s: encoded and decoded: %s", name, diff(raw(t, again), raw(t, got)))
			}
		}
		if d := diff(raw(t, p), before); d != "" {
			t.Errorf("the profile has changed: %s", d)
		}
	})
}

// TestMerge adds profiles up, subtracts them and normalizes them.
func TestMerge(t *testing.T) {
	bothProfiles(t, func(t *testing.T, p *profile.Profile, official func() *google.Profile) {
		check := func(what string, got *profile.Profile, err error, want *google.Profile, err2 error) {
			t.Helper()
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			if d := diff(raw(t, got), want.String()); d != "" {
				t.Errorf("%s: %s", what, d)
			}
		}
		got, err := profile.Merge(p)
		want, err2 := google.Merge([]*google.Profile{official()})
		check("one", got, err, want, err2)

		// Another profile whose binary was loaded elsewhere, with other labels.
		other := official()
		for _, m := range other.Mapping {
			m.Start, m.Limit = m.Start+1<<32, m.Limit+1<<32
		}
		for _, l := range other.Location {
			if l.Mapping != nil {
				l.Address += 1 << 32
			}
		}
		other.Sample = other.Sample[len(other.Sample)/3:]
		for i, s := range other.Sample {
			if i%2 == 0 {
				s.Label = map[string][]string{"b": {"2"}, "a": {"1", "0"}}
			}
		}
		other.TimeNanos /= 2
		other.Comments = []string{"another"}
		var b strings.Builder
		if err := other.Write(&b); err != nil {
			t.Fatal(err)
		}
		q := mustDecode(t, []byte(b.String()))
		got, err = profile.Merge(p, q)
		want, err2 = google.Merge([]*google.Profile{official(), other.Copy()})
		check("two", got, err, want, err2)

		got, err = profile.Merge(p, q.WithLabel("pprof::base", "true").Negate())
		minus := other.Copy()
		minus.SetLabel("pprof::base", []string{"true"})
		minus.Scale(-1)
		want, err2 = google.Merge([]*google.Profile{official(), minus})
		check("diff_base", got, err, want, err2)

		minus = other.Copy()
		minus.Scale(-1)
		got, err = profile.Merge(p, q.Negate())
		want, err2 = google.Merge([]*google.Profile{official(), minus})
		check("base", got, err, want, err2)

		got, err = p.Normalize(q)
		want = official()
		check("normalize", got, err, want, want.Normalize(other))
	})
	none := mustDecode(t, encode(t, &profile.Profile{SampleTypes: []profile.ValueType{{Type: "a", Unit: "b"}}, Values: make([][]int64, 1)}))
	some := mustDecode(t, encode(t, &profile.Profile{SampleTypes: []profile.ValueType{{Type: "a", Unit: "c"}}, Values: make([][]int64, 1)}))
	if _, err := profile.Merge(none, some); err == nil {
		t.Error("other units, but no error")
	}
	if _, err := profile.Merge(); err == nil {
		t.Error("no profiles, but no error")
	}
}

// TestLabelUnits compares the units that the keys of numbers have.
func TestLabelUnits(t *testing.T) {
	bothProfiles(t, func(t *testing.T, p *profile.Profile, official func() *google.Profile) {
		units, others := p.LabelUnits()
		units2, others2 := official().NumLabelUnits()
		if fmt.Sprint(units, others) != fmt.Sprint(units2, others2) {
			t.Errorf("units %v %v, want %v %v", units, others, units2, others2)
		}
	})
}

func TestCommonTypes(t *testing.T) {
	of := func(types ...string) *profile.Profile {
		p := &profile.Profile{DefaultSampleType: types[len(types)-1]}
		for i, name := range types {
			p.SampleTypes = append(p.SampleTypes, profile.ValueType{Type: name})
			p.Values = append(p.Values, []int64{int64(i)})
		}
		return p
	}
	got, err := profile.CommonTypes([]*profile.Profile{of("a", "b", "c"), of("c", "b", "d")})
	if err != nil {
		t.Fatal(err)
	}
	if s := fmt.Sprint(got[0].SampleTypes, got[0].DefaultSampleType, got[0].Values, got[1].SampleTypes, got[1].DefaultSampleType, got[1].Values); s !=
		"[b/ c/]c[[1] [2]] [b/ c/]b[[1] [0]]" {
		t.Errorf("common types: %s", s)
	}
	if _, err := profile.CommonTypes([]*profile.Profile{of("a"), of("b")}); err == nil {
		t.Error("nothing in common, but no error")
	}
}
