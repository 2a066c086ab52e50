package inject

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// ask sends one request to a served pipe and returns the whole answer.
func ask(t *testing.T, request string, hangUpAfter time.Duration) (first string, data []byte) {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "a"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		if c, err := l.Accept(); err == nil {
			loupeServe(c)
		}
	}()
	c, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	io.WriteString(c, request+"\n")
	if hangUpAfter > 0 {
		time.AfterFunc(hangUpAfter, func() { c.(*net.UnixConn).CloseWrite() })
	}
	r := bufio.NewReader(c)
	first, _ = r.ReadString('\n')
	data, err = io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(first), data
}

func TestProfiles(t *testing.T) {
	for _, request := range []string{"cpu 50", "block 10", "mutex 10", "profile heap", "profile allocs", "profile goroutine", "profile threadcreate"} {
		if first, data := ask(t, request, 0); first != "ok" || !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
			t.Errorf("%s answered %q and %d bytes", request, first, len(data))
		}
	}
	if first, data := ask(t, "trace 50", 0); first != "ok" || !bytes.HasPrefix(data, []byte("go 1.")) {
		t.Errorf("trace answered %q and %d bytes", first, len(data))
	}
}

func TestHangUp(t *testing.T) {
	if first, data := ask(t, "cpu 3600000", 50*time.Millisecond); first != "ok" || len(data) == 0 {
		t.Errorf("an interrupted profile answered %q and %d bytes", first, len(data))
	}
	if first, data := ask(t, "trace 3600000", 50*time.Millisecond); first != "ok" || len(data) == 0 {
		t.Errorf("an interrupted trace answered %q and %d bytes", first, len(data))
	}
}

func TestMetrics(t *testing.T) {
	first, data := ask(t, "metrics 10", 100*time.Millisecond)
	if first != "ok" {
		t.Fatalf("metrics answered %q", first)
	}
	lines := bytes.Split(bytes.TrimSpace(data), []byte("\n"))
	if len(lines) < 2 {
		t.Fatalf("got %d samples", len(lines))
	}
	for _, line := range lines {
		var sample map[string]float64
		if err := json.Unmarshal(line, &sample); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		if sample["t_ns"] == 0 || sample["/gc/heap/goal:bytes"] == 0 || sample["/sched/goroutines:goroutines"] == 0 {
			t.Errorf("the sample lacks something: %s", line)
		}
	}
}

func TestErrors(t *testing.T) {
	f := func(request, want string) {
		t.Helper()
		if first, _ := ask(t, request, 0); !strings.HasPrefix(first, "error") || !strings.Contains(first, want) {
			t.Errorf("%q answered %q, want an error with %q", request, first, want)
		}
	}
	f("profile nonsense", "no profile")
	f("dance", "unknown request")
}
