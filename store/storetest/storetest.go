package storetest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"loupe/format/profile"
	"loupe/store"
	"loupe/value/stack"
)

// Opener opens the engine of one place again and again. Open fails the test when it
// cannot.
type Opener interface {
	Open(t *testing.T) store.Engine
}

// Types of the profiles that the suite writes.
var (
	cpuSamples = store.Type{Name: "process_cpu", Sample: "samples", Unit: "count", Period: "cpu", PeriodUnit: "nanoseconds"}
	cpuTime    = store.Type{Name: "process_cpu", Sample: "cpu", Unit: "nanoseconds", Period: "cpu", PeriodUnit: "nanoseconds"}
	allocated  = store.Type{Name: "memory", Sample: "alloc_space", Unit: "bytes", Period: "space", PeriodUnit: "bytes"}
	inUse      = store.Type{Name: "memory", Sample: "inuse_space", Unit: "bytes", Period: "space", PeriodUnit: "bytes"}
	goroutines = store.Type{Name: "goroutine", Sample: "goroutine", Unit: "count", Period: "goroutine", PeriodUnit: "count"}
)

// noon is when the profiles of the suite begin: on a day, so that some hours stay in it.
var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// Run holds an engine to the interface: the same profiles are written to it and to
// [Memory], and every answer must be the same. The place must be empty; each part of
// the suite asks for one of its own.
func Run(t *testing.T, place func(t *testing.T) Opener) {
	for name, test := range map[string]func(*testing.T, Opener){
		"answers": answers, "restart": restart, "repeats": repeats, "invalid": invalid, "limits": limits,
		"concurrent": concurrent, "drop": drop, "retention": retention, "pins": pins, "thinned": thinned, "closed": closed,
		"moved": func(t *testing.T, o Opener) { moved(t, o, place(t)) },
	} {
		t.Run(name, func(t *testing.T) { test(t, place(t)) })
	}
}

// RunSome is Run for an engine that is asked over a network: each time that answers are
// compared, it is asked one of n selections, by turns. All of them are asked in the end.
func RunSome(t *testing.T, n int, place func(t *testing.T) Opener) {
	turn := 0
	Run(t, func(t *testing.T) Opener { return someOpener{place(t), n, &turn} })
}

type someOpener struct {
	Opener
	n    int
	turn *int
}

func (o someOpener) Open(t *testing.T) store.Engine { return some{o.Opener.Open(t), o.n, o.turn} }

// some is an engine of RunSome.
type some struct {
	store.Engine
	n    int
	turn *int
}

// of leaves selections out.
func (s some) of(list []store.Selection) (out []store.Selection) {
	for i, one := range list {
		if i%s.n == *s.turn%s.n {
			out = append(out, one)
		}
	}
	*s.turn++
	return out
}

// corpus makes profiles of some services, pods and versions over some hours.
func corpus(seed uint64, n int) []*store.Profile {
	r := rand.New(rand.NewPCG(seed, 1))
	var out []*store.Profile
	for i := range n {
		pod := r.IntN(6)
		l := store.LabelsOf(store.ServiceLabel, fmt.Sprintf("svc-%d", pod%2), "pod", fmt.Sprintf("pod-%d", pod),
			store.VersionLabel, fmt.Sprintf("v%d", r.IntN(2)), "region", []string{"eu", "us", ""}[pod%3])
		p := &store.Profile{ID: store.IDOf([]byte(fmt.Sprint(seed, i))), Labels: l, Duration: time.Duration(8+i%3) * time.Second,
			Time: noon.Add(time.Duration(i)*37*time.Second + time.Duration(r.IntN(1e9)))}
		switch i % 4 {
		case 0, 1:
			p.Types = []store.Type{cpuSamples, cpuTime}
		case 2:
			p.Types = []store.Type{allocated, {}, inUse}
		case 3:
			p.Types = []store.Type{goroutines}
		}
		p.Samples = samplesOf(r, i%4)
		out = append(out, p)
	}
	return out
}

// samplesOf makes samples of a kind: CPU twice, memory, goroutines.
func samplesOf(r *rand.Rand, kind int) *profile.Profile {
	p := &profile.Profile{Stacks: new(stack.Table)}
	columns := []int{2, 2, 3, 1}[kind]
	p.Values = make([][]int64, columns)
	for range 5 + r.IntN(60) {
		p.StackIDs = append(p.StackIDs, p.Stacks.Intern(framesOf(r, p.Stacks)))
		v := int64(1 + r.IntN(300))
		for k := range p.Values {
			p.Values[k] = append(p.Values[k], v)
			switch {
			case kind <= 1 && k == 1:
				v *= 10_000_000
			case kind == 2:
				v = int64(r.IntN(5)) << r.IntN(40) // many are zero
			}
		}
		if kind <= 1 {
			p.Values[1][len(p.StackIDs)-1] = p.Values[0][len(p.StackIDs)-1] * 10_000_000
		}
	}
	if kind == 1 {
		p = p.WithLabels(func(row int) []profile.Label {
			if row%3 == 0 {
				return nil
			}
			return []profile.Label{{Key: "span_id", Str: fmt.Sprint(row % 5)}, {Key: "bytes", Num: int64(row), Numeric: true}}
		})
	}
	return p
}

func framesOf(r *rand.Rand, t *stack.Table) (frames []stack.FrameID) {
	for depth := 1 + r.IntN(12); depth > 0; depth-- {
		fn := r.IntN(25)
		f := stack.Frame{Func: fmt.Sprintf("pkg/p%d.F%d", fn%4, fn), File: fmt.Sprintf("p%d.go", fn%4), StartLine: 10 * fn,
			Line: 10*fn + r.IntN(4), Inlined: depth > 1 && r.IntN(4) == 0}
		f.System = f.Func
		frames = append(frames, t.InternFrame(f))
	}
	return frames
}

// write writes profiles some at a time.
func write(t *testing.T, list []*store.Profile, engines ...store.Engine) {
	t.Helper()
	for part := range slices.Chunk(list, 7) {
		for _, e := range engines {
			if err := e.Write(t.Context(), part); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// selections are questions of every kind.
func selections(t *testing.T) (out []store.Selection) {
	t.Helper()
	ranges := []store.Range{{}, {Start: noon.Add(10 * time.Minute), End: noon.Add(50 * time.Minute)}, {Start: noon.Add(30 * time.Minute)},
		{Start: noon.Add(-time.Hour), End: noon}}
	for _, sel := range []string{`{}`, `{pod!="pod-1",service_name="svc-0"}`, `{pod=~"pod-[2-4]",region!~"eu"}`, `{region=""}`} {
		m, err := store.ParseMatchers(sel)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range ranges {
			out = append(out, store.Selection{Matchers: m, Range: r})
		}
	}
	return out
}

// Same holds an engine against another by every kind of question about [Aged].
func Same(t *testing.T, got, want store.Engine) {
	t.Helper()
	same(t, got, want)
}

// same holds an engine against another by every kind of question.
func same(t *testing.T, got, want store.Engine) {
	t.Helper()
	list := selections(t)
	if e, ok := got.(some); ok {
		list = e.of(list)
	}
	for _, s := range list {
		sameLabels(t, got, want, s)
		for _, typ := range []store.Type{cpuSamples, cpuTime, allocated, inUse, goroutines} {
			s.Type = typ
			sameLabels(t, got, want, s)
			sameTotals(t, got, want, s)
			sameStacks(t, got, want, s)
			if t.Failed() {
				return // one is enough to read
			}
		}
	}
}

func sameLabels(t *testing.T, got, want store.Engine, s store.Selection) {
	t.Helper()
	ctx := t.Context()
	check := func(what string, ask func(store.Engine) (any, error)) {
		t.Helper()
		g, err := ask(got)
		w, err2 := ask(want)
		if err != nil || err2 != nil || fmt.Sprint(g) != fmt.Sprint(w) {
			t.Errorf("%s of %s %s %v: got %v, %v, want %v, %v", what, s.Type, s.Matchers, s.Range, g, err, w, err2)
		}
	}
	check("types", func(e store.Engine) (any, error) { return e.Types(ctx, s) })
	check("label names", func(e store.Engine) (any, error) { return e.LabelNames(ctx, s) })
	check("pods", func(e store.Engine) (any, error) { return e.LabelValues(ctx, "pod", s) })
	check("series", func(e store.Engine) (any, error) { return e.Series(ctx, s) })
}

func sameTotals(t *testing.T, got, want store.Engine, s store.Selection) {
	t.Helper()
	steps := []time.Duration{0, 7 * time.Minute, time.Hour}
	if s.Range.Start.IsZero() {
		steps = steps[:1]
	}
	for _, step := range steps {
		for _, by := range [][]string{nil, {"pod"}, {store.ServiceLabel, "region"}} {
			q := store.TotalsQuery{Selection: s, Step: step, By: by}
			g, err := got.Totals(t.Context(), q)
			w, err2 := want.Totals(t.Context(), q)
			if err != nil || err2 != nil || text(g) != text(w) {
				t.Errorf("totals of %s %s %v step %v by %v: got %v, %v\nwant %v, %v", s.Type, s.Matchers, s.Range, step, by, text(g), err, text(w), err2)
			}
		}
	}
}

// text is what is compared of lines. Points of one time are in no order.
func text(list []store.TotalSeries) (s string) {
	for _, one := range list {
		s += one.Labels.String()
		points := slices.Clone(one.Points)
		slices.SortFunc(points, func(a, b store.Point) int {
			return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Value, b.Value), cmp.Compare(a.Covered, b.Covered))
		})
		for _, p := range points {
			s += fmt.Sprintf(" %d:%d in %v", p.Time.UnixNano(), p.Value, p.Covered)
		}
		s += "\n"
	}
	return s
}

func sameStacks(t *testing.T, got, want store.Engine, s store.Selection) {
	t.Helper()
	half := noon.Add(40 * time.Minute)
	m, err := store.ParseMatchers(`{pod=~"pod-[0-2]"}`)
	if err != nil {
		t.Fatal(err)
	}
	span, err := store.ParseMatchers(`{span_id=~"1|2"}`)
	if err != nil {
		t.Fatal(err)
	}
	queries := []store.StacksQuery{{}, {By: []string{"pod"}}, {Sample: span},
		{Parts: []store.Part{{Range: store.Range{End: half}}, {Range: store.Range{Start: half}, Matchers: m}, {}}}}
	if s.Type.Over() == store.Mean {
		queries = append(queries, store.StacksQuery{Over: store.Last})
	}
	for i, q := range queries {
		q.Selection = s
		g, err := got.Stacks(t.Context(), q)
		w, err2 := want.Stacks(t.Context(), q)
		if err != nil || err2 != nil {
			t.Errorf("stacks: %v, %v", err, err2)
			return
		}
		if err := valid(g); err != nil {
			t.Error(err)
			return
		}
		byLabels(g)
		byLabels(w)
		if fmt.Sprint(g.Groups, g.Profiles) != fmt.Sprint(w.Groups, w.Profiles) {
			t.Errorf("stacks %d of %s %s %v: groups are %v of %v profiles, want %v of %v", i, s.Type, s.Matchers, s.Range, g.Groups, g.Profiles, w.Groups, w.Profiles)
			return
		}
		for k := range g.Groups {
			if a, b := Folded(g, k), Folded(w, k); !maps.Equal(a, b) {
				t.Errorf("stacks %d of %s %s %v, group %d: got %v\nwant %v", i, s.Type, s.Matchers, s.Range, k, a, b)
			}
		}
	}
	g, err := got.Top(t.Context(), store.TopQuery{Selection: s, N: 7})
	w, err2 := want.Top(t.Context(), store.TopQuery{Selection: s, N: 7})
	if err != nil || err2 != nil {
		t.Errorf("top: %v, %v", err, err2)
	} else if g.Slack == 0 && fmt.Sprint(g) != fmt.Sprint(w) {
		t.Errorf("top of %s %s %v: got %v, want %v", s.Type, s.Matchers, s.Range, g, w)
	}
}

// byLabels sorts groups, whose order is nobody's business; those of parts have no labels and
// stay as they are.
func byLabels(s *store.Stacks) {
	order := make([]int, len(s.Groups))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return s.Groups[a].Compare(s.Groups[b]) })
	groups, values, profiles := slices.Clone(s.Groups), slices.Clone(s.Values), slices.Clone(s.Profiles)
	for i, at := range order {
		s.Groups[i], s.Values[i], s.Profiles[i] = groups[at], values[at], profiles[at]
	}
}

// valid tells whether merged stacks keep the promises of the type.
func valid(s *store.Stacks) error {
	for i := 1; i < len(s.Parents); i++ {
		if s.Parents[i] >= uint32(i) || s.Locations[i] >= uint32(len(s.Ends)) {
			return fmt.Errorf("node %d has the parent %d and the location %d", i, s.Parents[i], s.Locations[i])
		}
	}
	for g := range s.Groups {
		if len(s.Values[g]) != len(s.Parents) {
			return fmt.Errorf("group %d has %d values for %d nodes", g, len(s.Values[g]), len(s.Parents))
		}
		if s.Inclusive(g)[0] != s.Total(g) {
			return fmt.Errorf("group %d: the root has %d of %d", g, s.Inclusive(g)[0], s.Total(g))
		}
	}
	return nil
}

// Folded returns the stacks of a group by their text, root first, so that trees that are
// numbered in other ways can be compared.
func Folded(s *store.Stacks, group int) map[string]int64 {
	names := make([]string, len(s.Ends))
	for i := range names {
		for _, l := range s.LinesOf(uint32(i)) {
			f := s.Functions[l.Function]
			names[i] = f.Name + "@" + f.File + ":" + strconv.Itoa(f.StartLine) + "+" + strconv.Itoa(l.Line) + "," + names[i]
		}
	}
	out, paths := map[string]int64{}, make([]string, len(s.Parents))
	for n, v := range s.Values[group] {
		if n > 0 {
			paths[n] = paths[s.Parents[n]] + names[s.Locations[n]] + ";"
		}
		if v != 0 {
			out[paths[n]] += v
		}
	}
	return out
}

// total asks for the sum of one type of everything.
func total(t *testing.T, e store.Engine, s store.Selection) int64 {
	t.Helper()
	got, err := e.Stacks(context.WithoutCancel(t.Context()), store.StacksQuery{Selection: s})
	if err != nil {
		t.Fatal(err)
	}
	return got.Total(0)
}
