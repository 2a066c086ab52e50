package clients_test

import (
	"bytes"
	"context"
	"net/http"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"

	connectgo "connectrpc.com/connect"
	"github.com/grafana/pyroscope-go"
	pushv1 "github.com/grafana/pyroscope/api/gen/proto/go/push/v1"
	"github.com/grafana/pyroscope/api/gen/proto/go/push/v1/pushv1connect"
	typesv1 "github.com/grafana/pyroscope/api/gen/proto/go/types/v1"

	"loupe/format/connect"
	"loupe/format/push"
)

var sink [][]byte

// TestPyroscopeGo runs the profiler that programs have built in, with all it profiles.
func TestPyroscopeGo(t *testing.T) {
	s := newStore(t)
	runtime.SetMutexProfileFraction(1)
	runtime.SetBlockProfileRate(1)
	p, err := pyroscope.Start(pyroscope.Config{
		ApplicationName: "shop.api", ServerAddress: s.URL, Tags: map[string]string{"region": "eu", "pod": "a-1"},
		ProfileTypes: []pyroscope.ProfileType{
			pyroscope.ProfileCPU, pyroscope.ProfileAllocSpace, pyroscope.ProfileInuseSpace, pyroscope.ProfileGoroutines,
			pyroscope.ProfileMutexCount, pyroscope.ProfileBlockCount,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	contend := make(chan int)
	for range 3 {
		go func() {
			for range contend {
			}
		}()
	}
	for i := range 3 {
		for range 100 {
			sink = append(sink[:0], make([]byte, 1<<20))
			contend <- i
		}
		runtime.GC()
		p.Flush(true)
	}
	close(contend)
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, err := range s.refused {
		t.Error(err)
	}
	seen := map[string]push.Pushed{}
	for _, one := range s.pushed {
		l := labels(one)
		seen[l["__name__"]] = one
		if l["service_name"] != "shop.api" || l["region"] != "eu" || l["pod"] != "a-1" || l["pyroscope_spy"] != "gospy" {
			t.Errorf("labels are %v", one.Labels)
		}
		if one.Session == "" || one.Session != s.pushed[0].Session || slices.ContainsFunc(one.Labels[1:], func(l push.Label) bool { return strings.HasPrefix(l.Name, "__") }) {
			t.Errorf("session %q, labels %v", one.Session, one.Labels)
		}
		if one.From.IsZero() || one.Until.Before(one.From) || time.Since(one.Time(time.Time{})) > time.Hour {
			t.Errorf("%s: from %v until %v", l["__name__"], one.From, one.Until)
		}
	}
	for _, kind := range []string{"memory", "goroutines", "block"} {
		if seen[kind].Profile == nil {
			t.Errorf("no profile of the kind %s came, but %d others", kind, len(s.pushed))
		}
	}
	for i, typ := range seen["memory"].Profile.SampleTypes {
		if seen["memory"].States[i] != strings.HasPrefix(typ.Type, "inuse_") {
			t.Errorf("%s: state is %v", typ, seen["memory"].States[i])
		}
	}
	if p := seen["goroutines"]; len(p.States) != 1 || !p.States[0] {
		t.Errorf("goroutines are no state: %v", p.States)
	}
}

// TestPushClient asks with the generated client, in every form that it has.
func TestPushClient(t *testing.T) {
	var heap bytes.Buffer
	runtime.GC()
	if err := pprof.Lookup("heap").WriteTo(&heap, 0); err != nil {
		t.Fatal(err)
	}
	request := func(raw []byte) *connectgo.Request[pushv1.PushRequest] {
		return connectgo.NewRequest(&pushv1.PushRequest{Series: []*pushv1.RawProfileSeries{{
			Labels:  []*typesv1.LabelPair{{Name: "__name__", Value: "memory"}, {Name: "service_name", Value: "x"}},
			Samples: []*pushv1.RawSample{{RawProfile: raw, ID: "one"}},
		}}})
	}
	h2c := &http.Client{Transport: &http.Transport{Protocols: new(http.Protocols)}}
	h2c.Transport.(*http.Transport).Protocols.SetUnencryptedHTTP2(true)
	for name, c := range map[string]struct {
		http *http.Client
		opts []connectgo.ClientOption
	}{
		"proto": {http.DefaultClient, nil},
		"json":  {http.DefaultClient, []connectgo.ClientOption{connectgo.WithProtoJSON()}},
		"gzip":  {http.DefaultClient, []connectgo.ClientOption{connectgo.WithSendGzip()}},
		"grpc":  {h2c, []connectgo.ClientOption{connectgo.WithGRPC(), connectgo.WithSendGzip()}},
	} {
		s := newStore(t)
		client := pushv1connect.NewPusherServiceClient(c.http, s.URL, c.opts...)
		if _, err := client.Push(context.Background(), request(heap.Bytes())); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(s.pushed) != 1 || s.pushed[0].ID != "one" || s.pushed[0].Profile.Len() == 0 || labels(s.pushed[0])["service_name"] != "x" {
			t.Errorf("%s: %+v", name, s.pushed)
		}
		// What is wrong is told such that nobody tries again.
		if _, err := client.Push(context.Background(), request([]byte("nonsense"))); connectgo.CodeOf(err) != connectgo.CodeInvalidArgument || !strings.Contains(err.Error(), "series 0: sample 0") {
			t.Errorf("%s: %v", name, err)
		}
		for code, want := range map[connect.Code]connectgo.Code{
			connect.Unavailable: connectgo.CodeUnavailable, connect.ResourceExhausted: connectgo.CodeResourceExhausted, connect.Internal: connectgo.CodeInternal,
			connect.Unauthenticated: connectgo.CodeUnauthenticated, connect.PermissionDenied: connectgo.CodePermissionDenied,
		} {
			s.fail = connect.Errorf(code, "ümlaut 100%%")
			if _, err := client.Push(context.Background(), request(heap.Bytes())); connectgo.CodeOf(err) != want || !strings.Contains(err.Error(), "ümlaut 100%") {
				t.Errorf("%s: %v, want %v", name, err, want)
			}
		}
	}
}
