//go:build unix

package web_test

import (
	"net/http"
	"os"
	"syscall"
	"testing"

	"loupe/labs/form/web"
	"loupe/labs/form/web/webtest"
)

// TestStop tells the program to stop while a request is on its way: the
// request is answered, and the program ends.
func TestStop(t *testing.T) {
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) {
			slow := webtest.NewSlow()
			handler := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { slow.Hold() })
			webtest.Stop(t, sig, slow, "", func() error { return web.Serve("127.0.0.1:0", "/", handler) })
		})
	}
}

// TestTaken: an address that cannot be had is an error.
func TestTaken(t *testing.T) {
	if err := web.Serve("127.0.0.1:-1", "/", nil); err == nil {
		t.Error("Serve = nil")
	}
}
