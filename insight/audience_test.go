package insight

import (
	"testing"
	"time"

	"loupe/format/exectrace"
)

// TestAudience: who waits for a program's answers is known from a load, from
// what it served or listens on, and from how it came to its end.
func TestAudience(t *testing.T) {
	const (
		ended   = "run 0s..10s exit=\"exit status 0\"\n"
		stopped = "run 0s..10s exit=\"signal: interrupt\" stopped\n"
		load    = "-- load.requests load phase=bare --\n"
	)
	for _, c := range []struct {
		name, manifest string
		want           audience
		set            func(s *scene)
	}{
		{"a batch program", ended, nobody, nil},
		{"one that was stopped", stopped, unsure, nil},
		{"one under load", load, somebody, nil},
		{"a service that was told to end", ended, somebody, func(s *scene) { s.group("net/http.(*conn).serve", 20, 20, time.Second, 0) }},
		{"a server of gRPC", stopped, somebody, func(s *scene) { s.group("google.golang.org/grpc.(*Server).serveStreams.func2", 20, 20, time.Second, 0) }},
		{"one request, to code of its own", stopped, somebody, func(s *scene) {
			s.group("net/http.(*conn).serve", 1, 1, time.Second, 0)
			s.block("net/http.(*conn).serve", exectrace.NameSync, 1, ms, s.stack("sync.(*Mutex).Lock", "shop/cart.add:/src/cart/cart.go:7", "net/http.(*conn).serve"), 0)
		}},
		{"one request, for this trace", ended, nobody, func(s *scene) {
			s.group("net/http.(*conn).serve", 1, 1, time.Second, 0)
			s.block("net/http.(*conn).serve", exectrace.NameSelect, 1, ms, s.stack("net/http/pprof.sleep", "net/http/pprof.Trace", "net/http.(*conn).serve"), 0)
		}},
		{"a listener", stopped, somebody, func(s *scene) {
			s.block("main.main", exectrace.NameNetwork, 1, ms, s.stack("internal/poll.(*FD).Accept", "net.(*netFD).accept", "main.main:/src/main.go:3"), 0)
		}},
	} {
		s := newScene(t)
		s.manifest = c.manifest
		if c.set != nil {
			c.set(s)
		}
		if got := s.input().public(); got.who != c.want || got.why == "" {
			t.Errorf("%s: %d (%s), want %d", c.name, got.who, got.why, c.want)
		}
	}
}
