// Package webtest checks that a service stops as it should.
package webtest

import (
	"bufio"
	"io"
	"log"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
)

// Slow is a handler whose requests take until somebody lets them go.
type Slow struct{ asked, release chan bool }

// NewSlow returns a handler for one request.
func NewSlow() *Slow { return &Slow{make(chan bool), make(chan bool)} }

// Hold is to be called by what the request waits for.
func (s *Slow) Hold() {
	s.asked <- true
	<-s.release
}

// Stop runs a service, sends this process the signal while a request with the
// given query is held on its way, and checks that the request is answered and that
// the service ends.
func Stop(t *testing.T, sig os.Signal, s *Slow, query string, run func() error) {
	t.Helper()
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
	go func() { ended <- run() }()

	address := regexp.MustCompile(`http://\S+`).FindString(await(t, lines, ended, "listening on"))
	answered := make(chan string, 1)
	go func() {
		resp, err := http.Get(address + query)
		if err != nil {
			answered <- err.Error()
			return
		}
		resp.Body.Close()
		answered <- resp.Status
	}()
	<-s.asked
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if err := self.Signal(sig); err != nil {
		t.Fatal(err)
	}
	await(t, lines, ended, "stopping")
	s.release <- true
	if status := <-answered; status != "200 OK" {
		t.Errorf("the request on its way was answered with %s", status)
	}
	if err := <-ended; err != nil {
		t.Errorf("the service ended with %v", err)
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
