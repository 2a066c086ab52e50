package loadflags

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"loupe/capture/load"
	"loupe/internal/cli/command"
)

func TestHostPort(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		got, err := HostPort(in)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("hostPort(%q) = %q, %v, want %q", in, got, err, want)
		}
	}
	f("http://localhost:8080/", "localhost:8080")
	f("http://example.com", "example.com:80")
	f("https://example.com/x?y=z", "example.com:443")
	f("http://[::1]:80/", "[::1]:80")
	f("ftp://example.com", "")
	f("http://", "")
	f("http://%zz", "")
}

// loaded parses the flags of load as the command does.
func loaded(t *testing.T, args ...string) (load.Config, error) {
	t.Helper()
	fs := command.NewFlagSet("load")
	fs.SetOutput(io.Discard)
	var f Flags
	f.Declare(fs, HeyRequests)
	if err := fs.Parse(args); err != nil {
		t.Fatal(err)
	}
	return f.Config("localhost:8080/x")
}

func TestLoadConfig(t *testing.T) {
	body := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(body, []byte("from a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := loaded(t, "-n", "7", "-c", "3", "-q", "2.5", "-t", "3s", "-m", "post", "-H", "X-A: 1", "-H", "X-A: 2", "-H", "Host: h",
		"-A", "text/plain", "-T", "application/json", "-U", "me", "-D", body, "-a", "u:p:q", "-x", "proxy:3128", "-h2",
		"-verify", "-disable-compression", "-disable-keepalive", "-disable-redirects")
	if err != nil {
		t.Fatal(err)
	}
	if c.URL != "http://localhost:8080/x" || c.Method != "POST" || c.Requests != 7 || c.Concurrency != 3 || c.Rate != 7.5 ||
		c.Timeout != 3*time.Second || c.Host != "h" || string(c.Body) != "from a file" || c.BasicUser != "u" || c.BasicPassword != "p:q" ||
		c.Proxy.String() != "http://proxy:3128" || !c.HTTP2 || !c.VerifyTLS || !c.NoCompression || !c.NoKeepAlive || !c.NoRedirects {
		t.Errorf("the load is %+v", c)
	}
	if h := c.Header; !slices.Equal(h["X-A"], []string{"1", "2"}) || h.Get("Accept") != "text/plain" ||
		h.Get("Content-Type") != "application/json" || h.Get("User-Agent") != "me" {
		t.Errorf("the header is %v", c.Header)
	}
	if c, err = loaded(t, "-z", "1m30s"); err != nil || c.Duration != 90*time.Second || c.Requests != 0 {
		t.Errorf("-z gives %+v, %v", c, err)
	}
	if c, err = loaded(t, "-H", "User-Agent: mine", "-U", "me"); err != nil || c.Header.Get("User-Agent") != "mine" {
		t.Errorf("-H and -U give %v, %v", c.Header, err)
	}
}

func TestLoadConfigRefuses(t *testing.T) {
	f := func(want string, args ...string) {
		t.Helper()
		if _, err := loaded(t, args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", args, err, want)
		}
	}
	f("-n and -c", "-n", "0")
	f("-n and -c", "-c", "-1")
	f("-q, -cpus and -retry", "-q", "-1")
	f("-t: ", "-t", "soon")
	f("-z: ", "-z", "soon")
	f("want 'Name: value'", "-H", "nonsense")
	f("want user:password", "-a", "nobody")
	f("-D: ", "-D", "no/such/file")
	f("-x: ", "-x", "http://%zz")
}
