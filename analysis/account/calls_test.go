package account_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"loupe/analysis/account"
	"loupe/analysis/account/accounttest"
)

const (
	netRead  = "internal/poll.(*FD).Read@fd.go:1;net.(*conn).Read@net.go:1"
	netWrite = "syscall.write@z.go:1;internal/poll.(*FD).Write@fd.go:1;net.(*conn).Write@net.go:1"
)

// asked writes to a peer and waits for an answer in some pieces.
func asked(p *accounttest.Program, pieces int, d time.Duration, frames ...string) {
	p.Call(us, accounttest.In(append([]string{netWrite}, frames...)...))
	for range pieces {
		p.Block("network", accounttest.In(append([]string{netRead}, frames...)...))
		p.Pass(d)
		p.Wake(5, "")
		p.Start(5)
	}
}

// callsOf are the calls of a group in words.
func callsOf(g *account.Group) string {
	var all []string
	for _, c := range g.Calls {
		var path []string
		for _, f := range c.Path {
			path = append(path, fmt.Sprintf("%s:%d", f.Func, f.Line))
		}
		all = append(all, fmt.Sprintf("%s %s: %d in %d, at most %d, %v", c.Kind.Key(), strings.Join(path, " "), c.Count, c.Units, c.Most, c.Time.Round(100*us)))
	}
	return strings.Join(all, "\n")
}

// TestCalls: a call is what is asked, by the way through the user's code, and not each wait
// for a piece of the answer.
func TestCalls(t *testing.T) {
	p := accounttest.New()
	p.Connect(5)
	for i := range 4 {
		p.Pass(ms)
		p.Arrive(5)
		for range 2 * (i + 1) {
			asked(p, 1, 3*ms, "main.query@db.go:9", "main.handle@main.go:7")
		}
		asked(p, 5, ms, "main.query@db.go:9", "main.handle@main.go:8")
		asked(p, 1, ms, "main.walk@tree.go:5", "main.walk@tree.go:6", "main.walk@tree.go:6", "main.handle@main.go:9")
		asked(p, 1, ms, "main.walk@tree.go:5", "main.walk@tree.go:6", "main.handle@main.go:9")
		p.Respond(5)
	}
	g := accountOf(t, p, account.Options{}).Groups[0]
	want := "network main.query:9 main.handle:7: 20 in 4, at most 8, 60ms\n" +
		"network main.query:9 main.handle:8: 4 in 4, at most 1, 20ms\n" +
		"network main.walk:5 main.handle:9: 8 in 4, at most 2, 8ms"
	if got := callsOf(g); got != want {
		t.Errorf("the calls are\n%s\nwant\n%s", got, want)
	}
	if c := g.Calls[0]; c.Slope.Round(100*us) != 3*ms || c.Fit < 0.99 || c.Pieces != 20 || c.Least.Round(100*us) != 3*ms {
		t.Errorf("each call more takes %v (R² %.3f), %d writes went before, the shortest wait is %v", c.Slope, c.Fit, c.Pieces, c.Least)
	}
}

// TestCallsOfLibraries: a round trip of net/http is one call, whoever waits for what in it;
// reading the body is a part of it.
func TestCallsOfLibraries(t *testing.T) {
	p := accounttest.New()
	p.Connect(5)
	p.Create(20, "net/http.(*Transport).dialConn.gowrap1", "main.init@main.go:1")
	p.Start(20)
	p.Block("network", netRead+";net/http.(*persistConn).readLoop@transport.go:1")
	for range 3 {
		p.Arrive(5)
		p.Block("select", accounttest.In("net/http.(*persistConn).roundTrip@transport.go:2", "net/http.(*Client).Get@client.go:1", "main.get@main.go:25", "main.handle@main.go:7"))
		p.Pass(8 * ms)
		p.Wake(20, "")
		p.Start(20)
		p.Wake(5, "runtime.chansend1@chan.go:1;net/http.(*persistConn).readLoop@transport.go:3")
		p.Block("network", netRead+";net/http.(*persistConn).readLoop@transport.go:1")
		p.Start(5)
		for range 4 {
			p.Block("network", accounttest.In(netRead, "net/http.(*persistConn).Read@transport.go:9", "net/http.(*bodyEOFSignal).Read@transport.go:8", "io.ReadAll@io.go:1", "main.get@main.go:26", "main.handle@main.go:7"))
			p.Pass(ms)
			p.Wake(5, "")
			p.Start(5)
		}
		p.Respond(5)
	}
	want := "network main.get:25 main.handle:7: 3 in 3, at most 1, 24ms\nnetwork main.get:26 main.handle:7: 0 in 3, at most 0, 12ms"
	if got := callsOf(accountOf(t, p, account.Options{}).Groups[0]); got != want {
		t.Errorf("the calls are\n%s\nwant\n%s", got, want)
	}
}

// TestCallsAreCountedOnce: who asks is woken when the request is sent, and again by the
// answer, unless that was quicker: it is one call.
func TestCallsAreCountedOnce(t *testing.T) {
	p := accounttest.New()
	p.Connect(5)
	p.Create(20, "net/http.(*Transport).dialConn.gowrap1", "main.init@main.go:1")
	p.Create(21, "net/http.(*Transport).dialConn.gowrap2", "main.init@main.go:1")
	p.Start(20)
	p.Block("network", netRead+";net/http.(*persistConn).readLoop@transport.go:1")
	p.Start(21)
	p.Block("select", "net/http.(*persistConn).writeLoop@transport.go:5")
	asks := accounttest.In("net/http.(*persistConn).roundTrip@transport.go:2", "net/http.(*Client).Get@client.go:1", "main.get@main.go:25", "main.handle@main.go:7")
	p.Arrive(5)
	for n := range 6 {
		p.Block("select", asks)
		p.Pass(ms)
		p.Wake(21, "")
		p.Start(21)
		p.Wake(5, "runtime.chansend1@chan.go:1;net/http.(*persistConn).writeLoop@transport.go:6")
		p.Block("select", "net/http.(*persistConn).writeLoop@transport.go:5")
		p.Start(5)
		if n%2 == 1 {
			continue // the answer is there already
		}
		p.Block("select", asks)
		p.Pass(8 * ms)
		p.Wake(20, "")
		p.Start(20)
		p.Wake(5, "runtime.chansend1@chan.go:1;net/http.(*persistConn).readLoop@transport.go:3")
		p.Block("network", netRead+";net/http.(*persistConn).readLoop@transport.go:1")
		p.Start(5)
	}
	p.Respond(5)
	got := callsOf(accountOf(t, p, account.Options{}).Groups[0])
	if !strings.HasPrefix(got, "network main.get:25 main.handle:7: 6 in 1, at most 6, ") || strings.Contains(got, "\n") {
		t.Errorf("the calls are\n%s\nwant six in one request", got)
	}
}

// TestFan: the last of the goroutines that a request waits for, and by how much it is late.
func TestFan(t *testing.T) {
	p := accounttest.New()
	p.Connect(5)
	next := 20
	for range 3 {
		p.Arrive(5)
		fanOut(p, &next)
		p.Respond(5)
	}
	g := accountOf(t, p, account.Options{}).Groups[0]
	if len(g.Fans) != 1 {
		t.Fatalf("the fans are %+v", g.Fans)
	}
	x := g.Fans[0]
	if x.Count != 3 || x.Units != 3 || x.Goroutines != 15 || x.Waits.Frame.Line != 7 || x.Did.Kind != account.Answer || x.Did.Site.Frame.Line != 12 {
		t.Errorf("the fan is %+v", x)
	}
	if last, median, excess := (x.Last / 3).Round(ms), (x.Median / 3).Round(ms), (x.Excess / 3).Round(ms); last != 19*ms || median != 3*ms || excess != 16*ms {
		t.Errorf("the last takes %v, the one in the middle %v, the unit waits %v for that", last, median, excess)
	}
}

// TestFanAgain: a request that starts the same goroutines twice, such as one for each page,
// times the second lot from its own start.
func TestFanAgain(t *testing.T) {
	p := accounttest.New()
	p.Connect(5)
	p.Arrive(5)
	next := 20
	for range 2 {
		fanOut(p, &next)
		p.Pass(100 * ms)
	}
	p.Respond(5)
	g := accountOf(t, p, account.Options{}).Groups[0]
	if len(g.Fans) != 1 || g.Fans[0].Count != 2 {
		t.Fatalf("the fans are %+v", g.Fans)
	}
	x := g.Fans[0]
	if last, median := (x.Last / 2).Round(ms), (x.Median / 2).Round(ms); last != 19*ms || median != 3*ms {
		t.Errorf("the last takes %v, the one in the middle %v", last, median)
	}
}

// fanOut starts five goroutines, of which the last one takes far longer than the others, and
// waits for them.
func fanOut(p *accounttest.Program, next *int) {
	first := *next
	for range 5 {
		p.Create(*next, "main.part", accounttest.In("main.handle@main.go:5"))
		*next++
	}
	p.Block("sync", accounttest.In("sync.(*WaitGroup).Wait@wg.go:1", "main.handle@main.go:7"))
	for g := first; g < *next; g++ {
		p.Start(g)
		p.Block("network", netRead+";main.part@main.go:12")
	}
	for g := first; g < *next; g++ {
		d := ms
		if g == *next-1 {
			d = 15 * ms
		}
		p.Pass(d)
		p.Wake(g, "")
		p.Start(g)
		if g == *next-1 {
			p.Wake(5, "sync.(*WaitGroup).Done@wg.go:2;main.part@main.go:13")
		}
		p.End()
	}
	p.Start(5)
}
