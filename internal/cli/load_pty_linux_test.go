package cli

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loupe/internal/cli/clitest"
)

// TestLiveTerminal: on a terminal the run is seen while it goes on and gone
// when it is over; not when that is not wanted, nor when the results go into
// another program.
func TestLiveTerminal(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "no", http.StatusServiceUnavailable)
	}))
	t.Cleanup(s.Close)
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "")
	on := func(out *os.File, flags ...string) string {
		t.Helper()
		tty, shown := clitest.OpenTerminal(t)
		defer tty.Close()
		if code := Main(append([]string{"load", "-n", "40", "-c", "2", s.URL}, flags...), os.Stdin, out, tty); code != 0 {
			t.Errorf("%v: exit code %d", flags, code)
		}
		return shown()
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	got := on(file)
	if !strings.Contains(got, "GET "+s.URL) || !strings.Contains(got, "40 of 40 requests") || !strings.Contains(got, "40 × status 503") || !strings.Contains(got, "\x1b[31m") {
		t.Errorf("the terminal shows %q", got)
	}
	if !strings.HasSuffix(got, "A\x1b[J") {
		t.Errorf("something is left of %q", got)
	}
	report, err := os.ReadFile(file.Name())
	if err != nil || !bytes.Contains(report, []byte("Requests/sec:")) || bytes.Contains(report, []byte("\x1b")) {
		t.Errorf("the report is %q, %v", report, err)
	}
	if got := on(file, "-live=false", "-c", "50"); !strings.Contains(got, "40 workers are used") || strings.Contains(got, "requests done") {
		t.Errorf("with -live=false the terminal shows %q", got)
	}
	if got := on(file, "-quiet", "-c", "50"); got != "" {
		t.Errorf("with -quiet the terminal shows %q", got)
	}
	t.Setenv("NO_COLOR", "1")
	if got := on(file); strings.Contains(got, "\x1b[31m") || !strings.Contains(got, "40 × status 503") {
		t.Errorf("without colours the terminal shows %q", got)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, r)
	if got := on(w); got != "" {
		t.Errorf("beside a pipe the terminal shows %q", got)
	}
	w.Close()
	t.Setenv("TERM", "dumb")
	if got := on(file); got != "" {
		t.Errorf("a dumb terminal shows %q", got)
	}
}
