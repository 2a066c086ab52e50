package insight

import (
	"testing"

	"loupe/analysis/account"
	"loupe/value/stack"
	"loupe/value/stats"
)

// TestHandDials: connections that workers make by themselves and use for one exchange each are found, those that are
// kept, that bring many answers or none, or that cost little are not, nor those of clients of the standard library.
func TestHandDials(t *testing.T) {
	s := newScene(t)
	in := s.input()
	way := func(lines ...stack.Frame) []stack.Frame { return lines }
	dial, read := stack.Frame{Func: "main.(*client).dial", File: "/src/c.go", Line: 25}, stack.Frame{Func: "main.read", File: "/src/c.go", Line: 71}
	ask := stack.Frame{Func: "main.(*client).dial", File: "/src/c.go", Line: 30}
	byHand := s.stack("net.(*netFD).connect", "net.(*Dialer).DialContext", "crypto/tls.DialWithDialer", "main.(*client).dial:/src/c.go:25")
	byHTTP := s.stack("net.(*Dialer).DialContext", "net/http.(*Transport).dial", "main.(*client).dial:/src/c.go:25")
	much, little := stats.Interval{Estimate: 0.8, Low: 0.7, High: 0.9}, stats.Interval{Estimate: 0.05, Low: 0.02, High: 0.08}
	for _, c := range []struct {
		name           string
		unit           account.Unit
		at             stack.ID
		dials, answers int64
		cpu            stats.Interval
		found          bool
	}{
		{"one for each", account.Job, byHand, 400, 402, much, true},
		{"kept", account.Job, byHand, 8, 400, much, false},
		{"many answers each", account.Job, byHand, 400, 4000, much, false},
		{"without an answer", account.Job, byHand, 400, 0, much, false},
		{"cheap", account.Job, byHand, 400, 400, little, false},
		{"of net/http", account.Job, byHTTP, 400, 400, much, false},
		{"of requests", account.Request, byHand, 400, 400, much, false},
	} {
		g := &account.Group{Unit: c.unit, Name: "main.worker", Calls: []account.Call{
			{Kind: account.Answer, Path: way(read, ask), Count: c.answers},
			{Kind: account.Handshake, Path: way(dial), Count: c.dials},
			{Kind: account.Dial, Path: way(dial), Stack: c.at, Count: c.dials},
		}}
		found := false
		for _, x := range handDials(in, in.trace(), []*account.Group{g}) {
			found = found || x.eachAnew(ld06, c.cpu) && x.secure
			if x.secure {
				if f := x.finding(ld06, in, in.trace(), c.cpu); f.Severity != Warning || f.Evidence[0].Line != 25 {
					t.Errorf("%s: %s %+v", c.name, f.Severity, f.Evidence)
				}
			}
		}
		if found != c.found {
			t.Errorf("%s: found %v", c.name, found)
		}
	}
}

// TestDialsItem: an address that a function is given may be another one each time, that of a client is not.
func TestDialsItem(t *testing.T) {
	for line, want := range map[string]bool{
		"func (c *client) dial() { tls.Dial(\"tcp\", c.addr, nil) }":       false,
		"func dial() { net.Dial(\"tcp\", peer) }":                          false,
		"func dial(ctx context.Context) { d.DialContext(ctx, n, peer) }":   false,
		"func dial(addr string) { net.Dial(\"tcp\", addr) }":               true,
		"func dial(j job) { net.Dial(\"tcp\", j.host) }":                   true,
		"func dial(j job) { at := j.host; net.DialTimeout(\"t\", at, d) }": true,
	} {
		if got := dialsItem(sourceOf("package main\n\n"+line+"\n"), stack.Frame{Func: "main.dial", File: "a.go", Line: 3}); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}

// TestReadsToClose: a connection that is read to its end carries no second exchange.
func TestReadsToClose(t *testing.T) {
	for text, want := range map[string]int{
		"b, err := io.ReadAll(c)":                        5,
		"io.Copy(out, c)":                                5,
		"b, err := io.ReadAll(io.LimitReader(c, n))":     0,
		"s, err := bufio.NewReader(c).ReadString('\\n')": 0,
		"io.Copy(c, request)":                            0,
		"b, err := io.ReadAll(other)":                    0,
	} {
		code := sourceOf("package main\n\nfunc query() {\nc, err := net.Dial(\"tcp\", peer)\n" + text + "\n}\n")
		if got := readsToClose(code, stack.Frame{Func: "main.query", File: "a.go", Line: 4}); got != want {
			t.Errorf("%s: %d", text, got)
		}
	}
}
