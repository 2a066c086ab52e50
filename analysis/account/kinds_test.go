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

// TestProcessEnds: each process that the program runs is one call, by whichever system call it waits for its end; what package os tries once in a run, a look
// that goes before the wait, and the end of a fork whose program did not start, are none.
func TestProcessEnds(t *testing.T) {
	for names, want := range map[string]asking{
		"internal/syscall/unix.Waitid os.(*Process).pidfdWait.func1 os.ignoringEINTR os.(*Process).pidfdWait os.(*Process).Wait os/exec.(*Cmd).Wait main.run":  always,
		"syscall.wait4 syscall.Wait4 os.(*Process).pidWait os.(*Process).Wait main.run":                                                                        always,
		"syscall.Wait4 os/exec.(*Cmd).Wait main.checkPidfd":                                                                                                    always,
		"syscall.wait6 os.(*Process).blockUntilWaitable os.(*Process).pidWait main.run":                                                                        never,
		"internal/syscall/unix.Waitid os.(*Process).blockUntilWaitable os.(*Process).pidWait main.run":                                                         never,
		"internal/syscall/unix.Waitid os.checkPidfd.func1 os.ignoringEINTR os.checkPidfd sync.OnceValue[...].func1 os.checkPidfdOnce os.StartProcess main.run": never,
		"syscall.Syscall6 syscall.os_checkClonePidfd os.checkPidfd os.StartProcess os/exec.(*Cmd).Start main.run":                                              never,
		"syscall.Wait4 syscall.os_checkClonePidfd os.checkPidfd os.StartProcess os/exec.(*Cmd).Start main.run":                                                 never,
		"syscall.wait4 syscall.Wait4 syscall.forkExec syscall.StartProcess os.StartProcess os/exec.(*Cmd).Start main.run":                                      never,
		"syscall.close os.(*Process).pidfdWait os/exec.(*Cmd).Run main.run":                                                                                    never,
	} {
		v := stackView{}
		for name := range strings.FieldsSeq(names) {
			v.frames = append(v.frames, stack.Frame{Func: name})
		}
		if got := askingOf(v); got != want {
			t.Errorf("%s: %v, want %v", names, got, want)
		}
	}
}
