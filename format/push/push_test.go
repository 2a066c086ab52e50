package push_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"mime/multipart"
	"net/url"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"loupe/format/connect"
	"loupe/format/profile"
	"loupe/format/push"
	"loupe/value/protobuf"
)

// pprof is a packed profile of folded stacks with the given sample types: each line has a
// number for each of them.
func pprof(t testing.TB, types string, lines ...string) []byte {
	t.Helper()
	p, err := profile.Decode([]byte(strings.Join(lines, "\n")+"\n"), profile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	q := *p
	q.SampleTypes, q.Values = nil, nil
	for i, name := range strings.Fields(types) {
		typ, unit, _ := strings.Cut(name, "/")
		q.SampleTypes = append(q.SampleTypes, profile.ValueType{Type: typ, Unit: unit})
		column := make([]int64, p.Len())
		for row, v := range p.Values[0] {
			column[row] = v * int64(i+1)
		}
		q.Values = append(q.Values, column)
	}
	var b bytes.Buffer
	if err := q.Encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zipped(b []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	z.Write(b)
	z.Close()
	return out.Bytes()
}

// show is a profile in a line: labels, types with * for states, and folded stacks.
func show(t testing.TB, p push.Pushed) string {
	t.Helper()
	var b strings.Builder
	for _, l := range p.Labels {
		fmt.Fprintf(&b, "%s=%s ", l.Name, l.Value)
	}
	for i, typ := range p.Profile.SampleTypes {
		fmt.Fprintf(&b, "| %s/%s", typ.Type, typ.Unit)
		if p.States[i] {
			b.WriteString("*")
		}
		var folded bytes.Buffer
		if err := p.Profile.WriteFolded(&folded, i); err != nil {
			t.Fatal(err)
		}
		b.WriteString(" " + strings.ReplaceAll(strings.TrimSpace(folded.String()), "\n", ", ") + " ")
	}
	return strings.TrimSpace(b.String())
}

func one(t *testing.T, p push.Protocol, r push.Request) push.Pushed {
	t.Helper()
	all, err := push.Decode(p, r, push.Limits{})
	if err != nil || len(all) != 1 {
		t.Fatalf("%d profiles, %v", len(all), err)
	}
	return all[0]
}

func check(t *testing.T, got push.Pushed, want string) {
	t.Helper()
	if s := show(t, got); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
}

// form is a multipart request as pyroscope-go sends it.
func form(t *testing.T, query string, parts ...string) push.Request {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		f, err := w.CreateFormFile(parts[i], parts[i]+".pprof")
		if err != nil {
			t.Fatal(err)
		}
		f.Write([]byte(parts[i+1]))
	}
	w.Close()
	q, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	return push.Request{ContentType: w.FormDataContentType(), Query: q, Body: b.Bytes()}
}

func TestIngest(t *testing.T) {
	cpu := pprof(t, "samples/count cpu/nanoseconds", "main;work 3")
	got := one(t, push.Ingest, form(t, "name=shop{region=eu,pod=a-1,__session_id__=7f,__delta__=false}&from=1700000000000000000&until=1700000010&spyName=gospy", "profile", string(cpu)))
	check(t, got, "__name__=process_cpu pod=a-1 pyroscope_spy=gospy region=eu service_name=shop | samples/count main;work 3 | cpu/nanoseconds main;work 6")
	if got.Session != "7f" || got.From.Unix() != 1700000000 || got.Until.Unix() != 1700000010 || !got.Time(time.Now()).Equal(got.From) {
		t.Error(got.From, got.Until)
	}

	// The same profile with other names of its types is of mutexes, or of what blocks.
	locks := pprof(t, "contentions/count delay/nanoseconds", "main;Lock 2")
	config := `{"contentions":{"display-name":"%[1]s_count","units":"lock_samples"},"delay":{"display-name":"%[1]s_duration"}}`
	for _, kind := range []string{"mutex", "block"} {
		got := one(t, push.Ingest, form(t, "name=shop", "profile", string(locks), "sample_type_config", fmt.Sprintf(config, kind)))
		check(t, got, "__name__="+kind+" service_name=shop | contentions/count main;Lock 2 | delay/nanoseconds main;Lock 4")
	}

	// What is in use is a state by its name, others because the client says so.
	heap := pprof(t, "alloc_space/bytes inuse_space/bytes", "main;make 5")
	got = one(t, push.Ingest, form(t, "name=shop{service_name=other}", "profile", string(heap)))
	check(t, got, "__name__=memory service_name=other | alloc_space/bytes main;make 5 | inuse_space/bytes* main;make 10")
	conns := pprof(t, "connections/count", "main;dial 5")
	got = one(t, push.Ingest, form(t, "name=shop", "profile", string(conns), "sample_type_config", `{"connections":{"aggregation":"average"}}`))
	check(t, got, "__name__=connections service_name=shop | connections/count* main;dial 5")

	// Goroutines have the name that Pyroscope gives them.
	got = one(t, push.Ingest, form(t, "name=shop", "profile", string(pprof(t, "goroutine/count", "main;wait 5"))))
	check(t, got, "__name__=goroutines service_name=shop | goroutine/count* main;wait 5")

	// curl sends the file itself.
	got = one(t, push.Ingest, push.Request{Query: url.Values{"name": {"shop"}, "format": {"pprof"}}, Body: cpu, ContentType: "application/x-www-form-urlencoded"})
	check(t, got, "__name__=process_cpu service_name=shop | samples/count main;work 3 | cpu/nanoseconds main;work 6")

	// Nothing has happened.
	for _, r := range []push.Request{form(t, "name=shop", "profile", ""), {Query: url.Values{"name": {"shop"}}}} {
		if all, err := push.Decode(push.Ingest, r, push.Limits{}); err != nil || len(all) != 0 {
			t.Errorf("%d profiles, %v", len(all), err)
		}
	}
}

// TestPrevious: old clients send a cumulative profile with the one before it.
func TestPrevious(t *testing.T) {
	now := pprof(t, "alloc_space/bytes inuse_space/bytes", "main;a 50", "main;b 4", "main;c 1")
	before := pprof(t, "alloc_space/bytes inuse_space/bytes", "main;a 20", "main;c 9")
	got := one(t, push.Ingest, form(t, "name=shop", "profile", string(now), "prev_profile", string(before)))
	check(t, got, "__name__=memory service_name=shop | alloc_space/bytes main;a 30, main;b 4 | inuse_space/bytes* main;a 100, main;b 8, main;c 2")
}

func TestFolded(t *testing.T) {
	ingest := func(query, body string) push.Pushed {
		t.Helper()
		q, _ := url.ParseQuery(query)
		return one(t, push.Ingest, push.Request{Query: q, Body: []byte(body)})
	}
	check(t, ingest("name=shop&sampleRate=50&format=folded", "main;a 2\nmain;b 1\n"), "__name__=process_cpu service_name=shop | cpu/nanoseconds main;a 40000000, main;b 20000000")
	check(t, ingest("name=shop.cpu&sampleRate=nonsense", "main;a 2\n"), "__name__=process_cpu service_name=shop | cpu/nanoseconds main;a 20000000")
	check(t, ingest("name=shop.wall{a=b}&format=lines", "main;a\nmain;b\nmain;a\n"), "__name__=wall a=b service_name=shop | wall/nanoseconds main;a 20000000, main;b 10000000")
	check(t, ingest("name=shop.inuse_space", "main;a 2"), "__name__=memory service_name=shop | inuse_space/bytes* main;a 2")
	check(t, ingest("name=shop.block_duration", "main;a 2"), "__name__=block service_name=shop | delay/nanoseconds main;a 2")
	check(t, ingest("name=my.shop", "main;a 2"), "__name__=process_cpu service_name=my.shop | cpu/nanoseconds main;a 20000000")
}

func TestPusher(t *testing.T) {
	cpu := pprof(t, "samples/count cpu/nanoseconds", "main;work 3")
	want := "__name__=process_cpu pod=a service_name=x | samples/count main;work 3 | cpu/nanoseconds main;work 6"
	text := fmt.Sprintf(`{"series":[{"labels":[{"name":"service_name","value":"x"},{"name":"__name__","value":"process_cpu"},{"name":"pod","value":"a"}],"samples":[{"rawProfile":%q,"ID":"id-1"}]}]}`, base64.StdEncoding.EncodeToString(cpu))
	got := one(t, push.Pusher, push.Request{ContentType: "application/json", Body: []byte(text)})
	check(t, got, want)
	if got.ID != "id-1" {
		t.Error(got.ID)
	}
	packed := push.Request{ContentType: "application/json; charset=utf-8", ContentEncoding: "gzip", Body: zipped([]byte(text))}
	check(t, one(t, push.Pusher, packed), want)

	label := func(name, value string) []byte {
		return protobuf.AppendField(protobuf.AppendField(nil, 1, []byte(name)), 2, []byte(value))
	}
	series := protobuf.AppendField(nil, 1, label("service_name", "x"))
	series = protobuf.AppendField(series, 1, label("pod", "a"))
	series = protobuf.AppendField(series, 2, protobuf.AppendField(nil, 1, cpu))
	body := protobuf.AppendField(nil, 1, series)
	check(t, one(t, push.Pusher, push.Request{ContentType: "application/proto", Body: body}), want)
	check(t, one(t, push.Pusher, push.Request{ContentType: "application/grpc", Body: connect.Frame(body)}), want)

	// A series may have several profiles, and then some.
	two := protobuf.AppendField(nil, 1, protobuf.AppendField(series, 2, protobuf.AppendField(nil, 1, cpu)))
	if all, err := push.Decode(push.Pusher, push.Request{ContentType: "application/proto", Body: two}, push.Limits{}); err != nil || len(all) != 2 {
		t.Error(len(all), err)
	}
}

func TestParca(t *testing.T) {
	heap := pprof(t, "alloc_space/bytes inuse_space/bytes", "main;make 5")
	text := fmt.Sprintf(`{"normalized":false,"series":[{"labels":{"labels":[{"name":"__name__","value":"memory"},{"name":"job","value":"shop"}]},"samples":[{"raw_profile":%q}]}]}`, base64.StdEncoding.EncodeToString(heap))
	want := "__name__=memory job=shop service_name=shop | alloc_space/bytes main;make 5 | inuse_space/bytes* main;make 10"
	check(t, one(t, push.Parca, push.Request{ContentType: "application/json", Body: []byte(text)}), want)

	labels := protobuf.AppendField(nil, 1, protobuf.AppendField(protobuf.AppendField(nil, 1, []byte("job")), 2, []byte("shop")))
	series := protobuf.AppendField(nil, 1, labels)
	series = protobuf.AppendField(series, 2, protobuf.AppendField(nil, 1, heap))
	check(t, one(t, push.Parca, push.Request{ContentType: "application/grpc+proto", Body: connect.Frame(protobuf.AppendField(nil, 2, series))}), want)
}

// otlp is a request in JSON: two samples of a CPU, one of which is of a span and has a
// label, and one of another service.
const otlp = `{"resourceProfiles":[{"resource":{"attributes":[
	{"key":"service.name","value":{"stringValue":"shop"}},{"key":"k8s.pod.name","value":{"stringValue":"a"}},{"key":"process.pid","value":{"intValue":"7"}}]},
  "scopeProfiles":[{"scope":{"attributes":[{"key":"k8s.pod.name","value":{"stringValue":"other"}}]},"profiles":[{
	"sampleType":{"typeStrindex":1,"unitStrindex":2},"periodType":{"typeStrindex":3,"unitStrindex":4},"period":"10000000",
	"timeUnixNano":"1700000000000000000","durationNano":"10000000000","profileId":"AAEC",
	"samples":[{"stackIndex":1,"values":["40","2"]},{"stackIndex":1,"linkIndex":1,"attributeIndices":[1],"timestampsUnixNano":["1","2","3"]},
	           {"stackIndex":2,"attributeIndices":[2],"values":["1"]}]}]}]}],
 "dictionary":{"stringTable":["","samples","count","cpu","nanoseconds","main.work","main.go","bin","thread.name","worker","service.name","db","process.executable.build_id.go","abc"],
	"mappingTable":[{},{"memoryStart":"1","memoryLimit":"2","filenameStrindex":7,"attributeIndices":[3]}],
	"functionTable":[{},{"nameStrindex":5,"filenameStrindex":6,"startLine":"3"}],
	"locationTable":[{},{"mappingIndex":1,"address":"1","lines":[{"functionIndex":1,"line":"7"}]}],
	"stackTable":[{},{"locationIndices":[1]},{"locationIndices":[1,1]}],
	"linkTable":[{},{"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"00F067AA0BA902B7"}],
	"attributeTable":[{},{"keyStrindex":8,"value":{"stringValue":"worker"}},{"keyStrindex":10,"value":{"stringValue":"db"}},{"keyStrindex":12,"value":{"stringValue":"abc"}}]}}`

func TestOTLP(t *testing.T) {
	all, err := push.Decode(push.OTLP, push.Request{ContentType: "application/json", Body: []byte(otlp)}, push.Limits{})
	if err != nil || len(all) != 2 {
		t.Fatalf("%d profiles, %v", len(all), err)
	}
	check(t, all[0], "__name__=process_cpu k8s_pod_name=a process_pid=7 service_name=shop | samples/count main.work 45 | cpu/nanoseconds main.work 450000000")
	check(t, all[1], "__name__=process_cpu k8s_pod_name=a process_pid=7 service_name=db | samples/count main.work;main.work 1 | cpu/nanoseconds main.work;main.work 10000000")
	p := all[0].Profile
	want := []profile.Label{{Key: "thread.name", Str: "worker"}, {Key: "trace_id", Str: "4bf92f3577b34da6a3ce929d0e0e4736"}, {Key: "span_id", Str: "00f067aa0ba902b7"}}
	if got := p.Labels(p.SetOf(1)); !reflect.DeepEqual(got, want) {
		t.Errorf("labels are %v", got)
	}
	if m := p.Mappings[0]; m.File != "bin" || m.BuildID != "abc" || p.Period != 1e7 || p.Time.Unix() != 1700000000 || p.Duration != 10*time.Second || all[0].ID != "000102" {
		t.Errorf("%+v, %d, %v, %v, %s", m, p.Period, p.Time, p.Duration, all[0].ID)
	}
}

// TestOTLPPayload: a profile without samples may carry what it was made of.
func TestOTLPPayload(t *testing.T) {
	heap := pprof(t, "inuse_space/bytes", "main;make 5")
	body := fmt.Sprintf(`{"resourceProfiles":[{"scopeProfiles":[{"profiles":[{"originalPayloadFormat":"pprof","originalPayload":%q}]}]}]}`, base64.StdEncoding.EncodeToString(heap))
	check(t, one(t, push.OTLP, push.Request{ContentType: "application/json", Body: []byte(body)}), "__name__=memory service_name=unknown_service | inuse_space/bytes* main;make 5")
}

// TestRefused holds what clients are told: a status with which they do not send the same
// again, in the form that they read.
func TestRefused(t *testing.T) {
	f := func(p push.Protocol, r push.Request, l push.Limits, status int, say string) push.Answer {
		t.Helper()
		_, err := push.Decode(p, r, l)
		if err == nil {
			t.Errorf("no error, want %q", say)
			return push.Answer{}
		}
		a := push.Refused(p, r, err)
		if a.Status != status || !strings.Contains(err.Error(), say) {
			t.Errorf("%d %v, want %d %q", a.Status, err, status, say)
		}
		return a
	}
	query := func(s string) url.Values { q, _ := url.ParseQuery(s); return q }
	cpu := pprof(t, "samples/count", "a;b 3", "a;c 1")
	bad := func(e string) push.Request { return push.Request{ContentType: e, Body: []byte{0xff}} }

	f(push.Ingest, push.Request{}, push.Limits{}, 400, "name is empty")
	f(push.Ingest, push.Request{Query: query("name=a{b")}, push.Limits{}, 400, "closing brace")
	f(push.Ingest, push.Request{Query: query("name=a{b}")}, push.Limits{}, 400, "label=value")
	f(push.Ingest, push.Request{Query: query("name=a{b=1,b=2}&format=pprof"), Body: cpu}, push.Limits{}, 400, "comes twice")
	f(push.Ingest, push.Request{Query: query("name=a&format=jfr")}, push.Limits{}, 415, "jfr")
	f(push.Ingest, push.Request{Query: query("name=a&format=pprof"), Body: []byte("\x1f\x8bno")}, push.Limits{}, 400, "unpack")
	f(push.Ingest, push.Request{Query: query("name=a"), ContentType: "multipart/form-data", Body: cpu}, push.Limits{}, 400, "boundary")
	f(push.Ingest, push.Request{Query: query("name=a&format=pprof"), Body: cpu}, push.Limits{Samples: 1}, 400, "2 samples, more than 1")
	f(push.Ingest, push.Request{Query: query("name=a&format=pprof"), Body: cpu}, push.Limits{Bytes: 20}, 413, "20 bytes")
	f(push.Ingest, push.Request{Query: query("name=a{b=c}&format=pprof"), Body: cpu}, push.Limits{Labels: 2}, 400, "3 labels")
	f(push.Ingest, push.Request{Query: query("name=a&format=pprof"), Body: zipped(bytes.Repeat([]byte("a;b 1\n"), 1<<16))}, push.Limits{Bytes: 1 << 16}, 413, "65536 bytes")

	a := f(push.Pusher, bad("application/proto"), push.Limits{}, 400, "cut or malformed")
	var e struct{ Code, Message string }
	if err := json.Unmarshal(a.Body, &e); err != nil || e.Code != "invalid_argument" || e.Message == "" || a.ContentType != "application/json" {
		t.Errorf("%s %s", a.ContentType, a.Body)
	}
	f(push.Pusher, bad("text/html"), push.Limits{}, 415, "content type")
	f(push.Pusher, push.Request{ContentType: "application/json", ContentEncoding: "br"}, push.Limits{}, 415, `"br"`)

	a = f(push.OTLP, bad("application/json"), push.Limits{}, 400, "cannot read")
	if !strings.Contains(string(a.Body), `"code":3`) {
		t.Errorf("%s", a.Body)
	}
	a = f(push.OTLP, bad("application/x-protobuf"), push.Limits{}, 400, "cannot read")
	if a.ContentType != "application/x-protobuf" || !bytes.HasPrefix(a.Body, []byte{8, 3, 18}) {
		t.Errorf("%s % x", a.ContentType, a.Body)
	}
	a = f(push.OTLP, bad("application/grpc"), push.Limits{}, 200, "framing")
	if a.Trailer["grpc-status"] != "3" || a.Trailer["grpc-message"] == "" {
		t.Errorf("%v", a.Trailer)
	}
	for old, say := range map[string]string{
		`"stackIndex":2`: "stack_table", `"mappingIndex":1`: "mapping_table", `"functionIndex":1`: "function_table", `"linkIndex":1`: "link_table",
		`"locationIndices":[1]`: "location_table", `"attributeIndices":[3]`: "attribute_table", `"nameStrindex":5`: "string_table",
	} {
		name, _, _ := strings.Cut(old, ":")
		number := "99"
		if strings.Contains(old, "[") {
			number = "[99]"
		}
		f(push.OTLP, push.Request{ContentType: "application/json", Body: []byte(strings.Replace(otlp, old, name+":"+number, 1))}, push.Limits{}, 400, say)
	}
	// What is not the client's fault is to be sent again.
	a = push.Refused(push.Pusher, push.Request{}, connect.Errorf(connect.Unavailable, "the disk is full"))
	if a.Status != 503 || string(a.Body) != `{"code":"unavailable","message":"the disk is full"}` {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if a := push.Refused(push.Ingest, push.Request{}, errors.New("x")); a.Status != 500 {
		t.Error(a.Status)
	}
}

// TestPaths: every protocol is reached, those of gRPC by their own paths.
func TestPaths(t *testing.T) {
	seen := map[push.Protocol]bool{}
	for path, p := range push.Paths {
		seen[p] = true
		if !strings.HasPrefix(path, "/") || strings.HasSuffix(path, "/") {
			t.Errorf("%q is not a path", path)
		}
	}
	if len(seen) != 4 || push.Paths["/ingest"] != push.Ingest {
		t.Error(seen)
	}
}

func TestAccepted(t *testing.T) {
	f := func(p push.Protocol, contentType, wantType, wantBody string) {
		t.Helper()
		a := push.Accepted(p, push.Request{ContentType: contentType})
		if a.Status != 200 || a.ContentType != wantType || string(a.Body) != wantBody {
			t.Errorf("%d %s %q", a.Status, a.ContentType, a.Body)
		}
	}
	f(push.Ingest, "", "text/plain; charset=utf-8", "")
	f(push.Pusher, "application/proto", "application/proto", "")
	f(push.Pusher, "application/json", "application/json", "{}")
	f(push.OTLP, "application/x-protobuf", "application/x-protobuf", "")
	f(push.Parca, "application/json", "application/json", "{}")
	f(push.OTLP, "application/grpc", "application/grpc+proto", "\x00\x00\x00\x00\x00")
}

// TestLongStacks: samples of some bytes may name a stack of a million frames each.
func TestLongStacks(t *testing.T) {
	const n = 20000
	body := `{"resourceProfiles":[{"scopeProfiles":[{"profiles":[{"sampleType":{},"samples":[{"values":[1]}` + strings.Repeat(`,{"values":[1]}`, n) + `]}]}]}],
		"dictionary":{"stringTable":[""],"locationTable":[{}],"stackTable":[{"locationIndices":[0` + strings.Repeat(",0", n) + `]}]}}`
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := push.Decode(push.OTLP, push.Request{ContentType: "application/json", Body: []byte(body)}, push.Limits{Bytes: 4 << 20})
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "too many frames") {
		t.Error(err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 {
		t.Errorf("%d bytes were used", used)
	}
}

func fuzz(f *testing.F, p push.Protocol, contentTypes ...string) {
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, c := range contentTypes {
			r := push.Request{ContentType: c, Body: data, Query: url.Values{"name": {"a{b=c}"}}}
			all, err := push.Decode(p, r, push.Limits{Bytes: 1 << 20})
			if err != nil {
				push.Refused(p, r, err)
				continue
			}
			for _, one := range all {
				if len(one.Labels) < 2 || len(one.States) != len(one.Profile.SampleTypes) {
					t.Fatalf("%+v", one)
				}
			}
		}
	})
}

func FuzzIngest(f *testing.F) {
	f.Add(pprof(f, "samples/count", "a;b 1"))
	f.Add([]byte("--x\r\nContent-Disposition: form-data; name=\"profile\"\r\n\r\na;b 1\r\n--x--\r\n"))
	fuzz(f, push.Ingest, "", "multipart/form-data; boundary=x")
}

func FuzzPusher(f *testing.F) {
	f.Add([]byte(`{"series":[{"labels":[{"name":"a","value":"b"}],"samples":[{"rawProfile":"YTtiIDEK"}]}]}`))
	fuzz(f, push.Pusher, "application/json", "application/proto", "application/grpc")
}

func FuzzParca(f *testing.F) {
	f.Add([]byte(`{"series":[{"labels":{"labels":[{"name":"a","value":"b"}]},"samples":[{"rawProfile":"YTtiIDEK"}]}]}`))
	fuzz(f, push.Parca, "application/json", "application/proto")
}

func FuzzOTLP(f *testing.F) {
	f.Add([]byte(otlp))
	fuzz(f, push.OTLP, "application/json", "application/x-protobuf")
}
