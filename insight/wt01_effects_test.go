package insight

import (
	"strings"
	"testing"

	"loupe/analysis/account"
	"loupe/analysis/facts"
	"loupe/value/stack"
)

// TestLockWaitedFor: what has an effect is not to be moved out of the lock that keeps its order; without the source, nothing is said without a condition.
func TestLockWaitedFor(t *testing.T) {
	s := newScene(t)
	for _, c := range []struct {
		name  string
		kind  account.Kind
		stack stack.ID
		want  string
	}{
		{"a sync", account.File, s.stack("syscall.fsync", "os.(*File).Sync", "main.(*store).set:/src/a.go:27"), "group commit"},
		{"a write", account.File, s.stack("syscall.write", "internal/poll.(*FD).Write", "os.(*File).Write", "main.(*store).set:/src/a.go:24"), "in the order of the changes"},
		{"a POST", account.Answer, s.stack("net.(*conn).Read", "net/http.(*Client).Post", "main.(*store).set:/src/a.go:24"), "it sends a POST"},
		{"a fetch", account.Answer, s.stack("net.(*conn).Read", "net/http.(*Client).Get", "main.(*store).get:/src/a.go:24"), "the sources do not show it. If only"},
		{"a file that is read", account.File, s.stack("syscall.read", "internal/poll.(*FD).Read", "os.(*File).Read", "main.(*store).get:/src/a.go:24"), "the sources do not show it. If only"},
	} {
		in := s.input()
		row := facts.UnitRow{Kind: account.Lock, Cause: account.Cause{Kind: c.kind, Site: facts.UnitSite{Stack: c.stack}}}
		w := &waiting{group: &account.Group{}, kind: "lock", causes: []facts.UnitRow{row}}
		got := lockWaitedFor(in, in.trace(), w).advice
		if !strings.Contains(got, c.want) || strings.Contains(got, "singleflight") {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}
