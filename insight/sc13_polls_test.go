package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestSC13Polls: a loop whose waits take a CPU and that a timer ends after some microseconds polls.
// One that does something each time, that waits long enough, or that works does not.
func TestSC13Polls(t *testing.T) {
	for _, c := range []struct {
		name, loop   string
		wait, beside string // samples at line 8, and in what the loop does
		want         string // in the summary; nothing where it is no polling
	}{
		{"a select with time.After", "select {\ncase m := <-in:\nuse(m)\n// 8:\ncase <-time.After(100):\n}", "400", "10", "100 ns"},
		{"a ticker", "select {\ncase m := <-in:\nuse(m)\n// 8:\ncase <-t.C:\ncontinue\n}", "400", "10", "20.0 µs"},
		{"a pause", "if !ready() {\n// 8:\ntime.Sleep(every)\ncontinue\n}\nuse(m)", "400", "40", "15.0 µs"},
		{"a pause in the default case", "select {\ncase m := <-in:\nuse(m)\ndefault:\n// 8:\ntime.Sleep(10 * time.Microsecond)\n}", "400", "10", "10.0 µs"},

		{"something is done each time", "select {\ncase m := <-in:\nuse(m)\n// 8:\ncase <-time.After(100):\nflush()\n}", "400", "10", ""},
		{"a timeout, and many messages", "select {\ncase m := <-in:\nuse(m)\n// 8:\ncase <-time.After(time.Second):\n}", "400", "10", ""},
		{"it works", "select {\ncase m := <-in:\nuse(m)\n// 8:\ncase <-time.After(100):\n}", "200", "400", ""},
		{"nobody knows how long", "select {\ncase m := <-in:\nuse(m)\n// 8:\ncase <-time.After(d):\n}", "400", "10", ""},
		{"little of it", "time.Sleep(100)\n// 8:", "4", "0", ""},
		{"the pause before a try", "if err := try(); err != nil {\n// 8:\ntime.Sleep(100)\nreturn\n}", "400", "10", ""},
	} {
		source := "package shop\n\nimport \"time\"\n\nconst every = 15 * time.Microsecond\n\nfunc poll() {\nt := time.NewTicker(20 * time.Microsecond)\nfor {\n" + c.loop + "\n}\n}\n"
		before, after, _ := strings.Cut(source, "// 8:\n")
		line := strings.Count(before, "\n") + 1
		r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase bare 0s..10s\nphase cpu 10s..15s profiler=cpu\n-- source/shop.go source from=/src/shop.go --\n" + before + after)
		at := "shop.poll:/src/shop.go:" + string(rune('0'+line/10)) + string(rune('0'+line%10))
		r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"}, profiletest.Encode(at+"  shop.poll:/src/shop.go:99  shop.other\nruntime.selectgo shop.use .\n= "+c.wait+" "+c.beside+" 60\n= "+c.wait+"0000000 "+c.beside+"0000000 600000000", profiletest.Options{Types: []string{"samples/count", "cpu/nanoseconds"}, Duration: 5 * time.Second}))
		f := answers(t, r, "SC13")[0]
		if polls := strings.Contains(f.Title, "polls"); polls != (c.want != "") || !strings.Contains(f.Summary, c.want) {
			t.Errorf("%s: %s: %s", c.name, f.State, f.Summary)
		}
	}
}
