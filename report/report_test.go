package report

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/format/loadlog/loadlogtest"
	"loupe/format/profile/profiletest"
	"loupe/insight"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestMain sets the time zone: reports print the local time.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

// form is one form of the service whose recordings are printed.
type form struct {
	title    string
	requests int           // a round, in 10 s
	pace     time.Duration // of collections; 0 is none
	lowered  int           // of 1,000 KiB allocated
	start    time.Duration // after the other forms
	env      string
}

// forms are a slow and a fixed form of one service, each also without a
// collector, whose rounds took turns.
var forms = []form{
	{"slow", 10_000, 5 * time.Millisecond, 600, 0, "GODEBUG=gctrace=1,schedtrace=1000"},
	{"fixed", 30_000, 20 * time.Millisecond, 5, 20 * time.Second, "GODEBUG=gctrace=1,schedtrace=1000"},
	{"slow GOGC=off", 12_000, 0, 600, 40 * time.Second, "GOGC=off GODEBUG=gctrace=1,schedtrace=1000"},
	{"fixed GOGC=off", 33_000, 0, 5, 60 * time.Second, "GOGC=off GODEBUG=gctrace=1,schedtrace=1000"},
}

const rounds5 = 5

// record makes the recording of a form: five rounds of ten seconds, in each
// another process with a log and a load, then two profiles.
func (f form) record() *recordingtest.Recording {
	var b strings.Builder
	fmt.Fprintf(&b, "title %s\ntarget package ./shop -addr :5000 module=shop go=go1.26.1 env=%q\n", f.title, f.env)
	b.WriteString("host os=linux arch=amd64 cpu=\"Big Iron\" cpus=4 load=0.25 virtual=\"virtual machine\"\n")
	for i := range rounds5 {
		at := 100 * i
		fmt.Fprintf(&b, "run %ds..%ds pid=%d user=20s system=1s rss=%d exit=\"exit status 0\" stopped\n", at, at+11, 70+i, (24+i)<<20)
		fmt.Fprintf(&b, "phase bare-%d %ds..%ds run=%d round=%d order=%d user=%dms rss=%d\n", i+1, at, at+10, i, i+1, i+1, 20_000+100*i, (24+i)<<20)
	}
	b.WriteString("phase cpu 450s..460s profiler=cpu run=4 user=25s\nphase heap 460s..460004ms profiler=heap run=4\nphase trace 461s..462s profiler=trace run=4 error=\"the program ended\"\n")
	for i := range rounds5 {
		suffix, at := fmt.Sprintf("-%d", i+1), 100*i
		fmt.Fprintf(&b, "clock stderr%s.log %ds\nclock load%s.requests %ds\n", suffix, at, suffix, at)
	}
	for i := range rounds5 {
		fmt.Fprintf(&b, "-- stderr-%d.log stderr run=%d --\n%s", i+1, i, recordingtest.Scheds(4, 4, 4, 3, 4, 4, 3, 4, 4, 3))
		if f.pace > 0 {
			b.WriteString(recordingtest.Cycles(int(10*time.Second/f.pace), time.Millisecond, f.pace, func(n int, c *recordingtest.Cycle) {
				c.Background, c.Assist = time.Millisecond, 100*time.Microsecond
				if n%50 == i {
					c.STW1 = 300 * time.Microsecond
				}
			}))
		}
	}
	b.WriteString("-- os.ndjson os --\nt_ns busy_ns idle_ns steal_ns self_ns\n")
	for i := range 50 {
		fmt.Fprintf(&b, "%ds %ds %ds 0s %ds\n", 10*i, 30*i, 10*i, 28*i)
	}
	b.WriteString("-- source/search/rss.go source from=/src/shop/search/rss.go --\npackage search\n\nfunc find(term string) {\n\tfor _, item := range items {\n\t\tif strings.Contains(strings.ToLower(item.Text), term) {\n\t\t}\n\t}\n}\n")
	r := recordingtest.New(b.String())
	r.Manifest.ID, r.Manifest.Tool = strings.ReplaceAll(f.title, " ", "-"), "v1.2.3"
	r.Manifest.Start = r.Manifest.Start.Add(f.start)
	r.Manifest.Notes = []string{"the address was taken, another one was used"}
	for i := range rounds5 {
		// A little more in every round, so that there is an interval.
		n := f.requests + f.requests/200*i
		l := loadlogtest.Steady(n, 10*time.Second, time.Duration(30_000_000_000/n))
		r.Put(recording.Entry{Path: fmt.Sprintf("load-%d.requests", i+1), Kind: recording.Load, Phase: fmt.Sprintf("bare-%d", i+1)}, loadlogtest.Encode(l))
	}
	picture := fmt.Sprintf("shop/search.find:/src/shop/search/rss.go:5  shop/page.write:/src/shop/page.go:9\nstrings.ToLower\n= %d %d\n= %d %d\n",
		f.lowered*100, 100_000-f.lowered*100, f.lowered*100<<10, (100_000-f.lowered*100)<<10)
	r.Put(recording.Entry{Path: "allocs.pb.gz", Kind: recording.Allocs, Phase: "heap"},
		profiletest.Encode(picture, profiletest.Options{Types: []string{"alloc_objects/count", "alloc_space/bytes"}, Period: 512 << 10}))
	r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"},
		profiletest.Profile("shop/search.find:/src/shop/search/rss.go:5  runtime.gcBgMarkWorker\nstrings.ToLower\n= 80 20"))
	return r
}

// examined is a recording with what is said of it, as the command line puts
// it together.
func examined(t *testing.T, r *recordingtest.Recording) (*Recording, *facts.Facts) {
	t.Helper()
	s := session.New(r.Open())
	in := insight.NewInput(s)
	findings := insight.Run(in)
	return &Recording{
		Schema: Schema, Path: r.Manifest.ID, Manifest: s.Manifest(), Findings: findings, Cards: insight.Cards(in, findings), Incomplete: in.Incomplete(),
		Figures: compare.Compare(in.Facts), Phases: compare.PhaseCosts(s),
	}, in.Facts
}

func compared(t *testing.T, all ...*recordingtest.Recording) *Comparison {
	t.Helper()
	c := &Comparison{}
	var facts []*facts.Facts
	for _, r := range all {
		x, f := examined(t, r)
		facts, c.Findings, c.Cards, c.Paths = append(facts, f), append(c.Findings, x.Findings), append(c.Cards, x.Cards), append(c.Paths, x.Path)
	}
	c.Table = compare.Compare(facts...)
	return c
}

// golden compares output with the file that is named after the command.
func golden(t *testing.T, command string, write func(io.Writer) error) {
	t.Helper()
	var b strings.Builder
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join("testdata", "golden", strings.NewReplacer(" ", "_", "/", "_").Replace(command))
	if *update {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatalf("%v (go test ./report -update writes it)", err)
	}
	if diff := diffLines(string(want), b.String()); diff != "" {
		t.Errorf("%s (- want, + got; -update accepts):\n%s", command, diff)
	}
}

// diffLines shows the lines between the first and the last that differ.
func diffLines(want, got string) string {
	if want == got {
		return ""
	}
	a, b := strings.SplitAfter(want, "\n"), strings.SplitAfter(got, "\n")
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	var d strings.Builder
	for _, line := range a {
		fmt.Fprintf(&d, "-%q\n", line)
	}
	for _, line := range b {
		fmt.Fprintf(&d, "+%q\n", line)
	}
	return d.String()
}

// withoutEntries leaves out what would make a golden file longer than anybody
// reads.
func (r *Recording) withoutEntries() *Recording {
	short := *r
	m := *r.Manifest
	m.Entries, m.Clocks = m.Entries[:2], m.Clocks[:2]
	short.Manifest = &m
	return &short
}

func TestGoldenRecording(t *testing.T) {
	r, _ := examined(t, forms[0].record())
	for _, width := range []int{80, 120} {
		golden(t, fmt.Sprintf("COLUMNS=%d report -v slow", width), func(w io.Writer) error { return WriteRecording(w, r, Style{Width: width}) })
		golden(t, fmt.Sprintf("COLUMNS=%d report slow", width), func(w io.Writer) error { return WriteBrief(w, r, "loupe report -v slow", Style{Width: width}) })
	}
	golden(t, "report -v -format md slow", func(w io.Writer) error { return WriteRecordingMarkdown(w, r) })
	golden(t, "report -format md slow", func(w io.Writer) error { return WriteBriefMarkdown(w, r, "loupe report -v slow") })
	golden(t, "report -json slow", func(w io.Writer) error { return WriteJSON(w, r.withoutEntries()) })
}

func TestGoldenComparison(t *testing.T) {
	for _, names := range []string{"slow fixed", "slow fixed slow.off fixed.off"} {
		var all []*recordingtest.Recording
		for i := range strings.Fields(names) {
			all = append(all, forms[i].record())
		}
		c := compared(t, all...)
		for _, width := range []int{80, 120} {
			golden(t, fmt.Sprintf("COLUMNS=%d compare %s", width, names), func(w io.Writer) error { return WriteComparison(w, c, Style{Width: width}) })
		}
		golden(t, "compare -format md "+names, func(w io.Writer) error { return WriteComparisonMarkdown(w, c) })
		golden(t, "compare -json "+names, func(w io.Writer) error { return WriteJSON(w, c) })
	}
}
