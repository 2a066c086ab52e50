package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"loupe/analysis/pprof"
	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/format/profile"
	"loupe/session"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// loosePages serves files that stand alone.
func loosePages(t testing.TB, files map[string][]byte) *pages {
	t.Helper()
	fsys, names := fstest.MapFS{}, []string{}
	for name, data := range files {
		fsys[name] = &fstest.MapFile{Data: data}
		names = append(names, name)
	}
	return pagesFrom(t, Source{Name: "files", Kind: "files", Open: func(context.Context) (*Opened, error) {
		s, known, err := session.Loose(fsys, names)
		if err != nil {
			return nil, err
		}
		return &Opened{Session: s, Files: known}, nil
	}})
}

// encoded makes a CPU profile of stacks, root first and divided by ";", with a
// weight each.
func encoded(t testing.TB, stacks map[string]int64, label string) []byte {
	t.Helper()
	p := &profile.Profile{
		SampleTypes: []profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		PeriodType:  profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 10e6, Duration: 4 * time.Second,
		Stacks: new(stack.Table), Values: make([][]int64, 2),
	}
	for text, n := range stacks {
		var frames []stack.FrameID
		names := strings.Split(text, ";")
		for i := len(names) - 1; i >= 0; i-- {
			frames = append(frames, p.Stacks.InternFrame(stack.Frame{Func: names[i], File: "/src/" + names[i] + ".go", Line: i + 1}))
		}
		p.StackIDs = append(p.StackIDs, p.Stacks.Intern(frames))
		p.Values[0], p.Values[1] = append(p.Values[0], n), append(p.Values[1], n*10e6)
	}
	if label != "" {
		p = p.WithLabel("request", label)
	}
	var b bytes.Buffer
	if err := p.Encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var sample = map[string]int64{"main.main;main.parse;runtime.mallocgc": 30, "main.main;main.parse": 10, "main.main;main.write": 5, "runtime.gcBgMarkWorker": 5, "main.main;slices.SortFunc[go.shape.int]": 4}

// whole checks that nothing of a flame graph is lost: what a box has is its
// own, its boxes', and that of those that are hidden.
func whole(t *testing.T, f *flame) {
	t.Helper()
	for n, v := range f.Views {
		var open []int
		left := make([]int64, len(v.Name))
		total := v.TopWeight
		for i := range v.Name {
			open = append(open[:v.Depth[i]], i)
			left[i] += v.Weight[i] - v.Self[i] - v.NarrowWeight[i]
			if v.Depth[i] == 0 {
				total += v.Weight[i]
			} else {
				left[open[len(open)-2]] -= v.Weight[i]
			}
		}
		if total != v.Total {
			t.Errorf("view %d: the first level has %d, want %d", n, total, v.Total)
		}
		for i, rest := range left {
			if rest != 0 {
				t.Errorf("view %d: %d of %s is nowhere", n, rest, f.Names[v.Name[i]])
			}
		}
	}
}

func TestProfileFlame(t *testing.T) {
	p := loosePages(t, map[string][]byte{"cpu.pb.gz": encoded(t, sample, "search")})
	var kinds []weightKind
	p.get("profile/kinds?s=1", &kinds)
	if len(kinds) != 1 || kinds[0].Title != "CPU" || kinds[0].Type != "cpu" || !kinds[0].Labels || kinds[0].Types[1].Total != "540 ms" {
		t.Errorf("kinds %+v", kinds)
	}
	var f flame
	p.get("profile/flame?s=1&q=MALLOC&width=1000", &f)
	whole(t, &f)
	if f.Total != 540e6 || f.Matched != 0 || f.Names[0] != "main.main" {
		t.Errorf("flame of %s: %d, %d found, begins with %s", f.Type, f.Total, f.Matched, f.Names[0])
	}
	p.get("profile/flame?s=1&q=malloc", &f)
	if f.Matched != 300e6 || f.MatchedShown != "300 ms" || strings.Count(f.Hits, "1") != 1 {
		t.Errorf("%s found, hits %s", f.MatchedShown, f.Hits)
	}
	// Zooming by the hashes of paths, as the pages make them.
	main, parse := hashOf(0, "main.main"), uint32(0)
	parse = hashOf(main, "main.parse")
	chain := strconv.FormatUint(uint64(main), 36) + "." + strconv.FormatUint(uint64(parse), 36)
	p.get("profile/flame?s=1&zoom="+chain, &f)
	whole(t, &f)
	if len(f.Path) != 2 || f.Path[1].Name != "main.parse" || f.Views[0].Total != 400e6 || f.Lost {
		t.Errorf("zoomed to %+v with %d", f.Path, f.Views[0].Total)
	}
	if p.get("profile/flame?s=1&zoom=zzz", &f); !f.Lost {
		t.Error("a box that is not there is not said to be lost")
	}
	p.get("profile/flame?s=1&inverted=1", &f)
	whole(t, &f)
	p.get("profile/flame?s=1&view=sandwich&f=main.parse", &f)
	whole(t, &f)
	if f.Views[0].Total != 400e6 || f.Views[1].Total != 400e6 {
		t.Errorf("sandwich of %d and %d", f.Views[0].Total, f.Views[1].Total)
	}
	// The filters are pprof's.
	p.get("profile/flame?s=1&focus=parse&hide=malloc", &f)
	if f.Part != 400e6 || strings.Contains(strings.Join(f.Names, " "), "malloc") {
		t.Errorf("focus leaves %d: %v", f.Part, f.Names)
	}
	if p.get("profile/flame?s=1&tagfocus=request=search", &f); f.Part != 540e6 {
		t.Errorf("the label has %d", f.Part)
	}
	p.refused(400, "profile/flame?s=1&focus=(", nil)
	p.refused(404, "profile/flame?s=1&p=other.pb.gz", nil)
	p.refused(404, "profile/flame?s=1&p=trace/offcpu", nil)
}

// TestProfileTop has every figure equal those of go tool pprof -top, whose
// text is that of package pprof.
func TestProfileTop(t *testing.T) {
	p := loosePages(t, map[string][]byte{"cpu.pb.gz": encoded(t, sample, "")})
	for _, filter := range []string{"", "&focus=parse", "&ignore=gc&hide=main.main"} {
		var top ranking
		p.get("profile/top?s=1"+filter, &top)
		text := p.ask(t.Context(), "profile/file?s=1&as=txt"+filter, nil).Body.String()
		d, err := profile.Decode(encoded(t, sample, ""), profile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		cfg := pprof.Defaults()
		q, _ := url.ParseQuery(filter)
		cfg.Focus, cfg.Ignore, cfg.Hide = q.Get("focus"), q.Get("ignore"), q.Get("hide")
		r, err := pprof.New(d, []string{"top"}, cfg, nil)
		if err != nil {
			t.Fatal(err)
		}
		var want bytes.Buffer
		if err := r.Write(&want); err != nil {
			t.Fatal(err)
		}
		if text != want.String() {
			t.Errorf("%s: the file is\n%s\nwant\n%s", filter, text, want.String())
		}
		at := map[string]int{}
		for i, c := range top.Table.Columns {
			at[c.Key] = i
		}
		for _, row := range top.Table.Values {
			h := r.Header()
			flat := h.Format(int64(row[at["flat"]].(float64)), "ms")
			cum := h.Format(int64(row[at["cum"]].(float64)), "ms")
			name := row[at["function"]].(string)
			found := false
			for line := range strings.Lines(text) {
				words := strings.Fields(line)
				found = found || len(words) >= 6 && strings.HasPrefix(stack.FoldGenerics(strings.Join(words[5:], " ")), name) && words[0] == flat && words[3] == cum
			}
			if !found {
				t.Errorf("%s: %s with %s and %s is not in\n%s", filter, name, flat, cum, text)
			}
		}
	}
}

func TestProfileViews(t *testing.T) {
	p := loosePages(t, map[string][]byte{"cpu.pb.gz": encoded(t, sample, "search")})
	var k peeked
	p.get("profile/peek?s=1&f=main.parse", &k)
	if n := k.Nodes[0]; n.Cum.Value != 400e6 || n.Flat.Value != 100e6 || n.Callers[0].Name != "main.main" || n.Callees[0].Weight.Value != 300e6 {
		t.Errorf("peek %+v", n)
	}
	p.get("profile/peek?s=1&f="+url.QueryEscape("slices.SortFunc[...]"), &k)
	if k.Nodes[0].Cum.Value != 40e6 {
		t.Errorf("peek of a generic function %+v", k.Nodes)
	}
	p.refused(404, "profile/peek?s=1&f=no.such", nil)
	p.refused(404, "profile/peek?s=1", nil)
	var g graphShown
	p.get("profile/graph?s=1", &g)
	if len(g.Drawing.Boxes) < 5 || len(g.Drawing.Lines) < 3 || g.Drawing.Width <= 0 {
		t.Errorf("graph of %d boxes and %d lines", len(g.Drawing.Boxes), len(g.Drawing.Lines))
	}
	var s sourceShown
	p.get("profile/source?s=1&f=main.parse", &s)
	if len(s.Routines) != 1 || s.Routines[0].Cum.Value != 400e6 || s.Routines[0].Error == "" {
		t.Errorf("source %+v", s.Routines)
	}
	var l labelsShown
	p.get("profile/labels?s=1", &l)
	if len(l.Keys) != 1 || l.Keys[0].Values[0].Value != "search" || l.Keys[0].Values[0].Filter != "request=^search$" {
		t.Errorf("labels %+v", l.Keys)
	}
	for _, as := range []string{"pb.gz", "csv", "svg", "flame.svg", "html", "folded", "txt"} {
		if w := p.ask(t.Context(), "profile/file?s=1&focus=parse&as="+as, nil); w.Code != 200 || w.Body.Len() == 0 || !strings.Contains(w.Header().Get("Content-Disposition"), "attachment") {
			t.Errorf("file as %s: %d", as, w.Code)
		}
	}
	q, err := profile.Decode(p.ask(t.Context(), "profile/file?s=1&focus=parse&as=pb.gz", nil).Body.Bytes(), profile.Options{})
	if err != nil || q.Total(1) != 400e6 {
		t.Errorf("the file has %v, %v", q, err)
	}
	p.refused(400, "profile/file?s=1&as=exe", nil)
}

func TestProfileDiff(t *testing.T) {
	before := map[string]int64{"main.main;main.parse": 400, "main.main;main.write": 300, "main.main;main.old": 50}
	after := map[string]int64{"main.main;main.parse": 800, "main.main;main.write": 305}
	p := loosePages(t, map[string][]byte{"a.pb.gz": encoded(t, before, ""), "b.pb.gz": encoded(t, after, "")})
	var f flame
	p.get("profile/flame?s=1&p=b.pb.gz&bp=a.pb.gz", &f)
	signs := map[string]string{}
	for i, name := range f.Names {
		signs[name] = f.Signs[i : i+1]
	}
	if !f.Diff || f.Base != 7500e6 || f.Part != 11050e6 || signs["main.parse"] != "+" || signs["main.write"] != "=" || signs["main.old"] != "-" {
		t.Errorf("difference of %d to %d: %v", f.Base, f.Part, signs)
	}
	var d facts
	p.get("profile/compare?s=1&p=b.pb.gz&bp=a.pb.gz", &d)
	if len(d.Tables) == 0 || len(d.Facts) == 0 {
		t.Error("there is no table of differences")
	}
	p.refused(404, "profile/compare?s=1&p=b.pb.gz", nil)
}

// TestProfileRange has every profile of a range of the trace equal what
// package sched says of it.
func TestProfileRange(t *testing.T) {
	for _, name := range []string{"../format/exectrace/testdata/recorded/medium.trace", "../format/exectrace/testdata/old/go1.10.trace", "../format/exectrace/testdata/old/go1.5.trace"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		p := loosePages(t, map[string][]byte{filepath.Base(name): data})
		tr, err := exectrace.Open(data, exectrace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r := tr.Reader()
		var first, last timeline.Time
		for r.Next() {
			if last = r.Event().Time; first == 0 {
				first = last
			}
		}
		for _, part := range [][2]float64{{0, 1}, {0.25, 0.5}, {0.5, 0.501}} {
			from, to := timeline.Time(part[0]*float64(last-first)), timeline.Time(part[1]*float64(last-first))
			pass := sweep.New(tr)
			s := sched.NewStateProfiler(pass.Goroutines(), sched.StateProfileOptions{Span: timeline.Span{Start: first + from, End: first + to}})
			pass.Join(s)
			if err := pass.Run(nil); err != nil {
				t.Fatal(err)
			}
			s.Finish()
			for _, k := range traceKinds {
				want := s.Profile(k.kind).Total()
				question := fmt.Sprintf("profile/top?s=1&p=%s&t0=%d&t1=%d", k.key, from, to)
				if len(s.Profile(k.kind).IDs) == 0 {
					p.refused(404, question, nil)
					continue
				}
				var top ranking
				p.get(question, &top)
				if total := max(int64(want.Time), 0); k.kind != sched.ProfileCPU && top.Total != total {
					t.Errorf("%s %v %s: %d, want %d", name, part, k.key, top.Total, total)
				}
				var f flame
				p.get(strings.Replace(question, "top", "flame", 1), &f)
				whole(t, &f)
			}
		}
		p.refused(404, fmt.Sprintf("profile/top?s=1&p=trace/offcpu&t0=%d&t1=%d", int64(1)<<50, int64(1)<<51), nil)
	}
}

// TestProfileHostile shows names that others have chosen as text.
func TestProfileHostile(t *testing.T) {
	const name = `<script>alert("1")</script>.f` + "\u202e\x07'"
	p := loosePages(t, map[string][]byte{"cpu.pb.gz": encoded(t, map[string]int64{"main.main;" + name: 3}, "\u202e<img src=x onerror=alert(1)>")})
	for _, question := range []string{"profile/flame?s=1", "profile/top?s=1", "profile/graph?s=1", "profile/labels?s=1", "profile/peek?s=1&f=main.main", "profile/source?s=1&f=main.main"} {
		w := p.ask(t.Context(), question, nil)
		if w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
			t.Errorf("%s: %d as %s", question, w.Code, w.Header().Get("Content-Type"))
		}
		var v any
		if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
			t.Errorf("%s: %v", question, err)
		}
		if text := w.Body.String(); strings.Contains(text, "<script") || strings.Contains(text, "<img") || strings.Contains(text, "\u202e") {
			t.Errorf("%s says %s", question, text)
		}
	}
	for _, as := range []string{"html", "svg", "flame.svg"} {
		w := p.ask(t.Context(), "profile/file?s=1&as="+as, nil)
		if strings.Contains(w.Body.String(), `<script>alert`) || w.Header().Get("Content-Type") != "application/octet-stream" {
			t.Errorf("the file as %s has the name as markup", as)
		}
	}
}

// TestProfileForeign opens what other tools write.
func TestProfileForeign(t *testing.T) {
	p := loosePages(t, map[string][]byte{"perf.pb.gz": encoded(t, map[string]int64{"_start;std::vector<int, std::allocator<int> >::push_back(int&&)": 7, ";;": 2}, "")})
	var f flame
	p.get("profile/flame?s=1", &f)
	whole(t, &f)
	if f.Total != 90e6 {
		t.Errorf("foreign profile of %d: %v", f.Total, f.Names)
	}
}
