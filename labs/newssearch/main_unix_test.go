//go:build unix

package main

import (
	"bufio"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"loupe/labs/newssearch/feeds"
)

// TestStop interrupts the program while a request is on its way: the request
// is answered, and the program ends.
func TestStop(t *testing.T) {
	asked, release := make(chan bool), make(chan bool)
	feed := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- true
		<-release
		w.Write(feeds.Feed("cnn", 1))
	}))
	defer feed.Close()
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
	go func() { ended <- run("127.0.0.1:0", "cnn="+feed.URL, false) }()

	address := regexp.MustCompile(`http://\S+/search`).FindString(await(t, lines, ended, "listening on"))
	answered := make(chan string, 1)
	go func() {
		resp, err := http.Get(address + "?term=topic&cnn=on")
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
	if err := self.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	await(t, lines, ended, "stopping")
	release <- true
	if status := <-answered; status != "200 OK" {
		t.Errorf("the request on its way was answered with %s", status)
	}
	if err := <-ended; err != nil {
		t.Errorf("run = %v", err)
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
