package insight

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/format/exectrace/fixture"
	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestWT01Serial: connections to the items of a loop, one after another, are to be made concurrently, and cannot be reused.
// Those to one address, with other options each time, to an address that an earlier turn has given, and of a loop over
// rounds, are another matter.
func TestWT01Serial(t *testing.T) {
	const head = "package main\n\nimport \"crypto/tls\"\n\n"
	const shake = "func shake(addr string, conf *tls.Config) {\n\ttls.Dial(\"tcp\", addr, conf) // A\n}\n"
	for _, c := range []struct {
		name, source string
		want         bool
	}{
		{"items", "func run(hosts []host) {\n\tfor _, h := range hosts {\n\t\tshake(h.addr, nil) // B\n\t}\n}\n", true},
		{"put together", "func run(ports []int) {\n\tfor _, p := range ports {\n\t\taddr := fmt.Sprint(\"host:\", p)\n\t\tshake(addr, nil) // B\n\t}\n}\n", true},
		{"from a channel", "func run(hosts chan host) {\n\tfor h := range hosts {\n\t\tshake(h.addr, nil) // B\n\t}\n}\n", true},
		{"one address", "func run(items []item, addr string) {\n\tfor _, x := range items {\n\t\tshake(addr, nil) // B\n\t\tuse(x)\n\t}\n}\n", false},
		{"other options", "func run(items []item, addr string) {\n\tfor _, x := range items {\n\t\tshake(addr, &tls.Config{ServerName: x.name}) // B\n\t}\n}\n", false},
		{"a few in turn", "func run(n int) {\n\tfor i := range n {\n\t\tshake(hosts[i%3], nil) // B\n\t}\n}\n", false},
		{"rounds", "func run(hosts []host) {\n\tfor range 9 {\n\t\tfor _, h := range hosts {\n\t\t\tshake(h.addr, nil) // B\n\t\t}\n\t}\n}\n", false},
		{"no loop", "func run(addr string) {\n\tshake(addr, nil) // B\n}\n", false},
	} {
		source := head + c.source + shake
		way := fmt.Sprintf("crypto/tls.(*Conn).HandshakeContext@conn.go:1;main.shake@main.go:%d;main.run@main.go:%d;main.main@none.go:1", lineOfMark(source, "A"), lineOfMark(source, "B"))
		p := accounttest.New()
		p.Wake(1, "")
		p.Start(1)
		for i := range 20 {
			p.Call(time.Microsecond, "syscall.write@z.go:1;internal/poll.(*FD).Write@fd.go:1;net.(*conn).Write@net.go:1;"+way)
			p.Block("network", way)
			p.Pass(50 * time.Millisecond)
			if i%10 == 0 {
				p.Pass(400 * time.Millisecond)
				p.Wake(2, "")
				p.Start(2)
				p.Wake(1, "crypto/tls.(*Conn).handshakeContext.func2@conn.go:9")
				p.Block("select", "crypto/tls.(*Conn).handshakeContext.func2@conn.go:8")
			} else {
				p.Wake(1, "")
			}
			p.Start(1)
			p.Pass(time.Millisecond)
		}
		r := recordingtest.New("title x\ntarget package ./shop module=main package=main\nrun 0s..10s exit=\"exit status 0\"\nphase trace 0s..10s profiler=trace\n")
		r.Put(recording.Entry{Path: "trace.out", Kind: recording.ExecTrace, Phase: "trace"}, fixture.Trace(t, p.Text()))
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "main.go"}, []byte(source))
		f := answers(t, r, "WT01")[0]
		if got := f.Title == "Connections to different addresses are made one after another"; got != c.want || got && (!strings.Contains(f.Advice, "cannot be reused") || !strings.Contains(f.Summary, "one after another in one goroutine")) {
			t.Errorf("%s: %s %s: %s\n%s", c.name, f.State, f.Title, f.Summary, f.Advice)
		} else if got && !strings.Contains(f.Summary, "2 waits ended by a time limit") {
			t.Errorf("%s: %s", c.name, f.Summary)
		}
	}
}
