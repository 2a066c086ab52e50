package fleet_test

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"loupe/format/profile"
	"loupe/store/block"
	"loupe/store/intake"
	"loupe/value/stack"
	"loupe/web/fleet"
)

// spanned is a CPU profile of ten seconds with a sample for each line: a value, a span and a
// trace or "-", and the stack from the root on.
func spanned(at time.Time, lines ...string) []byte {
	p := &profile.Profile{SampleTypes: []profile.ValueType{{Type: "cpu", Unit: "nanoseconds"}}, PeriodType: profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 1,
		Time: at, Duration: 10 * time.Second, Stacks: new(stack.Table), Values: make([][]int64, 1)}
	var labels [][]profile.Label
	for _, line := range lines {
		words := strings.Fields(line)
		var v int64
		fmt.Sscan(words[0], &v)
		var list []profile.Label
		for i, key := range []string{"span_id", "trace_id"} {
			if words[1+i] != "-" {
				list = append(list, profile.Label{Key: key, Str: words[1+i]})
			}
		}
		var frames []stack.FrameID
		for i := len(words) - 1; i > 2; i-- {
			frames = append(frames, p.Stacks.InternFrame(stack.Frame{Func: words[i], System: words[i], File: "main.go", Line: 7}))
		}
		p.StackIDs, p.Values[0], labels = append(p.StackIDs, p.Stacks.Intern(frames)), append(p.Values[0], v), append(labels, list)
	}
	var out bytes.Buffer
	if err := p.WithLabels(func(row int) []profile.Label { return labels[row] }).Encode(&out); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// TestParts asks for parts of profiles: spans, traces, call sites, over time and as a heat
// map, of a store on the disk.
func TestParts(t *testing.T) {
	engine, err := block.Open(t.TempDir(), block.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	server := httptest.NewServer(fleet.New(engine, intake.New(engine), fleet.Options{Now: func() time.Time { return noon.Add(time.Hour) }}))
	defer server.Close()
	url := server.URL
	ingest(t, url, "shop{pod=a}", spanned(noon.Add(time.Minute), "30 s1 t1 main serve encode", "10 s1 t1 main serve write", "5 s2 t1 main serve encode", "7 - - main idle"))
	ingest(t, url, "shop{pod=b}", spanned(noon.Add(2*time.Minute), "100 s3 t2 main serve encode", "1 s1 t1 main serve", "50 - - serve encode"))

	flame := func(call, more string) string {
		t.Helper()
		var got struct {
			Flamegraph struct {
				Names []string
				Total string
			}
		}
		ask(t, url, call, asked(more), &got)
		return cmp.Or(got.Flamegraph.Total, "0") + " " + strings.Join(got.Flamegraph.Names, " ")
	}
	site := `, "stackTraceSelector": {"callSite": [{"name": "main"}, {"name": "serve"}, {"name": "encode"}]}`
	for _, c := range []struct{ call, more, want string }{
		{"SelectMergeStacktraces", "", "203 total main idle serve encode write"},
		{"SelectMergeStacktraces", `, "spanSelector": ["s1"]`, "41 total main serve encode write"},
		{"SelectMergeStacktraces", `, "traceIdSelector": ["t1"]`, "46 total main serve encode write"},
		{"SelectMergeStacktraces", `, "traceIdSelector": ["t1", "t2"], "spanSelector": ["s3", "s2"]`, "105 total main serve encode"},
		{"SelectMergeStacktraces", `, "traceIdSelector": ["t"]`, "0 total"},
		{"SelectMergeStacktraces", site, "135 total main serve encode"},
		{"SelectMergeStacktraces", `, "spanSelector": ["s1"]` + site, "30 total main serve encode"},
		{"SelectMergeSpanProfile", `, "spanSelector": ["s1", "s2"]`, "46 total main serve encode write"},
	} {
		got := flame(c.call, c.more)
		a, b := strings.Fields(got), strings.Fields(c.want)
		if len(a) == 0 || a[0] != b[0] || len(a) != len(b) {
			t.Errorf("%s%s: %s, want %s", c.call, c.more, got, c.want)
		}
	}

	var series struct {
		Series []struct {
			Labels []struct{ Value string }
			Points []struct{ Value float64 }
		}
	}
	ask(t, url, "SelectSeries", asked(`, "step": 3600, "groupBy": ["pod"]`+site), &series)
	if got := fmt.Sprintf("%+v", series.Series); got != "[{Labels:[{Value:a}] Points:[{Value:35}]} {Labels:[{Value:b}] Points:[{Value:100}]}]" {
		t.Errorf("the call site over time is %s", got)
	}

	type heatmap struct {
		Series []struct {
			Labels []struct{ Value string }
			Slots  []struct {
				Counts    []int
				YMin      []float64
				Exemplars []struct {
					SpanId, TraceId, Value string
					Labels                 []struct{ Name, Value string }
				}
			}
		}
	}
	var heat, plain heatmap
	ask(t, url, "SelectHeatmap", asked(`, "step": 3600, "groupBy": ["service_name"], "queryType": "HEATMAP_QUERY_TYPE_SPAN", "exemplarType": "EXEMPLAR_TYPE_SPAN"`), &heat)
	if len(heat.Series) != 1 || len(heat.Series[0].Slots) != 1 || heat.Series[0].Labels[0].Value != "shop" {
		t.Fatalf("the heat map is %+v", heat)
	}
	slot := heat.Series[0].Slots[0]
	sum, spans := 0, map[string]string{}
	for _, n := range slot.Counts {
		sum += n
	}
	for _, e := range slot.Exemplars {
		spans[e.SpanId+" of "+e.TraceId] = e.Value
	}
	// s1 in two profiles (40 and 1), s2 (5), s3 (100); the largest of each row is told.
	if sum != 4 || slot.Counts[0] != 1 || slot.Counts[1] != 1 || slot.YMin[1] != 5 || slot.YMin[0] != 1 || fmt.Sprint(spans) != "map[s1 of t1:40 s2 of t1:5 s3 of t2:100]" {
		t.Errorf("%d spans in %+v, exemplars %v", sum, slot, spans)
	}
	ask(t, url, "SelectHeatmap", asked(`, "step": 3600, "queryType": "HEATMAP_QUERY_TYPE_SPAN"`), &plain)
	if n := len(plain.Series[0].Slots[0].Exemplars); n > 0 {
		t.Errorf("nobody asks for exemplars, and there are %d", n)
	}
}
