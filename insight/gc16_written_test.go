package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestGC16Written: what is encoded to be written at once is not told as something that may be kept; what a field keeps is.
func TestGC16Written(t *testing.T) {
	const head = "package main\n\nimport (\"encoding/json\"; \"os\")\n\ntype store struct { path string; all []string; last []byte }\n"
	const save = "func (s *store) save() error {\n\tdata, err := json.MarshalIndent(s.all, \"\", \" \") // A\n\tif err != nil {\n\t\treturn err\n\t}\n\treturn os.WriteFile(s.path, data, 0o600)\n}\nfunc main() { new(store).save() }\n"
	const temp = "func (s *store) save() error {\n\tdata, err := json.MarshalIndent(s.all, \"\", \" \") // A\n\tif err != nil {\n\t\treturn err\n\t}\n\ttmp, err := os.CreateTemp(s.path, \"x\")\n\tif err != nil {\n\t\treturn err\n\t}\n\tif _, err := tmp.Write(data); err != nil {\n\t\treturn err\n\t}\n\treturn tmp.Close()\n}\nfunc main() { new(store).save() }\n"
	for _, c := range []struct {
		name, source string
		want         bool
	}{
		{"to a file", save, true},
		{"to a temporary file", temp, true},
		{"kept as well", strings.Replace(save, "\treturn os", "\ts.last = data\n\treturn os", 1), false},
		{"handed back", strings.NewReplacer("save() error", "save() ([]byte, error)", "return err\n", "return nil, err\n", "return os.WriteFile(s.path, data, 0o600)", "return data, os.WriteFile(s.path, data, 0o600)").Replace(save), false},
	} {
		r := recordingtest.New("title x\ntarget package . module=main\nphase heap 9s..10s profiler=heap\n")
		source := head + c.source
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
		r.Put(recording.Entry{Path: "heap.pb.gz", Kind: recording.Heap, Phase: "heap"}, heapProfile(column{stackAt(source, "main.(*store).save@A encoding/json.MarshalIndent"), []int64{40, 64 << 20, 30, 40 << 20}}))
		f := answers(t, r, "GC16")[0]
		if got := strings.Contains(f.Summary, "nothing keeps it"); f.State != Found || got != c.want || strings.Contains(f.Advice, "meant to be kept") == c.want {
			t.Errorf("%s: %s: %s\n%s", c.name, f.State, f.Summary, f.Advice)
		}
	}
}
