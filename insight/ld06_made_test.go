package insight

import (
	"strings"
	"testing"

	"loupe/analysis/account/accounttest"
	"loupe/session"
)

// TestMadeClients: a client that is made for each request is told, though it dials elsewhere;
// one that is made seldom is not, nor are goroutines that anything else starts.
func TestMadeClients(t *testing.T) {
	const frames = "main.dial@main.go:43;main.handle@main.go:7"
	starts := func(every int, by string) func(p *accounttest.Program) {
		n := 0
		return func(p *accounttest.Program) {
			if n++; n%every == 0 {
				p.Create(100000+n, "google.golang.org/grpc/internal/grpcsync.(*CallbackSerializer).run", accounttest.In(append(strings.Split(by, ";"), strings.Split(frames, ";")...)...))
			}
			ask(p, 4e6, "main.handle@main.go:9")
		}
	}
	const newClient = "google.golang.org/grpc/internal/grpcsync.NewCallbackSerializer@cs.go:52;google.golang.org/grpc.NewClient@cc.go:9"
	for _, c := range []struct {
		name string
		do   func(p *accounttest.Program)
		says string
	}{
		{"each time", starts(1, newClient), "the program makes new clients with grpc.NewClient in main.dial at main.go:43: 400 in"},
		{"seldom", starts(10, newClient), ""},
		{"something else", starts(1, "golang.org/x/sync/errgroup.(*Group).Go@g.go:9"), ""},
	} {
		found := madeClients(ld06, NewInput(session.New(served(t, 400, c.do).Open())))
		switch {
		case c.says == "" && len(found) > 0:
			t.Errorf("%s: %s", c.name, found[0].Summary)
		case c.says != "" && (len(found) != 1 || found[0].Severity != Warning || !strings.Contains(found[0].Summary, c.says) || found[0].Evidence[0].Line != 43):
			t.Errorf("%s: %+v", c.name, found)
		}
	}
}
