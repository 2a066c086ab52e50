//go:build unix

package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"loupe/labs/form/web/webtest"
	"loupe/labs/newssearch/feeds"
)

// TestStop interrupts the program while a request waits for a feed: the request
// is answered, and the program ends.
func TestStop(t *testing.T) {
	slow := webtest.NewSlow()
	feed := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		slow.Hold()
		w.Write(feeds.Feed("cnn", 1))
	}))
	defer feed.Close()
	webtest.Stop(t, os.Interrupt, slow, "?term=topic&cnn=on", func() error { return run("127.0.0.1:0", "cnn="+feed.URL, nil, false) })
}
