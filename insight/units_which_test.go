package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/session"
)

// TestSayWhich: a gain in the time of the requests of one handler says of which, and what that is of all, where others take a part of the time.
func TestSayWhich(t *testing.T) {
	lock := accounttest.In("sync.(*Mutex).Lock@mutex.go:1", "main.handle@main.go:7")
	unlock := accounttest.In("sync.(*Mutex).Unlock@mutex.go:2", "main.handle@main.go:9")
	for _, x := range []struct {
		name   string
		others int // turns with requests of another handler
		want   bool
	}{{"one handler", 0, false}, {"two of them", 12, true}} {
		p := oneByOne("sync", lock, unlock)
		for range x.others {
			arriveAt(p, 5, "network", accounttest.In("net.(*conn).Read@net.go:1", "main.other@main.go:50"))
			p.Pass(40 * time.Millisecond)
			p.Wake(5, "")
			p.Start(5)
			finishRequest(p, 5)
		}
		in := NewInput(session.New(traceOfProgram(t, p).Open()))
		all := Run(in)
		for _, card := range Cards(in, all) {
			if all[card.Finding].Rule != "LK02" {
				continue
			}
			if got := card.Gain.Of == "time of the requests of main.handle" && strings.HasSuffix(card.Gain.Beyond, "of the time of all requests"); got != x.want || !x.want && card.Gain.Of != "time of requests" {
				t.Errorf("%s: %s; %s", x.name, card.Gain.Of, card.Gain.Beyond)
			}
		}
	}
}
