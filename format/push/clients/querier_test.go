package clients_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"

	connectgo "connectrpc.com/connect"
	googlev1 "github.com/grafana/pyroscope/api/gen/proto/go/google/v1"
	querierv1 "github.com/grafana/pyroscope/api/gen/proto/go/querier/v1"
	"github.com/grafana/pyroscope/api/gen/proto/go/querier/v1/querierv1connect"
	typesv1 "github.com/grafana/pyroscope/api/gen/proto/go/types/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"loupe/format/connect"
	"loupe/format/profile/message"
	"loupe/format/querier"
	"loupe/value/protobuf"
)

// random fills a message in: every field, or none, or some.
func random(r *rand.Rand, m protoreflect.Message, depth int) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if r.IntN(3) == 0 || depth > 5 || f.IsMap() {
			continue
		}
		if !f.IsList() {
			if f.Message() != nil {
				random(r, m.Mutable(f).Message(), depth+1)
			} else {
				m.Set(f, randomValue(r, f))
			}
			continue
		}
		list := m.Mutable(f).List()
		for range r.IntN(4) {
			if f.Message() != nil {
				random(r, list.AppendMutable().Message(), depth+1)
			} else {
				list.Append(randomValue(r, f))
			}
		}
	}
}

func randomValue(r *rand.Rand, f protoreflect.FieldDescriptor) protoreflect.Value {
	n := int64(r.Uint64() >> r.IntN(64))
	if r.IntN(2) == 0 {
		n = -n
	}
	switch f.Kind() {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString([]string{"", "main", "é\n\"<\\", "日本"}[r.IntN(4)])
	case protoreflect.BytesKind:
		b := make([]byte, r.IntN(5))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return protoreflect.ValueOfBytes(b)
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(r.IntN(2) == 0)
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(r.NormFloat64() * 1e9)
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(int32(n))
	case protoreflect.Uint32Kind:
		return protoreflect.ValueOfUint32(uint32(n))
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(n)
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(uint64(n))
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(r.IntN(f.Enum().Values().Len() + 1))) // the last is of a later version
	}
	panic(fmt.Sprint("BUG: no value of the kind ", f.Kind()))
}

// TestMessages sends random messages through both forms, there and back: the structs of
// loupe lose nothing that the generated ones have.
func TestMessages(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		theirs proto.Message
		ours   any
		lost   []string // fields that loupe has no use for
	}{
		{theirs: &querierv1.ProfileTypesRequest{}, ours: &querier.ProfileTypesRequest{}},
		{theirs: &querierv1.ProfileTypesResponse{}, ours: &querier.ProfileTypesResponse{}},
		{theirs: &typesv1.LabelNamesRequest{}, ours: &querier.LabelNamesRequest{}},
		{theirs: &typesv1.LabelNamesResponse{}, ours: &querier.Names{}},
		{theirs: &typesv1.LabelValuesRequest{}, ours: &querier.LabelValuesRequest{}},
		{theirs: &typesv1.LabelValuesResponse{}, ours: &querier.Names{}},
		{theirs: &querierv1.SeriesRequest{}, ours: &querier.SeriesRequest{}},
		{theirs: &querierv1.SeriesResponse{}, ours: &querier.SeriesResponse{}},
		{theirs: &querierv1.SelectMergeStacktracesRequest{}, ours: &querier.SelectMergeStacktracesRequest{}, lost: []string{"async"}},
		{theirs: &querierv1.SelectMergeStacktracesResponse{}, ours: &querier.SelectMergeStacktracesResponse{}, lost: []string{"async"}},
		{theirs: &querierv1.SelectMergeSpanProfileRequest{}, ours: &querier.SelectMergeSpanProfileRequest{}},
		{theirs: &querierv1.SelectMergeSpanProfileResponse{}, ours: &querier.SelectMergeSpanProfileResponse{}},
		{theirs: &querierv1.SelectMergeProfileRequest{}, ours: &querier.SelectMergeProfileRequest{}},
		{theirs: &googlev1.Profile{}, ours: &message.Profile{}},
		{theirs: &querierv1.SelectSeriesRequest{}, ours: &querier.SelectSeriesRequest{}},
		{theirs: &querierv1.SelectSeriesResponse{}, ours: &querier.SelectSeriesResponse{}, lost: []string{"annotations"}},
		{theirs: &querierv1.SelectHeatmapRequest{}, ours: &querier.SelectHeatmapRequest{}},
		{theirs: &querierv1.SelectHeatmapResponse{}, ours: &querier.SelectHeatmapResponse{}},
		{theirs: &querierv1.DiffRequest{}, ours: &querier.DiffRequest{}, lost: []string{"async"}},
		{theirs: &querierv1.DiffResponse{}, ours: &querier.DiffResponse{}},
		{theirs: &typesv1.GetProfileStatsRequest{}, ours: &querier.GetProfileStatsRequest{}},
		{theirs: &typesv1.GetProfileStatsResponse{}, ours: &querier.GetProfileStatsResponse{}},
	} {
		name := string(c.theirs.ProtoReflect().Descriptor().Name())
		for range 200 {
			want := c.theirs.ProtoReflect().New().Interface()
			random(r, want.ProtoReflect(), 0)
			for _, f := range c.lost {
				drop(want.ProtoReflect(), f)
			}
			for _, form := range []connect.Encoding{connect.Proto, connect.JSON} {
				ours, back := reflect.New(reflect.TypeOf(c.ours).Elem()).Interface(), want.ProtoReflect().New().Interface()
				err := there(form, want, ours, back)
				if err != nil || !proto.Equal(want, back) {
					t.Fatalf("%s: %v\ngot  %v\nwant %v", name, err, back, want)
				}
			}
		}
	}
}

func there(form connect.Encoding, want proto.Message, ours any, back proto.Message) error {
	if form == connect.Proto {
		b, err := proto.Marshal(want)
		if err != nil {
			return err
		}
		if err := protobuf.Unmarshal(b, ours, 1<<20); err != nil {
			return err
		}
		return proto.Unmarshal(protobuf.Marshal(ours), back)
	}
	b, err := protojson.Marshal(want)
	if err != nil {
		return err
	}
	if err := protobuf.UnmarshalJSON(b, ours, 1<<20); err != nil {
		return fmt.Errorf("%s: %w", b, err)
	}
	return protojson.Unmarshal(protobuf.MarshalJSON(ours), back)
}

// drop clears the fields of a name, wherever they lie.
func drop(m protoreflect.Message, name string) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case string(f.Name()) == name:
			m.Clear(f)
		case f.Message() == nil:
		case f.IsList():
			for i := range v.List().Len() {
				drop(v.List().Get(i).Message(), name)
			}
		default:
			drop(v.Message(), name)
		}
		return true
	})
}

// TestQuerierClient asks with the generated client, as Grafana and profilecli do.
func TestQuerierClient(t *testing.T) {
	var asked any
	answers := map[string]any{
		"ProfileTypes":           querier.ProfileTypesResponse{Types: []querier.ProfileType{querier.NewProfileType("process_cpu", "cpu", "nanoseconds", "cpu", "nanoseconds")}},
		"SelectMergeStacktraces": querier.SelectMergeStacktracesResponse{FlameGraph: &querier.FlameGraph{Names: []string{"total"}, Levels: []querier.Level{{Values: []int64{0, 7, 0, 0}}}, Total: 7}},
		"SelectMergeProfile":     message.Profile{StringTable: []string{"", "cpu"}, SampleType: []message.ValueType{{Type: 1}}},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		q, e, err := querier.Decode(r.URL.Path, r.Header.Get("Content-Type"), r.Header.Get("Content-Encoding"), body)
		answer := answers[r.URL.Path[len(querier.Service):]]
		if err == nil && answer == nil {
			err = connect.Errorf(connect.NotFound, "no such service")
		}
		if err != nil {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(connect.As(err).Status())
			w.Write(connect.As(err).Body())
			return
		}
		asked = q
		w.Header().Set("Content-Type", e.ContentType())
		w.Write(connect.Marshal(e, answer))
	}))
	defer server.Close()
	ctx := context.Background()
	for _, opts := range [][]connectgo.ClientOption{nil, {connectgo.WithProtoJSON()}, {connectgo.WithSendGzip()}} {
		client := querierv1connect.NewQuerierServiceClient(http.DefaultClient, server.URL, opts...)
		types, err := client.ProfileTypes(ctx, connectgo.NewRequest(&querierv1.ProfileTypesRequest{Start: 1, End: 2}))
		if err != nil || types.Msg.ProfileTypes[0].ID != "process_cpu:cpu:nanoseconds:cpu:nanoseconds" || !reflect.DeepEqual(asked, &querier.ProfileTypesRequest{Start: 1, End: 2}) {
			t.Errorf("%v, %v, %+v", types, err, asked)
		}
		n := int64(9)
		g, err := client.SelectMergeStacktraces(ctx, connectgo.NewRequest(&querierv1.SelectMergeStacktracesRequest{ProfileTypeID: "t", LabelSelector: "{}", MaxNodes: &n}))
		if err != nil || g.Msg.Flamegraph.Total != 7 || g.Msg.Flamegraph.Levels[0].Values[1] != 7 || *asked.(*querier.SelectMergeStacktracesRequest).MaxNodes != 9 {
			t.Errorf("%v, %v, %+v", g, err, asked)
		}
		p, err := client.SelectMergeProfile(ctx, connectgo.NewRequest(&querierv1.SelectMergeProfileRequest{}))
		if err != nil || p.Msg.StringTable[p.Msg.SampleType[0].Type] != "cpu" {
			t.Errorf("%v, %v", p, err)
		}
		if _, err := client.Diff(ctx, connectgo.NewRequest(&querierv1.DiffRequest{})); connectgo.CodeOf(err) != connectgo.CodeNotFound {
			t.Error(err)
		}
	}
}
