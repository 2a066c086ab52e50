package report

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"loupe/analysis/compare"
	"loupe/insight"
	"loupe/recording"
	"loupe/session"
)

// FuzzManifest opens good files with any manifest, lets every rule look and
// prints the result in every form: a recording may come from anybody.
func FuzzManifest(f *testing.F) {
	small := form{"slow", 100, 0, 600, 0, "GOGC=off"}
	r := small.record()
	seed, err := json.Marshal(r.Manifest)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Add([]byte(strings.ReplaceAll(string(seed), `"run":`, `"run":-`)))
	f.Add([]byte(strings.ReplaceAll(string(seed), `"end_ns":`, `"end_ns":-`)))
	f.Add([]byte(strings.ReplaceAll(string(seed), `"kind":"stderr"`, `"kind":"os"`)))
	f.Fuzz(func(t *testing.T, manifest []byte) {
		files := maps.Clone(r.Files)
		files[recording.ManifestName] = &fstest.MapFile{Data: manifest}
		rec, err := recording.Open(files)
		if err != nil {
			return
		}
		s := session.New(rec)
		in := insight.NewInput(s)
		all := insight.Run(in)
		shown := &Recording{Schema: Schema, Manifest: s.Manifest(), Findings: all, Figures: compare.Compare(in.Facts), Phases: compare.PhaseCosts(s)}
		both := &Comparison{Table: compare.Compare(in.Facts, in.Facts), Findings: [][]insight.Finding{all, all}}
		var text strings.Builder
		err = errors.Join(WriteRecording(&text, shown, Style{}), WriteComparison(&text, both, Style{}), WriteRecordingMarkdown(&text, shown),
			WriteComparisonMarkdown(&text, both))
		if err != nil {
			t.Fatal(err)
		}
		safe(t, "report", text.String())
		if err := WriteJSON(io.Discard, shown); err != nil {
			t.Fatal(err)
		}
	})
}
