// Package accounttest makes traces of programs that serve requests, for tests of what is
// said of them: event by event, on one P, with times that are always the same.
package accounttest

import (
	"fmt"
	"strings"
	"time"
)

// Program is a program on one P in the making.
type Program struct {
	text  strings.Builder
	seq   map[int]int
	now   time.Duration
	last  time.Duration // of the event before
	lines int
	p     int
	// serving tells that main waits for connections.
	serving bool
}

// Stacks of the standard library that a server is at, the leaf first.
const (
	Serve  = "net/http.(*conn).serve@server.go:1"
	Peek   = "internal/poll.(*FD).Read@fd.go:1;bufio.(*Reader).Peek@bufio.go:2;" + Serve
	Begin  = "net/http.(*connReader).startBackgroundRead@server.go:3;" + Serve
	Finish = "syscall.write@zsyscall.go:1;bufio.(*Writer).Flush@bufio.go:4;net/http.(*response).finishRequest@server.go:5;" + Serve
	Over   = "net/http.(*connReader).abortPendingRead@server.go:6;net/http.(*response).finishRequest@server.go:7;" + Serve
	// Handler is what stands below a handler.
	Handler = "net/http.HandlerFunc.ServeHTTP@server.go:8;net/http.serverHandler.ServeHTTP@server.go:9;" + Serve
)

// New begins a program with main, goroutine 1, which runs.
func New() *Program {
	p := &Program{seq: map[int]int{}}
	p.text.WriteString("Trace Go1.23\n")
	p.batch()
	p.event("ProcStatus", "p=0 pstatus=running")
	p.event("GoStatus", "g=1 m=0 gstatus=running")
	return p
}

// NewWaiting begins a program with main, goroutine 1, in a wait of which the trace has no stack, and nobody who runs.
func NewWaiting() *Program {
	p := &Program{seq: map[int]int{}}
	p.text.WriteString("Trace Go1.23\n")
	p.batch()
	p.event("ProcStatus", "p=0 pstatus=running")
	p.event("GoStatus", "g=1 m=%d gstatus=waiting", uint64(1<<64-1))
	return p
}

func (p *Program) batch() {
	fmt.Fprintf(&p.text, "EventBatch gen=1 m=0 time=%d\n", 1000+int64(p.now))
	p.last, p.lines = p.now, 0
}

func (p *Program) event(name, format string, args ...any) {
	if p.lines++; p.lines > 1000 { // a batch has a bound
		p.batch()
	}
	p.now++ // no two events have one time
	fmt.Fprintf(&p.text, "%s dt=%d %s\n", name, p.now-p.last, fmt.Sprintf(format, args...))
	p.last = p.now
}

// Text is the program as the text of a trace.
func (p *Program) Text() string { return p.text.String() }

// Pass lets time go by: whatever goes on goes on for so long.
func (p *Program) Pass(d time.Duration) { p.now += d }

// Create makes a goroutine that begins with a function; the current one is at a stack.
func (p *Program) Create(g int, function, stack string) {
	p.seq[g] = 0
	p.event("GoCreate", "new_g=%d new_stack=%s@x.go:1 stack=%s", g, function, stack)
}

// Start runs a goroutine.
func (p *Program) Start(g int) {
	p.seq[g]++
	p.event("GoStart", "g=%d g_seq=%d", g, p.seq[g])
}

// Block lets the current goroutine wait.
func (p *Program) Block(reason, stack string) {
	p.event("GoBlock", "reason_string=%q stack=%s", reason, stack)
}

// Preempt takes the P from the current goroutine.
func (p *Program) Preempt(stack string) {
	p.event("GoStop", "reason_string=preempted stack=%s", stack)
}

// Wake ends the wait of a goroutine. The stack is that of the current one, or empty
// where there is none.
func (p *Program) Wake(g int, stack string) {
	p.seq[g]++
	p.event("GoUnblock", "g=%d g_seq=%d stack=%s", g, p.seq[g], stack)
}

// End is the end of the current goroutine.
func (p *Program) End() { p.event("GoDestroy", "") }

// Call is a system call of the current goroutine.
func (p *Program) Call(d time.Duration, stack string) {
	p.p++
	p.event("GoSyscallBegin", "p_seq=%d stack=%s", p.p, stack)
	p.Pass(d)
	p.event("GoSyscallEnd", "")
}

// Stop stops the world for a time, from a stack of the current goroutine.
func (p *Program) Stop(kind string, d time.Duration, stack string) {
	p.StopBegin(kind, stack)
	p.Pass(d)
	p.StopEnd()
}

// StopBegin and StopEnd are its begin and end.
func (p *Program) StopBegin(kind, stack string) {
	p.event("STWBegin", "kind_string=%q stack=%s", kind, stack)
}

// StopEnd ends a stop of the world.
func (p *Program) StopEnd() { p.event("STWEnd", "") }

// Event adds any event.
func (p *Program) Event(name, args string) { p.event(name, "%s", args) }

// Connect makes the goroutine of a connection, which waits for a request; nobody runs
// then, and main waits for connections. For the next one main goes on.
func (p *Program) Connect(g int) {
	if p.serving {
		p.Wake(1, "")
		p.Start(1)
	}
	p.serving = true
	p.Create(g, "net/http.(*conn).serve", "net/http.(*Server).Serve@server.go:2;main.main@main.go:1")
	p.Block("network", "internal/poll.(*FD).Accept@fd.go:2;net/http.(*Server).Serve@server.go:2;main.main@main.go:1")
	p.Start(g)
	p.Block("network", Peek)
}

// Arrive is a request on a connection, up to its handler, which runs.
func (p *Program) Arrive(g int) {
	p.Wake(g, "")
	p.Pass(time.Microsecond)
	p.Start(g)
	p.Call(time.Microsecond, strings.Replace(Peek, "internal/poll", "syscall.read@z.go:1;internal/poll", 1))
	p.Create(1000+g, "net/http.(*connReader).backgroundRead", Begin)
}

// Respond writes the response, and waits for the next request.
func (p *Program) Respond(g int) {
	p.Call(5*time.Microsecond, Finish)
	p.Block("sync.(*Cond).Wait", "sync.(*Cond).Wait@cond.go:1;"+Over)
	p.Start(1000 + g)
	p.Wake(g, "sync.(*Cond).Broadcast@cond.go:2;net/http.(*connReader).backgroundRead@server.go:9")
	p.End()
	p.Start(g)
	p.Block("network", Peek)
}

// In is a stack in a handler: leaf frames before it, the leaf first.
func In(frames ...string) string { return strings.Join(append(frames, Handler), ";") }
