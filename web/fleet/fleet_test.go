package fleet_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"loupe/format/profile"
	"loupe/store/intake"
	"loupe/store/storetest"
	"loupe/value/stack"
	"loupe/web/fleet"
)

// noon is when the profiles of the tests were taken.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// cpu is a CPU profile of two functions.
func cpu(at time.Time, a, b int64) []byte {
	p := &profile.Profile{
		SampleTypes: []profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		PeriodType:  profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 1e7,
		Time: at, Duration: 10 * time.Second, Stacks: new(stack.Table), Values: make([][]int64, 2),
	}
	add := func(v int64, names ...string) {
		var frames []stack.FrameID
		for _, n := range names {
			frames = append(frames, p.Stacks.InternFrame(stack.Frame{Func: n, System: n, File: "main.go", Line: 7}))
		}
		p.StackIDs = append(p.StackIDs, p.Stacks.Intern(frames))
		p.Values[0], p.Values[1] = append(p.Values[0], v), append(p.Values[1], v*1e7)
	}
	add(a, "main.a", "main.main")
	add(b, "main.b", "main.main")
	var out bytes.Buffer
	if err := p.Encode(&out); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// serve starts a server of an empty store.
func serve(t *testing.T) string {
	t.Helper()
	engine := storetest.NewMemory()
	server := httptest.NewServer(fleet.New(engine, intake.New(engine), fleet.Options{Now: func() time.Time { return noon.Add(time.Hour) }}))
	t.Cleanup(server.Close)
	return server.URL
}

// send posts a body and returns the answer with its status in front.
func send(t *testing.T, url, kind string, body []byte, head ...string) string {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", kind)
	for i := 0; i < len(head); i += 2 {
		if req.Header.Set(head[i], head[i+1]); head[i] == "Host" {
			req.Host = head[i+1]
		}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d %s", resp.StatusCode, text)
}

// ingest pushes a profile as curl does.
func ingest(t *testing.T, url, app string, body []byte) {
	t.Helper()
	if got := send(t, url+"/ingest?format=pprof&name="+app, "application/octet-stream", body); !strings.HasPrefix(got, "200") {
		t.Fatal(got)
	}
}

// ask asks a question in JSON, and reads the answer.
func ask(t *testing.T, url, call, question string, into any) {
	t.Helper()
	got := send(t, url+"/querier.v1.QuerierService/"+call, "application/json", []byte(question))
	text, ok := strings.CutPrefix(got, "200 ")
	if !ok {
		t.Fatalf("%s %s: %s", call, question, got)
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%s: %s: %v", call, text, err)
	}
}

const cpuType = "process_cpu:cpu:nanoseconds:cpu:nanoseconds"

// asked is a question about all of the tests' profiles.
func asked(more string) string {
	return fmt.Sprintf(`{"profileTypeID": %q, "labelSelector": "{}", "start": "%d", "end": "%d"%s}`, cpuType, noon.UnixMilli(), noon.Add(time.Hour).UnixMilli(), more)
}

// TestRoundTrip: what is pushed comes out of each question, to the sample.
func TestRoundTrip(t *testing.T) {
	url := serve(t)
	ingest(t, url, "shop{pod=a}", cpu(noon.Add(time.Minute), 3, 1))
	ingest(t, url, "shop{pod=b}", cpu(noon.Add(2*time.Minute), 5, 0))

	var types struct{ ProfileTypes []struct{ ID string } }
	ask(t, url, "ProfileTypes", `{}`, &types)
	if len(types.ProfileTypes) != 2 || types.ProfileTypes[0].ID != cpuType {
		t.Errorf("types: %+v", types)
	}
	var names struct{ Names []string }
	ask(t, url, "LabelValues", `{"name": "pod"}`, &names)
	if strings.Join(names.Names, " ") != "a b" {
		t.Errorf("pods: %q", names.Names)
	}
	ask(t, url, "LabelValues", `{"name": "pod", "matchers": ["{pod=~\"b|c\"}"]}`, &names)
	if strings.Join(names.Names, " ") != "b" {
		t.Errorf("selected pods: %q", names.Names)
	}
	var series struct {
		LabelsSet []struct {
			Labels []struct{ Name, Value string }
		}
	}
	ask(t, url, "Series", `{"labelNames": ["service_name", "__profile_type__"]}`, &series)
	if len(series.LabelsSet) != 2 || series.LabelsSet[0].Labels[0].Value != cpuType {
		t.Errorf("series: %+v", series)
	}
	var flame struct {
		Flamegraph struct {
			Names []string
			Total string
		}
	}
	ask(t, url, "SelectMergeStacktraces", asked(""), &flame)
	if g := flame.Flamegraph; g.Total != "90000000" || strings.Join(g.Names, " ") != "total main.main main.a main.b" {
		t.Errorf("flame graph: %+v", g)
	}
	ask(t, url, "SelectMergeStacktraces", strings.Replace(asked(""), `"{}"`, `"{pod=\"b\"}"`, 1), &flame)
	if flame.Flamegraph.Total != "50000000" {
		t.Errorf("of one pod: %+v", flame)
	}
	var points struct {
		Series []struct {
			Labels []struct{ Value string }
			Points []struct {
				Value     float64
				Timestamp string
			}
		}
	}
	ask(t, url, "SelectSeries", asked(`, "step": 3600, "groupBy": ["pod"]`), &points)
	if len(points.Series) != 2 || points.Series[0].Points[0].Value != 4e7 || points.Series[1].Labels[0].Value != "b" {
		t.Errorf("series: %+v", points)
	}
	var merged struct{ Sample []struct{ Value []string } }
	ask(t, url, "SelectMergeProfile", asked(""), &merged)
	if len(merged.Sample) != 2 {
		t.Errorf("pprof: %+v", merged)
	}
	var diff struct {
		Flamegraph struct{ LeftTicks, RightTicks string }
	}
	ask(t, url, "Diff", `{"left": `+strings.Replace(asked(""), `"{}"`, `"{pod=\"a\"}"`, 1)+`, "right": `+strings.Replace(asked(""), `"{}"`, `"{pod=\"b\"}"`, 1)+`}`, &diff)
	if diff.Flamegraph.LeftTicks != "40000000" || diff.Flamegraph.RightTicks != "50000000" {
		t.Errorf("diff: %+v", diff)
	}
	var stats struct{ DataIngested bool }
	ask(t, url, "GetProfileStats", `{}`, &stats)
	if !stats.DataIngested {
		t.Error("there is something")
	}
}

// TestNothing: questions about nothing have empty answers.
func TestNothing(t *testing.T) {
	url := serve(t)
	var flame struct{ Flamegraph struct{ Total string } }
	ask(t, url, "SelectMergeStacktraces", asked(""), &flame)
	if flame.Flamegraph.Total != "" {
		t.Errorf("%+v", flame)
	}
	var merged struct{ Sample []struct{} }
	ask(t, url, "SelectMergeProfile", asked(""), &merged)
	if len(merged.Sample) != 0 {
		t.Errorf("%+v", merged)
	}
}

// TestCumulative: what counts from the start of a process is a difference in the store, once.
func TestCumulative(t *testing.T) {
	url := serve(t)
	heap := func(at time.Time, alloc, inuse int64) []byte {
		p := &profile.Profile{
			SampleTypes: []profile.ValueType{{Type: "alloc_space", Unit: "bytes"}, {Type: "inuse_space", Unit: "bytes"}},
			PeriodType:  profile.ValueType{Type: "space", Unit: "bytes"}, Period: 512 << 10, Time: at,
			Stacks: new(stack.Table), Values: [][]int64{{alloc}, {inuse}},
		}
		p.StackIDs = []stack.ID{p.Stacks.Intern([]stack.FrameID{p.Stacks.InternFrame(stack.Frame{Func: "main.keep", System: "main.keep"})})}
		var out bytes.Buffer
		if err := p.Encode(&out); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	for i, alloc := range []int64{1000, 1500, 1800} {
		at := noon.Add(time.Duration(i+1) * time.Minute)
		push(t, url, "shop", "", heap(at, alloc, 100*int64(i+1)))
		push(t, url, "differs", `, {"name": "__delta__", "value": "false"}`, heap(at, alloc, 1))
		ingest(t, url, "pushed", heap(at, alloc, 1))
	}
	for _, c := range []struct{ service, kind, want string }{
		{"shop", "memory:alloc_space:bytes:space:bytes", "800"}, // since the first one
		{"shop", "memory:inuse_space:bytes:space:bytes", "200"}, // on the average
		{"differs", "memory:alloc_space:bytes:space:bytes", "4300"},
		{"pushed", "memory:alloc_space:bytes:space:bytes", "4300"}, // /ingest has nothing but differences
	} {
		var flame struct{ Flamegraph struct{ Total string } }
		question := strings.Replace(strings.Replace(asked(""), cpuType, c.kind, 1), `"{}"`, `"{service_name=\"`+c.service+`\"}"`, 1)
		ask(t, url, "SelectMergeStacktraces", question, &flame)
		if got := flame.Flamegraph.Total; got != c.want {
			t.Errorf("%s of %s: %s, want %s", c.kind, c.service, got, c.want)
		}
	}
}

// push pushes a profile as Alloy does, in JSON.
func push(t *testing.T, url, service, note string, body []byte) {
	t.Helper()
	text := fmt.Sprintf(`{"series": [{"labels": [{"name": "__name__", "value": "memory"}, {"name": "service_name", "value": %q}%s], "samples": [{"rawProfile": %q}]}]}`,
		service, note, base64.StdEncoding.EncodeToString(body))
	if got := send(t, url+"/push.v1.PusherService/Push", "application/json", []byte(text)); !strings.HasPrefix(got, "200") {
		t.Fatal(got)
	}
}

// TestRoom: bodies that come all at once wait for each other, or are sent away to come back; a
// body that is too long is refused before it is read.
func TestRoom(t *testing.T) {
	url := serve(t)
	good := cpu(noon.Add(time.Minute), 1, 1)
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			// Bodies whose length is not told count as the largest that there may be.
			resp, err := http.Post(url+fmt.Sprintf("/ingest?format=pprof&name=s%d", i), "application/octet-stream", io.MultiReader(bytes.NewReader(good)))
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				t.Errorf("%s", resp.Status)
			}
		})
	}
	all.Wait()
	host := strings.TrimPrefix(url, "http://")
	conn, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /ingest?name=x HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n", host, 1<<30) // and nothing comes
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil || !strings.Contains(line, "413") {
		t.Errorf("a body of 1 GiB: %q, %v", line, err)
	}
}

// TestRefused: who may not ask is not answered, and what is wrong says what.
func TestRefused(t *testing.T) {
	url := serve(t)
	good := cpu(noon, 1, 1)
	for _, c := range []struct {
		path, kind string
		body       []byte
		head       []string
		want       string
	}{
		{"/ingest?name=x", "text/plain", good, []string{"Origin", "http://evil.example"}, "403 pages of other sites"},
		{"/ingest?name=x", "text/plain", good, []string{"Sec-Fetch-Site", "cross-site"}, "403 pages of other sites"},
		{"/ingest?name=x", "text/plain", good, []string{"Host", "evil.example:4040"}, "403 this server answers to its own"},
		{"/nothing", "text/plain", nil, nil, "404 there is nothing at /nothing"},
		{"/ingest?name=x&format=pprof", "application/octet-stream", []byte("garbage"), nil, "4"},
		{"/querier.v1.QuerierService/SelectSeries", "application/json", []byte(`{"labelSelector": "{"}`), nil, "400"},
		{"/querier.v1.QuerierService/SelectMergeStacktraces", "application/json", []byte(`{}`), nil, `400 {"code":"invalid_argument","message":"profile_typeID is missing`},
		{"/querier.v1.QuerierService/Nothing", "application/json", []byte(`{}`), nil, "501"},
	} {
		if got := send(t, url+c.path, c.kind, c.body, c.head...); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s %v: %s, want %s", c.path, c.head, got, c.want)
		}
	}
}
