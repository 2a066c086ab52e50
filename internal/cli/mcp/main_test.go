package mcp_test

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"loupe/internal/cli"
	"loupe/internal/long"
)

var update = flag.Bool("update", false, "write the answers in docs/mcp.md")

// TestMain makes this test binary loupe where it is started as such.
func TestMain(m *testing.M) {
	if os.Getenv("LOUPE_TEST_IS_LOUPE") != "" {
		os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	flag.Parse()
	os.Exit(m.Run())
}

// loupe is the command that runs loupe in a process of its own.
func loupe(t *testing.T, args ...string) *exec.Cmd {
	c := exec.CommandContext(t.Context(), os.Args[0], args...)
	c.Env = append(os.Environ(), "LOUPE_TEST_IS_LOUPE=1")
	c.Stderr = os.Stderr
	return c
}

// start runs a server until the test ends, and returns the address that it prints.
func start(t *testing.T, args ...string) string {
	t.Helper()
	c := loupe(t, args...)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Process.Signal(os.Interrupt)
		c.Wait()
	})
	address := regexp.MustCompile(`http://127\.0\.0\.1:\d+\S*`)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if a := address.FindString(lines.Text()); a != "" {
			go io.Copy(io.Discard, out)
			return strings.TrimRight(a, ",.")
		}
	}
	t.Fatalf("loupe %s has printed no address", strings.Join(args, " "))
	return ""
}

// TestProcess: loupe mcp in a process of its own, over its standard input and output, ends when
// the client leaves.
func TestProcess(t *testing.T) {
	c := dial(t, &sdk.CommandTransport{Command: loupe(t, "mcp")})
	if r := c.page("diagnose", map[string]any{"path": root(t) + "/labs/rules/testdata/SC01.slow.zip"}); r.value("causes", "id", "SC01", "severity") != "info" {
		t.Error(r.text)
	}
	if err := c.session.Close(); err != nil {
		t.Error(err)
	}
}

// TestBuilt is the same with the program as users have it.
func TestBuilt(t *testing.T) {
	long.Only(t, "it builds the program")
	program := filepath.Join(t.TempDir(), "loupe")
	if out, err := exec.Command("go", "build", "-o", program, "loupe/cmd/loupe").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	c := dial(t, &sdk.CommandTransport{Command: exec.CommandContext(t.Context(), program, "mcp")})
	if r := c.page("explain", map[string]any{"id": "AL08"}); r.failed || !strings.Contains(r.Says, "AL08") {
		t.Error(r.text)
	}
	if err := c.session.Close(); err != nil {
		t.Error(err)
	}
}

// TestGarbage: what is no message does not end the server with a panic, and what comes after it
// is answered or the connection is closed.
func TestGarbage(t *testing.T) {
	for _, input := range []string{"garbage\n", "{}\n", "[]\n", `{"jsonrpc":"2.0","id":1,"method":"nothing"}` + "\n", strings.Repeat("x", 2<<20) + "\n", strings.Repeat("[", 100_000) + "\n", "\x00\xff\n", ""} {
		c := loupe(t, "mcp")
		var out, said bytes.Buffer
		c.Stdin, c.Stdout, c.Stderr = strings.NewReader(input), &out, &said
		c.Run()
		if strings.Contains(said.String(), "panic") || strings.Contains(said.String(), "goroutine ") {
			t.Errorf("%.20q: %s", input, said.String())
		}
	}
}

// TestLinks: answers link to the pages where loupe open has the file open, and name the command
// otherwise.
func TestLinks(t *testing.T) {
	rec := filepath.FromSlash(root(t) + "/labs/rules/testdata/SC01.slow.zip")
	pages := start(t, "open", "-browser", "no", rec)
	c := connect(t, "-pages", pages)
	r := c.page("diagnose", map[string]any{"path": rec})
	if !strings.HasPrefix(r.Page, strings.SplitN(pages, "#", 2)[0]) || !strings.HasSuffix(r.Page, "/overview") || !strings.HasPrefix(r.Open, "loupe open ") {
		t.Errorf("%q and %q", r.Page, r.Open)
	}
	if r := c.page("diagnose", map[string]any{"path": root(t) + "/labs/rules/testdata/SC08.slow.zip"}); r.Page != "" {
		t.Errorf("%q is not open", r.Page)
	}
}

// store is a server with forty minutes of profiles of a shop, of which version v2 takes more.
func store(t *testing.T) (address string) {
	t.Helper()
	at := start(t, "serve", "-listen", "127.0.0.1:0", "-data", t.TempDir())
	counts := map[string][3]int{"v1": {600, 300, 700}, "v2": {900, 300, 700}}
	const half = 40
	begin := time.Now().Add(-(2*half + 1) * 30 * time.Second)
	for i := range 2 * half {
		version := "v1"
		if i >= half {
			version = "v2"
		}
		var body bytes.Buffer
		for f, n := range counts[version] {
			fmt.Fprintf(&body, "main.main;main.f%d %d\n", f, n+i*(2*f+5)%7)
		}
		from := begin.Add(time.Duration(i) * 30 * time.Second).Unix()
		q := url.Values{"name": {"shop{version=" + version + "}"}, "format": {"folded"}, "from": {fmt.Sprint(from)}, "until": {fmt.Sprint(from + 10)}}
		resp, err := http.Post(at+"/ingest?"+q.Encode(), "application/octet-stream", &body)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Fatal(resp.Status)
		}
	}
	return strings.TrimPrefix(at, "http://")
}

// TestFleet asks a store which version takes more, and where.
func TestFleet(t *testing.T) {
	c := connect(t, "-to", store(t))
	if r := c.all("fleet_services", nil); r.failed || !strings.Contains(r.text, "shop") {
		t.Error(r.text)
	}
	if r := c.all("fleet_regressions", map[string]any{"service": "shop"}); r.value("more", "function", "main.f0", "share before") == "" || r.value("release", "what", "new", "value") != "v2" || r.value("more", "function", "main.f1", "share before") != "" {
		t.Error(r.text)
	}
	if r := c.all("fleet_top", map[string]any{"service": "shop"}); r.value("functions", "function", "main.f0", "flat share") == "" {
		t.Error(r.text)
	}
	if r := c.all("fleet_diff", map[string]any{"before": `{version="v1"}`, "after": `{version="v2"}`}); r.value("rows", "name", "main.f0", "flat_verdict") == "" {
		t.Error(r.text)
	}
	if r := c.all("fleet_findings", map[string]any{"service": "shop"}); r.failed {
		t.Error(r.text)
	}
	if r := c.page("fleet_top", map[string]any{"service": "nobody"}); !r.failed {
		t.Error(r.text)
	}
}
