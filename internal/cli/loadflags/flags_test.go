package loadflags

import (
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"loupe/capture/load"
	"loupe/internal/cli/command"
)

// loadOf parses a command line of load, URLs last.
func loadOf(t *testing.T, urls []string, args ...string) (load.Config, error) {
	t.Helper()
	fs := command.NewFlagSet("load")
	fs.SetOutput(io.Discard)
	var f Flags
	f.Declare(fs, HeyRequests)
	if err := fs.Parse(args); err != nil {
		t.Fatal(err)
	}
	f.Stdin = strings.NewReader("GET http://stdin/1\n\nPOST http://stdin/2\n")
	return f.Config(urls...)
}

// TestLoadBounds checks what ends a load.
func TestLoadBounds(t *testing.T) {
	f := func(requests int, length time.Duration, rate float64, args ...string) {
		t.Helper()
		c, err := loadOf(t, []string{"http://h/"}, args...)
		if err != nil || c.Requests != requests || c.Duration != length || c.Rate != rate {
			t.Errorf("%q gives %d requests, %v, rate %v, %v; want %d, %v, %v", args, c.Requests, c.Duration, c.Rate, err, requests, length, rate)
		}
	}
	f(200, 0, 0)
	f(0, time.Minute, 0, "-z", "1m", "-n", "7")
	f(200, 0, 250, "-q", "5")
	f(0, 10*time.Second, 5000, "-rate", "5k/s")
	f(7, 0, 5000, "-rate", "5k/s", "-n", "7")
	f(0, 2*time.Second, 5, "-rate", "300/m", "-z", "2s")
	f(0, 2*time.Minute, 5000, "-stages", "30s:1k,1m:5k,30s:0")
	f(9, 0, 5000, "-stages", "30s:1k,1m:5k,30s:0", "-n", "9")
	f(0, time.Minute, 5000, "-stages", "30s:1k,1m:5k,30s:0", "-z", "1m")
	f(0, 2*time.Minute, 5000, "-stages", "30s:1k,1m:5k,30s:0", "-z", "1h")
}

// TestEndless checks what becomes of bounds when a phase says how long it is.
func TestEndless(t *testing.T) {
	f := func(model string, args ...string) {
		t.Helper()
		c, err := loadOf(t, []string{"http://h/"}, args...)
		if err == nil {
			err = Endless(&c)
		}
		got := ""
		if c.Plan != nil {
			got = c.Plan.String()
		}
		if err != nil || c.Requests != 0 || c.Duration != 0 || got != model {
			t.Errorf("%q goes on with %d requests, %v, %q, %v; want %q", args, c.Requests, c.Duration, got, err, model)
		}
	}
	f("")
	f("", "-z", "1m")
	f("5,000/s", "-rate", "5k/s", "-z", "1m")
	f("0 to 10.0/s, 10s, again every 10.1s", "-stages", "10s:10")
}

func TestLoadSends(t *testing.T) {
	f := func(want string, urls []string, args ...string) {
		t.Helper()
		c, err := loadOf(t, urls, args...)
		var got []string
		for _, to := range c.Targets {
			text := to.Method + " " + to.URL
			for _, h := range to.Header {
				text += " | " + h.Name + ": " + h.Value
			}
			got = append(got, strings.ReplaceAll(text+" | "+to.Body, "loupe/"+command.Version(), "loupe"))
		}
		if err != nil || strings.Join(got, "\n") != want {
			t.Errorf("%q %q sends\n%s (%v), want\n%s", args, urls, strings.Join(got, "\n"), err, want)
		}
	}
	one := []string{"h"}
	f("", one, "-m", "POST", "-d", "a")
	f("GET h/{{seq}} | Content-Type: text/html | ", []string{"h/{{seq}}"})
	f("POST h | X-A: {{seq}} | X-A: 2 | Content-Type: a/b | User-Agent: me loupe | x", one, "-m", "post", "-H", "X-A: {{seq}}", "-H", "X-A: 2", "-T", "a/b", "-U", "me", "-d", "x")
	f("GET http://a/ | Content-Type: text/html | \nGET b | Content-Type: text/html | \nGET c | Content-Type: text/html | ", []string{"3:http://a/", "b"}, "-url", "2:c")
	f(`GET h | Content-Type: text/html | {{"{{"}}seq}}`, one, "-literal", "-d", "{{seq}}")
	f("GET h | Cookie: a=b | Content-Type: text/html | Authorization: Bearer x | ", one, "-cookie", "a=b", "-bearer", "x")
	f("GET http://stdin/1 | \nPOST http://stdin/2 | ", nil, "-targets", "-")
	f("GET http://stdin/1 | Content-Type: a/b | \nPOST http://stdin/2 | Content-Type: a/b | ", nil, "-targets", "-", "-T", "a/b")
	f("PUT http://c/ | Accept: x | X-B: 1 | ", nil, "-curl", "curl -X PUT -H 'Accept: x' http://c/", "-H", "X-B: 1", "-A", "y")
}

func TestLoadCurl(t *testing.T) {
	c, err := loadOf(t, nil, "-curl", "curl -k --http2 -m 3 -x p:1 https://c/")
	if err != nil || c.VerifyTLS || !c.HTTP2 || c.Timeout != 3*time.Second || c.Proxy.Host != "p:1" || !c.NoRedirects || !c.NoCompression {
		t.Errorf("a curl command: %+v, %v", c, err)
	}
	c, err = loadOf(t, nil, "-t", "9s", "-curl", "curl -L --compressed -m 3 --unix-socket s http://c/")
	if err != nil || !c.VerifyTLS || c.Timeout != 9*time.Second || c.NoRedirects || c.NoCompression || c.Unix != "s" || c.URL != "http://c/" {
		t.Errorf("a curl command: %+v, %v", c, err)
	}
}

// TestBinaryBody checks that braces in a body that is no text are no template.
func TestBinaryBody(t *testing.T) {
	name := filepath.Join(t.TempDir(), "picture")
	if err := os.WriteFile(name, []byte("\xff{{\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := loadOf(t, []string{"h"}, "-D", name)
	if err != nil || len(c.Targets) != 1 || c.Targets[0].Body != "\xff{{\"{{\"}}\x00" {
		t.Errorf("a picture: %+v, %v", c, err)
	}
}

// TestStdinTwice checks that a load that is made again has what standard input
// held.
func TestStdinTwice(t *testing.T) {
	f := Flags{N: 1, C: 1, Timeout: "1s", Stdin: strings.NewReader("GET http://stdin/1\nGET http://stdin/2\n")}
	f.what.file = "-"
	for range 2 {
		if c, err := f.Config(); err != nil || len(c.Targets) != 2 {
			t.Errorf("standard input: %+v, %v", c.Targets, err)
		}
	}
}

func TestConnectTo(t *testing.T) {
	f := func(url, want string, rules ...string) {
		t.Helper()
		var args []string
		for _, r := range rules {
			args = append(args, "-connect-to", r)
		}
		c, err := loadOf(t, []string{url}, args...)
		got := ""
		for _, from := range slices.Sorted(maps.Keys(c.ConnectTo)) {
			got += from + ">" + c.ConnectTo[from]
		}
		if err != nil || got != want {
			t.Errorf("%s %q connects %q, %v; want %q", url, rules, got, err, want)
		}
	}
	f("http://a/", "a:80>b:81", "a:80:b:81")
	f("http://a/", "", "c:80:b:81", "a:443:b:81")
	f("https://a/{{seq}}", "a:443>b:443", "::b:")
	f("http://a:8080/", "a:8080>a:81", ":::81")
	f("http://A/", "A:80>b:81", "a:80:b:81", "::c:1")
	f("http://[::1]/", "[::1]:80>[fe80::1]:82", "[::1]:80:[fe80::1]:82")
	for _, bad := range []string{"", "a", "a:1:b", "a:1:b:2:3", "[::1:1:b:2"} {
		if c, err := loadOf(t, []string{"http://a/"}, "-connect-to", bad); err == nil {
			t.Errorf("-connect-to %q gives %v", bad, c.ConnectTo)
		}
	}
}

func TestLoadFlagErrors(t *testing.T) {
	f := func(want string, urls []string, args ...string) {
		t.Helper()
		if c, err := loadOf(t, urls, args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q %q: %+v, %v; want an error with %q", args, urls, c, err, want)
		}
	}
	one := []string{"http://h/"}
	f("the URL is missing", nil)
	f("there is at most one URL", []string{"a", "b"}, "-targets", "x")
	f("weight 0 is not between", []string{"0:http://h/"})
	f("-x: cannot use proxy", one, "-x", "socks5://p:1")
	f("-feed: open nowhere", []string{"h/{{seq}}"}, "-feed", "nowhere")
	f("-literal sends bodies unchanged", one, "-d", "{{nothing}}")
	f("-max-conns cannot be negative", one, "-max-conns", "-1")
	f("-think: ", one, "-think", "long")
	f("-cookie: ", one, "-cookie", filepath.Join("no", "file"))
}
