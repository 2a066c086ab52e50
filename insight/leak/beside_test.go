package leak

import (
	"strings"
	"testing"

	"loupe/insight"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
)

// TestBesideHeap: resident memory that grows beside a heap that does not is no leak, and neither
// is it none.
func TestBesideHeap(t *testing.T) {
	for _, c := range []struct {
		name           string
		heap, resident Shape
		known          bool    // there is a cause of memory already
		unseen         float64 // how much outside Go would not show; below zero where it was not measured
		open           string
	}{
		{"beside a steady heap", Steady, Grows, false, -1, "the heap of Go does not"},
		{"beside a heap without a collection", Short, Grows, false, -1, "garbage that no collection has freed"},
		{"with a leak of the heap", Grows, Grows, true, -1, ""},
		{"steady", Steady, Steady, false, -1, ""},
		{"with a quiet outside", Steady, Grows, false, leastOutside, ""},
		{"with an outside that Go's untouched memory hides", Steady, Grows, false, leastOutside + 1<<28, "the heap of Go does not"},
	} {
		d := &decider{in: insight.NewInput(session.New(recordingtest.New("title x").Open())), v: &Verdict{Looked: []*Looked{
			{What: Heap, Judgement: Judgement{Shape: c.heap}}, {What: Resident, Per: "s", Judgement: Judgement{Shape: c.resident, From: 1 << 24, To: 1 << 26}},
		}}}
		if c.unseen >= 0 {
			d.v.Looked = append(d.v.Looked, &Looked{What: Outside, Judgement: Judgement{Shape: Steady}, unseen: c.unseen})
		}
		if c.known {
			d.v.Causes = []*Cause{{What: Heap}}
		}
		leaks, open := d.matter(Resident, "")
		if leaks || (open == "") != (c.open == "") || !strings.Contains(open, c.open) {
			t.Errorf("%s: %v, %q", c.name, leaks, open)
		}
	}
}

// TestOneLineOnce: a line that leaks after each start is one cause, with its other rates.
func TestOneLineOnce(t *testing.T) {
	d := &decider{v: &Verdict{}}
	for _, process := range []string{"process 1 of 2", "process 2 of 2"} {
		d.addCauses([]*Cause{{What: Heap, Process: process, Per: "s", Rate: [3]float64{1, 2048, 3}, Evidence: []insight.Evidence{{File: "a.go", Line: 4}}}})
	}
	if len(d.v.Causes) != 1 || len(d.v.Causes[0].Evidence) != 2 || d.v.Causes[0].Evidence[1].Text != "the same in process 2 of 2: 2.00 KiB more a second" {
		t.Errorf("%+v", d.v.Causes[0])
	}
}

// TestMetricsUnread: where readings of the runtime were recorded and cannot be read, nothing is told to be no leak.
func TestMetricsUnread(t *testing.T) {
	const head = "title x\ntarget package ./shop module=shop\nphase bare 0s..10s\n"
	with := func(text string) *recordingtest.Recording {
		return recordingtest.New(head).Put(recording.Entry{Path: "metrics.ndjson", Kind: recording.Metrics}, []byte(text))
	}
	for _, c := range []struct {
		name string
		rec  *recordingtest.Recording
		want Answer
	}{
		{"empty", with(""), Undecided},
		{"garbage", with("\x00\xff\n[]\n"), Undecided},
		{"read", recordingtest.New(head + "-- metrics.ndjson metrics --\nt_ns /sched/goroutines:goroutines\n1000000000 7\n"), No},
		{"not recorded", recordingtest.New(head), No},
	} {
		d := &decider{in: insight.NewInput(session.New(c.rec.Open())), v: &Verdict{Looked: []*Looked{{What: Heap, Judgement: Judgement{Shape: Steady}}}}}
		d.answer(false, nil)
		if d.v.Answer != c.want || c.want == Undecided && !strings.Contains(d.v.Why, "metrics.ndjson has no readings") {
			t.Errorf("%s: %s, %s", c.name, d.v.Answer, d.v.Why)
		}
	}
}
