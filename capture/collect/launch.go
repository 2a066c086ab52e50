package collect

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"loupe/capture/agent"
	"loupe/recording"
	"loupe/source/system"
)

// LaunchOptions say how a program is started.
type LaunchOptions struct {
	Args []string
	Env  []string // besides that of loupe
	// Stdin and Stdout are given to the program as they are; nil is the
	// null device.
	Stdin, Stdout *os.File
	// KeepStdout keeps the standard output in the recording instead; Show, if
	// set, is written the same.
	KeepStdout bool
	Show       io.Writer
	// Stderr, if set, is written what the program prints to its standard
	// error, without the lines that the runtime prints for loupe.
	Stderr io.Writer
	// Pipe reads standard error through a pipe even where a socket pair is
	// possible: for programs that write more than 200 KB at once or open
	// /dev/stderr.
	Pipe bool
	// StopWait is how long the program may take to end after an interrupt; [DefaultStopWait] when zero.
	StopWait time.Duration
	// GODEBUG is merged with the user's own setting, which wins.
	GODEBUG string
	// Whole asks the agent for one capture over the whole life of the
	// program, as a phase name and the file it goes to.
	Whole, WholeFile string
	// Own is a directory in which the agent keeps what the program captures
	// of itself; empty for nothing.
	Own string
}

// stderrSink takes what arrives on the program's standard error.
type stderrSink interface {
	// started is called before the first packet, with the process that was
	// started.
	started(pid int)
	// packet takes what one write of the program held, or a piece of the
	// stream where packets are not kept apart. from is the process that wrote
	// it, which may be a child of the program; 0 where that is not known.
	packet(p []byte, at time.Time, from int)
	// end is called once after the last packet.
	end()
}

// drainTime is how long what is still on its way may take to arrive after the
// program has ended.
const drainTime = 50 * time.Millisecond

// readStream hands everything that r gives to sink, in pieces as they come.
func readStream(r io.Reader, sink stderrSink) {
	buf := make([]byte, 64<<10)
	for {
		n, err := r.Read(buf)
		if n > 0 {
			sink.packet(buf[:n], time.Now(), 0)
		}
		if err != nil {
			return
		}
	}
}

// Process is a program that loupe started.
type Process struct {
	PID     int
	Started time.Time

	cmd    *exec.Cmd
	hurry  <-chan struct{} // closed when the user wants to end; nil is never
	grace  time.Duration   // to end after an interrupt
	agent  string          // path of the agent's socket
	own    string          // where the agent keeps what it notes
	mark   string          // is in the environment of all that comes from it
	family *family         // it, and all that comes from it
	ours   int64           // loupe's largest resident set when it started the process, in bytes
	peak   int64           // its own as far as samples have shown it, in bytes; 0 where nobody has looked
	done   chan struct{}
	// Set before done is closed: what cmd.Wait returned, and when.
	waited   error
	finished time.Time

	mu      sync.Mutex
	stopped bool          // loupe asked it to end
	late    time.Duration // how long it had had to end at the last signal after the interrupt; 0 where none was needed
	killed  bool          // that was the last one that there is
	server  int           // the process that answers, where it is another one
}

// output is where a process writes to: its standard error goes through reader to
// sink, its standard output to out, unless that is nil.
type output struct {
	reader *stderrReader
	sink   stderrSink
	out    *stdoutLog
}

// close gives up before anything was started.
func (o output) close() {
	o.reader.close()
	if o.out != nil {
		o.out.close()
	}
}

// begin reads what the process writes, now that it has its ends.
func (o output) begin(ended <-chan struct{}) {
	o.reader.child.Close()
	if o.out != nil {
		o.out.begin(ended)
	}
	go func() {
		<-ended
		o.reader.drain()
	}()
	go func() {
		o.reader.readAll(o.sink)
		o.sink.end()
	}()
}

// launch starts p. The process dies when loupe does (on Linux, whatever way
// loupe dies).
func (p *Program) launch(opt LaunchOptions, temp string, to output) (*Process, error) {
	proc := &Process{done: make(chan struct{}), grace: cmp.Or(opt.StopWait, DefaultStopWait), own: opt.Own, ours: ownPeak(), mark: newMark()}
	if p.Agent {
		proc.agent = filepath.Join(temp, fmt.Sprintf("agent-%d", time.Now().UnixNano()))
	}
	cmd := exec.Command(p.Path, opt.Args...)
	cmd.Dir = p.Dir
	env, err := p.environment(opt, temp, proc.agent)
	if err != nil {
		to.close()
		return nil, fmt.Errorf("cannot start %s: %w", p.name(), err)
	}
	cmd.Env = append(env, proc.mark)
	// A nil *os.File in an interface would not be a nil interface.
	if opt.Stdin != nil {
		cmd.Stdin = opt.Stdin
	}
	if opt.Stdout != nil {
		cmd.Stdout = opt.Stdout
	}
	if to.out != nil {
		cmd.Stdout = to.out.child
	}
	cmd.Stderr = to.reader.child
	detach(cmd)
	proc.cmd = cmd
	if err := proc.start(); err != nil {
		to.close()
		return nil, fmt.Errorf("cannot start %s: %w", p.name(), err)
	}
	to.sink.started(proc.PID)
	to.begin(proc.done)
	return proc, nil
}

// environment is that of the program, with what is for the runtime and for the
// agent that listens on socket, if there is one.
func (p *Program) environment(opt LaunchOptions, temp, socket string) ([]string, error) {
	env := append(os.Environ(), opt.Env...)
	users := "-"
	if v, ok := lookupEnv(env, "GODEBUG"); ok {
		users = "=" + v
	}
	if socket != "" {
		env = append(env, agent.SocketEnv+"="+socket, agent.OwnEnv+"="+opt.Own, agent.GodebugEnv+"="+users)
		if opt.Whole != "" {
			env = append(env, agent.WholeEnv+"="+opt.Whole+":"+opt.WholeFile)
		}
	}
	ours := p.debugs(opt.GODEBUG)
	if ours == "" {
		return env, nil
	}
	env = append(env, "GODEBUG="+MergeGODEBUG(lastEnv(env, "GODEBUG"), ours))
	if socket == "" {
		path, err := keepOut(temp, lastEnv(env, "PATH"), users)
		if err != nil {
			return nil, err
		}
		if path != "" {
			env = append(env, "PATH="+path)
		}
	}
	return env, nil
}

// start runs the command from a thread that lives as long as the process:
// Linux sends the parent-death signal when that thread ends, not when the
// parent process does.
func (proc *Process) start() error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		proc.Started = time.Now()
		err := proc.cmd.Start()
		started <- err
		if err != nil {
			return
		}
		stopMinding := mind(proc.cmd.Process.Pid)
		awaitEnd(proc.cmd.Process)
		proc.waited, proc.finished = proc.cmd.Wait(), time.Now()
		stopMinding()
		close(proc.done)
	}()
	if err := <-started; err != nil {
		return err
	}
	proc.PID = proc.cmd.Process.Pid
	proc.family = newFamily(proc.PID, proc.mark)
	proc.family.look(proc.PID)
	return nil
}

// ended tells whether the process has ended.
func (proc *Process) ended() bool {
	select {
	case <-proc.done:
		return true
	default:
		return false
	}
}

// DefaultStopWait is how long a program may take to end after an interrupt, and TerminateWait how long after the
// SIGTERM that follows it, before it is killed.
const (
	DefaultStopWait = 5 * time.Second
	TerminateWait   = 2 * time.Second
)

// stopGrace is how long a program may take to end after each signal.
var stopGrace = []struct {
	signal os.Signal
	wait   time.Duration
}{{os.Interrupt, DefaultStopWait}, {terminate, TerminateWait}, {os.Kill, 5 * time.Second}}

// leftGrace is how long a process that was left running may take to end.
const leftGrace = 2 * time.Second

// hurriedGrace is the same for each of them when the user has pressed Ctrl-C,
// and waits.
const hurriedGrace = 250 * time.Millisecond

// Stop ends the process: first politely, so that a server can finish what it
// is doing, then firmly, and sooner when the user waits. It returns when the process
// has ended, or after the last signal's wait.
func (proc *Process) Stop() {
	began := time.Now()
	for _, s := range stopGrace {
		if proc.ended() {
			return
		}
		proc.mu.Lock()
		proc.stopped = true
		if s.signal != os.Interrupt {
			proc.late, proc.killed = time.Since(began), s.signal == os.Kill
		}
		proc.mu.Unlock()
		signalGroup(proc.cmd.Process, s.signal)
		wait := s.wait
		if s.signal == os.Interrupt {
			wait = proc.grace
		}
		if proc.endsWithin(wait) {
			// Children of a script may outlive it.
			signalGroup(proc.cmd.Process, os.Kill)
			return
		}
	}
}

// endsWithin waits for the end of the process, but not long when there is a hurry.
func (proc *Process) endsWithin(wait time.Duration) bool {
	late := time.After(wait)
	hurry := proc.hurry
	for {
		select {
		case <-proc.done:
			return true
		case <-late:
			return false
		case <-hurry:
			late, hurry = time.After(min(wait, hurriedGrace)), nil
		}
	}
}

// Kill ends the process at once.
func (proc *Process) Kill() {
	proc.mu.Lock()
	proc.stopped = true
	proc.mu.Unlock()
	signalGroup(proc.cmd.Process, os.Kill)
	proc.family.end(0)
}

// run describes the process for the manifest; while it runs only what is
// known of a running process.
func (proc *Process) run(w *recording.Writer) recording.Run {
	r := recording.Run{PID: proc.PID}
	r.Span.Start = w.At(proc.Started)
	proc.mu.Lock()
	r.Server = proc.server
	proc.mu.Unlock()
	if !proc.ended() {
		return r
	}
	r.Span.End = w.At(proc.finished)
	proc.mu.Lock()
	r.Stopped = proc.stopped
	proc.mu.Unlock()
	state := proc.cmd.ProcessState
	r.User, r.System, r.MaxRSS = state.UserTime(), state.SystemTime(), system.PeakMemory(state)
	// The kernel tells the largest of the process, of loupe when it started it, and of the children that
	// it has waited for.
	end := endPeak(proc.own)
	if own := max(end, proc.peak); atMost(r.MaxRSS, proc.ours) || end > 0 || own > 0 && proc.family.met() {
		r.MaxRSS = own
	}
	r.Exit = state.String()
	return r
}

// waitAgent waits until the agent answers: its socket is there a moment before
// it listens. A false answer means that the program has ended or never reached
// its init functions.
func (proc *Process) waitAgent(ctx context.Context) bool {
	if proc.agent == "" {
		return false
	}
	deadline := time.After(10 * time.Second)
	for {
		if c, err := net.Dial("unix", proc.agent); err == nil {
			c.Close()
			return true
		}
		select {
		case <-proc.done:
			return false
		case <-ctx.Done():
			return false
		case <-deadline:
			return false
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// MergeGODEBUG joins two values of GODEBUG; of a key in both, the first one counts.
func MergeGODEBUG(users, ours string) string {
	have := map[string]bool{}
	var out []string
	for _, kv := range strings.Split(users, ",") {
		if key, _, _ := strings.Cut(kv, "="); key != "" {
			have[key] = true
			out = append(out, kv)
		}
	}
	for _, kv := range strings.Split(ours, ",") {
		if key, _, _ := strings.Cut(kv, "="); key != "" && !have[key] {
			out = append(out, kv)
		}
	}
	return strings.Join(out, ",")
}

// lookupEnv returns the value that counts for a name in an environment.
func lookupEnv(env []string, name string) (string, bool) {
	for _, kv := range slices.Backward(env) {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v, true
		}
	}
	return "", false
}

// lastEnv returns the value that counts, "" where there is none.
func lastEnv(env []string, name string) string {
	v, _ := lookupEnv(env, name)
	return v
}

// runtimeEnv lists the settings in env that steer the Go runtime.
func runtimeEnv(env []string) []string {
	var out []string
	for _, name := range []string{"GODEBUG", "GOGC", "GOMEMLIMIT", "GOMAXPROCS", "GOTRACEBACK"} {
		if v := lastEnv(env, name); v != "" {
			out = append(out, name+"="+v)
		}
	}
	return out
}
