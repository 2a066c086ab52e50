package gc_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"loupe/analysis/gc"
	"loupe/format/godebug"
)

// TestScavenger adds up, by hand, lines of each form.
func TestScavenger(t *testing.T) {
	f := func(log string, want gc.Scavenger) {
		t.Helper()
		all := gc.AnalyseScavenger(godebug.Parse([]byte(log)))
		if len(all) != 1 {
			t.Fatalf("%d runs", len(all))
		}
		s := *all[0]
		same := func(a, b gc.Figure) bool {
			return a.Known() == b.Known() && (!a.Known() || math.Abs(float64(a-b)) < 1e-9)
		}
		if s.Lines != want.Lines || s.Forced != want.Forced || s.BackgroundBytes != want.BackgroundBytes || s.EagerBytes != want.EagerBytes ||
			s.ReleasedBytes != want.ReleasedBytes || s.PeakReleased != want.PeakReleased || !same(s.UtilPercent, want.UtilPercent) || !same(s.UtilLowest, want.UtilLowest) || !same(s.BytesPerSec, want.BytesPerSec) {
			t.Errorf("%q: %+v, want %+v", log, s, want)
		}
	}
	u := gc.Unknown()
	const now = `scav 100 KiB work (bg), 0 KiB work (eager), 3096 KiB now, 97% util
scav 28 KiB work (bg), 8 KiB work (eager), 5000 KiB now, 80% util (forced)
scav 0 KiB work (bg), 0 KiB work (eager), 4000 KiB now, 90% util
`
	f(now, gc.Scavenger{Lines: 3, Forced: 1, BackgroundBytes: 128 << 10, EagerBytes: 8 << 10, ReleasedBytes: 4000 << 10, PeakReleased: 5000 << 10, UtilPercent: 90, UtilLowest: 80, BytesPerSec: u})
	const total = "scav 1 64 KiB work, 52912 KiB total, 100% util\nscav 2 36 KiB work, 36168 KiB total, 72% util\n"
	f(total, gc.Scavenger{Lines: 2, BackgroundBytes: 100 << 10, ReleasedBytes: 36168 << 10, PeakReleased: 52912 << 10, UtilPercent: 72, UtilLowest: 72, BytesPerSec: u})
	const scvg = "scvg0: 2 MB released\nscvg0: inuse: 26, idle: 23, sys: 50, released: 20, consumed: 29 (MB)\n"
	f(scvg, gc.Scavenger{Lines: 2, BackgroundBytes: 2 << 20, ReleasedBytes: 20 << 20, PeakReleased: 20 << 20, UtilPercent: u, UtilLowest: u, BytesPerSec: u})
	// Between two collections that are 2 s apart, 136 KiB; what is before and behind is
	// of no known time.
	const gc1 = "gc 1 @1.000s 1%: 0.018+1.3+0.076 ms clock, 0.054+0.35/1.2/3.0+0.23 ms cpu, 4->4->3 MB, 5 MB goal, 4 P\n"
	const gc2 = "gc 2 @3.000s 1%: 0.018+1.3+0.076 ms clock, 0.054+0.35/1.2/3.0+0.23 ms cpu, 4->4->3 MB, 5 MB goal, 4 P\n"
	f("scav 7 KiB work (bg), 0 KiB work (eager), 3096 KiB now, 97% util\n"+gc1+now+gc2, gc.Scavenger{Lines: 4, Forced: 1, BackgroundBytes: 135 << 10, EagerBytes: 8 << 10, ReleasedBytes: 4000 << 10,
		PeakReleased: 5000 << 10, UtilPercent: 90, UtilLowest: 80, BytesPerSec: 136 << 10 / 2})
}

// TestPaced takes two collections of Go 1.26 and one of Go 1.17, and lines that miss
// their partner.
func TestPaced(t *testing.T) {
	const go126 = `pacer: sweep done at heap size 9MB; allocated 2MB during sweep; swept 947 pages at 0.0001885799037147254 pages/byte
pacer: assist ratio=6.5 (scan 1 MB in 3->4 MB) workers=0+0.25
pacer: 30% CPU (25 exp.) for 3318952+177072+1203314 B work (1203314 B exp.) in 4014080 B -> 7757824 B (∆goal 3563520, cons/mark 0)
pacer: sweep done at heap size 9MB; allocated 2MB during sweep; swept 947 pages at 0.0001885799037147254 pages/byte
pacer: assist ratio=1.5 (scan 5 MB in 12->15 MB) workers=1+0
pacer: 20% CPU (25 exp.) for 11981440+177464+1203314 B work (4699338 B exp.) in 13330656 B -> 13382176 B (∆goal -7495870, cons/mark 0.5)
pacer: assist ratio=4 (scan 5 MB in 12->15 MB) workers=1+0
`
	p := gc.AnalysePacer(godebug.Parse([]byte(go126)))[0]
	if len(p.Rows) != 3 || p.MeanUtilPercent != 25 || p.TargetPercent != 25 || p.MeanAssist != 4 || p.MaxAssist != 6.5 || p.Beyond != 1 || p.WorstBytes != 3563520 {
		t.Errorf("%+v", *p)
	}
	if want := gc.Figure(3318952+177072+1203314+11981440+177464+1203314) / (1203314 + 4699338); math.Abs(float64(p.ForecastRatio-want)) > 1e-12 {
		t.Errorf("work: %v, want %v", p.ForecastRatio, want)
	}
	r := p.Rows[0]
	if r.Trigger != 4014080 || r.Goal != 4<<20 || r.End != 7757824 || r.AssistRatio != 6.5 || r.Workers != 0.25 || r.SweptPages != 947 || r.Line != 2 {
		t.Errorf("first: %+v", r)
	}
	if r := p.Rows[2]; r.Trigger != 12<<20 || r.Goal != 15<<20 || r.End.Known() || r.UtilPercent.Known() {
		t.Errorf("last: %+v", r)
	}
	const go117 = "pacer: H_m_prev=2236962 h_t=+8.750000e-001 H_T=4194304 h_a=+1.658692e+000 H_a=5947392 h_g=+1.351074e+000 H_g=5259264 u_a=+3.061877e-001 u_g=+3.000000e-001 W_a=1915600 goalΔ=+4.760744e-001 actualΔ=+7.836916e-001 u_a/u_g=+1.020626e+000\n"
	r = gc.AnalysePacer(godebug.Parse([]byte(go117)))[0].Rows[0]
	if r.Trigger != 4194304 || r.Goal != 5259264 || r.End != 5947392 || r.Work != 1915600 || r.Expected.Known() || r.AssistRatio.Known() {
		t.Errorf("go1.17: %+v", r)
	}
}

// TestPrintedDialects: every line of every dialect that package godebug reads is in a
// row.
func TestPrintedDialects(t *testing.T) {
	names, err := filepath.Glob("../../format/godebug/testdata/go1.*.txt")
	if err != nil || len(names) < 50 {
		t.Fatalf("%d files: %v", len(names), err)
	}
	scavenged, paced := 0, 0
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		l := godebug.Parse(data)
		rows := 0
		for _, s := range gc.AnalyseScavenger(l) {
			rows += len(s.Rows)
		}
		if rows != len(l.Scavenges) {
			t.Errorf("%s: %d rows of %d lines", name, rows, len(l.Scavenges))
		}
		ends, begins, rowEnds, rowBegins := 0, 0, 0, 0
		for _, x := range l.Pacers {
			switch x.Form {
			case godebug.PacerStart:
				begins++
			case godebug.PacerEnd, godebug.PacerEndOld:
				ends++
			}
		}
		for _, p := range gc.AnalysePacer(l) {
			for _, r := range p.Rows {
				if r.End.Known() {
					rowEnds++
				}
				if r.AssistRatio.Known() {
					rowBegins++
				}
			}
		}
		if rowEnds != ends || rowBegins != begins {
			t.Errorf("%s: %d begins and %d ends in the rows, %d and %d in the lines", name, rowBegins, rowEnds, begins, ends)
		}
		scavenged, paced = scavenged+rows, paced+ends
	}
	if scavenged == 0 || paced == 0 {
		t.Errorf("%d and %d lines", scavenged, paced)
	}
}
