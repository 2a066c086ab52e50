//go:build unix

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"loupe/analysis/explain"
	"loupe/format/dump"
	"loupe/format/symbol"
)

// build makes the program as a user would.
func build(t *testing.T, flags ...string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "stacktrace.exe")
	if out, err := exec.Command("go", append(append([]string{"build", "-o", name}, flags...), ".")...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return name
}

// explained says of a function what its words are: the first goroutine that is
// in it.
func explained(t *testing.T, binary string, text []byte, function string) string {
	t.Helper()
	file, err := os.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	bin, err := symbol.Open(file, symbol.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := dump.Parse(text)
	x := explain.New(f, explain.Options{Binary: bin})
	if x.Fit().Wrong() > 0 {
		t.Errorf("the binary does not fit: %+v", x.Fit())
	}
	for g := range f.Len() {
		frames, err := x.Goroutine(g)
		if err != nil {
			t.Fatal(err)
		}
		for _, frame := range frames {
			if frame.Call.Func != function {
				continue
			}
			var parts []string
			for _, p := range frame.Params {
				value, _, _ := strings.Cut(p.Text, ", at 0x")
				parts = append(parts, fmt.Sprintf("%s %s %s (%s)", p.Name, p.Type, value, p.State))
			}
			return strings.Join(parts, "; ")
		}
	}
	t.Fatalf("there is no %s in\n%s", function, text)
	return ""
}

// TestWords reads what the program leaves behind, as the documents do by hand.
func TestWords(t *testing.T) {
	for _, flags := range [][]string{nil, {"-gcflags=-N -l"}, {"-buildmode=pie"}} {
		binary := build(t, flags...)
		f := func(mode, function, want string) {
			t.Helper()
			cmd := exec.Command(binary, "-mode", mode)
			// A program that can be anywhere has to say where it is.
			cmd.Env = append(os.Environ(), "GOTRACEBACK=system")
			out, err := cmd.CombinedOutput()
			if err == nil {
				t.Fatal("it has not failed")
			}
			if got := explained(t, binary, out, function); got != want {
				t.Errorf("%v %s: %s, want %s", flags, mode, got, want)
			}
		}
		f("words", "main.example", `slice []string len 2, cap 4 (live); str string "hello" (live); i int 10 (live)`)
		f("packed", "main.packed", `b1 bool true (live); b2 bool false (live); b3 bool true (live); i uint8 25 (live)`)
	}
}

// TestServer sends the server a signal while requests are on their way, again
// where none was held at that moment.
func TestServer(t *testing.T) {
	binary := build(t)
	for range 10 {
		text := signalled(t, binary)
		if !bytes.Contains(text, []byte("main.wait(")) {
			continue
		}
		const want = "d time.Duration 20ms (live); slow bool true (live)"
		if got := explained(t, binary, text, "main.wait"); !strings.HasSuffix(got, want) {
			t.Errorf("wait: %s, want %s at the end", got, want)
		}
		return
	}
	t.Error("ten times no request was held when the signal came")
}

// signalled returns the dump of a server under load.
func signalled(t *testing.T, binary string) []byte {
	t.Helper()
	cmd := exec.Command(binary, "-mode", "server", "-addr", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), "GOTRACEBACK=all")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	r := bufio.NewReader(stderr)
	line, err := r.ReadString('\n')
	_, url, ok := strings.Cut(strings.TrimSpace(line), "listening on ")
	if err != nil || !ok {
		t.Fatalf("it says %q, %v", line, err)
	}
	var group sync.WaitGroup
	var once sync.Once
	for range 8 {
		group.Go(func() {
			for n := 0; ; n++ {
				resp, err := http.Post(url, "application/json", http.NoBody)
				if err != nil {
					return // it has ended
				}
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				if n == 20 {
					once.Do(func() { cmd.Process.Signal(syscall.SIGQUIT) })
				}
			}
		})
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	group.Wait()
	if !bytes.Contains(text, []byte("SIGQUIT: quit")) {
		t.Fatalf("there is no dump in %s", text)
	}
	return text
}

// TestAnswer: a request is answered, also one that is held.
func TestAnswer(t *testing.T) {
	if _, ok := modes["none"]; ok {
		t.Error("there is a form that nobody knows")
	}
	for range 4 {
		w := new(recorder)
		r, _ := http.NewRequest(http.MethodPost, "http://localhost/sendjson", nil)
		sendJSON(w, r)
		if got := w.String(); got != `{"name":"gopher","email":"gopher@example.com"}`+"\n" {
			t.Errorf("the answer is %q", got)
		}
	}
}

type recorder struct {
	bytes.Buffer
	header http.Header
}

func (r *recorder) Header() http.Header {
	if r.header == nil {
		r.header = http.Header{}
	}
	return r.header
}
func (r *recorder) WriteHeader(int) {}
