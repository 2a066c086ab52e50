package clients_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	connectgo "connectrpc.com/connect"
	querierv1 "github.com/grafana/pyroscope/api/gen/proto/go/querier/v1"
	"github.com/grafana/pyroscope/api/gen/proto/go/querier/v1/querierv1connect"
	collectorv1 "go.opentelemetry.io/proto/otlp/collector/profiles/v1development"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"loupe/format/profile"
	"loupe/store/intake"
	"loupe/store/storetest"

	lstore "loupe/store"
	"loupe/value/stack"
	"loupe/web/fleet"
)

// listening starts a server of a store as loupe serve has it, and a client of gRPC.
func listening(t *testing.T, opt fleet.Options) (*storetest.Memory, collectorv1.ProfilesServiceClient) {
	engine := storetest.NewMemory()
	s := httptest.NewUnstartedServer(fleet.New(engine, intake.New(engine), opt))
	s.Config.Protocols = fleet.Protocols()
	s.Start()
	t.Cleanup(s.Close)
	c, err := grpc.NewClient(strings.TrimPrefix(s.URL, "http://"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return engine, collectorv1.NewProfilesServiceClient(c)
}

// TestGRPC exports random profiles with grpc-go, as they are and packed, to the server that
// loupe serve is, and finds them in its store.
func TestGRPC(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for i := range 40 {
		engine, client := listening(t, fleet.Options{})
		data, want := randomOTLP(r)
		var opts []grpc.CallOption
		if i%2 == 0 {
			opts = append(opts, grpc.UseCompressor(gzip.Name))
		}
		request := &collectorv1.ExportProfilesServiceRequest{ResourceProfiles: data.ResourceProfiles, Dictionary: data.Dictionary}
		answer, err := client.Export(t.Context(), request, opts...)
		if err != nil || answer.GetPartialSuccess().GetRejectedProfiles() != 0 {
			t.Fatalf("%v, %v", answer, err)
		}
		got := map[string]int64{}
		types, err := engine.Types(t.Context(), lstore.Selection{})
		if err != nil {
			t.Fatal(err)
		}
		for _, typ := range types {
			stacks, err := engine.Stacks(t.Context(), lstore.StacksQuery{Selection: lstore.Selection{Type: typ}, By: []string{lstore.ServiceLabel}})
			if err != nil {
				t.Fatal(err)
			}
			for g, l := range stacks.Groups {
				got[l.Value(lstore.ServiceLabel)] += stacks.Total(g)
			}
		}
		sums := map[string]int64{}
		for key, v := range want {
			service, _, _ := strings.Cut(key, " ")
			sums[service] += v
		}
		for service, v := range sums {
			if v == 0 {
				delete(sums, service)
			}
		}
		for service, v := range got {
			if v == 0 {
				delete(got, service)
			}
		}
		if !reflect.DeepEqual(got, sums) {
			t.Fatalf("got %v, want %v", got, sums)
		}
	}
}

// TestGRPCRefused: what is wrong has a code that the client does not repeat, and what is not
// allowed another.
func TestGRPCRefused(t *testing.T) {
	_, client := listening(t, fleet.Options{})
	data, _ := randomOTLP(rand.New(rand.NewPCG(7, 8)))
	request := &collectorv1.ExportProfilesServiceRequest{ResourceProfiles: data.ResourceProfiles, Dictionary: data.Dictionary}
	request.ResourceProfiles[0].ScopeProfiles[0].Profiles[0].Samples[0].StackIndex = 1000
	if _, err := client.Export(t.Context(), request); status.Code(err) != codes.InvalidArgument || !strings.Contains(status.Convert(err).Message(), "stack") {
		t.Errorf("a stack that is not there: %v", err)
	}
	tokens, err := fleet.ParseTokens(fmt.Sprintf("write ci %s\n", "ef80202ea99d7c668a9677d9242456057ac10488311cb8757674490e194a56e1"))
	if err != nil {
		t.Fatal(err)
	}
	engine, client := listening(t, fleet.Options{Tokens: func() *fleet.Tokens { return tokens }})
	data, _ = randomOTLP(rand.New(rand.NewPCG(7, 8)))
	request = &collectorv1.ExportProfilesServiceRequest{ResourceProfiles: data.ResourceProfiles, Dictionary: data.Dictionary}
	if _, err := client.Export(t.Context(), request); status.Code(err) != codes.Unauthenticated {
		t.Errorf("without a token: %v", err)
	}
	with := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer writer-secret")
	if _, err := client.Export(with, request); err != nil {
		t.Errorf("with one: %v", err)
	}
	if types, err := engine.Types(t.Context(), lstore.Selection{}); err != nil || len(types) == 0 {
		t.Errorf("nothing is there: %v, %v", types, err)
	}
	late, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	if _, err := client.Export(late, request); status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("after the deadline: %v", err)
	}
	// More than the server takes: the client must not repeat it for ever.
	request.Dictionary.StringTable = append(request.Dictionary.StringTable, string(bytes.Repeat([]byte("x"), 65<<20)))
	if _, err := client.Export(with, request); status.Code(err) == codes.OK || status.Code(err) == codes.Unavailable {
		t.Errorf("65 MiB: %v", err)
	}
}

// TestQuestionsByGRPC asks the server that loupe serve is with the generated client of Pyroscope,
// over gRPC: an answer comes in a frame, an error in the trailers.
func TestQuestionsByGRPC(t *testing.T) {
	engine := storetest.NewMemory()
	s := httptest.NewUnstartedServer(fleet.New(engine, intake.New(engine), fleet.Options{}))
	s.Config.Protocols = fleet.Protocols()
	s.Start()
	defer s.Close()
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	client := querierv1connect.NewQuerierServiceClient(&http.Client{Transport: transport}, s.URL, connectgo.WithGRPC())
	typ := lstore.Type{Name: "process_cpu", Sample: "cpu", Unit: "nanoseconds", Period: "cpu", PeriodUnit: "nanoseconds"}
	p := &profile.Profile{Stacks: new(stack.Table), Values: [][]int64{{7}}}
	p.StackIDs = append(p.StackIDs, p.Stacks.Intern([]stack.FrameID{p.Stacks.InternFrame(stack.Frame{Func: "main.work"})}))
	at := time.Now().Truncate(time.Millisecond)
	err := engine.Write(t.Context(), []*lstore.Profile{{Labels: lstore.MakeLabels([]lstore.Label{{Name: lstore.ServiceLabel, Value: "shop"}}), Types: []lstore.Type{typ}, Time: at, Duration: time.Second, Samples: p}})
	if err != nil {
		t.Fatal(err)
	}
	question := &querierv1.SelectMergeStacktracesRequest{ProfileTypeID: typ.String(), LabelSelector: "{}", Start: at.UnixMilli() - 1, End: at.UnixMilli() + 1}
	answer, err := client.SelectMergeStacktraces(t.Context(), connectgo.NewRequest(question))
	if err != nil || answer.Msg.Flamegraph.GetTotal() != 7 {
		t.Errorf("%v, %v", answer, err)
	}
	question.LabelSelector = "{"
	if _, err := client.SelectMergeStacktraces(t.Context(), connectgo.NewRequest(question)); connectgo.CodeOf(err) != connectgo.CodeInvalidArgument {
		t.Errorf("a selector that is no selector: %v", err)
	}
}
