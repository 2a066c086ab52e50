package insight

import (
	"math"
	"testing"
	"time"

	"loupe/format/exectrace"
	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestHandedOver: handing over one item at a time costs the operations on the channels, and its part of the scheduler; what is done with the items, and what
// other channels cost, is not counted.
func TestHandedOver(t *testing.T) {
	const send, receive = "shop/paint.produce:/src/paint/modes.go:71 runtime.chansend1 runtime.chansend", "shop/paint.produce.func1:/src/paint/modes.go:64 runtime.chanrecv2 runtime.chanrecv runtime.goready"
	const work, other = "shop/paint.produce:/src/paint/modes.go:71 shop/paint.mix:/src/paint/mix.go:9", "shop/paint.log:/src/paint/log.go:5 runtime.chansend1"
	const find, mark = "runtime.mcall runtime.park_m runtime.schedule runtime.findRunnable", "runtime.gcBgMarkWorker runtime.scanobject"
	for _, c := range []struct {
		name    string
		columns []column
		waits   int // of others, for a mutex
		want    float64
	}{
		{"operations and scheduler", []column{{send, []int64{200}}, {receive, []int64{100}}, {find, []int64{300}}, {work, []int64{300}}, {other, []int64{100}}}, 0, 0.6},
		{"half of the waits are others", []column{{send, []int64{200}}, {receive, []int64{100}}, {find, []int64{300}}, {work, []int64{400}}}, 100_000, 0.5},
		{"no scheduler", []column{{send, []int64{200}}, {work, []int64{800}}}, 0, 0.2},
		{"the collector schedules as well", []column{{send, []int64{200}}, {find, []int64{100}}, {mark, []int64{300}}, {work, []int64{400}}}, 0, 0.2},
		{"only the work", []column{{work, []int64{800}}, {find, []int64{200}}}, 0, 0},
		{"no sample", nil, 0, 0},
	} {
		s := pingPong(t, 100_000, 350)
		if c.waits > 0 {
			s.block("main.main", exectrace.NameSync, c.waits, time.Microsecond, s.stack("sync.(*Mutex).Lock", "main.lock:/src/main.go:3"), s.stack("main.main"))
		}
		if c.columns != nil {
			s.manifest += "phase cpu 0s..5s profiler=cpu\n"
			s.beside = append(s.beside, func(r *recordingtest.Recording) { withProfile(r, recording.CPU, "cpu", c.columns...) })
		}
		in := s.input()
		all := Run(in)
		found := false
		for _, card := range Cards(in, all) {
			if all[card.Finding].Rule != sc03.ID {
				continue
			}
			found = true
			switch g := card.Gain; {
			case g == nil && c.want > 0:
				t.Errorf("%s: no gain", c.name)
			case g != nil && (math.Abs(g.Share-c.want) > 0.01 || g.Low >= g.Share || g.High <= g.Share || g.Of != "CPU time" || g.Beyond == ""):
				t.Errorf("%s: %+v, want %v", c.name, g, c.want)
			}
		}
		if !found {
			t.Errorf("%s: no card", c.name)
		}
	}
}
