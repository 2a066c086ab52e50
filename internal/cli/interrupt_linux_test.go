package cli

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"loupe/internal/cli/command"
)

// TestInterruptedWhileReading: the first Ctrl-C and the first SIGTERM end a command
// that reads a pipe into which nothing comes. A second one was needed.
func TestInterruptedWhileReading(t *testing.T) {
	for _, line := range []string{
		"stacks PIPE", "stacks -json FILE PIPE", "pprof -top PIPE", "pprof -top -base PIPE FILE", "trace summary PIPE", "trace export PIPE",
		"gc PIPE", "sched PIPE", "compare FILE PIPE", "load -D PIPE http://127.0.0.1:1",
	} {
		for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
			t.Run(line+" "+s.String(), func(t *testing.T) {
				t.Parallel()
				interruptedWhileReading(t, line, s)
			})
		}
	}
}

// TestInterruptedWhileAsking: so it is with a server that does not answer, and with one
// whose answer does not end.
func TestInterruptedWhileAsking(t *testing.T) {
	for _, line := range []string{
		"stacks URL/debug/pprof/goroutine?debug=2", "pprof -top URL/debug/pprof/heap", "load -n 1 -c 1 URL/hang", "load -z 1h URL/hang",
		"attach -quiet -o OUT -phases bare,heap -for 1ms URL", "attach -quiet -o OUT -phases bare -for 1h URL",
	} {
		for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
			t.Run(line+" "+s.String(), func(t *testing.T) {
				t.Parallel()
				interruptedWhileAsking(t, line, s)
			})
		}
	}
}

func interruptedWhileAsking(t *testing.T, line string, s syscall.Signal) {
	asked := make(chan bool, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/debug/pprof/" {
			io.WriteString(w, "goroutine")
			return
		}
		w.Write([]byte("x"))
		w.(http.Flusher).Flush()
		if strings.HasSuffix(r.URL.Path, "vars") && !strings.Contains(line, "1h URL") {
			return
		}
		asked <- true
		<-r.Context().Done()
	}))
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	line = strings.NewReplacer("URL", server.URL, "OUT", filepath.Join(t.TempDir(), "rec")).Replace(line)
	cmd := exec.CommandContext(ctx, "loupe", strings.Fields(line)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-asked:
	case <-ctx.Done():
	}
	if err := cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != command.ExitInterrupted {
		t.Errorf("it ends with %v, want exit code %d", err, command.ExitInterrupted)
	}
}

func interruptedWhileReading(t *testing.T, line string, s syscall.Signal) {
	dir := t.TempDir()
	pipe, file := filepath.Join(dir, "pipe"), filepath.Join(dir, "file")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("main;parse 1\ngoroutine 1 [running]:\nmain.main()\n\t/x.go:1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "loupe", strings.Fields(strings.NewReplacer("PIPE", pipe, "FILE", file).Replace(line))...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// This waits until the command has opened the other side.
	w, err := os.OpenFile(pipe, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != command.ExitInterrupted {
		t.Errorf("it ends with %v, want exit code %d", err, command.ExitInterrupted)
	}
}
