package report

import (
	"strings"
	"testing"
	"time"

	"loupe/format/loadlog"
)

// TestWaterfall has a request on a new connection, redirected to one that
// reuses it, and one that failed.
func TestWaterfall(t *testing.T) {
	ms := time.Millisecond
	trace := &loadlog.ClientTrace{Schema: loadlog.TraceSchema, Exchanges: []loadlog.Exchange{{
		Method: "GET", URL: "https://example.com/a?b=1", Protocol: "HTTP/1.1", Status: 302, Location: "/b", Total: 10 * ms, Header: 4,
		Local: "10.0.0.1:4000", Remote: "10.0.0.2:443", TLS: &loadlog.TLS{Version: "TLS 1.3", Cipher: "TLS_AES_128_GCM_SHA256", Subject: "example.com", Issuer: "CA", Expires: time.Unix(1.8e9, 0)},
		Phases: []loadlog.Phase{
			{Name: "dns", Start: 0, End: 2 * ms, Detail: "example.com → 10.0.0.2"},
			{Name: "connect", Start: 2 * ms, End: 4 * ms},
			{Name: "tls", Start: 4 * ms, End: 8 * ms},
			{Name: "write", Start: 8 * ms, End: 8*ms + 10*time.Microsecond},
			{Name: "wait", Start: 8*ms + 10*time.Microsecond, End: 10 * ms},
			{Name: "read", Start: 10 * ms, End: 10 * ms},
		},
	}, {
		Method: "GET", URL: "https://example.com/b", Hop: 1, Protocol: "HTTP/1.1", Status: 200, Bytes: 1300, Total: 3 * ms, Reused: true, Idle: ms,
		Local: "10.0.0.1:4000", Remote: "10.0.0.2:443", Informational: []int{103},
		Phases: []loadlog.Phase{{Name: "wait", Start: 0, End: 3 * ms}},
	}, {
		Method: "GET", URL: "http://\x1b[31mbad/", Total: ms, Error: "lookup bad: no such host",
		Phases: []loadlog.Phase{{Name: "dns", Start: 0, End: ms, Error: "no such host"}},
	}}}
	var b strings.Builder
	if err := WriteClientTrace(&b, trace, Style{Width: 80}); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	for _, want := range []string{
		"GET https://example.com/a?b=1\n  302 HTTP/1.1, 0 B of body, 4 header lines, 10.0 ms, redirects to /b\n",
		"  on a new connection: 10.0.0.1:4000 → 10.0.0.2:443\n",
		"certificate of example.com by CA, until\n  2027-01-15",
		"  DNS lookup              2.00 ms │█████████\n    example.com → 10.0.0.2\n",
		"  request out             10.0 µs │", "▏\n",
		"↳ GET https://example.com/b\n", "idle for 1.00 ms", ", 103 before\n",
		"  lookup bad: no such host\n", "    failed: no such host\n",
		"reused\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %q in\n%s", want, got)
		}
	}
	safe(t, "waterfall", got)
	for line := range strings.Lines(got) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 120 {
			t.Errorf("a line of %d characters: %s", n, line)
		}
	}
}
