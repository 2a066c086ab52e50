package push_test

import (
	"net/url"
	"testing"

	"loupe/format/profile/profiletest"
	"loupe/format/push"
	"loupe/value/protobuf"
)

// BenchmarkDecode reads one packed profile of 2,000 samples by each way that carries
// pprof.
func BenchmarkDecode(b *testing.B) {
	raw := profiletest.Gzip(profiletest.Synthetic(2000, 1000))
	series := protobuf.AppendField(nil, 2, protobuf.AppendField(nil, 1, raw))
	for name, r := range map[string]struct {
		p push.Protocol
		r push.Request
	}{
		"ingest": {push.Ingest, push.Request{Query: url.Values{"name": {"shop"}, "format": {"pprof"}}, Body: raw}},
		"pusher": {push.Pusher, push.Request{ContentType: "application/proto", Body: protobuf.AppendField(nil, 1, series)}},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if all, err := push.Decode(r.p, r.r, push.Limits{}); err != nil || len(all) != 1 {
					b.Fatal(len(all), err)
				}
			}
		})
	}
}
