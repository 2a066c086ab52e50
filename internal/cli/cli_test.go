package cli

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"loupe/insight"
	"loupe/load"
)

var update = flag.Bool("update", false, "rewrite the expectations in testdata, and docs/cli.md")

// TestHelpBeginsWithExample checks what a user sees first of every command:
// how it is called.
func TestHelpBeginsWithExample(t *testing.T) {
	for _, c := range commands() {
		var b bytes.Buffer
		c.help(&b)
		lines := strings.Split(b.String(), "\n")
		if !strings.HasPrefix(lines[0], "loupe "+c.name+" ") || !strings.HasSuffix(lines[0], ": "+c.short) {
			t.Errorf("help of %s begins with %q", c.name, lines[0])
		}
		if lines[1] != "" || !strings.Contains(lines[2], "loupe "+c.name) || !strings.HasPrefix(lines[2], "\t") {
			t.Errorf("help of %s does not begin with an example: %q", c.name, lines[2])
		}
		if strings.Contains(b.String(), "cpuprofile") {
			t.Errorf("help of %s lists the flags for loupe itself", c.name)
		}
		for _, line := range lines {
			if n := len([]rune(line)); n > 110 {
				t.Errorf("help of %s has a line of %d columns: %s", c.name, n, line)
			}
		}
	}
}

// TestFlagsSayWhatTheyTake checks that every flag is explained, and that one
// with a value names it.
func TestFlagsSayWhatTheyTake(t *testing.T) {
	for _, c := range commands() {
		c.flagSet().VisitAll(func(f *flag.Flag) {
			name, usage := flag.UnquoteUsage(f)
			boolean, ok := f.Value.(interface{ IsBoolFlag() bool })
			switch {
			case usage == "":
				t.Errorf("%s -%s is not explained", c.name, f.Name)
			case ok && boolean.IsBoolFlag():
			case name == "value" || name == "string" || name == "int" || name == "float" || name == "duration":
				t.Errorf("%s -%s does not name its value", c.name, f.Name)
			}
		})
	}
}

// TestCommandPage checks that docs/cli.md says what the commands say of
// themselves; -update writes it.
func TestCommandPage(t *testing.T) {
	name := filepath.Join("..", "..", "docs", "cli.md")
	want := commandPage()
	if *update {
		if err := os.WriteFile(name, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("docs/cli.md is stale: go test ./internal/cli -run TestCommandPage -update writes it")
	}
}

func commandPage() []byte {
	var b bytes.Buffer
	b.WriteString("# Commands\n\nThis page is what `loupe help COMMAND` prints, written by the test of the command line.\n\n" +
		"| exit code | means |\n|---|---|\n")
	for _, row := range []struct {
		code int
		text string
	}{
		{exitOK, "fine"},
		{exitFailed, "failed"},
		{exitUsage, "wrong usage"},
		{exitFound, "a threshold or finding was hit, or a regression found"},
		{exitNothing, "nothing to show, or the target cannot be reached"},
		{exitInterrupted, "interrupted; the partial result is still written and printed"},
	} {
		fmt.Fprintf(&b, "| %d | %s |\n", row.code, row.text)
	}
	b.WriteString("\nEvery command also takes `-cpuprofile`, `-memprofile` and `-selftrace`, each with a file: a profile or a\n" +
		"trace of loupe itself. Colours are left out when `NO_COLOR` is set or the output is no terminal.\n")
	for _, c := range commands() {
		var text bytes.Buffer
		c.help(&text)
		fmt.Fprintf(&b, "\n## loupe %s\n\n```text\n%s```\n", c.name, text.String())
	}
	return b.Bytes()
}

// TestCompletionParses lets each shell that is installed read its script.
func TestCompletionParses(t *testing.T) {
	dir := t.TempDir()
	for shell, check := range map[string][]string{
		"bash": {"bash", "-n"}, "zsh": {"zsh", "-n"}, "fish": {"fish", "--no-execute"},
		"pwsh": {"pwsh", "-NoProfile", "-File"},
	} {
		name := filepath.Join(dir, "loupe."+strings.Replace(shell, "pwsh", "ps1", 1))
		f, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		e := &env{stdout: f, stderr: io.Discard, ctx: t.Context()}
		code := find("completion").main(e, []string{shell})
		if err := f.Close(); code != exitOK || err != nil {
			t.Fatalf("completion %s: exit code %d, %v", shell, code, err)
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range commands() {
			if !bytes.Contains(text, []byte(c.name)) {
				t.Errorf("completion %s does not know %s", shell, c.name)
			}
		}
		if _, err := exec.LookPath(check[0]); err != nil {
			continue // the text was checked; no shell is here to parse it
		}
		if out, err := exec.Command(check[0], append(check[1:], name)...).CombinedOutput(); err != nil {
			t.Errorf("%s cannot read its completion: %v\n%s", shell, err, out)
		}
	}
}

// TestCompletionBash asks the script as bash does.
func TestCompletionBash(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is not installed")
	}
	var script bytes.Buffer
	completeBash(&script)
	f := func(want string, words ...string) {
		t.Helper()
		asked := fmt.Sprintf("%s\nCOMP_WORDS=(%s); COMP_CWORD=%d; _loupe; echo ${COMPREPLY[@]}", script.String(), strings.Join(words, " "), len(words)-1)
		out, err := exec.Command("bash", "-c", asked).CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%q completes to %q, want %q (%v)", words, got, want, err)
		}
	}
	f("report", "loupe", "rep")
	f("run report rules", "loupe", "r")
	f("-save", "loupe", "load", "-sa")
	f("compare completion", "loupe", "help", "com")
}

func TestSuggestion(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := suggestion(in); got != want {
			t.Errorf("suggestion(%q) = %q, want %q", in, got, want)
		}
	}
	f("raport", `, did you mean "report"?`)
	f("rn", `, did you mean "run"?`)
	f("comapre", `, did you mean "compare"?`)
	f("rnu", `, did you mean "run"?`)
	f("wtach", `, did you mean "watch"?`)
	f("mcp", " (loupe help lists them)")
	f("frobnicate", " (loupe help lists them)")
	f("", " (loupe help lists them)")
}

func TestDistance(t *testing.T) {
	f := func(a, b string, want int) {
		t.Helper()
		if got := distance(a, b); got != want || distance(b, a) != want {
			t.Errorf("distance(%q, %q) = %d, want %d", a, b, got, want)
		}
	}
	f("", "", 0)
	f("gc", "", 2)
	f("gc", "gc", 0)
	f("kitten", "sitting", 3)
	f("flaw", "lawn", 2)
}

func TestSplitFlags(t *testing.T) {
	f := func(in string, want ...string) {
		t.Helper()
		if got := splitFlags(in); !slices.Equal(got, want) {
			t.Errorf("splitFlags(%q) = %q, want %q", in, got, want)
		}
	}
	f("")
	f("  \t ")
	f("-race", "-race")
	f("-tags foo -race", "-tags", "foo", "-race")
	f("-ldflags='-s -w' -x", "-ldflags=-s -w", "-x")
	f(`-ldflags "-X main.v=it's"`, "-ldflags", "-X main.v=it's")
	f("''", "")
	f("a'b c", "ab c")
}

func TestTestFlags(t *testing.T) {
	f := func(in string, want string) {
		t.Helper()
		if got := strings.Join(testFlags(strings.Fields(in)), " "); got != want {
			t.Errorf("testFlags(%q) = %q, want %q", in, got, want)
		}
	}
	f("", "")
	f("-run TestBig", "-test.run TestBig")
	f("--run=TestBig -v", "-test.run=TestBig -test.v")
	f("-test.run X", "-test.run X")
	f("-v -args -v in.txt", "-test.v -v in.txt")
	f("-v --args -v", "-test.v -v")
}

func TestPlace(t *testing.T) {
	t.Chdir(t.TempDir())
	f := func(out, wantDir, wantZip string) {
		t.Helper()
		if dir, zip := place(out, "x"); dir != wantDir || zip != wantZip {
			t.Errorf("place(%q) = %q, %q, want %q, %q", out, dir, zip, wantDir, wantZip)
		}
	}
	f("rec", "rec", "")
	f("a/rec", "a/rec", "")
	f("a/rec.zip", "a/rec.recording", "a/rec.zip")
	first, _ := place("", "./cmd/server")
	if !strings.HasPrefix(first, "loupe-cmd-server-20") {
		t.Errorf("place names a recording %q", first)
	}
}

// TestFreeDir checks that recordings of the same second get different places.
func TestFreeDir(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, want := range []string{"rec", "rec-2", "rec-3"} {
		if got := freeDir("rec"); got != want {
			t.Errorf("freeDir = %q, want %q", got, want)
		}
	}
}

func TestCheckPlace(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"full/x", "empty", "z.zip", "y.recording/x"} {
		os.MkdirAll(name, 0o700)
	}
	f := func(out string, want bool) {
		t.Helper()
		if err := checkPlace(out); (err == nil) != want {
			t.Errorf("checkPlace(%q) = %v", out, err)
		}
	}
	f("", true)
	f("new", true)
	f("new.zip", true)
	f("empty", true)
	f("full", false)
	f("z.zip", false)
	f("y.zip", false)
}

func TestSafeName(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := safeName(in); got != want {
			t.Errorf("safeName(%q) = %q, want %q", in, got, want)
		}
	}
	f("server", "server")
	f("slow, GOGC=off", "slow-GOGC-off")
	f("attach http://localhost:6060/debug", "attach-http-localhost-6060-debug")
	f("../..", "recording")
	f("", "recording")
	f("größe", "gr-e")
	f(strings.Repeat("x", 100), strings.Repeat("x", 60))
}

func TestTargetName(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "server")
	os.MkdirAll(filepath.Join(dir, "sub"), 0o700)
	t.Chdir(dir)
	f := func(in, want string) {
		t.Helper()
		if got := targetName(in); got != want {
			t.Errorf("targetName(%q) = %q, want %q", in, got, want)
		}
	}
	f("./cmd/server", "server")
	f("cmd/server/", "server")
	f("main.go", "main")
	f("example.com/x/tool", "tool")
	f(".", "server")
	f("sub/..", "server")
}

func TestHostPort(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		got, err := hostPort(in)
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
	fs := &flagSet{FlagSet: flag.NewFlagSet("load", flag.ContinueOnError), quiet: map[string]bool{}}
	fs.SetOutput(io.Discard)
	var f loadFlags
	f.declare(fs, heyRequests)
	if err := fs.Parse(args); err != nil {
		t.Fatal(err)
	}
	return f.config("localhost:8080/x")
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

// TestMessage checks what is printed of errors: each once, and nothing of
// what a Ctrl-C leaves behind.
func TestMessage(t *testing.T) {
	f := func(err error, want string) {
		t.Helper()
		if got := message(err); got != want {
			t.Errorf("message(%q) = %q, want %q", err, got, want)
		}
	}
	a, b := errors.New("a"), errors.New("b")
	f(a, "a")
	f(errors.Join(a, b, errors.Join(a, nil)), "a\nb")
	f(fmt.Errorf("x: %w: %w", a, b), "x: a: b")
	f(fmt.Errorf("x: %w", errors.Join(a, a)), "x: a\na")
	f(context.Canceled, "")
	f(errors.Join(a, fmt.Errorf("cannot fetch: %w", context.Canceled)), "a")
	f(&os.PathError{Op: "write", Path: "f", Err: syscall.ENOSPC},
		"cannot write f: no space left on device\nthe disk is full; what was recorded before is kept (make room, or choose another place with -o)")
	f(&os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}, "cannot write /dev/stdout: no space left on device")
	f(&os.PathError{Op: "open", Path: "x\x1b[31m\u202ey", Err: os.ErrPermission}, "cannot open x[31my: permission denied")
}

// TestFitDemo: what is planned fits as long as anything can, and it is all of it on a
// quiet machine.
func TestFitDemo(t *testing.T) {
	full := fullDemo(10000)
	if p := fitDemo(10000, 2, requestTime, demoBudget-15*time.Second); p != full || p.less(full, requestTime) != "" {
		t.Errorf("a quiet machine gets %+v", p)
	}
	before := full
	for slow := time.Duration(1); slow <= 64; slow++ {
		request, left := slow*requestTime, demoBudget-15*time.Second
		p := fitDemo(10000, 2, request, left)
		if p.time(2, request) > left && p.n > 500 {
			t.Errorf("%d times slower: %+v takes %v of %v", slow, p, p.time(2, request), left)
		}
		if p.rounds < 4 || p.n < 500 || p.n*p.rounds > before.n*before.rounds {
			t.Errorf("%d times slower: %+v after %+v", slow, p, before)
		}
		if p != full && !strings.Contains(p.less(full, request), "to be done in two minutes") {
			t.Errorf("%d times slower: nothing is said", slow)
		}
		before = p
	}
}

// TestPulse: something is shown in every second, with what goes on, and nothing stays.
func TestPulse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var shown bytes.Buffer
		p := startPulse(&shown, func() int { return 60 })
		p.do("building")
		p.expect(time.Minute)
		for i := range 30 {
			before := shown.Len()
			time.Sleep(time.Second)
			synctest.Wait()
			if shown.Len() == before {
				t.Fatalf("nothing in second %d", i)
			}
		}
		if !strings.HasSuffix(shown.String(), "\r\x1b[K30 s of about 60 s  building, for 30 s") {
			t.Errorf("the last line is %q", shown.String()[max(0, shown.Len()-60):])
		}
		p.note("a line\n")
		p.stop()
		if !strings.Contains(shown.String(), "\r\x1b[Ka line\n30 s") || !strings.HasSuffix(shown.String(), "\r\x1b[K") {
			t.Errorf("at the end there is %q", shown.String()[max(0, shown.Len()-80):])
		}
	})
}

func TestListLine(t *testing.T) {
	findings := []insight.Finding{
		{Rule: "GC01", State: insight.Found, Evidence: []insight.Evidence{{Function: "main.gc"}}},
		{Rule: "AL09", State: insight.Found, Evidence: []insight.Evidence{{}, {Function: "example.com/m/search.(*Feed).find", Path: "allocs.pb.gz"}}},
	}
	if got := listLine(findings[:1], "d"); got != "" {
		t.Errorf("without AL09: %q", got)
	}
	got := listLine(findings, "d")
	words := splitFlags(got)
	if len(words) < 4 || words[len(words)-1] != filepath.Join("d", "allocs.pb.gz") {
		t.Fatalf("with AL09: %q", got)
	}
	if re, err := regexp.Compile(words[3]); err != nil || !re.MatchString(findings[1].Evidence[1].Function) {
		t.Errorf("%q does not match the function (%v)", words[3], err)
	}
}
