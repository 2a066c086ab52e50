package querier_test

import (
	"bytes"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"loupe/format/connect"
	"loupe/format/profile"
	"loupe/format/querier"
	"loupe/value/protobuf"
)

// tree makes a tree of folded stacks.
func tree(stacks ...string) *querier.Tree {
	t := new(querier.Tree)
	for _, s := range stacks {
		i := strings.LastIndexByte(s, ' ')
		v, _ := strconv.ParseInt(s[i+1:], 10, 64)
		t.Add(v, strings.Split(s[:i], ";")...)
	}
	return t
}

// draw shows levels with names: [distance total own name].
func draw(names []string, levels []querier.Level, step int) string {
	var b strings.Builder
	for _, l := range levels {
		for i := 0; i < len(l.Values); i += step {
			fmt.Fprintf(&b, "%d%s ", l.Values[i:i+step-1], names[l.Values[i+step-1]])
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestFlameGraph(t *testing.T) {
	f := func(tr *querier.Tree, nodes, total, maxSelf int64, want string) {
		t.Helper()
		g := tr.FlameGraph(nodes)
		if got := draw(g.Names, g.Levels, 4); got != strings.ReplaceAll(want, "\t", "") || g.Total != total || g.MaxSelf != maxSelf {
			t.Errorf("total %d, largest %d\n%swant %d %d\n%s", g.Total, g.MaxSelf, got, total, maxSelf, want)
		}
	}
	tr := tree("main;b 2", "main;a;x 5", "main 1", "init 3", "main;c;y 4")
	f(tr, 0, 15, 5, `[0 15 0]total 
		[0 3 3]init [0 12 1]main 
		[4 5 0]a [0 2 2]b [0 4 0]c 
		[4 5 5]x [2 4 4]y 
		`)
	f(tr, 4, 15, 5, `[0 15 0]total 
		[0 12 1]main [0 3 3]other 
		[1 5 0]a [0 4 0]c [0 2 2]other 
		[1 5 5]x [0 4 4]y 
		`)
	f(new(querier.Tree), 0, 0, 0, "[0 0 0]total \n")
	f(tree("a -3", "b 0"), 0, 0, 0, "[0 0 0]total \n")
	f(tree("a;other;b 3", "a;c 1"), 0, 4, 3, "[0 4 0]total \n[0 4 0]a \n[0 1 1]c [0 3 3]other \n")
}

func TestDiff(t *testing.T) {
	g := querier.Diff(tree("main;a 5", "main;b 1"), tree("main;a 2", "main;c 4", "init 1"), 0)
	want := `[0 6 0 0 7 0]total 
[0 0 0 0 1 1]init [0 6 0 0 6 0]main 
[0 5 5 1 2 2]a [0 1 1 0 0 0]b [0 0 0 0 4 4]c 
`
	if got := draw(g.Names, g.Levels, 7); got != want || g.LeftTicks != 6 || g.RightTicks != 7 || g.Total != 13 || g.MaxSelf != 5 {
		t.Errorf("%+v\n%swant\n%s", g, got, want)
	}
	g = querier.Diff(tree("main;a 5", "main;b 1"), tree("main;a 2", "main;c 4", "init 1"), 3)
	want = `[0 6 0 0 7 0]total 
[0 6 0 0 6 0]main [0 0 0 0 1 1]other 
[0 5 5 0 2 2]a [0 1 1 0 4 4]other 
`
	if got := draw(g.Names, g.Levels, 7); got != want {
		t.Errorf("%swant\n%s", got, want)
	}
	if g := querier.Diff(new(querier.Tree), new(querier.Tree), 10); draw(g.Names, g.Levels, 7) != "[0 0 0 0 0 0]total \n" {
		t.Errorf("%+v", g)
	}
}

// TestTreeOfProfile holds that inlined calls are frames, and what code without symbols is
// called.
func TestTreeOfProfile(t *testing.T) {
	p, err := profile.Decode([]byte("main;work;inlined_[i] 3\nmain 2\n"), profile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := querier.NewTree(p.Stacks, p.Samples(0)).FlameGraph(0)
	if got := draw(g.Names, g.Levels, 4); got != "[0 5 0]total \n[0 5 2]main \n[2 3 0]work \n[2 3 3]inlined \n" {
		t.Error(got)
	}
	m, err := querier.Pprof(p)
	if err != nil || len(m.Sample) != 2 || m.StringTable[m.SampleType[0].Type] != "samples" {
		t.Errorf("%+v, %v", m, err)
	}
	back, err := profile.Decode(protobuf.Marshal(m), profile.Options{})
	if err != nil || back.Total(0) != 5 {
		t.Error(back, err)
	}
}

// place is a bar with where it begins.
type place struct{ x, total, self int64 }

// places reads the bars of a level.
func places(values []int64, start, step int) (out []place) {
	end := int64(0)
	for i := start; i < len(values); i += step {
		x := end + values[i]
		out = append(out, place{x, values[i+1], values[i+2]})
		end = x + values[i+1]
	}
	return out
}

// FuzzFlameGraph holds that every bar lies within one below it, that nothing is lost
// however few bars are drawn, and that a tree differs from itself in nothing.
func FuzzFlameGraph(f *testing.F) {
	f.Add("main;a;b 3\nmain;c 1\nother;x 2\nmain;a;b;c 9", int64(3))
	f.Fuzz(func(t *testing.T, text string, nodes int64) {
		tr := new(querier.Tree)
		total := int64(0)
		for line := range strings.SplitSeq(text, "\n") {
			v := int64(len(line))
			if line == "" || total > 1<<40 {
				continue
			}
			tr.Add(v, strings.Split(line, ";")...)
			total += v
		}
		check := func(levels []querier.Level, start, step int) {
			t.Helper()
			sum := int64(0)
			var below []place
			for i, l := range levels {
				bars := places(l.Values, start, step)
				for k, b := range bars {
					sum += b.self
					if b.self > b.total || b.self < 0 || k > 0 && b.x < bars[k-1].x+bars[k-1].total {
						t.Fatalf("level %d: bar %d is %+v in %+v", i, k, b, bars)
					}
					inside := i == 0 || b.total == 0
					for _, p := range below {
						inside = inside || p.x+p.self <= b.x && b.x+b.total <= p.x+p.total
					}
					if !inside {
						t.Fatalf("level %d: bar %d, %+v, is in none of %+v", i, k, b, below)
					}
				}
				below = bars
			}
			if sum != total {
				t.Fatalf("own values are %d, want %d", sum, total)
			}
		}
		g := tr.FlameGraph(nodes)
		check(g.Levels, 0, 4)
		d := querier.Diff(tr, tr, nodes)
		check(d.Levels, 0, 7)
		check(d.Levels, 3, 7)
		if g.Total != total || d.Total != 2*total || tr.Total() != total {
			t.Fatal(g.Total, d.Total, tr.Total(), total)
		}
	})
}

func TestProfileType(t *testing.T) {
	id := "process_cpu:cpu:nanoseconds:cpu:nanoseconds"
	for _, s := range []string{id, id + ":delta"} {
		if p, err := querier.ParseProfileType(s); err != nil || p != querier.NewProfileType("process_cpu", "cpu", "nanoseconds", "cpu", "nanoseconds") || p.ID != id {
			t.Error(p, err)
		}
	}
	for _, bad := range []string{"", "cpu", ":a:b:c:d", id + ":other"} {
		if _, err := querier.ParseProfileType(bad); err == nil {
			t.Errorf("%q is a type", bad)
		}
	}
}

func TestPoints(t *testing.T) {
	r, err := querier.NewRange(10_000, 30_000, 10)
	if err != nil {
		t.Fatal(err)
	}
	all := []querier.Observation{
		{1, 0, 99}, {1, 1, 1}, {1, 10_000, 2}, // the first is before the first step
		{1, 10_001, 4}, {1, 15_000, 8}, {2, 20_000, 3},
		{1, 30_001, 99}, // behind the last
	}
	f := func(a querier.Aggregation, state bool, want ...querier.Point) {
		t.Helper()
		if got := r.Points(all, a, state); !reflect.DeepEqual(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	f(querier.Sum, false, querier.Point{Timestamp: 10_000, Value: 3}, querier.Point{Timestamp: 20_000, Value: 15})
	f(querier.Average, false, querier.Point{Timestamp: 10_000, Value: 1.5}, querier.Point{Timestamp: 20_000, Value: 5})
	// Memory in use: what two processes have on average, together.
	f(querier.Sum, true, querier.Point{Timestamp: 10_000, Value: 1.5}, querier.Point{Timestamp: 20_000, Value: 9})

	for _, bad := range []struct {
		start, end int64
		step       float64
	}{{0, 1, 0}, {0, 1, 0.0001}, {2, 1, 1}, {-1, 1, 1}, {0, 1e12, 0.001}, {0, 1, -1}} {
		if _, err := querier.NewRange(bad.start, bad.end, bad.step); err == nil {
			t.Errorf("%+v is a range", bad)
		}
	}
}

func TestHeatmap(t *testing.T) {
	r, _ := querier.NewRange(0, 2000, 1)
	in := querier.HeatmapInput{Exemplars: true, Labels: []querier.Label{{Name: "pod", Value: "a"}}, Observations: []querier.Exemplar{
		{Timestamp: 500, Value: 0}, {Timestamp: 600, Value: 200, ProfileID: "x"}, {Timestamp: 600, Value: 195}, {Timestamp: 700, Value: 10}, {Timestamp: 1500, Value: 9},
	}}
	out := r.Heatmap([]querier.HeatmapInput{in, {}})
	if len(out) != 1 || len(out[0].Slots) != 2 {
		t.Fatalf("%+v", out)
	}
	s := out[0].Slots[0]
	if s.Timestamp != 1000 || s.YMin[1] != 10 || s.YMin[19] != 190 || s.Counts[0] != 1 || s.Counts[1] != 1 || s.Counts[19] != 2 || len(s.Exemplars) != 3 || s.Exemplars[2].ProfileID != "x" {
		t.Errorf("%+v", s)
	}
	if out := r.Heatmap([]querier.HeatmapInput{{Observations: []querier.Exemplar{{Timestamp: 1, Value: 7}}}}); len(out) != 1 {
		t.Errorf("%+v", out)
	}
}

func TestDecode(t *testing.T) {
	path := querier.Service + "SelectMergeStacktraces"
	n := int64(5)
	want := &querier.SelectMergeStacktracesRequest{ProfileTypeID: "t", LabelSelector: "{}", Start: 1, End: 1 << 41, MaxNodes: &n, Format: querier.FormatPprof, Stacks: &querier.StackTraceSelector{CallSite: []querier.Location{{Name: "main"}}}}
	for _, c := range []struct {
		kind string
		body []byte
	}{
		{"application/proto", protobuf.Marshal(want)},
		{"application/grpc", connect.Frame(protobuf.Marshal(want))},
		{"application/json", []byte(`{"profileTypeID":"t","labelSelector":"{}","start":1,"end":"2199023255552","maxNodes":"5","format":"PROFILE_FORMAT_PPROF","stackTraceSelector":{"callSite":[{"name":"main"}]}}`)},
		{"application/json", protobuf.MarshalJSON(want)},
	} {
		got, _, err := querier.Decode(path, c.kind, "", c.body)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", c.kind, got, err)
		}
	}
	f := func(path, kind string, body []byte, status int) {
		t.Helper()
		if _, _, err := querier.Decode(path, kind, "", body); err == nil || connect.As(err).Status() != status {
			t.Errorf("%v, want %d", err, status)
		}
	}
	f(querier.Service+"Nothing", "application/json", []byte("{}"), 501)
	f(path, "text/plain", nil, 415)
	f(path, "application/json", []byte("["), 400)
	f(path, "application/json", bytes.Repeat([]byte(" "), 1<<20+1), 413)
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"left":{"start":"1"},"right":{}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, call := range []string{"Diff", "SelectSeries", "LabelValues"} {
			for _, kind := range []string{"application/json", "application/proto"} {
				if q, e, err := querier.Decode(querier.Service+call, kind, "", body); err == nil {
					connect.Marshal(e, q)
				}
			}
		}
	})
}

func TestNodes(t *testing.T) {
	zero, seven := int64(0), int64(7)
	if querier.Nodes(nil) != querier.DefaultNodes || querier.Nodes(&zero) != querier.DefaultNodes || querier.Nodes(&seven) != 7 {
		t.Error("the numbers of bars are wrong")
	}
}
