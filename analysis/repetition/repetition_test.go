package repetition

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"loupe/format/repeats"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
)

// The functions of a service: main.handle calls main.list, that calls main.open, and that main.read.
const (
	handle = iota
	list
	open
	read
)

// counted is a recording with counts of these functions.
func counted(t *testing.T, loaded bool, change func(*repeats.Set)) *session.Session {
	t.Helper()
	set := &repeats.Set{Schema: repeats.Schema, Loaded: loaded, For: 4 * time.Second}
	for i, name := range []string{"handle", "list", "open", "read"} {
		set.Functions = append(set.Functions, repeats.Func{Name: "main." + name, File: "/src/main.go", Line: 10 * (i + 1), Calls: 600, Time: 700 * time.Millisecond})
	}
	change(set)
	data, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	r := recordingtest.New("title x\nphase bare 0s..5s")
	r.Put(recording.Entry{Path: "repeats.json", Kind: recording.Repeats}, data)
	return session.New(r.Open())
}

// again are 600 calls of one function within 10 calls of another that took a second, of which 590 had the arguments of an earlier one.
func again(in, call int) repeats.Within {
	return repeats.Within{In: in, Call: call, Around: 10, AroundTime: time.Second, Most: 60, MostOne: 60,
		Counts: repeats.Counts{Calls: 600, Time: 700 * time.Millisecond, Distinct: 10, Again: 590, AgainTime: 650 * time.Millisecond}}
}

// but is a row with a change.
func but(w repeats.Within, change func(*repeats.Within)) repeats.Within {
	change(&w)
	return w
}

// TestIn: what repeats is told of the nearest function around and measured by the outermost; what the counts say has to be called each
// time is not.
func TestIn(t *testing.T) {
	each := func(w *repeats.Within) { // one call in each of 600
		w.Around, w.Distinct, w.Again, w.AgainTime, w.Most, w.MostOne = 600, 600, 0, 0, 1, 1
	}
	near := but(again(list, open), func(w *repeats.Within) { w.Around = 20 })
	for _, c := range []struct {
		name   string
		loaded bool
		within []repeats.Within
		want   string
	}{
		{"in each request", true, []repeats.Within{again(handle, open)}, "open in handle of handle 65%"},
		{"the nearest function", true, []repeats.Within{again(handle, open), near}, "open in list of handle 65%"},
		{"a nearest one with a part of it", true, []repeats.Within{again(handle, open), but(near, func(w *repeats.Within) { w.AgainTime /= 2 })}, "open in handle of handle 65%"},
		{"what it calls repeats because it does", true, []repeats.Within{again(handle, open), again(handle, read), but(again(open, read), each)}, "open in handle of handle 65%"},
		{"what others call too", true, []repeats.Within{again(handle, open), again(handle, read), but(again(open, read), func(w *repeats.Within) { w.Time /= 2; each(w) })}, "open in handle of handle 65%, read in handle of handle 65%"},
		{"it returns nothing", true, []repeats.Within{but(again(handle, open), func(w *repeats.Within) { w.Void = true })}, ""},
		{"it changes what it is given", true, []repeats.Within{but(again(handle, open), func(w *repeats.Within) { w.Alters = true })}, ""},
		{"it is given what it writes to", true, []repeats.Within{but(again(handle, open), func(w *repeats.Within) { w.Writes = true })}, ""},
		{"it fails", true, []repeats.Within{but(again(handle, open), func(w *repeats.Within) { w.Fails = true })}, ""},
		{"a truth value of what was not seen", true, []repeats.Within{but(again(handle, open), func(w *repeats.Within) { w.Plain, w.Partial = true, true })}, ""},
		{"a truth value of what was", true, []repeats.Within{but(again(handle, open), func(w *repeats.Within) { w.Plain = true })}, "open in handle of handle 65%"},
		{"it is given what leads to something that nothing shows", true, []repeats.Within{but(again(handle, open), func(w *repeats.Within) { w.Partial, w.Unknown = true, true })}, ""},
		{"what was not compared as a whole", true, []repeats.Within{but(again(handle, open), func(w *repeats.Within) { w.Partial = true })}, "open in handle of handle 65%"},
		{"in one of two rows", false, []repeats.Within{but(again(handle, open), func(w *repeats.Within) { w.Open, w.Unknown = true, true }), again(handle, open)}, ""},
		{"one result differs", true, []repeats.Within{but(again(handle, open), func(w *repeats.Within) { w.Differ = 1 })}, ""},
		{"few calls", true, []repeats.Within{but(again(handle, open), func(w *repeats.Within) { w.Again, w.AgainTime = fewAgain-1, 100*time.Millisecond })}, ""},
		{"few calls that take long", true, []repeats.Within{but(again(handle, open), func(w *repeats.Within) {
			w.Calls, w.Distinct, w.Again, w.AroundTime, w.Time, w.AgainTime, w.Most, w.MostOne = 15, 10, 5, 10*time.Second, 2*time.Second, 500*time.Millisecond, 2, 2
		})}, "open in handle of handle 5%"},
		{"one that takes long", true, []repeats.Within{but(again(handle, open), func(w *repeats.Within) {
			w.Calls, w.Distinct, w.Again, w.AroundTime, w.Time, w.AgainTime, w.Most, w.MostOne = 11, 10, fewLong-1, 10*time.Second, 2*time.Second, 500*time.Millisecond, 2, 2
		})}, ""},
		{"little time", true, []repeats.Within{but(again(handle, open), func(w *repeats.Within) { w.AgainTime = leastAgain - 1 })}, ""},
		{"calls as short as counting them", true, []repeats.Within{but(again(handle, open), func(w *repeats.Within) { w.Calls = 1_000_000 })}, ""},
		{"short calls with several arguments, whose results would be looked up", true, []repeats.Within{but(again(handle, open), func(w *repeats.Within) { w.Calls, w.Distinct = 300_000, 30 })}, ""},
		{"a few requests", true, []repeats.Within{but(again(handle, open), func(w *repeats.Within) { w.Around = fewAround - 1 })}, ""},
		{"a few calls around in a tool", false, []repeats.Within{but(again(handle, open), func(w *repeats.Within) { w.Around = 1 })}, "open in handle of handle 65%"},
		{"what never ends under load", true, []repeats.Within{but(again(handle, open), func(w *repeats.Within) { w.Open = true })}, ""},
		{"main, which has not ended, and other calls of it", false, []repeats.Within{but(again(handle, open), func(w *repeats.Within) { w.Open = true }), again(handle, open)}, "open in handle of handle 65%"},
		{"calls of which one differs, in two rows", false, []repeats.Within{but(again(handle, open), func(w *repeats.Within) { w.Open, w.Differ = true, 1 }), again(handle, open)}, ""},
	} {
		all, _, err := In(counted(t, c.loaded, func(s *repeats.Set) {
			s.Within = c.within
			for _, w := range c.within {
				s.Functions[w.Call].Calls = max(s.Functions[w.Call].Calls, w.Calls)
			}
		}))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, x := range all {
			got = append(got, strings.ReplaceAll(fmt.Sprintf("%s in %s of %s %.0f%%", x.Func.Name, x.Within.Name, x.Unit.Name, 100*x.Share), "main.", ""))
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: %q, want %q", c.name, text, c.want)
		}
	}
}

// TestInLines: a library's call at its line is told where all of its arguments were seen, and not where that is a call of a function
// which is counted itself.
func TestInLines(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*repeats.Set)
		want   int
	}{
		{"of a library", func(s *repeats.Set) {}, 1},
		{"arguments that were not seen", func(s *repeats.Set) { s.Within[0].Partial = true }, 0},
		{"of a function of the program, by an interface", func(s *repeats.Set) {
			s.Functions[read].Name = "main.(*file).String"
			s.Within = append(s.Within, repeats.Within{In: list, Call: read, Around: 10, Counts: repeats.Counts{Calls: 600, Distinct: 600}})
		}, 0},
		{"of the same name elsewhere", func(s *repeats.Set) {
			s.Functions[read].Name = "main.(*file).String"
			s.Within = append(s.Within, repeats.Within{In: handle, Call: read, Around: 10, Counts: repeats.Counts{Calls: 600, Distinct: 600}})
		}, 1},
	} {
		all, _, err := In(counted(t, true, func(s *repeats.Set) {
			s.Functions[open].Name, s.Functions[open].Caller = "q.re.String", "main.list"
			s.Within = []repeats.Within{again(list, open)}
			c.change(s)
		}))
		if err != nil || len(all) != c.want {
			t.Errorf("%s: %d, %v, want %d", c.name, len(all), err, c.want)
		}
	}
}

// course are steps of which each has twice as many calls as the one before, whose times are given in µs.
func course(us ...int) (steps []repeats.Step) {
	for i, u := range us {
		calls := int64(1) << i
		steps = append(steps, repeats.Step{Calls: 10 * calls, Time: time.Duration(10*calls*int64(u)) * time.Microsecond})
	}
	return steps
}

// TestGrowingIn: growth is what goes on over most doublings; a cold start, a step and a busy end are none. Of functions that call each
// other the one is told that has the time.
func TestGrowingIn(t *testing.T) {
	linear := course(9, 9, 10, 20, 40, 80, 160, 320)
	for _, c := range []struct {
		name   string
		course []repeats.Step
		want   bool
	}{
		{"with their number", linear, true},
		{"with its square root", course(9, 9, 10, 14, 20, 28, 40, 57, 80, 113), false},
		{"a little faster than that", course(9, 9, 10, 15, 23, 34, 51, 76, 114), true},
		{"with the logarithm", course(10, 20, 30, 40, 50, 60, 70, 80, 90), false},
		{"the same", course(10, 10, 10, 10, 10, 10, 10, 10), false},
		{"a cold start", course(900, 400, 10, 10, 10, 10, 10, 10), false},
		{"one step", course(10, 10, 10, 10, 10, 100, 100, 100), false},
		{"a busy end", course(10, 10, 10, 11, 12, 14, 16, 300), false},
		{"few calls", course(9, 9, 10, 20, 40, 80), false},
		{"constant at first", course(90, 90, 91, 92, 90, 95, 120, 200, 380, 740, 1400), true},
		{"flat at the end", course(9, 9, 10, 20, 40, 80, 160, 160), false},
	} {
		all, _, err := GrowingIn(counted(t, true, func(s *repeats.Set) {
			s.Functions[open].Calls = 2550
			s.Within = []repeats.Within{{In: handle, Call: open, Around: 10, AroundTime: time.Second, Counts: repeats.Counts{Calls: 2550, Time: 700 * time.Millisecond}, Course: c.course}}
		}))
		if err != nil {
			t.Fatal(err)
		}
		if (len(all) == 1) != c.want {
			t.Errorf("%s: %+v", c.name, all)
		}
		if c.name == "with their number" && len(all) == 1 {
			if g := all[0]; g.Power < 0.99 || g.Power > 1.01 || g.First != 10*time.Microsecond || g.Last != 320*time.Microsecond || g.FirstTo != 7 || g.LastFrom != 128 || g.Share != 0.7 {
				t.Errorf("%+v", g)
			}
		}
	}
	// A function of which counting has ended is judged by the calls that were looked at later, and its share by the whole of what is around.
	cut, _, err := GrowingIn(counted(t, false, func(s *repeats.Set) {
		s.Functions[open].Cut = true
		s.Within = []repeats.Within{{In: handle, Call: open, Open: true, Around: 1, AroundTime: 100 * time.Millisecond, WholeTime: time.Second, Counts: repeats.Counts{Calls: 63, Time: 5 * time.Millisecond}, Course: linear}}
	}))
	if want := 0.54; err != nil || len(cut) != 1 || cut[0].Share < want || cut[0].Share > want+0.01 {
		t.Errorf("cut: %+v, %v", cut, err)
	}
	all, _, err := GrowingIn(counted(t, false, func(s *repeats.Set) {
		s.Functions[list].Calls, s.Functions[open].Calls = 2550, 2550
		row := func(in, call int) repeats.Within {
			return repeats.Within{In: in, Call: call, Around: 1, AroundTime: time.Second, Counts: repeats.Counts{Calls: 2550, Time: 700 * time.Millisecond}, Course: linear}
		}
		s.Within = []repeats.Within{row(handle, list), row(handle, open), row(list, open)}
	}))
	if err != nil || len(all) != 1 || all[0].Func.Name != "main.open" {
		t.Errorf("of two that grow: %+v, %v", all, err)
	}
}

// TestGrowsOnAverage: few long calls among many short ones grow if they have most of the time, in several steps, and go on from step to step. A machine
// that is busy, a pause, and functions of which one later call stands for 64 do not grow.
func TestGrowsOnAverage(t *testing.T) {
	// The average of each step in µs; most calls take 10.
	layered := []int{10, 10, 20, 35, 30, 40, 70, 390, 110, 290, 1400, 1700, 900, 3800}
	for _, c := range []struct {
		name     string
		averages []int
		typical  int
		cut      bool
		want     verdict
	}{
		{"many small receivers and a large one", layered, 10, false, growing},
		{"with one dip", []int{10, 10, 250, 925, 1100, 1300, 7800, 3200, 6400, 9800, 37000}, 60, false, growing},
		{"one later call of 64", layered, 10, true, notSteadily},
		{"ten times as long by waiting", []int{10, 10, 10, 12, 20, 15, 40, 60, 30, 70, 90, 80, 110, 120}, 10, false, notSteadily},
		{"one pause", []int{10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 3800}, 10, false, notSteadily},
		{"pauses at the end", []int{10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 900, 1300, 2000, 3800}, 10, false, notSteadily},
		{"pauses that come and go", []int{10, 10, 10, 10, 500, 10, 10, 900, 10, 10, 1400, 10, 10, 3800}, 10, false, notSteadily},
		{"waits that come from some moment on", []int{10, 10, 10, 10, 10, 10, 10, 10, 2000, 2100, 1900, 2000, 2200, 2100}, 10, false, notSteadily},
		{"long in the middle", []int{10, 10, 20, 35, 60, 120, 400, 900, 1700, 3800, 1400, 800, 300, 300}, 10, false, notSteadily},
		{"the same", []int{10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10}, 10, false, steady},
		{"little time", []int{10, 10, 12, 20, 50, 110, 270}, 10, false, notSteadily},
		{"few steps", []int{10, 10, 20, 50, 500, 9000}, 10, false, tooFew},
	} {
		w := repeats.Within{Around: 1, AroundTime: time.Minute, Counts: repeats.Counts{Calls: 2550, Time: 700 * time.Millisecond}}
		for i, µs := range c.averages {
			n := int64(1) << i
			w.Course = append(w.Course, repeats.Step{Calls: n, Time: time.Duration(n) * time.Duration(µs) * time.Microsecond, Digits: int64(1000 * float64(n) * math.Log2(1000*float64(min(c.typical, µs))))})
		}
		g, how := grows(w, c.cut)
		if how != c.want {
			t.Errorf("%s: %d, want %d: %+v", c.name, how, c.want, g)
		}
	}
}

// TestTogetherIn: what several compute at once, and later calls with the same arguments do without, is told; what each request
// computes, and what only waits for another, is not.
func TestTogetherIn(t *testing.T) {
	for _, c := range []struct {
		name   string
		loaded bool
		change func(*repeats.Set)
		want   int
	}{
		{"a cache that several fill", true, func(s *repeats.Set) {}, 1},
		{"without a load", false, func(s *repeats.Set) {}, 0},
		{"their results differ", true, func(s *repeats.Set) { s.Functions[open].Apart = 20 }, 1},
		{"their results differ, and are connections", true, func(s *repeats.Set) { s.Functions[open].Apart, s.Within[0].Handles = 20, true }, 0},
		{"few at once", true, func(s *repeats.Set) { s.Functions[open].Together = fewTogether - 1 }, 0},
		{"a small part", true, func(s *repeats.Set) { s.Functions[open].Together = 100 }, 0},
		{"all that ask make the call", true, func(s *repeats.Set) { s.Within[0].Made = 290 }, 0},
		{"nobody knows who asks for the same", true, func(s *repeats.Set) { s.Within[0].Same, s.Within[0].Made = 0, 0 }, 0},
		{"each request makes it", true, func(s *repeats.Set) { s.Functions[handle].Calls = 700 }, 0},
		{"it returns nothing: who tells it looks at the source", true, func(s *repeats.Set) { s.Within[0].Void = true }, 1},
		{"its counting has ended", true, func(s *repeats.Set) { s.Functions[open].Cut = true }, 0},
		{"one does the work for all", true, func(s *repeats.Set) {
			s.Functions[read].Calls = 200
			s.Within = append(s.Within, repeats.Within{In: open, Call: read, Around: 200, Counts: repeats.Counts{Calls: 200, Time: 650 * time.Millisecond}})
		}, 0},
		{"each does its work", true, func(s *repeats.Set) {
			s.Within = append(s.Within, repeats.Within{In: open, Call: read, Around: 600, Counts: repeats.Counts{Calls: 600, Time: 650 * time.Millisecond}})
		}, 1},
	} {
		all, _, err := TogetherIn(counted(t, c.loaded, func(s *repeats.Set) {
			s.Functions[handle].Calls = 3000
			f := &s.Functions[open]
			f.Together, f.TogetherTime, f.AtOnce = 400, 500*time.Millisecond, 8
			s.Within = []repeats.Within{{In: handle, Call: open, Around: 600, AroundTime: time.Second, Counts: repeats.Counts{Calls: 600, Time: 700 * time.Millisecond, Distinct: 600}, Same: 300, Made: 100}}
			c.change(s)
		}))
		if err != nil || len(all) != c.want {
			t.Errorf("%s: %d, %v, want %d", c.name, len(all), err, c.want)
			continue
		}
		if len(all) == 1 && all[0].Apart != strings.Contains(c.name, "results differ") {
			t.Errorf("%s: apart %v", c.name, all[0].Apart)
		}
		if len(all) == 1 && (all[0].Share != 0.5 || all[0].Caller.Name != "main.handle") {
			t.Errorf("%s: %+v", c.name, all[0])
		}
	}
}

// TestNoCounts: a recording without counts, and one with a file that is none, say so.
func TestNoCounts(t *testing.T) {
	none := session.New(recordingtest.New("title x").Open())
	if _, _, err := In(none); !errors.Is(err, session.ErrNone) {
		t.Errorf("none: %v", err)
	}
	r := recordingtest.New("title x")
	r.Put(recording.Entry{Path: "repeats.json", Kind: recording.Repeats}, []byte("{"))
	if _, _, err := GrowingIn(session.New(r.Open())); err == nil || !strings.Contains(err.Error(), "repeats.json cannot be read") {
		t.Errorf("garbage: %v", err)
	}
}

// recursive are the counts of main.open within its own calls: 600, of which 590 had the arguments of one that had ended.
func recursive() *repeats.Recursion {
	return &repeats.Recursion{Around: 1, AroundTime: 700 * time.Millisecond, Calls: 600, Distinct: 10, Again: 590, Tops: 30, TopsTime: 650 * time.Millisecond, Same: 590, Results: 10, Most: 600, MostDistinct: 10}
}

// TestRecursionsIn: a function that asks itself again is told where that takes its time and nothing that was counted says that each call has
// to be made.
func TestRecursionsIn(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*repeats.Recursion)
		told   bool
	}{
		{"as counted", func(*repeats.Recursion) {}, true},
		{"nothing is returned", func(r *repeats.Recursion) { r.Void, r.Same, r.Results = true, 0, 1 }, true},
		{"what lies behind differs, and results are many", func(r *repeats.Recursion) { r.Same = 100 }, true},
		{"what lies behind differs, and results are few", func(r *repeats.Recursion) { r.Same, r.Results = 100, 2 }, true},
		{"few results, and nothing behind", func(r *repeats.Recursion) { r.Results = 2 }, true},
		{"results differ", func(r *repeats.Recursion) { r.Differ = 1 }, false},
		{"few again", func(r *repeats.Recursion) { r.Again, r.Same = 90, 90 }, false},
		{"many arguments", func(r *repeats.Recursion) { r.Distinct, r.Again, r.Same = 300, 300, 300 }, false},
		{"the leaves of a tree, which are cheap", func(r *repeats.Recursion) { r.Tops, r.TopsTime = 400, time.Millisecond }, false},
		{"little of the time", func(r *repeats.Recursion) { r.TopsTime = 300 * time.Millisecond }, false},
		{"what it is given is changed", func(r *repeats.Recursion) { r.Alters = true }, false},
		{"it writes", func(r *repeats.Recursion) { r.Writes = true }, false},
		{"it fails", func(r *repeats.Recursion) { r.Fails = true }, false},
	} {
		s := counted(t, false, func(set *repeats.Set) {
			set.Functions[open].Recursion = recursive()
			c.change(set.Functions[open].Recursion)
		})
		all, err := RecursionsIn(s)
		if err != nil || (len(all) == 1) != c.told || c.told && (all[0].Func.Name != "main.open" || all[0].Share < 0.9 || all[0].Few != strings.HasSuffix(c.name, "and results are few")) {
			t.Errorf("%s: %+v, error %v", c.name, all, err)
		}
	}
	// Of two that call each other the one that takes longer is told.
	s := counted(t, false, func(set *repeats.Set) {
		set.Functions[open].Recursion, set.Functions[read].Recursion = recursive(), recursive()
		set.Functions[read].Recursion.AroundTime = 690 * time.Millisecond
		set.Within = append(set.Within, but(again(open, read), func(w *repeats.Within) { w.Around, w.AroundTime = 1, 700*time.Millisecond }))
	})
	if all, err := RecursionsIn(s); err != nil || len(all) != 1 || all[0].Func.Name != "main.open" {
		t.Errorf("%+v, error %v", all, err)
	}
	// Literals of one function share its name: one in the other is a part of it, and one beside it is not.
	for within, want := range map[bool]int{true: 1, false: 2} {
		s := counted(t, false, func(set *repeats.Set) {
			for _, i := range []int{open, read} {
				set.Functions[i].Name, set.Functions[i].Recursion = "main.list.func", recursive()
			}
			set.Functions[read].Recursion.AroundTime = 690 * time.Millisecond
			if within {
				set.Within = append(set.Within, but(again(open, read), func(w *repeats.Within) { w.Around, w.AroundTime = 1, 700*time.Millisecond }))
			}
		})
		if all, err := RecursionsIn(s); err != nil || len(all) != want {
			t.Errorf("within %v: %+v, error %v", within, all, err)
		}
	}
}

// TestAskedAgain: what was counted of the calls of a function, within that around in which most of them repeat.
func TestAskedAgain(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(f *repeats.Func, w *repeats.Within)
		ok     bool
	}{
		{"as counted", func(*repeats.Func, *repeats.Within) {}, true},
		{"a receiver that was not compared as a whole", func(_ *repeats.Func, w *repeats.Within) { w.Partial, w.First = true, true }, true},
		{"another argument", func(_ *repeats.Func, w *repeats.Within) { w.Partial, w.First, w.Others = true, true, true }, false},
		{"by an older recording", func(_ *repeats.Func, w *repeats.Within) { w.Partial = true }, false},
		{"estimated", func(_ *repeats.Func, w *repeats.Within) { w.Sampled = true }, false},
		{"another line", func(f *repeats.Func, _ *repeats.Within) { f.Line = 9 }, false},
		{"cut", func(f *repeats.Func, _ *repeats.Within) { f.Cut = true }, false},
	} {
		s := counted(t, false, func(set *repeats.Set) {
			w := again(list, open)
			c.change(&set.Functions[open], &w)
			set.Within = append(set.Within, w, but(again(handle, open), func(w *repeats.Within) { w.Again, w.Distinct = 0, 600; w.Partial = true }))
		})
		if calls, distinct, ok := AskedAgain(s, "/src/main.go", 30); ok != c.ok || ok && (calls != 600 || distinct != 10) {
			t.Errorf("%s: %v %d %d", c.name, ok, calls, distinct)
		}
	}
}

// TestSeenAt: what was counted of a library's call on a line, unless it was counted no longer, or some calls returned something else.
func TestSeenAt(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*repeats.Func)
		ok     bool
	}{
		{"as counted", func(*repeats.Func) {}, true},
		{"another line", func(f *repeats.Func) { f.Line = 9 }, false},
		{"cut", func(f *repeats.Func) { f.Cut = true }, false},
		{"a function of the program", func(f *repeats.Func) { f.Caller = "" }, false},
		{"other results", func(f *repeats.Func) { f.Everywhere.Differ = 1 }, false},
		{"not seen as a whole", func(f *repeats.Func) { f.Everywhere.Partial = true }, false},
	} {
		s := counted(t, true, func(set *repeats.Set) {
			f := &set.Functions[read]
			f.Name, f.Caller, f.Line = "tls.X509KeyPair", "main.open", 32
			f.Everywhere = &repeats.Counts{Calls: 600, Time: time.Second, Distinct: 18, Again: 582, AgainTime: time.Second / 2}
			c.change(f)
		})
		if calls, loaded, ok := SeenAt(s, "/src/main.go", 32, "X509KeyPair"); ok != c.ok || ok && (!loaded || calls.Distinct != 18) {
			t.Errorf("%s: %v %+v", c.name, ok, calls)
		}
	}
}
