package calltree_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"loupe/analysis/calltree"
	"loupe/format/profile"
	"loupe/format/profile/profiletest"
	"loupe/value/stack"
)

func decode(t testing.TB, picture string, types ...string) *profile.Profile {
	t.Helper()
	p, err := profile.Decode(profiletest.Encode(picture, profiletest.Options{Types: types, Starts: map[string]int{"search.rssSearch": 1}}), profile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// rows prints a ranking in short.
func rows(r *calltree.Ranking) string {
	var b strings.Builder
	for _, row := range r.Rows {
		fmt.Fprintf(&b, "%s %d/%d %d/%d%s; ", row.Name, row.Flat, row.Cum, row.FlatSamples, row.CumSamples, row.Inlining)
	}
	return b.String()
}

func TestTop(t *testing.T) {
	p := decode(t, `
		main.main  main.main  main.main
		main.f     main.f     main.g
		main.f     main.in~
		main.f
		= 2        1          3
		= 50       30         20`, "samples/count", "cpu/nanoseconds")
	f := func(opt calltree.Options, want string) *calltree.Ranking {
		t.Helper()
		r := calltree.Top(p.Stacks, p.Samples(1), opt)
		if got := rows(r); got != want {
			t.Errorf("top = %s\nwant  %s", got, want)
		}
		return r
	}
	r := f(calltree.Options{}, "main.f 50/80 1/2; main.in 30/30 1/1(inline); main.g 20/20 1/1; main.main 0/100 0/3; ")
	if r.Total != 100 || r.Samples != 3 || r.Functions != 4 || r.Dropped != 0 || r.Shown != 100 || r.Share(50) != 0.5 {
		t.Errorf("ranking = %+v", r)
	}
	f(calltree.Options{Order: calltree.ByCum}, "main.main 0/100 0/3; main.f 50/80 1/2; main.in 30/30 1/1(inline); main.g 20/20 1/1; ")
	f(calltree.Options{Counts: p.Samples(0)}, "main.f 50/80 2/3; main.in 30/30 1/1(inline); main.g 20/20 3/3; main.main 0/100 0/6; ")
	r = f(calltree.Options{NodeFraction: 0.25, NodeCount: 2}, "main.f 50/80 1/2; main.in 30/30 1/1(inline); ")
	if r.Dropped != 1 || r.Functions != 3 || r.Shown != 80 {
		t.Errorf("ranking = %+v", r)
	}
	f(calltree.Options{Group: func(f stack.Frame) string { return stack.Package(f.Func) }}, "main 100/100 3/3; ")
	if frame := p.Stacks.Frame(r.Rows[0].Frame); frame.Func != "main.f" {
		t.Errorf("frame of the first row = %+v", frame)
	}
	if r := calltree.Top(new(stack.Table), func(func(stack.ID, int64) bool) {}, calltree.PprofDefaults); len(r.Rows) != 0 || r.Share(1) != 0 {
		t.Errorf("nothing at all = %+v", r)
	}
}

var source = fstest.MapFS{"search/rss.go": {Data: []byte(strings.Repeat("\n", 9) + "func rssSearch() {\r\n\tfor {\n\t\tToLower()\n\t}\n}\n// end")}}

func TestList(t *testing.T) {
	p := decode(t, `
		main.main                         main.main                          main.main
		search.rssSearch:search/rss.go:12 search.rssSearch:search/rss.go:12  search.rssSearch:search/rss.go:11
		strings.ToLower
		= 1048576                         2048                               1`, "alloc_space/bytes")
	l, err := calltree.List(p.Stacks, calltree.Plain(p.Samples(0)), regexp.MustCompile("rss"), calltree.FS(source), calltree.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := l.Routines[0]
	if len(l.Routines) != 1 || r.Func != "search.rssSearch" || r.File != "search/rss.go" || r.Flat != 2049 || r.Cum != 1050625 || l.Total != 1050625 {
		t.Errorf("listing = %+v", l)
	}
	if got, want := r.Lines[11], (calltree.Line{Number: 12, Flat: 2048, Cum: 1050624, Text: "\t\tToLower()"}); !reflect.DeepEqual(got, want) {
		t.Errorf("line = %+v, want %+v", got, want)
	}
	if got := len(r.Lines); got != 15 {
		t.Errorf("%d lines, want all 15 up to the end of the file", got)
	}
	if _, err = calltree.List(p.Stacks, calltree.Plain(p.Samples(0)), regexp.MustCompile("^x$"), nil, calltree.Options{}); err == nil || err.Error() != "no matches found for regexp: ^x$" {
		t.Errorf("error = %v", err)
	}
	// Without source there are still the lines that weigh something.
	for _, src := range []calltree.Source{nil, calltree.FS(fstest.MapFS{})} {
		l, err = calltree.List(p.Stacks, calltree.Plain(p.Samples(0)), regexp.MustCompile("rss"), src, calltree.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r := l.Routines[0]; r.Err == nil || len(r.Lines) != 2 || r.Lines[0].Number != 11 || src != nil && !errors.Is(r.Err, fs.ErrNotExist) {
			t.Errorf("without source: %+v", r)
		}
	}
}

func TestSites(t *testing.T) {
	// A callback: json calls back into the user's code, which calls strings.
	p := decode(t, `
		runtime.main          main.main             main.main            net/http.(*conn).serve main.main
		main.main:5           search.rss:119        search.rss:119       strings.ToLower        main.idle
		search.rss:119        strings.ToLower:9~    strings.Contains     runtime.mallocgc
		strings.ToLower:9     strings.Map           strings.Index
		strings.(*Builder).g  strings.ToLower
		= 50                  30                    10                   7                      3`, "alloc_space/bytes")
	lower := func(f stack.Frame) bool { return f.Func == "strings.ToLower" }
	r := calltree.Sites(p.Stacks, p.Samples(0), calltree.SiteOptions{Callee: lower})
	f := func(r *calltree.SiteReport) (s string) {
		for _, site := range r.Sites {
			s += fmt.Sprintf("%s:%d calls %q: %d in %d; ", site.Caller.Func, site.Caller.Line, site.Callee, site.Weight, site.Samples)
		}
		return s
	}
	if got, want := f(r), `search.rss:119 calls "strings.ToLower": 80 in 2; :0 calls "strings.ToLower": 7 in 1; `; got != want {
		t.Errorf("sites = %s\nwant    %s", got, want)
	}
	if r.Weight != 87 || r.Samples != 3 || r.Total != 100 || r.All != 5 {
		t.Errorf("report = %+v", r)
	}
	all := calltree.Sites(p.Stacks, p.Samples(0), calltree.SiteOptions{Counts: p.Samples(0)})
	if got, want := f(all), `search.rss:119 calls "strings.ToLower": 80 in 80; search.rss:119 calls "strings.Contains": 10 in 10; `+
		`:0 calls "net/http.(*conn).serve": 7 in 7; main.idle:1 calls "": 3 in 3; `; got != want {
		t.Errorf("sites = %s\nwant    %s", got, want)
	}
	// Another idea of the user.
	mine := calltree.Sites(p.Stacks, p.Samples(0), calltree.SiteOptions{Callee: lower, User: func(f stack.Frame) bool { return f.Func == "main.main" }})
	if got, want := f(mine), `main.main:5 calls "strings.ToLower": 50 in 1; main.main:1 calls "strings.ToLower": 30 in 1; :0 calls "strings.ToLower": 7 in 1; `; got != want {
		t.Errorf("sites = %s\nwant    %s", got, want)
	}
}

func TestUnits(t *testing.T) {
	// Zero loses its unit, kB is 1024, and the smallest weight reads as 0.01.
	p := decode(t, "a.a  b.b\n= 5000000000 11000000", "alloc_space/bytes")
	var b bytes.Buffer
	h := calltree.Header{Type: "alloc_space", Unit: "bytes"}
	if err := calltree.WriteTop(&b, h, calltree.Top(p.Stacks, p.Samples(0), calltree.Options{})); err != nil {
		t.Fatal(err)
	}
	want := `Type: alloc_space
Showing nodes accounting for 4.67GB, 100% of 4.67GB total
      flat  flat%   sum%        cum   cum%
    4.66GB 99.78% 99.78%     4.66GB 99.78%  a.a
    0.01GB  0.22%   100%     0.01GB  0.22%  b.b
`
	if got := b.String(); got != want {
		t.Errorf("top:\n%s\nwant:\n%s", got, want)
	}
	b.Reset()
	h.OutputUnit = "MB"
	if err := calltree.WriteTop(&b, h, calltree.Top(p.Stacks, p.Samples(0), calltree.Options{})); err != nil || !strings.Contains(b.String(), "4768.37MB") {
		t.Errorf("with a unit: %v\n%s", err, b.String())
	}
	broken := errors.New("broken pipe")
	if err := calltree.WriteTop(failing{broken}, h, &calltree.Ranking{}); err != broken {
		t.Errorf("WriteTop on a broken pipe: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// TestShared runs analyses on one profile from several goroutines, for the
// race detector.
func TestShared(t *testing.T) {
	p := decode(t, "main.main main.main\nmain.f    main.g~")
	want := calltree.Top(p.Stacks, p.Samples(0), calltree.PprofDefaults)
	for range 4 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			if got := calltree.Top(p.Stacks, p.Samples(0), calltree.PprofDefaults); !reflect.DeepEqual(got, want) {
				t.Errorf("top = %+v, want %+v", got, want)
			}
			calltree.Sites(p.Stacks, p.Samples(0), calltree.SiteOptions{})
		})
	}
}

func TestAllocations(t *testing.T) {
	// What Top allocates depends on functions and stacks, not on samples.
	p := decode(t, "main.main main.main\nmain.f    main.g~")
	many := func(n int) calltree.Samples {
		return func(yield func(stack.ID, int64) bool) {
			for i := range n {
				if !yield(p.StackIDs[i%2], 1) {
					return
				}
			}
		}
	}
	f := func(name string, view func(samples calltree.Samples)) {
		t.Helper()
		few := testing.AllocsPerRun(20, func() { view(many(10)) })
		if lots := testing.AllocsPerRun(20, func() { view(many(10000)) }); lots > few {
			t.Errorf("%s allocates %v times for 10 samples and %v times for 10,000", name, few, lots)
		}
	}
	f("Top", func(s calltree.Samples) { calltree.Top(p.Stacks, s, calltree.PprofDefaults) })
	f("Flame", func(s calltree.Samples) { calltree.Flame(p.Stacks, s, calltree.FlameOptions{MinShare: 0.01}) })
	f("New", func(s calltree.Samples) {
		calltree.New(p.Stacks, calltree.Plain(s), calltree.Options{
			Granularity: calltree.Addresses, CallTree: true, Visual: true,
			Tags: func(uint32) calltree.LabelSet { return calltree.LabelSet{Labels: "a:b"} },
		})
	})
}
