package collect

import (
	"bufio"
	"fmt"
	"strings"
	"testing"

	"loupe/recording"
)

// TestPeaks: the agent sends each peak twice, and the later profile is kept; what the end
// of the program cut off is left out.
func TestPeaks(t *testing.T) {
	w, err := recording.Create(t.TempDir()+"/rec", recording.Manifest{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	k := peakKeeper{w: w, phase: "bare", run: 1}
	stream := ""
	for _, p := range []struct {
		number int
		data   string
	}{{1, "first"}, {1, "first, and better"}, {2, "second"}, {3, "third"}, {3, "third, and better"}} {
		stream += fmt.Sprintf("%d %d %d\n%s", p.number, 100*p.number, len(p.data), p.data)
	}
	if err := k.read(bufio.NewReader(strings.NewReader(stream + "4 400 100\ncut"))); err != nil {
		t.Fatal(err)
	}
	if err := k.keep(); err != nil {
		t.Fatal(err)
	}
	got, m := "", w.Manifest()
	for _, e := range m.Of(recording.Heap) {
		data, err := w.ReadFile(e.Path)
		if err != nil {
			t.Fatal(err)
		}
		got += fmt.Sprintf("%s of %s, process %d: %s\n", e.Path, e.Phase, e.Run, data)
	}
	const want = "peak/heap-2-01.pb.gz of bare, process 1: first, and better\npeak/heap-2-02.pb.gz of bare, process 1: second\npeak/heap-2-03.pb.gz of bare, process 1: third, and better\n"
	if got != want {
		t.Errorf("kept\n%swant\n%s", got, want)
	}
	for _, bad := range []string{"nonsense\n", "1 2 -3\n", "1 2 99999999999\n"} {
		k := peakKeeper{w: w}
		if err := k.read(bufio.NewReader(strings.NewReader(bad))); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
