package metrics

import (
	"fmt"
	"math"
	"testing"
	"time"

	"loupe/value/timeline"
)

func TestParseOS(t *testing.T) {
	samples, bad := ParseOS([]byte(`{"t_ns":1,"rss":10}
garbage
{"t_ns":2,"rss":20}
{"t_ns":3,"rs`))
	if len(samples) != 2 || bad != 1 || samples[1].RSS != 20 || samples[1].At != 2 {
		t.Errorf("got %+v and %d bad lines", samples, bad)
	}
}

func TestParseRuntime(t *testing.T) {
	epoch := time.Unix(100, 0)
	set := ParseRuntime([]byte(`{"t_ns":101000000000,"/gc/cycles/total:gc-cycles":3}
{"t_ns":102000000000,"/gc/cycles/total:gc-cycles":10,"/x#p99":0.5}
{"t_ns":`), epoch)
	s := set.Series("/gc/cycles/total:gc-cycles")
	if len(s.Values) != 2 || s.Times[0] != timeline.Time(time.Second) {
		t.Errorf("got %+v", s)
	}
	whole := timeline.Span{Start: 0, End: math.MaxInt64}
	if d := set.Delta("/gc/cycles/total:gc-cycles", whole); d != 7 {
		t.Errorf("delta = %v, want 7", d)
	}
	if d := set.Delta("/none", whole); !math.IsNaN(d) {
		t.Errorf("delta of nothing = %v", d)
	}
}

// TestParseRuntimeOrder: a sample that was written late lies where its time is.
func TestParseRuntimeOrder(t *testing.T) {
	set := ParseRuntime([]byte(`{"t_ns":3000,"/x":3}
{"t_ns":1000,"/x":1}
{"t_ns":2000,"/x":2,"/y":9}
`), time.Unix(0, 0))
	if s := set.Series("/x"); fmt.Sprint(s.Values) != "[1 2 3]" || len(s.Times) != 3 || s.Times[0] >= s.Times[1] || s.Times[1] >= s.Times[2] {
		t.Errorf("got %+v", s)
	}
	if d := set.Delta("/x", timeline.Span{Start: 900, End: 2500}); d != 1 {
		t.Errorf("delta = %v, want 1", d)
	}
}

// TestParseRuntimeVars: the program's own variables lie between the samples of the runtime, with the
// same clock; a damaged line is counted.
func TestParseRuntimeVars(t *testing.T) {
	set := ParseRuntime([]byte(`{"t_ns":1000000005,"/x":1}
{"t_ns":1000000006,"vars":{"hits":7,"codes":{"ok":3},"text":"no"}}
{"t_ns":1000000007,"vars":{}}
{"t_ns":1000000008,"vars":{"hits":}}
`), time.Unix(1, 0))
	if got := fmt.Sprint(set.Names(), set.Bad); got != "[/x codes.ok hits] 1" {
		t.Errorf("names and bad lines = %s", got)
	}
	if s := set.Series("hits"); len(s.Times) != 1 || s.Times[0] != 6 || s.Values[0] != 7 {
		t.Errorf("hits = %+v", s)
	}
}

func TestParseVars(t *testing.T) {
	set := ParseVars([]byte(`{"t_ns":5,"vars":{"cmdline":["x"],"memstats":{"HeapAlloc":42,"PauseNs":[1,2]},"hits":7}}`))
	if got := fmt.Sprint(set.Names()); got != "[hits memstats.HeapAlloc]" {
		t.Errorf("names = %s", got)
	}
	if v := set.Series("memstats.HeapAlloc").Values; len(v) != 1 || v[0] != 42 {
		t.Errorf("HeapAlloc = %v", v)
	}
}

func TestMemInfo(t *testing.T) {
	if b, err := MemInfo("MemFree: 1 kB\nMemTotal:   24 kB\n", "MemTotal"); err != nil || b != 24<<10 {
		t.Errorf("got %d, %v", b, err)
	}
	if _, err := MemInfo("MemTotal: x kB", "MemTotal"); err == nil {
		t.Error("garbage was read")
	}
	if _, err := MemInfo("", "MemTotal"); err == nil {
		t.Error("an absent line was read")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"t_ns":5,"vars":{"a":{"b":{"c":1}}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		ParseOS(data)
		ParseVars(data)
		ParseRuntime(data, time.Time{})
	})
}

func ExampleParseVars() {
	set := ParseVars([]byte(`{"t_ns":0,"vars":{"hits":7}}
{"t_ns":1000000000,"vars":{"hits":19}}
`))
	fmt.Println(set.Delta("hits", timeline.Span{Start: 0, End: 2e9}))
	// Output: 12
}
