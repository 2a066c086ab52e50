package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
)

// overConnections is a program whose requests ask over three connections in turn, each of
// which answers after a time of its own; took says how long the nth answer of one takes.
func overConnections(took func(connection, n int) time.Duration) *accounttest.Program {
	const loop = "net/http.(*persistConn).readLoop@transport.go:1"
	p := accounttest.New()
	p.Connect(5)
	for g := 20; g < 23; g++ {
		p.Create(g, "net/http.(*Transport).dialConn.gowrap1", "main.init@main.go:1")
		p.Start(g)
		p.Block("network", readNet+";"+loop)
	}
	for n := range 54 {
		g := 20 + n%3
		p.Arrive(5)
		p.Block("select", accounttest.In("net/http.(*persistConn).roundTrip@transport.go:2", "net/http.(*Client).Get@client.go:1", "main.get@main.go:25", "main.handle@main.go:7"))
		p.Pass(took(n%3, n/3))
		p.Wake(g, "")
		p.Start(g)
		p.Wake(5, "runtime.chansend1@chan.go:1;net/http.(*persistConn).readLoop@transport.go:3")
		p.Block("network", readNet+";"+loop)
		p.Start(5)
		p.Respond(5)
	}
	return p
}

func TestWT10(t *testing.T) {
	const ms = time.Millisecond
	one := func(slow time.Duration) func(connection, n int) time.Duration {
		return func(connection, n int) time.Duration {
			if connection == 1 {
				return slow
			}
			return 2*ms + time.Duration(n%3)*ms
		}
	}
	for _, c := range []struct {
		name     string
		took     func(connection, n int) time.Duration
		severity Severity // "" is fine
		says     string
	}{
		{"one is slow", one(40 * ms), Warning, "waiting in main.get at main.go:25 for answers that are slow over some connections: over 1 of 3 an answer takes 40.0 ms on average, over the others 3.00 ms; the slow ones account for 33.3% of the answers and 87.0% of the waiting"},
		{"all are alike", func(_, n int) time.Duration { return time.Duration(2+n%3) * ms }, "", ""},
		{"one is a little slower", one(6 * ms), "", ""},
		{"one is slow now and then", func(connection, n int) time.Duration {
			if connection == 1 && n%2 == 0 {
				return 80 * ms
			}
			return 3 * ms
		}, "", ""},
	} {
		f := answers(t, traceOfProgram(t, overConnections(c.took)), "WT10")[0]
		state := Found
		if c.severity == "" {
			state = Fine
		}
		if f.State != state || f.Severity != c.severity || !strings.Contains(f.Summary, c.says) {
			t.Errorf("%s: %s %s: %s\nwant %q", c.name, f.State, f.Severity, f.Summary, c.says)
		}
	}
}
