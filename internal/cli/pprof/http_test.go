package pprof

import (
	"bytes"
	"flag"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/pprof/driver"

	"loupe/analysis/pprof"
	"loupe/format/profile"
	"loupe/format/profile/profiletest"
	"loupe/internal/cli/clitest"
	"loupe/internal/cli/command"
)

// scripted is a small profile with a name that would like to be a script.
const scripted = `
		main.main                  main.main        main.main
		main.<script>alert</script>  main.write     main.read
		= 3                        1                2`

// pagesOf serves a profile's addresses as pprof -http does.
func pagesOf(t *testing.T, picture string) (*pprofPages, string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "cpu.pb.gz")
	if err := os.WriteFile(name, profiletest.Profile(picture), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := profile.Decode(profiletest.Profile(picture), profile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { null.Close() })
	e := &command.Env{Ctx: t.Context(), Stderr: null}
	s := newSession(e, &pprofFlags{config: pprof.Defaults(), http: "localhost:8080"})
	s.p = p
	return &pprofPages{s: s}, name
}

// ask gets an address, "" for what is none of pprof's.
func (h *pprofPages) ask(t *testing.T, method, name, accept string) *httptest.ResponseRecorder {
	t.Helper()
	path, _, _ := strings.Cut(name, "?")
	r := httptest.NewRequest(method, "/secret/"+name, nil)
	r.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	if !h.serve(w, r, path) {
		return nil
	}
	return w
}

// TestAddresses: what an address of go tool pprof's pages says is what our report says
// with the same options as flags, which is held against the real one elsewhere.
func TestAddresses(t *testing.T) {
	h, name := pagesOf(t, scripted)
	f := func(address string, flags ...string) {
		t.Helper()
		var out bytes.Buffer
		e := &command.Env{Ctx: t.Context(), Stdout: &out, Stderr: &bytes.Buffer{}}
		if code := Command.Main(e, append(flags, name)); code != command.ExitOK {
			t.Fatalf("%v: exit code %d", flags, code)
		}
		w := h.ask(t, "GET", address, "*/*")
		if w == nil || w.Code != http.StatusOK || !bytes.Equal(w.Body.Bytes(), out.Bytes()) {
			t.Errorf("%s:\n%v\nwant\n%s", address, w, out.String())
		}
	}
	f("top", "-top", "-nodecount", "500")
	f("ui/top?f=write", "-top", "-nodecount", "500", "-focus", "write")
	f("top?i=write&n=1", "-top", "-nodecount", "1", "-ignore", "write")
	f("top?h=write&g=lines&sort=cum", "-top", "-nodecount", "500", "-hide", "write", "-lines", "-cum")
	f("top?s=main&sf=main&rel=true", "-top", "-nodecount", "500", "-show", "main", "-show_from", "main", "-relative_percentages")
	f("top?si=0&trim=false&unit=ms", "-top", "-nodecount", "500", "-sample_index", "0", "-trim=false", "-unit", "ms")
	f("tree?tf=x&calltree=true", "-tree", "-tagfocus", "x", "-call_tree")
	f("peek?f=write", "-peek", "write", "-focus", "write", "-lines")
	f("ui/peek", "-peek", ".", "-lines")
	f("traces?f=read", "-traces", "-focus", "read")
	f("top?focus=write", "-top", "-nodecount", "500", "-focus", "write")
}

// TestAddressesOfPprof: every page of the real one is known, by the pages that it
// registers itself.
func TestAddressesOfPprof(t *testing.T) {
	h, name := pagesOf(t, scripted)
	var theirs map[string]http.Handler
	err := driver.PProf(&driver.Options{
		Flagset: &flagsOfDriver{flag.NewFlagSet("pprof", flag.ContinueOnError), []string{"-http=localhost:0", "-no_browser", name}}, UI: quietUI{},
		HTTPServer: func(a *driver.HTTPServerArgs) error { theirs = a.Handlers; return nil },
	})
	if err != nil || len(theirs) < 8 {
		t.Fatalf("%d pages: %v", len(theirs), err)
	}
	for path := range theirs {
		name := strings.TrimPrefix(path, "/")
		if name == "" {
			continue // the first page
		}
		if h.ask(t, "GET", name+"?f=main&config=x", "text/html") == nil || h.ask(t, "GET", "ui/"+name+"?f=main&config=x", "text/html") == nil {
			t.Errorf("%s is not a page of ours", path)
		}
	}
}

// TestAddressesWithoutFunction: an address that names no function is about all of them,
// as the real one answers.
func TestAddressesWithoutFunction(t *testing.T) {
	h, name := pagesOf(t, scripted)
	var theirs map[string]http.Handler
	err := driver.PProf(&driver.Options{
		Flagset: &flagsOfDriver{flag.NewFlagSet("pprof", flag.ContinueOnError), []string{"-http=localhost:0", "-no_browser", name}}, UI: quietUI{},
		HTTPServer: func(a *driver.HTTPServerArgs) error { theirs = a.Handlers; return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{"/peek", "/source", "/disasm", "/peek?f=write", "/disasm?f=write", "/source?f=nothing_has_this_name"} {
		path, _, _ := strings.Cut(address, "?")
		r, want := httptest.NewRequest("GET", address, nil), httptest.NewRecorder()
		theirs[path].ServeHTTP(want, r)
		got := h.ask(t, "GET", "ui"+address, "*/*")
		if got.Code != want.Code {
			t.Errorf("%s: %d %s, and the real one %d", address, got.Code, got.Body.String(), want.Code)
		}
		if path != "/peek" {
			continue
		}
		// Both list the same functions; the real one has them in a page.
		for line := range strings.Lines(got.Body.String()) {
			if line = html.EscapeString(strings.TrimSpace(line)); strings.Contains(line, "%  ") && !strings.HasPrefix(line, "flat") && !strings.Contains(want.Body.String(), line) {
				t.Errorf("%s: the real one has no line %q", address, line)
			}
		}
	}
}

// TestAddressesInBrowser: a browser sees the profile where loupe shows it, with the
// options of the address, unless the pages do not know one of them.
func TestAddressesInBrowser(t *testing.T) {
	h, _ := pagesOf(t, scripted)
	f := func(address, want string) {
		t.Helper()
		w := h.ask(t, "GET", address, "text/html,*/*")
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != want {
			t.Errorf("%s: %d to %s, want %s", address, w.Code, w.Header().Get("Location"), want)
		}
	}
	f("flamegraph", "/secret/#/1/profile")
	f("ui/flamegraph?f=a%2Bb&i=c", "/secret/#/1/profile?focus=a%2Bb&ignore=c")
	f("top?si=samples&h=x&noinlines=true", "/secret/#/1/profile?hide=x&inlines=0&noinlines=true&tab=top&type=samples")
	f("graph?sf=main", "/secret/#/1/profile?show_from=main&tab=graph")
	f("ui/?f=x", "/secret/#/1/profile?focus=x&tab=graph")
	if w := h.ask(t, "GET", "top?n=1", "text/html"); w.Code != http.StatusOK || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	h.s.flags.config.Ignore = "given"
	f("flamegraph?f=x", "/secret/#/1/profile?focus=x&ignore=given")
}

// TestAddressesRefuse: what does not fit, what is missing, and what would change
// something by a link.
func TestAddressesRefuse(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", clitest.ConfigDir(t))
	h, _ := pagesOf(t, scripted)
	f := func(want int, method, address string) {
		t.Helper()
		if w := h.ask(t, method, address, "*/*"); w == nil || w.Code != want {
			t.Errorf("%s %s: %v, want %d", method, address, w, want)
		}
	}
	f(http.StatusBadRequest, "GET", "top?f=(")
	f(http.StatusBadRequest, "GET", "peek?f=nothing_has_this_name")
	f(http.StatusBadRequest, "GET", "top?g=furlongs")
	f(http.StatusMethodNotAllowed, "POST", "top")
	f(http.StatusOK, "GET", "download")
	f(http.StatusBadRequest, "GET", "saveconfig")
	f(http.StatusOK, "GET", "saveconfig?config=mine&f=x") // asks
	f(http.StatusBadRequest, "POST", "deleteconfig?config=mine")
	f(http.StatusOK, "POST", "saveconfig?config=mine&f=x")
	f(http.StatusOK, "POST", "deleteconfig?config=mine")
	if w := h.ask(t, "GET", "nowhere", "*/*"); w != nil {
		t.Errorf("%v", w)
	}
	if w := h.ask(t, "GET", "saveconfig?config="+url.QueryEscape("<script>alert"), "*/*"); strings.Contains(w.Body.String(), "<script>") {
		t.Error("a name is a script")
	}
	for _, name := range []string{"source?f=script", "graph?f=script"} {
		if w := h.ask(t, "GET", name, "image/*"); w.Code != http.StatusOK || strings.Contains(w.Body.String(), "<script>alert") {
			t.Errorf("%s: %d, or the name of a function is a script", name, w.Code)
		}
	}
}

// TestAddressesTogether asks for several at a time.
func TestAddressesTogether(t *testing.T) {
	h, _ := pagesOf(t, scripted)
	var wait sync.WaitGroup
	for range 2 {
		for _, p := range pprofAddresses {
			wait.Go(func() { h.ask(t, "GET", p.names[0]+"?f=main", "*/*") })
		}
	}
	wait.Wait()
}

// flagsOfDriver gives go tool pprof its arguments, quietUI keeps what it says.
type flagsOfDriver struct {
	*flag.FlagSet
	args []string
}

func (f *flagsOfDriver) ExtraUsage() string                   { return "" }
func (f *flagsOfDriver) AddExtraUsage(string)                 {}
func (f *flagsOfDriver) StringList(o, d, c string) *[]*string { return &[]*string{} }
func (f *flagsOfDriver) Parse(func()) []string {
	if err := f.FlagSet.Parse(f.args); err != nil {
		panic(err)
	}
	return f.FlagSet.Args()
}

type quietUI struct{}

func (quietUI) ReadLine(string) (string, error)     { return "", os.ErrClosed }
func (quietUI) Print(...any)                        {}
func (quietUI) PrintErr(...any)                     {}
func (quietUI) IsTerminal() bool                    { return false }
func (quietUI) WantBrowser() bool                   { return false }
func (quietUI) SetAutoComplete(func(string) string) {}
