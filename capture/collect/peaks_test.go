package collect

import (
	"bufio"
	"fmt"
	"strings"
	"testing"

	"loupe/format/profile"
	"loupe/format/profile/profiletest"
	"loupe/recording"
)

// TestPeaks: the agent sends each peak twice, and the profile with more in use is kept, the
// later one where both are alike; what the end of the program cut off is left out.
func TestPeaks(t *testing.T) {
	w, err := recording.Create(t.TempDir()+"/rec", recording.Manifest{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	heap := func(name string, bytes int) string {
		return string(profiletest.Encode(fmt.Sprintf("%s\n= %d", name, bytes), profiletest.Options{Types: []string{"inuse_space/bytes"}}))
	}
	k := peakKeeper{w: w, phase: "bare", run: 1}
	stream := ""
	for _, p := range []struct {
		number int
		data   string
	}{{1, heap("main.first", 10)}, {1, heap("main.better", 20)}, {2, heap("main.second", 30)}, {3, heap("main.third", 40)}, {3, heap("main.gone", 1)}} {
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
		p, err := profile.Decode(data, profile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got += fmt.Sprintf("%s of %s, process %d: %s\n", e.Path, e.Phase, e.Run, p.Stacks.Frame(p.Stacks.Frames(p.StackIDs[0])[0]).Func)
	}
	const want = "peak/heap-2-01.pb.gz of bare, process 1: main.better\npeak/heap-2-02.pb.gz of bare, process 1: main.second\npeak/heap-2-03.pb.gz of bare, process 1: main.third\n"
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
