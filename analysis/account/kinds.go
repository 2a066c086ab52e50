package account

import (
	"slices"
	"strings"

	"loupe/format/exectrace"
	"loupe/value/stack"
)

// Kind is what time passes with.
type Kind uint8

// The kinds. The ones of networks, files and processes are told by the stack.
const (
	None Kind = iota
	// Running is own code, and that of libraries that it calls.
	Running
	// Assist is helping the collector (mark assist), Collector another wait for it.
	Assist
	Collector
	// Stopped is a stop of the world, [Row.What] says which.
	Stopped
	// Ready is waiting for a P.
	Ready
	// Lock is a mutex, also of libraries.
	Lock
	// Channel is a channel or a select that another goroutine ended.
	Channel
	// WaitGroup is a sync.WaitGroup, Cond a sync.Cond.
	WaitGroup
	Cond
	// Pool is waiting for a connection of a pool: of database/sql, or of net/http.
	Pool
	// Sleep is time.Sleep, Timer a channel or select that a timer ended.
	Sleep
	Timer
	// Limit is a call of a peer whose time limit has ended before an answer came.
	Limit
	// Dial, Resolve and Handshake make connections: the peer's answer to TCP, DNS and TLS.
	Dial
	Resolve
	Handshake
	// Answer is reading from a connection, Send writing to one that takes no more.
	Answer
	Send
	// Client is the client of the request itself, which sends its body or reads the
	// response slowly; Accept is a listener.
	Client
	Accept
	// Idle is a connection without a request: it is in no unit.
	Idle
	// Pipe is a pipe or a terminal.
	Pipe
	// Socket, File and Syscall are system calls, on sockets, files and what else.
	Socket
	File
	Syscall
	// Cgo is a call of C.
	Cgo
	// Child is another program: starting it, and waiting for its end.
	Child
	// Other waits have other reasons; Unknown is time in which who was waited for was
	// not there yet, or that is too long ago.
	Other
	Unknown
	kinds
)

// kindNames have the JSON name, the words in tables, and a clause: "a unit spends its
// time …".
var kindNames = [kinds][3]string{
	None:      {"none", "–", ""},
	Running:   {"running", "running", "running"},
	Assist:    {"mark_assist", "mark assist", "helping the collector (mark assist)"},
	Collector: {"collector", "waiting for the GC", "waiting for the collector"},
	Stopped:   {"stop_the_world", "stop-the-world", "in stops of the world"},
	Ready:     {"runnable", "waiting for a P", "waiting for a P"},
	Lock:      {"lock", "lock", "waiting for a lock"},
	Channel:   {"channel", "channel or select", "waiting for a channel"},
	WaitGroup: {"wait_group", "WaitGroup", "waiting for a WaitGroup"},
	Cond:      {"cond", "sync.Cond", "waiting for a sync.Cond"},
	Pool:      {"pool", "connection pool", "waiting for a pooled connection"},
	Sleep:     {"sleep", "sleep", "sleeping"},
	Timer:     {"timer", "timer", "waiting for a timer"},
	Limit:     {"time_limit", "time limit of a call", "waiting for an answer until the call's time limit ends"},
	Dial:      {"dial", "network: dial", "connecting to a peer"},
	Resolve:   {"dns", "network: DNS", "waiting for DNS"},
	Handshake: {"tls", "network: TLS handshake", "waiting in TLS handshakes"},
	Answer:    {"network", "network: answer", "waiting for a peer's answer"},
	Send:      {"network_write", "network: write", "waiting for a peer that reads too slowly"},
	Client:    {"client", "network: own client", "waiting for its own client"},
	Idle:      {"idle", "no request", "waiting for a request"},
	Accept:    {"accept", "network: accept", "waiting for connections"},
	Pipe:      {"pipe", "pipe or terminal", "waiting for a pipe or a terminal"},
	Socket:    {"socket_call", "system call: socket", "in system calls on sockets"},
	File:      {"file_call", "system call: file", "in system calls on files"},
	Syscall:   {"system_call", "system call", "in system calls"},
	Cgo:       {"cgo", "cgo call", "in C code"},
	Child:     {"process", "child process", "waiting for another process"},
	Other:     {"other", "other wait", "waiting for something else"},
	Unknown:   {"unknown", "not known", "in ways that the trace does not show"},
}

// Key is the kind's name in JSON: "mark_assist".
func (k Kind) Key() string { return kindNames[k%kinds][0] }

// String returns what tables call it: "mark assist".
func (k Kind) String() string { return kindNames[k%kinds][1] }

// Clause says what a unit does then: "waiting for a lock".
func (k Kind) Clause() string { return kindNames[k%kinds][2] }

// followed tells whether another goroutine is what is waited for.
func (k Kind) followed() bool {
	switch k {
	case Lock, Channel, WaitGroup, Cond, Pool, Other:
		return true
	}
	return false
}

// Network tells whether somebody across a network is what is waited for.
func (k Kind) Network() bool { return k >= Dial && k <= Send }

// stackView is what the stack of a wait or system call tells of its kind.
type stackView struct {
	frames []stack.Frame
}

// has tells whether a function of the stack begins with one of several names.
func (v stackView) has(prefixes ...string) bool {
	return slices.ContainsFunc(v.frames, func(f stack.Frame) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(f.Func, p) })
	})
}

// nearest is the first of several beginnings of names that a function has, from the one that waits on: a file that is written
// what comes from a connection waits for the connection.
func (v stackView) nearest(prefixes ...string) string {
	for _, f := range v.frames {
		for _, p := range prefixes {
			if strings.HasPrefix(f.Func, p) {
				return p
			}
		}
	}
	return ""
}

// The functions of the standard library by which kinds are told.
var (
	resolvers  = []string{"net.(*Resolver).", "net.cgoLookup", "net.cgoResolve", "net.(*resolverConfig).", "net.doBlockingWithCtx", "net._C_getaddrinfo", "internal/singleflight."}
	dialers    = []string{"net.(*netFD).connect", "net.(*netFD).dial", "net.(*sysDialer).", "net.(*Dialer).", "net.Dial"}
	handshakes = []string{"crypto/tls.(*Conn).handshake", "crypto/tls.(*Conn).Handshake", "crypto/tls.(*Conn).clientHandshake", "crypto/tls.(*Conn).serverHandshake"}
	acceptors  = []string{"internal/poll.(*FD).Accept", "net.(*netFD).accept"}
	processes  = []string{"os/exec.", "os.(*Process).", "os.StartProcess", "syscall.forkExec", "syscall.StartProcess", "syscall.wait4"}
	ownClients = []string{"net/http.(*connReader).", "net/http.(*body).", "net/http.(*response).", "net/http.checkConnErrorWriter.", "net/http.(*http2requestBody).", "net/http.(*http2responseWriter", "net/http.(*expectContinueReader).",
		"net/http.(*http2serverConn).", "golang.org/x/net/http2.(*serverConn).", "google.golang.org/grpc/internal/transport.(*http2Server)."}
	pools = []string{"database/sql.(*DB).conn"}
	// takers wait for a connection of net/http, a new one or one that givers are done with.
	takers = []string{"net/http.(*Transport).getConn"}
	givers = []string{"net/http.(*Transport).tryPutIdleConn", "net/http.(*Transport).putOrCloseIdleConn"}
)

// limited tells of a wait which a timer ended that it was for a peer: the timer is the time limit of
// the call. What else waits within a call, as for the next try, is left out.
func limited(v stackView) bool {
	const grpc = "google.golang.org/grpc."
	return v.has(takers...) || v.has(resolvers...) || v.has("net/http.(*persistConn).roundTrip", "net/http.(*http2ClientConn).", "net/http/internal/http2.(*ClientConn).", "golang.org/x/net/http2.(*ClientConn).") ||
		v.has(grpc+"(*ClientConn).Invoke", grpc+"invoke") && v.has(grpc+"(*pickerWrapper).", "google.golang.org/grpc/internal/transport.(*recvBufferReader).", "google.golang.org/grpc/internal/transport.(*Stream).", "google.golang.org/grpc/internal/transport.(*ClientStream).")
}

// waitKind tells the kind of a wait by its reason and its stack.
func waitKind(r *exectrace.Reader, reason exectrace.NameID, id stack.ID, v stackView) Kind {
	switch reason {
	case exectrace.NameNetwork:
		return networkKind(v)
	case exectrace.NameSleep:
		return Sleep
	case exectrace.NameSelect, exectrace.NameChanSend, exectrace.NameChanReceive:
		if v.has(pools...) {
			return Pool
		}
		return Channel
	case exectrace.NameCond:
		return Cond
	case exectrace.NameSync:
		switch {
		case v.has("runtime.stopTheWorld"):
			return Stopped // somebody else has stopped it
		case exectrace.IsCollectorWait(r.Stacks(), id, reason):
			return Collector
		case v.has("sync.(*WaitGroup).Wait"): // those that WaitGroup.Go has started wait for other things
			return WaitGroup
		}
		return Lock
	}
	switch name := r.Name(reason); {
	case reason == exectrace.NameNone: // since before the trace: the stack tells, with the frames of the runtime
		return olderKind(v)
	case strings.HasPrefix(name, "GC") || strings.Contains(name, " GC"):
		return Collector
	case strings.HasPrefix(name, "chan") || strings.HasPrefix(name, "select"):
		return Channel
	case strings.Contains(name, "semacquire") || strings.HasPrefix(name, "sync."):
		return Lock
	}
	return Other
}

// olderKind is the kind of a wait of which the trace has no reason.
func olderKind(v stackView) Kind {
	switch {
	case v.has("runtime.netpollblock", "internal/poll."):
		return networkKind(v)
	case v.has("runtime.chanrecv", "runtime.chansend", "runtime.selectgo"):
		return Channel
	case v.has("runtime.timeSleep", "time.Sleep"):
		return Sleep
	case v.has("sync.(*WaitGroup).Wait"):
		return WaitGroup
	case v.has("sync.(*Cond)."):
		return Cond
	case v.has("sync.(*Mutex).", "sync.(*RWMutex).", "sync.(*Once).", "sync.runtime_", "internal/sync."):
		return Lock
	}
	return Other
}

// networkKind tells waits for the poller apart.
func networkKind(v stackView) Kind {
	switch {
	case v.has(acceptors...):
		return Accept
	case v.has(processes...):
		return Child
	case v.nearest("os.(*File).", "net.", "internal/poll.SendFile", "internal/poll.Splice") == "os.(*File).":
		return Pipe
	case v.has(resolvers...):
		return Resolve
	case v.has(handshakes...):
		return Handshake
	case v.has(dialers...):
		return Dial
	case v.has(ownClients...) && !v.has("net/http.(*persistConn)."):
		return Client
	case v.has("internal/poll.(*FD).Write", "net.(*conn).Write", "internal/poll.(*FD).waitWrite", "internal/poll.SendFile"):
		return Send
	}
	return Answer
}

// callKind tells system calls apart.
func callKind(v stackView) Kind {
	switch {
	case v.has(processes...):
		return Child
	case v.has(resolvers...):
		return Resolve
	case v.nearest("net.", "os.(*File).") == "net.":
		return Socket
	case v.has("os.", "io/ioutil.", "path/filepath."), v.has(fileCalls...), v.has(fileTransfers...):
		return File
	case v.has("runtime.cgocall"):
		return Cgo
	}
	return Syscall
}
