package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
)

// TestUnreadableError: a standard error that cannot be read is not fine.
func TestUnreadableError(t *testing.T) {
	r := recordingtest.New("title x\nphase bare 0s..10s\n")
	r.Put(recording.Entry{Path: "stderr.log", Kind: recording.Stderr}, []byte("x"))
	delete(r.Files, "stderr.log")
	for _, f := range examine(t, r) {
		if f.Rule == "FA01" && f.State != TooLittle {
			t.Errorf("FA01 is %s (%s)", f.State, f.Summary)
		}
	}
}

// TestCutLog: a log that ends within a line is not fine, and says that it is not
// whole.
func TestCutLog(t *testing.T) {
	line := "gc 1 @0.010s 1%: 0.010+1.0+0.020 ms clock, 0.020+0/0.5/0+0.040 ms cpu, 4->4->2 MB, 5 MB goal, 0 MB stacks, 0 MB globals, 2 P\n"
	for text, cut := range map[string]bool{
		line + "all is well\n": false,
		line + "gc 2 @0.0":     true,
		line + "panic: runti":  true,
	} {
		r := recordingtest.New("title x\nphase bare 0s..10s\n")
		r.Put(recording.Entry{Path: "stderr.log", Kind: recording.Stderr}, []byte(text))
		in := NewInput(session.New(r.Open()))
		if got := len(in.Incomplete()) > 0; got != cut {
			t.Errorf("%q: incomplete is %q", text, in.Incomplete())
		}
		for _, f := range examine(t, r) {
			if f.Rule == "FA01" && f.State == Fine == cut {
				t.Errorf("%q: FA01 is %s (%s)", text, f.State, f.Summary)
			}
		}
	}
}

// TestUnreadLines: samples that cannot be read are told of, and a last one that was cut off is none.
func TestUnreadLines(t *testing.T) {
	for text, want := range map[string]string{
		`{"t_ns":1,"busy_ns":5}` + "\n" + `{"t_ns":2,"bu`:                     "",
		`{"t_ns":1,"busy_ns":"5"}` + "\n" + `{"t_ns":2,"busy_ns":"x"}` + "\n": "2 lines of os.ndjson cannot be read",
	} {
		r := recordingtest.New("title x\nphase bare 0s..10s\n")
		r.Put(recording.Entry{Path: "os.ndjson", Kind: recording.OS}, []byte(text))
		if got := NewInput(session.New(r.Open())).Incomplete(); len(got) > 0 != (want != "") || want != "" && !strings.HasPrefix(got[0], want) {
			t.Errorf("%q: incomplete is %q", text, got)
		}
	}
	r := recordingtest.New("title x\nphase bare 0s..10s\n")
	r.Put(recording.Entry{Path: "metrics.ndjson", Kind: recording.Metrics}, []byte("none\n"))
	if got := NewInput(session.New(r.Open())).Incomplete(); len(got) != 1 {
		t.Errorf("metrics: incomplete is %q", got)
	}
}

// TestStripped: a program without symbols is told, whoever took them out.
func TestStripped(t *testing.T) {
	for _, target := range []recording.Target{
		{BuildSettings: map[string]string{"-ldflags": "-s"}},
		{BuildSettings: map[string]string{"-ldflags": "-X main.v=1"}, Stripped: true},
		{},
	} {
		r := recordingtest.New("title x\nphase bare 0s..10s\n")
		r.Manifest.Target.BuildSettings, r.Manifest.Target.Stripped = target.BuildSettings, target.Stripped
		told := len(NewInput(session.New(r.Open())).Incomplete()) > 0
		if told != (target.BuildSettings != nil) {
			t.Errorf("%+v: told is %v", target, told)
		}
	}
}
