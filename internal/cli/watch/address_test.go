package watch

import (
	"os"
	"testing"

	"loupe/source"
)

// TestIsAddress: an address is told from a file and from the number of a process.
func TestIsAddress(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("web:80", nil, 0o666); err != nil {
		t.Log(err) // a system whose names have no colons
	}
	f := func(name string, address, runs bool) {
		t.Helper()
		if source.IsAddress(name) != address || running(name) != runs {
			t.Errorf("%q: address %v, running %v", name, source.IsAddress(name), running(name))
		}
	}
	f("http://x", true, true)
	f("https://x/debug/pprof/", true, true)
	f(":6060", true, true)
	f("web-0:6060", true, true)
	f("[::1]:6060", true, true)
	f("localhost:6060/debug/pprof/goroutine?debug=1", true, true)
	f("4711", false, true)
	f("crash.log", false, false)
	f("C:crash.log", false, false)
	f("./cmd/server", false, false)
	f("web:99999", false, false)
	if _, err := os.Stat("web:80"); err == nil {
		f("web:80", false, false)
	}
}
