package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestRelaysAt: who makes a connection for each accepted one, and copies between both, is a relay; who speaks with the peer on behalf
// of the client, or makes one for each piece of work, is none.
func TestRelaysAt(t *testing.T) {
	const dial = "dst, err := net.Dial(\"tcp\", to) // A\nif err != nil {\nreturn\n}\n"
	const relay = "func pass(a, b net.Conn) {\ngo func() { io.Copy(w{a}, b) }()\nio.Copy(b, a)\n}\n"
	for _, c := range []struct {
		name, source string
		want         bool
	}{
		{"copies there", "func serve(src net.Conn) {\n" + dial + "go io.Copy(dst, src)\nio.Copy(src, dst)\n}\n", true},
		{"what it calls copies", "func serve(src net.Conn) {\n" + dial + "defer dst.Close()\npass(dst, src)\n}\n" + relay, true},
		{"accepts in the loop", "func serve(l net.Listener) {\nfor {\nsrc, err := l.Accept()\n" + dial + "go pass(src, dst)\n}\n}\n" + relay, true},
		{"speaks for the client", "func serve(src net.Conn) {\n" + dial + "session(src, dst)\n}\nfunc session(a, b net.Conn) {\nx := read(a)\nwrite(b, x)\nwrite(a, read(b))\n}\n", false},
		{"a body into the connection", "func serve(src net.Conn) {\n" + dial + "io.Copy(dst, strings.NewReader(text))\n}\n", false},
		{"a request", "func handle(w http.ResponseWriter, r *http.Request) {\n" + dial + "io.Copy(dst, r.Body)\n}\n", false},
		{"a file for each item", "func send(name string) {\n" + dial + "f, _ := os.Open(name)\nio.Copy(dst, f)\n}\n", false},
	} {
		text := "package main\n\n" + c.source
		r := recordingtest.New("title x")
		withSource(r, "main.go", text)
		at := stack.Frame{Func: "main.serve", File: "main.go", Line: 1 + strings.Count(text[:strings.Index(text, "// A")], "\n")}
		if got := relaysAt(NewInput(session.New(r.Open())).code, at); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestRelayAdvice: of connections that a relay makes, no single client for all is advised.
func TestRelayAdvice(t *testing.T) {
	for _, c := range []struct {
		copies string
		advice string
	}{
		{"io.Copy(dst, src)", "cannot serve another client"},
		{"ask(dst)", "one client for all requests"},
	} {
		source := "package main\n\nfunc serve(src net.Conn) {\n\tdst, err := net.Dial(\"tcp\", to) // A\n\t" + c.copies + "\n}\n"
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
		withProfile(r, recording.CPU, "cpu", column{stackAt(source, "main.serve@A") + " net.Dial net.(*Dialer).Dial net.(*Dialer).DialContext net.(*sysDialer).dialParallel net.(*netFD).connect syscall.connect syscall.Syscall6 internal/runtime/syscall/linux.Syscall6", []int64{280}}, column{"main.main:/src/main.go:40 main.other:/src/other.go:3", []int64{120}})
		f := answers(t, r, "CP04")[0]
		if f.State != Found || !strings.Contains(f.Advice, c.advice) {
			t.Errorf("%s: %s: %s: %s", c.copies, f.State, f.Summary, f.Advice)
		}
	}
}
