package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/value/stack"
)

// TestSetLimits: what the literals set that make the requests: limits that are enough are not to be raised, and what else may close connections is named.
func TestSetLimits(t *testing.T) {
	const limit = " Set the Transport's MaxIdleConnsPerHost " + perHostDefault + " to at least the number of concurrent requests to one host."
	const peer = "look at the headers of the peer's answers"
	for _, c := range []struct {
		name, makes string
		says        string
		not         string
	}{
		{"enough", "var c = &http.Client{Transport: &http.Transport{MaxIdleConns: 100, MaxIdleConnsPerHost: 64}}", "By the source, the body is read to its end there. The source sets MaxIdleConnsPerHost to 64 (a.go:5), and 3.0 requests were under way at once on average: that limit is no reason for new connections. So " + peer, "Set the Transport's"},
		{"enough, by a constant", "var c = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: many}}; const many = 32", "sets MaxIdleConnsPerHost to 32", "Set the Transport's"},
		{"enough, set later", "var c = newClient(); func newClient() *http.Client { tr := &http.Transport{}; tr.MaxIdleConnsPerHost = 64; return &http.Client{Transport: tr} }", "sets MaxIdleConnsPerHost to 64", "Set the Transport's"},
		{"enough, and few in all", "var c = &http.Client{Transport: &http.Transport{MaxIdleConns: 4, MaxIdleConnsPerHost: 64}}", "Set the Transport's", "no reason"},
		{"too few", "var c = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4}}", "Set the Transport's MaxIdleConnsPerHost (4 at a.go:5) to at least the number of concurrent requests to one host. Nearly each answer cost a connection: if that is large enough already, " + peer, "no reason"},
		{"unset", "var c = &http.Client{Transport: &http.Transport{}}", "Set the Transport's MaxIdleConnsPerHost " + perHostDefault + " to at least the number of concurrent requests to one host. Nearly each answer cost a connection: if that does not help, " + peer, "no reason"},
		{"of another one", "var c = &http.Client{}; var other = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}", "The source sets MaxIdleConnsPerHost to 64 at a.go:5: if that is in use here, and large enough, " + peer, "no reason"},

		{"a switch", "var c = &http.Client{Transport: &http.Transport{DisableKeepAlives: !keep, MaxIdleConnsPerHost: 64}}; var keep = true", "Look first at DisableKeepAlives, which the source sets to !keep (a.go:5): if keep is false, each request opens a connection", "Set the Transport's"},
		{"a condition", "var c = &http.Client{Transport: &http.Transport{DisableKeepAlives: mode != `0`}}; var mode = ``", "DisableKeepAlives, which the source sets to mode != `0` (a.go:5): if that is true", ""},
		{"a switch that is known", "var c = &http.Client{Transport: &http.Transport{DisableKeepAlives: false, MaxIdleConnsPerHost: 64}}", "no reason", "DisableKeepAlives"},
		{"a time without a unit", "var c = &http.Client{Transport: &http.Transport{IdleConnTimeout: 90, MaxIdleConnsPerHost: 64}}", "The source closes a connection that was idle for 90.0 ns (IdleConnTimeout at a.go:5), and the requests are 10.0 ms apart on average: set it to much more than the pauses between them (90 * time.Second is usual); 90 without a unit is in nanoseconds. Otherwise: by the source", "Set the Transport's"},
		{"a short time", "var c = &http.Client{Transport: &http.Transport{IdleConnTimeout: 5 * time.Millisecond}}", "idle for 5.00 ms", "without a unit"},
		{"a time that is long enough", "var c = &http.Client{Transport: &http.Transport{IdleConnTimeout: 90 * time.Second}}", "Set the Transport's", "IdleConnTimeout"},
		{"no limit in time", "var c = &http.Client{Transport: &http.Transport{IdleConnTimeout: 0}}", "Set the Transport's", "IdleConnTimeout"},
	} {
		code := codeOf("package main\n\nimport \"net/http\"\n\n" + c.makes + "\n\nfunc get() {\n\tc.Get(`u`)\n}\n")
		frames := []stack.Frame{{Func: "net/http.(*Client).Get", File: "client.go", Line: 1}, {Func: "main.get", File: "a.go", Line: 8}}
		l := limitsOf(code, frames, func(f stack.Frame) bool { return f.File == "a.go" })
		l.inFlight, l.apart = 3, 10*time.Millisecond
		f := Finding{Advice: readThere + limit}
		l.tell(&f, code, 1)
		if !strings.Contains(f.Advice, c.says) || c.not != "" && strings.Contains(f.Advice, c.not) {
			t.Errorf("%s: %s", c.name, f.Advice)
		}
	}
	// Bodies may be the reason, and few connections for each answer are no sign of the peer.
	l := setLimits{known: true}
	for _, c := range []struct {
		advice string
		share  float64
	}{{"Read each response to its end." + limit, 1}, {readThere + limit, 0.6}} {
		f := Finding{Advice: c.advice}
		if l.tell(&f, codeOf("package main\n"), c.share); f.Advice != c.advice {
			t.Errorf("%s", f.Advice)
		}
	}
}
