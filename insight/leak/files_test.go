package leak

import (
	"testing"

	"loupe/format/profile/profiletest"
	"loupe/insight"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
)

// TestFilesNamesWhatRan: of the lines that open and never close, those are named that a profile
// has seen run; where it has seen none, none is.
func TestFilesNamesWhatRan(t *testing.T) {
	const source = "package main\n\nfunc used() {\n\tf, _ := os.Open(\"x\")\n\tread(f.Name())\n}\n\nfunc unused() {\n\tf, _ := os.Create(\"y\")\n\tread(f.Name())\n}\n"
	for stack, want := range map[string]int{"main.used:/src/a.go:4": 4, "main.main:/src/a.go:40": 0} {
		r := recordingtest.New("title x\ntarget package ./shop module=main\nphase bare 0s..10s\nphase goroutine 10s..11s profiler=goroutine\n")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "/src/a.go"}, []byte(source))
		r.Put(recording.Entry{Path: "goroutine.pb.gz", Kind: recording.Goroutine, Phase: "goroutine"}, profiletest.Encode(stack+"\nos.Open\n= 5\n", profiletest.Options{Types: []string{"goroutine/count"}}))
		d := &decider{in: insight.NewInput(session.New(r.Open())), v: &Verdict{}}
		causes, doubt := d.files(&Looked{What: Files, Judgement: Judgement{Shape: Grows, From: 10, To: 200}})
		if len(causes) != 1 || doubt != "" {
			t.Fatalf("%s: %d causes, %s", stack, len(causes), doubt)
		}
		line := 0
		if e := causes[0].Line(); e != nil {
			line = e.Line
		}
		if line != want || len(causes[0].Evidence) > 1 || (want == 0) != (len(causes[0].Doubts) > 0) {
			t.Errorf("%s: line %d, want %d; %+v; %q", stack, line, want, causes[0].Evidence, causes[0].Doubts)
		}
	}
}
