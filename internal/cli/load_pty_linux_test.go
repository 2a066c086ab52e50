package cli

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// openTerminal makes a terminal of 80 columns and 30 rows, and returns what
// reads all that is shown on it once it was closed.
func openTerminal(t *testing.T) (tty *os.File, shown func() string) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	control := func(request uintptr, arg unsafe.Pointer) {
		t.Helper()
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, master.Fd(), request, uintptr(arg)); errno != 0 {
			t.Skip(errno)
		}
	}
	var unlock, number int32
	control(syscall.TIOCSPTLCK, unsafe.Pointer(&unlock))
	control(syscall.TIOCGPTN, unsafe.Pointer(&number))
	size := [4]uint16{30, 80}
	control(syscall.TIOCSWINSZ, unsafe.Pointer(&size))
	tty, err = os.OpenFile(fmt.Sprint("/dev/pts/", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	var text bytes.Buffer
	done := make(chan struct{})
	go func() {
		defer close(done)
		io.Copy(&text, master) // ends when nobody has the other side open
	}()
	return tty, func() string {
		tty.Close()
		<-done
		master.Close()
		return text.String()
	}
}

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
		tty, shown := openTerminal(t)
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
