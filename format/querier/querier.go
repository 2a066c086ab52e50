// Package querier speaks Pyroscope's querier.v1, which Grafana's data source for
// profiles, Profiles Drilldown and profilecli ask: it reads their questions, writes the
// answers, and has the forms that profiles take in them: the levels of a flame graph
// ([Tree.FlameGraph]), those of a difference ([Diff]), series and heat maps ([Range]).
//
// It knows no store and does no HTTP: who answers fills in the messages. The wire is that
// of https://github.com/grafana/pyroscope/tree/main/api; docs/formats/querier.md says
// what the numbers mean.
package querier

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/klauspost/compress/gzip"

	"loupe/format/connect"
	"loupe/format/profile"
	"loupe/format/profile/message"
	"loupe/value/protobuf"
)

// Service is the begin of the paths of all calls.
const Service = "/querier.v1.QuerierService/"

// calls make the question of each call, by its name.
var calls = map[string]func() any{
	"ProfileTypes":           func() any { return new(ProfileTypesRequest) },
	"LabelNames":             func() any { return new(LabelNamesRequest) },
	"LabelValues":            func() any { return new(LabelValuesRequest) },
	"Series":                 func() any { return new(SeriesRequest) },
	"SelectSeries":           func() any { return new(SelectSeriesRequest) },
	"SelectMergeStacktraces": func() any { return new(SelectMergeStacktracesRequest) },
	"SelectMergeSpanProfile": func() any { return new(SelectMergeSpanProfileRequest) },
	"SelectMergeProfile":     func() any { return new(SelectMergeProfileRequest) },
	"SelectHeatmap":          func() any { return new(SelectHeatmapRequest) },
	"Diff":                   func() any { return new(DiffRequest) },
	"GetProfileStats":        func() any { return new(GetProfileStatsRequest) },
}

// maxQuestion is the most bytes of a question, unpacked.
const maxQuestion = 1 << 20

// Decode reads the question of a call: the path of the URL, the headers Content-Type and
// Content-Encoding (of gRPC Grpc-Encoding) and the body. It returns a pointer to one of
// the …Request types. Every error is a [connect.Error].
func Decode(path, contentType, contentEncoding string, body []byte) (any, connect.Encoding, error) {
	name := strings.TrimPrefix(path, Service)
	newQuestion := calls[name]
	for begin, all := range own {
		if call, ok := strings.CutPrefix(path, begin); ok {
			newQuestion = all[call]
		}
	}
	e, err := connect.EncodingOf(contentType)
	if err != nil {
		return nil, e, err
	}
	if newQuestion == nil {
		return nil, e, connect.Errorf(connect.Unimplemented, "there is no call %q", name)
	}
	if e == connect.GRPC {
		body, err = connect.Unframe(body, contentEncoding, maxQuestion)
	} else {
		body, err = connect.Unpack(body, contentEncoding, maxQuestion)
	}
	if err != nil {
		return nil, e, err
	}
	q := newQuestion()
	return q, e, connect.Unmarshal(body, e, q, 8*maxQuestion)
}

// Pprof makes the answer to SelectMergeProfile of a profile: profile.proto as a message.
func Pprof(p *profile.Profile) (*message.Profile, error) {
	var packed bytes.Buffer
	if err := p.Encode(&packed); err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(&packed)
	if err != nil {
		return nil, fmt.Errorf("BUG: an encoded profile is not packed: %w", err)
	}
	raw, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("BUG: an encoded profile is cut: %w", err)
	}
	m := new(message.Profile)
	return m, protobuf.Unmarshal(raw, m, 64*int64(len(raw))+4096)
}

// Path is the path of the URL at which a question is asked; empty for what is none. It is
// the other way of [Decode].
func Path(question any) string {
	for begin, all := range map[string]map[string]func() any{Service: calls, PinService: pinCalls, FunctionService: functionCalls} {
		for name, newQuestion := range all {
			if reflect.TypeOf(newQuestion()) == reflect.TypeOf(question) {
				return begin + name
			}
		}
	}
	return ""
}
