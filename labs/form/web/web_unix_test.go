//go:build unix

package web

import (
	"bufio"
	"io"
	"log"
	"net/http"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// TestStop tells the program to stop while a request is on its way: the
// request is answered, and the program ends.
func TestStop(t *testing.T) {
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) { stopWith(t, sig) })
	}
}

func stopWith(t *testing.T, sig os.Signal) {
	asked, release := make(chan bool), make(chan bool)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- true
		<-release
	})
	read, write := io.Pipe()
	log.SetOutput(write)
	defer log.SetOutput(os.Stderr)
	lines := make(chan string, 100)
	go func() {
		for sc := bufio.NewScanner(read); sc.Scan(); {
			lines <- sc.Text()
		}
	}()
	ended := make(chan error, 1)
	go func() { ended <- Serve("127.0.0.1:0", "/", handler) }()

	address := regexp.MustCompile(`http://\S+`).FindString(await(t, lines, ended, "listening on"))
	answered := make(chan string, 1)
	go func() {
		resp, err := http.Get(address)
		if err != nil {
			answered <- err.Error()
			return
		}
		resp.Body.Close()
		answered <- resp.Status
	}()
	<-asked
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if err := self.Signal(sig); err != nil {
		t.Fatal(err)
	}
	await(t, lines, ended, "stopping")
	release <- true
	if status := <-answered; status != "200 OK" {
		t.Errorf("the request on its way was answered with %s", status)
	}
	if err := <-ended; err != nil {
		t.Errorf("Serve = %v", err)
	}
	if _, err := http.Get(address); err == nil {
		t.Error("the program still answers after its end")
	}
}

// await returns the next line of the log that has the words.
func await(t *testing.T, lines chan string, ended chan error, words string) string {
	t.Helper()
	for {
		select {
		case line := <-lines:
			if strings.Contains(line, words) {
				return line
			}
		case err := <-ended:
			t.Fatalf("the program ended before it said %q: %v", words, err)
		}
	}
}

// TestTaken: an address that cannot be had is an error.
func TestTaken(t *testing.T) {
	if err := Serve("127.0.0.1:-1", "/", nil); err == nil {
		t.Error("Serve = nil")
	}
}
