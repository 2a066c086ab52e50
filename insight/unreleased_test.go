package insight

import (
	"fmt"
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
)

// TestUnreleasedIn: what a function opens and neither closes nor hands on.
func TestUnreleasedIn(t *testing.T) {
	const source = `package main

/*
#include <stdlib.h>
*/
import "C"

import (
	"io"
	"net/http"
	"os"
)

func status(url string) int {
	resp, err := http.Get(url) // body
	if err != nil {
		return 0
	}
	return resp.StatusCode
}

func dropped(url string) {
	_, _ = http.Get(url) // body
	http.Get(url)        // body
}

func read(c *http.Client, req *http.Request) []byte {
	resp, err := c.Do(req)
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	all, _ := io.ReadAll(resp.Body)
	return all
}

func halfRead(c *http.Client, req *http.Request) []byte {
	resp, _ := c.Do(req) // body
	all, _ := io.ReadAll(resp.Body)
	return all
}

func handedOn(url string) (*http.Response, error) {
	resp, err := http.Get(url)
	return resp, err
}

func body(url string) io.ReadCloser {
	resp, _ := http.Get(url)
	return resp.Body
}

func closedElsewhere(url string) {
	resp, _ := http.Get(url)
	finish(resp)
}

func size(name string) int64 {
	f, err := os.Open(name) // file
	if err != nil {
		return 0
	}
	info, _ := f.Stat()
	return info.Size()
}

func closed(name string) {
	f, _ := os.Open(name)
	defer func() { f.Close() }()
}

func kept(s *store, name string) { s.file, _ = os.Create(name) }

func text(s string) { use(unsafe.Pointer(C.CString(s))) } // c

func freed(s string) {
	p := C.CString(s)
	defer C.free(unsafe.Pointer(p))
}
`
	r := recordingtest.New("title x\nphase bare 0s..1s\n")
	r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
	u := UnreleasedIn(NewInput(session.New(r.Open())))
	for _, f := range []struct {
		mark string
		got  []Evidence
	}{{"// body", u.Bodies}, {"// file", u.Files}, {"// c", u.C}} {
		var want, got []string
		for i, line := range strings.Split(source, "\n") {
			if strings.HasSuffix(line, f.mark) {
				want = append(want, fmt.Sprint(i+1))
			}
		}
		for _, e := range f.got {
			got = append(got, fmt.Sprint(e.Line))
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s: lines %v, want %v", f.mark, got, want)
		}
	}
}
