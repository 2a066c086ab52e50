package account

import (
	"strings"
	"testing"

	"loupe/value/stack"
)

// TestNearestKind: what waits is the file or the connection next to the poller, whatever copies to it or from it.
func TestNearestKind(t *testing.T) {
	view := func(names string) (v stackView) {
		for name := range strings.FieldsSeq(names) {
			v.frames = append(v.frames, stack.Frame{Func: name})
		}
		return v
	}
	const read = "internal/poll.(*pollDesc).waitRead internal/poll.(*FD).Read "
	const body = "net.(*netFD).Read net.(*conn).Read net/http.(*persistConn).Read bufio.(*Reader).Read net/http.(*body).Read "
	for names, want := range map[string]Kind{
		read + "os.(*File).Read bufio.(*Scanner).Scan main.main":                                                                                               Pipe,
		read + body + "os.genericReadFrom os.(*File).ReadFrom io.copyBuffer io.Copy main.download":                                                             Answer,
		read + "os.(*File).Read io.copyBuffer io.Copy net.(*TCPConn).ReadFrom main.serve":                                                                      Pipe,
		read + "net.(*netFD).Read net.(*conn).Read net/http.(*connReader).Read net/http.(*body).Read os.genericReadFrom os.(*File).ReadFrom io.Copy main.save": Client,
		"internal/poll.(*pollDesc).waitWrite internal/poll.(*FD).Write os.(*File).Write main.main":                                                             Pipe,
		"internal/poll.(*pollDesc).waitWrite internal/poll.SendFile net.sendFile net.(*TCPConn).readFrom main.serve":                                           Send,
		"internal/poll.(*pollDesc).waitWrite internal/poll.SendFile os.(*rawConn).Read os.(*File).writeTo os.(*File).WriteTo io.Copy main.serve":               Send,
		"internal/poll.(*pollDesc).waitRead internal/poll.Splice os.(*File).spliceToFile os.(*File).ReadFrom io.Copy main.save":                                Answer,
	} {
		if got := networkKind(view(names)); got != want {
			t.Errorf("%s: %v, want %v", names, got, want)
		}
	}
	for names, want := range map[string]Kind{
		"syscall.write internal/poll.(*FD).Write os.(*File).Write io.Copy net.(*conn).Write main.f": File,
		"syscall.read internal/poll.(*FD).Read " + body + "os.(*File).ReadFrom io.Copy main.f":      Socket,
		"syscall.fstat os.Stat main.f": File,
		"syscall.read internal/poll.(*FD).Read net.(*netFD).Read net.(*conn).Read main.f": Socket,
	} {
		if got := callKind(view(names)); got != want {
			t.Errorf("%s: %v, want %v", names, got, want)
		}
	}
}
