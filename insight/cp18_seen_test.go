package insight

import (
	"fmt"
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestItemsSeen: whether the items of a loop are the same again is not in the source; the run that counts calls knows it. Of a load that asks for few
// things, or a handler that goes through what comes with its request, that says little.
func TestItemsSeen(t *testing.T) {
	const (
		source = "package main\n\nimport (\n\t\"crypto/tls\"\n\t\"net/http\"\n)\n\nfunc load(chain [][]byte) {\n\tfor _, der := range chain {\n\t\tc, err := tls.X509KeyPair(der, der) // A\n\t\tuse(c, err)\n\t}\n}\n\nfunc reload(w http.ResponseWriter, r *http.Request) {\n\tload(secrets.all()) // B\n}\n"
		ways   = "net/http.(*conn).serve net/http.HandlerFunc.ServeHTTP main.reload@B main.load@A crypto/tls.X509KeyPair crypto/x509.ParseCertificate"
		served = "package main\n\nimport (\n\t\"crypto/tls\"\n\t\"net/http\"\n)\n\nfunc handle(w http.ResponseWriter, r *http.Request) {\n\tfor _, der := range chainOf(r) {\n\t\tc, err := tls.X509KeyPair(der, der) // A\n\t\tuse(c, err)\n\t}\n}\n"
		serve  = "net/http.(*conn).serve net/http.HandlerFunc.ServeHTTP main.handle@A crypto/tls.X509KeyPair crypto/x509.ParseCertificate"
	)
	for _, c := range []struct {
		name, source, frames string
		loaded               bool
		calls, distinct      int
		traits               string
		says                 string
		severity             Severity
	}{
		{"the same again", source, ways, false, 50_000, 20, "", "saw 50,000 calls with 20 different arguments", Warning},
		{"under a load", source, ways, true, 50_000, 20, "", "saw 50,000 calls with 20 different arguments", Warning},
		{"under a load that asks for few things", source, ways, true, 50_000, 2, "", "saw 50,000 calls with 2 different arguments", Info},
		{"what comes with a request", served, serve, true, 50_000, 20, "", "saw 50,000 calls with 20 different arguments", Info},
		{"others each time", source, ways, false, 50_000, 30_000, "", "", Info},
		{"not compared as a whole", source, ways, false, 50_000, 20, `,"partial":true`, "", Info},
		{"the results differ", source, ways, false, 50_000, 20, `,"differ":3`, "", Info},
	} {
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(c.source))
		withProfile(r, recording.CPU, "cpu", column{stackAt(c.source, c.frames), []int64{80}}, column{"net/http.(*conn).serve main.other:/src/other.go:3", []int64{20}})
		r.Put(recording.Entry{Path: "repeats.json", Kind: recording.Repeats}, fmt.Appendf(nil, `{"schema":"loupe.repeats/1","loaded":%v,"ns":4000000000,"functions":[{"name":"tls.X509KeyPair","caller":"main.load","file":"/src/main.go","line":%d,"calls":%d,"time_ns":900000000,"everywhere":{"calls":%d,"time_ns":900000000,"distinct":%d,"again":%d,"again_ns":800000000%s}}],"within":[]}`,
			c.loaded, lineOfMark(c.source, "A"), c.calls, c.calls, c.distinct, c.calls-c.distinct, c.traits))
		f := answers(t, r, "CP18")[0]
		if f.State != Found || f.Severity != c.severity || !strings.Contains(f.Summary, c.says) || strings.Contains(f.Summary, "different arguments") != (c.says != "") {
			t.Errorf("%s: %s %s: %s → %s", c.name, f.State, f.Severity, f.Summary, f.Advice)
		}
	}
}
