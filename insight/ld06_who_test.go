package insight

import (
	"strings"
	"testing"

	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestWhoDials: who opens connections is told by the functions up to the line of the program; what has called that, as a
// server has, opens none.
func TestWhoDials(t *testing.T) {
	isUser := stack.Scope{Modules: []string{"shop"}}.IsUser
	for _, c := range []struct {
		name, frames string // the leaf first
		by           dialler
		at           string
	}{
		{"the program in a handler", "crypto/tls.dial shop/proxy.connect shop/proxy.get net/http.(*conn).serve", dialsProgram, "shop/proxy.connect"},
		{"a write that shakes hands", "crypto/tls.(*Conn).HandshakeContext crypto/tls.(*Conn).Write shop/proxy.send", dialsProgram, "shop/proxy.send"},
		{"package http, which has a goroutine for it", "crypto/tls.(*Conn).HandshakeContext net/http.(*persistConn).addTLS.func2", dialsHTTP, ""},
		{"package http by a function of the program", "crypto/tls.dial shop/net.dialTLS net/http.(*Transport).dial net/http.(*Transport).dialConn", dialsHTTP, "shop/net.dialTLS"},
		{"a driver", "crypto/tls.(*Conn).Handshake github.com/lib/pq.ssl github.com/lib/pq.Open database/sql.(*DB).conn shop.find net/http.(*conn).serve", dialsSQL, "shop.find"},
		{"gRPC", "crypto/tls.(*Conn).HandshakeContext google.golang.org/grpc/credentials.(*tlsCreds).ClientHandshake google.golang.org/grpc.(*addrConn).connect", dialsGRPC, ""},
		{"the program in a call that gRPC serves", "crypto/tls.dial shop/proxy.connect google.golang.org/grpc.(*Server).processUnaryRPC", dialsProgram, "shop/proxy.connect"},
		{"a library", "crypto/tls.dial github.com/redis/go-redis/v9.dial shop.cache net/http.(*conn).serve", dialsLibrary, "shop.cache"},
		{"the program below a router", "crypto/tls.dial shop.ask github.com/go-chi/chi.route net/http.(*conn).serve", dialsProgram, "shop.ask"},
		{"nobody", "crypto/tls.dial", dialsUnknown, ""},
	} {
		var frames []stack.Frame
		for _, f := range strings.Fields(c.frames) {
			frames = append(frames, stack.Frame{Func: f})
		}
		if d := whoDials(frames, isUser); d.by != c.by || d.at.Func != c.at {
			t.Errorf("%s: %d at %q", c.name, d.by, d.at.Func)
		}
	}
}

// TestHandshakes: the finding about handshakes names the line that dials and says what to do there; those of a server
// alone are the business of its clients.
func TestHandshakes(t *testing.T) {
	const leaf = " crypto/tls.(*Conn).HandshakeContext crypto/tls.(*Conn).clientHandshake"
	const served = "net/http.(*conn).serve crypto/tls.(*Conn).HandshakeContext crypto/tls.(*Conn).serverHandshake"
	for _, c := range []struct {
		name       string
		stacks     []column
		says, not  string
		line       int
		clientSide bool
	}{
		{"the program's own", []column{{"net/http.(*conn).serve shop.connect:/src/a.go:4 crypto/tls.DialWithDialer" + leaf, []int64{60}}, {served, []int64{20}}, {"shop.f:/src/a.go:9", []int64{20}}}, "The program dials itself, at a.go:4", "http.Client", 4, true},
		{"package http", []column{{"net/http.(*persistConn).addTLS.func2" + leaf, []int64{60}}, {"shop.f:/src/a.go:9", []int64{40}}}, "one http.Client for all", "pool", 0, true},
		{"at many lines", []column{{"shop.a:/src/a.go:4 crypto/tls.dial" + leaf, []int64{20}}, {"shop.b:/src/a.go:5 crypto/tls.dial" + leaf, []int64{20}}, {"shop.c:/src/a.go:6 crypto/tls.dial" + leaf, []int64{20}}, {"shop.f:/src/a.go:9", []int64{40}}}, "The program dials itself", "", 0, true},
		{"the server's alone", []column{{served, []int64{60}}, {"shop.f:/src/a.go:9", []int64{40}}}, "let clients resume sessions", "dials", 0, false},
		{"the server's, and a few of a client", []column{{served, []int64{60}}, {"shop.a:/src/a.go:4 crypto/tls.dial" + leaf, []int64{1}}, {"shop.f:/src/a.go:9", []int64{40}}}, "let clients resume sessions", "dials", 0, false},
	} {
		r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase cpu 0s..5s profiler=cpu\n")
		r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"}, profiletest.Encode(picture(c.stacks...), profiletest.Options{}))
		h := handshakes(ld06, NewInput(session.New(r.Open())))
		line := h.Evidence[0].Line
		if !h.found || h.client != c.clientSide || line != c.line || !strings.Contains(h.Advice, c.says) || c.not != "" && strings.Contains(h.Advice, c.not) {
			t.Errorf("%s: client %v, line %d, %s", c.name, h.client, line, h.Advice)
		}
	}
}

// TestHandshakeCards: the waits for handshakes and their CPU time are one cause at one line, and where only one of them
// has a line; at two lines they are two.
func TestHandshakeCards(t *testing.T) {
	in := NewInput(session.New(recordingtest.New("title x").Open()))
	about := func(rule string, line int, severity Severity) Finding {
		f := seenAt(rule, severity, 50, "/src/client.go", line)
		if f.connects = true; line == 0 {
			f.Evidence = nil
		}
		return f
	}
	for want, all := range map[string][]Finding{
		"LD06(WT06)": {about("LD06", 41, Warning), about("WT06", 41, Warning)},
		"WT06(LD06)": {about("LD06", 0, Warning), about("WT06", 41, Warning)},
		"LD06 WT06":  {about("LD06", 41, Warning), about("WT06", 50, Warning)},
	} {
		if got := drawn(all, Cards(in, all)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
