package clients_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/http"
	"reflect"
	"strings"
	"testing"

	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	profilesv1 "go.opentelemetry.io/proto/otlp/profiles/v1development"
	resourcev1 "go.opentelemetry.io/proto/otlp/resource/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"loupe/format/push"
)

func text(s string) *commonv1.AnyValue {
	return &commonv1.AnyValue{Value: &commonv1.AnyValue_StringValue{StringValue: s}}
}

// randomOTLP makes a request, and says by stack what is in it: by service, and whether a
// sample is of a span.
func randomOTLP(r *rand.Rand) (*profilesv1.ProfilesData, map[string]int64) {
	dict := &profilesv1.ProfilesDictionary{
		StringTable:  []string{"", "samples", "count", "service.name", "cpu", "nanoseconds"},
		LinkTable:    []*profilesv1.Link{{TraceId: make([]byte, 16), SpanId: make([]byte, 8)}, {TraceId: bytes.Repeat([]byte{7}, 16), SpanId: bytes.Repeat([]byte{9}, 8)}},
		MappingTable: []*profilesv1.Mapping{{}}, FunctionTable: []*profilesv1.Function{{}}, LocationTable: []*profilesv1.Location{{}}, StackTable: []*profilesv1.Stack{{}},
		AttributeTable: []*profilesv1.KeyValueAndUnit{{}, {KeyStrindex: 3, Value: text("db")}},
	}
	for i := range 5 {
		dict.StringTable = append(dict.StringTable, fmt.Sprintf("main.f%d", i))
		dict.FunctionTable = append(dict.FunctionTable, &profilesv1.Function{NameStrindex: int32(len(dict.StringTable) - 1), StartLine: int64(i)})
		dict.LocationTable = append(dict.LocationTable, &profilesv1.Location{Address: uint64(i + 1), Lines: []*profilesv1.Line{{FunctionIndex: int32(i + 1), Line: int64(i)}}})
	}
	var stacks []string
	for range 6 {
		s := &profilesv1.Stack{}
		names := []string{}
		for range 1 + r.IntN(4) {
			l := 1 + r.IntN(5)
			s.LocationIndices = append(s.LocationIndices, int32(l))
			names = append([]string{fmt.Sprintf("main.f%d", l-1)}, names...)
		}
		dict.StackTable = append(dict.StackTable, s)
		stacks = append(stacks, strings.Join(names, ";"))
	}
	want := map[string]int64{}
	p := &profilesv1.Profile{
		SampleType: &profilesv1.ValueType{TypeStrindex: 1, UnitStrindex: 2}, TimeUnixNano: 1_700_000_000_000_000_000, DurationNano: 10_000_000_000,
		ProfileId: []byte{1, 2},
	}
	for range r.IntN(20) + 1 {
		k := r.IntN(len(stacks))
		s := &profilesv1.Sample{StackIndex: int32(k + 1)}
		key := "shop "
		if r.IntN(2) == 0 {
			s.AttributeIndices = []int32{1}
			key = "db "
		}
		if r.IntN(2) == 0 {
			s.LinkIndex = 1
			key += "span "
		}
		var total int64
		for range r.IntN(3) {
			v := r.Int64N(1000)
			s.Values = append(s.Values, v)
			total += v
		}
		for range 1 + r.IntN(2) {
			s.TimestampsUnixNano = append(s.TimestampsUnixNano, r.Uint64())
		}
		if len(s.Values) == 0 {
			total = int64(len(s.TimestampsUnixNano))
		}
		want[key+stacks[k]] += total
		p.Samples = append(p.Samples, s)
	}
	return &profilesv1.ProfilesData{Dictionary: dict, ResourceProfiles: []*profilesv1.ResourceProfiles{{
		Resource:      &resourcev1.Resource{Attributes: []*commonv1.KeyValue{{Key: "service.name", Value: text("shop")}}},
		ScopeProfiles: []*profilesv1.ScopeProfiles{{Profiles: []*profilesv1.Profile{p}}},
	}}}, want
}

// TestOTLP sends random profiles as the module of OpenTelemetry writes them.
func TestOTLP(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		data, want := randomOTLP(r)
		raw, err := proto.Marshal(data)
		if err != nil {
			t.Fatal(err)
		}
		asJSON, err := protojson.Marshal(data)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range data.Dictionary.LinkTable { // OTLP's JSON has ids in hexadecimal
			for _, b := range [][]byte{id.TraceId, id.SpanId} {
				asJSON = bytes.ReplaceAll(asJSON, quoted(base64.StdEncoding.EncodeToString(b)), quoted(strings.ToUpper(hex.EncodeToString(b))))
			}
		}
		for form, body := range map[string][]byte{"application/x-protobuf": raw, "application/json": asJSON} {
			s := newStore(t)
			var packed bytes.Buffer
			z := gzip.NewWriter(&packed)
			z.Write(body)
			z.Close()
			q, err := http.NewRequest("POST", s.URL+"/v1development/profiles", &packed)
			if err != nil {
				t.Fatal(err)
			}
			q.Header.Set("Content-Type", form)
			q.Header.Set("Content-Encoding", "gzip")
			answer, err := http.DefaultClient.Do(q)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			if answer.StatusCode != 200 || answer.Header.Get("Content-Type") != form || len(s.refused) > 0 {
				t.Fatalf("%s: %s, %v", form, answer.Status, s.refused)
			}
			if got := summed(s.pushed); !reflect.DeepEqual(got, want) {
				t.Fatalf("%s: got  %v\nwant %v", form, got, want)
			}
			s.Close()
		}
	}
}

// summed is what is in profiles, by service, span and stack.
func summed(all []push.Pushed) map[string]int64 {
	got := map[string]int64{}
	for _, one := range all {
		p := one.Profile
		for row, id := range p.StackIDs {
			key := labels(one)["service_name"] + " "
			for _, l := range p.Labels(p.SetOf(row)) {
				if l.Key == "span_id" && l.Str == "0909090909090909" {
					key += "span "
				}
			}
			var names []string
			for _, f := range p.Stacks.Frames(id) {
				names = append([]string{p.Stacks.Frame(f).Func}, names...)
			}
			got[key+strings.Join(names, ";")] += p.Values[0][row]
		}
	}
	return got
}

func quoted(s string) []byte { return []byte(`"` + s + `"`) }
