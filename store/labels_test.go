package store_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"loupe/format/profile"
	"loupe/store"
	"loupe/value/stack"
)

func TestLabels(t *testing.T) {
	l := store.LabelsOf("pod", "a", "app", "x", "pod", "b", "gone", "")
	if got, want := l.String(), `{app="x", pod="b"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if l != store.LabelsOf("pod", "b", "app", "x") {
		t.Error("equal labels differ")
	}
	if l.With("pod", "") != store.LabelsOf("app", "x") || l.With("pod", "c").Value("pod") != "c" || l.Only("pod", "no").Len() != 1 {
		t.Error("With and Only are wrong")
	}
	if l.With("app", "").With("pod", "") != (store.Labels{}) {
		t.Error("no labels are not the zero Labels")
	}
	if l.Compare(store.LabelsOf("app", "y")) >= 0 || l.Compare(store.LabelsOf("app", "x")) <= 0 || l.Compare(l) != 0 {
		t.Error("Compare is wrong")
	}
	long := strings.Repeat("v", 300)
	if store.LabelsOf("a", long, "b", "1").Value("a") != long || store.LabelsOf("a", long, "b", "1").Value("b") != "1" {
		t.Error("a long value is lost")
	}
}

func TestMatchers(t *testing.T) {
	l := store.LabelsOf("pod", "a-1", "x.y", "q\"\n", "n", "2")
	for sel, want := range map[string]bool{
		``: true, `{}`: true, `{pod="a-1"}`: true, `pod="a-1"`: true, `{pod!="a-1"}`: false,
		`{pod=~"a"}`: false, `{pod=~"a.*"}`: true, `{pod=~"b|a-1"}`: true, `{pod!~"b|c"}`: true, `{pod!~"a.+"}`: false,
		`{no=""}`: true, `{no!="x"}`: true, `{no=~".+"}`: false, `{no=~".*"}`: true, `{no!=""}`: false,
		`{ pod = "a-1" , n='2', }`: true, "{x.y=\"q\\\"\\n\"}": true, "{pod=`a-1`}": true, `{"x.y"=~"(?s)q.*"}`: true,
		`{x.y=~"q.*"}`: true, // as in Prometheus, the dot is any character
	} {
		ms, err := store.ParseMatchers(sel)
		if err != nil {
			t.Errorf("%s: %v", sel, err)
			continue
		}
		if got := ms.Match(l); got != want {
			t.Errorf("%s: got %v", sel, got)
		}
		again, err := store.ParseMatchers(ms.String())
		if err != nil || again.String() != ms.String() {
			t.Errorf("%s: printed as %s, which is read as %v, %v", sel, ms, again, err)
		}
	}
	if m, err := store.NewMatcher("pod", store.Matches, "a-[0-9]"); err != nil || !m.Match("a-1") || m.Match("ba-1") {
		t.Errorf("a matcher made by hand: %v", err)
	}
	for _, bad := range []string{`{`, `{pod}`, `{pod="a"`, `{pod="a}`, `{pod=a}`, `{pod=~"("}`, `{pod=~"a)|(b"}`, `{="a"}`, `{a="b" c="d"}`, `{,}`, `{pod=="a"}`, `cpu{a="b"}`, `{pod="\q"}`} {
		if ms, err := store.ParseMatchers(bad); err == nil {
			t.Errorf("%s is read as %s", bad, ms)
		}
	}
}

func FuzzParseMatchers(f *testing.F) {
	f.Add(`{pod="a",x!="b",y=~"c.*",z!~'d',}`)
	f.Fuzz(func(t *testing.T, s string) {
		ms, err := store.ParseMatchers(s)
		if err != nil {
			return
		}
		if again, err := store.ParseMatchers(ms.String()); err != nil || again.String() != ms.String() {
			t.Errorf("%q: printed as %s, which is read as %v, %v", s, ms, again, err)
		}
	})
}

func TestTypeOver(t *testing.T) {
	for s, want := range map[string]store.Aggregation{
		"process_cpu:cpu:nanoseconds:cpu:nanoseconds":        store.Sum,
		"memory:alloc_space:bytes:space:bytes":               store.Sum,
		"memory:inuse_space:bytes:space:bytes":               store.Mean,
		"memory:inuse_objects:count:space:bytes":             store.Mean,
		"mutex:delay:nanoseconds:contentions:count":          store.Sum,
		"goroutine:goroutine:count:goroutine:count":          store.Mean,
		"goroutines:goroutine:count:goroutine:count":         store.Mean,
		"threadcreate:threadcreate:count:threadcreate:count": store.Mean,
		"wall:wall:nanoseconds::":                            store.Sum,
	} {
		typ, err := store.ParseType(s)
		if err != nil || typ.String() != s {
			t.Fatalf("%s: %v, %v", s, typ, err)
		}
		if typ.Over() != want {
			t.Errorf("%s: over time by %s, want %s", s, typ.Over(), want)
		}
		other := map[store.Aggregation]store.Aggregation{store.Sum: store.Mean, store.Mean: store.Sum}[want]
		if _, err := typ.Resolve(other); !errors.Is(err, store.ErrAggregation) {
			t.Errorf("%s: %s is allowed: %v", s, other, err)
		}
		if got, err := typ.Resolve(store.Natural); err != nil || got != want {
			t.Errorf("%s: resolved to %v, %v", s, got, err)
		}
	}
	for _, bad := range []string{"", "cpu", "a:b:c:d", "a:b:c:d:e:f", ":b:c:d:e", "a::c:d:e"} {
		if typ, err := store.ParseType(bad); err == nil {
			t.Errorf("%q is read as %v", bad, typ)
		}
	}
}

func TestCheck(t *testing.T) {
	cpu := store.Type{Name: "process_cpu", Sample: "cpu", Unit: "nanoseconds"}
	good := func() *store.Profile {
		return &store.Profile{
			Labels: store.LabelsOf("service_name", "s"), Types: []store.Type{cpu}, Time: time.Unix(1e9, 0),
			Samples: &profile.Profile{Stacks: new(stack.Table), Values: make([][]int64, 1)},
		}
	}
	if err := good().Check(); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*store.Profile){
		"service":  func(p *store.Profile) { p.Labels = store.LabelsOf("pod", "a") },
		"samples":  func(p *store.Profile) { p.Samples = nil },
		"columns":  func(p *store.Profile) { p.Types = nil },
		"no type":  func(p *store.Profile) { p.Types = make([]store.Type, 1) },
		"type":     func(p *store.Profile) { p.Types[0].Unit = "a:b" },
		"time":     func(p *store.Profile) { p.Time = time.Time{} },
		"duration": func(p *store.Profile) { p.Duration = -1 },
		"labels":   func(p *store.Profile) { p.Labels = p.Labels.With("x", strings.Repeat("y", 5000)) },
	} {
		p := good()
		spoil(p)
		if err := p.Check(); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
