package examine

import (
	"io/fs"
	"testing"

	"loupe/format/kind"
	"loupe/format/profile"
	"loupe/session"
	"loupe/source"
)

// TestPerfDataFiles: perf.data is a profile wherever one is named.
func TestPerfDataFiles(t *testing.T) {
	const name = "../../../format/profile/testdata/perf/plain.data"
	var d source.Door
	inputs, err := d.Open(t.Context(), name)
	if err != nil || inputs[0].Kind != kind.Profile {
		t.Fatalf("%v, %v", inputs, err)
	}
	l := NewLoose(inputs)
	data, err := fs.ReadFile(l.Files, "plain.data")
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.Decode(data, profile.Options{})
	if err != nil || p.Len() == 0 || p.SampleTypes[1].String() != "cpu/nanoseconds" {
		t.Errorf("%+v, %v", p, err)
	}
	s, known, err := session.Loose(l.Files, l.Short)
	if err != nil || len(known) != 1 || s == nil {
		t.Errorf("%v, %v", known, err)
	}
}
