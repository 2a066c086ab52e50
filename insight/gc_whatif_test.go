package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
)

// TestOverridesGOGC: a call in the source that may have set the GOGC in force is named, as the environment then has no effect; one that has set
// another value is not.
func TestOverridesGOGC(t *testing.T) {
	for _, c := range []struct {
		source string
		want   string
	}{
		{"package main\n\nimport \"runtime/debug\"\n\nfunc main() { debug.SetGCPercent(100) }\n", "debug.SetGCPercent at main.go:5"},
		{"package main\n\nimport \"runtime/debug\"\n\nfunc main() { debug.SetGCPercent(percent()) }\n", "debug.SetGCPercent at main.go:5"},
		{"package main\n\nimport \"runtime/debug\"\n\nfunc main() { debug.SetGCPercent(400) }\n", ""},
		{"package main\n\nfunc main() { debug.SetGCPercent(100) }\n", ""},
	} {
		r := recordingtest.New("title x\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(c.source))
		if got := overridesGOGC(NewInput(session.New(r.Open())), 100); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%q: %q, want %q", c.source, got, c.want)
		}
	}
}
