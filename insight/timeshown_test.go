package insight

import (
	"strings"
	"testing"
	"testing/fstest"

	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
)

// TestTimeGaps: a profile that is gone or makes no sense belongs to what is incomplete, and a whole one tells how much the program
// used the CPU.
func TestTimeGaps(t *testing.T) {
	for _, row := range []struct {
		what   string
		change func(r *recordingtest.Recording, f *fstest.MapFile)
		unread bool
		used   float64
	}{
		{"whole", func(*recordingtest.Recording, *fstest.MapFile) {}, false, 0.25},
		{"half of it", func(_ *recordingtest.Recording, f *fstest.MapFile) { f.Data = f.Data[:len(f.Data)/2] }, true, 0},
		{"something else", func(_ *recordingtest.Recording, f *fstest.MapFile) { f.Data = []byte("no profile") }, true, 0},
		{"empty", func(_ *recordingtest.Recording, f *fstest.MapFile) { f.Data = nil }, true, 0},
		{"gone", func(r *recordingtest.Recording, _ *fstest.MapFile) { delete(r.Files, "cpu.pb.gz") }, true, 0},
	} {
		r := recordingtest.New("")
		r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU}, profiletest.Encode("main.main\n= 250\n= 2500000000\n", profiletest.Options{Types: []string{"samples/count", "cpu/nanoseconds"}, Duration: 10e9, Period: 10e6}))
		row.change(r, r.Files["cpu.pb.gz"])
		in := NewInput(session.New(r.Open()))
		g, incomplete := TimeGapsIn(in), strings.Join(in.Incomplete(), "; ")
		if (len(g.Unread) == 1) != row.unread || strings.Contains(incomplete, "cpu.pb.gz cannot be read (") != row.unread || g.Used != row.used {
			t.Errorf("%s: %+v, incomplete: %q", row.what, g, incomplete)
		}
	}
}
