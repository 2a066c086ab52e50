package collect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
)

// Server is a program that was started so that load can be put on it, without
// being recorded.
type Server struct {
	command string
	addr    string
	cmd     *exec.Cmd
	done    chan struct{}
	output  tail
}

// StartServer runs a command through the shell and returns when it accepts
// connections at addr, host:port. It fails when something else answers there
// already or in its place, when the command ends or does not listen within wait. What
// listens must come from the command: a descendant, a daemon, or what forwards the port of a
// container.
func StartServer(ctx context.Context, command, addr string, wait time.Duration) (*Server, error) {
	if err := portFree(addr); err != nil {
		return nil, fmt.Errorf("cannot start %q: something listens on %s already (stop it, or leave out the command to load what runs there)", command, addr)
	}
	shell := []string{"/bin/sh", "-c", command}
	if runtime.GOOS == "windows" {
		shell = []string{"cmd", "/c", command}
	}
	s := &Server{command: command, addr: addr, cmd: exec.Command(shell[0], shell[1:]...), done: make(chan struct{})}
	s.cmd.Stdout, s.cmd.Stderr = &s.output, &s.output
	s.cmd.WaitDelay = time.Second // children may hold the pipes
	mark := fmt.Sprintf("LOUPE_SERVER=%d-%d", os.Getpid(), time.Now().UnixNano())
	s.cmd.Env = append(os.Environ(), mark)
	detach(s.cmd)
	started := make(chan error)
	go func() {
		// The kernel ties the end of the child to the thread that started it.
		runtime.LockOSThread()
		err := s.cmd.Start()
		started <- err
		if err == nil {
			s.cmd.Wait()
			close(s.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("cannot start %q: %w", command, err)
	}
	ended := func() error {
		select {
		case <-s.done:
			return fmt.Errorf("%q ended before it listened on %s: %s%s", command, addr, s.cmd.ProcessState, s.output.said())
		default:
			return nil
		}
	}
	if err := dialUntil(ctx, fmt.Sprintf("%q", command), addr, wait, ended); err != nil {
		s.Stop()
		if errors.Is(err, ErrUnreachable) {
			err = fmt.Errorf("%w%s", err, s.output.said())
		}
		return nil, err
	}
	if err := reachesOnly(addr, fmt.Sprintf("%q", command), s.cmd.Process.Pid, mark); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

// Ended returns an error when the server has ended by itself.
func (s *Server) Ended() error {
	select {
	case <-s.done:
		return fmt.Errorf("%q ended during the load: %s%s", s.command, s.cmd.ProcessState, s.output.said())
	default:
		return nil
	}
}

// ServiceCPU is the CPU time until now of the process that listens on a loopback address,
// and its number; 0 where no such process is to be seen.
func ServiceCPU(hostport string) (used time.Duration, pid int) {
	if pid = listenerPID(hostport); pid == 0 {
		return 0, 0
	}
	s := sampleOS(pid)
	return s.User + s.System, pid
}

// Stop ends the server and the children in its group, politely first, and
// returns when nothing listens any more.
func (s *Server) Stop() {
	ended := false
	for _, g := range stopGrace {
		if ended {
			break
		}
		signalGroup(s.cmd.Process, g.signal)
		select {
		case <-s.done:
			ended = true
		case <-time.After(min(g.wait, 2*time.Second)):
		}
	}
	// Children of a shell may outlive it, for a moment even the last signal.
	signalGroup(s.cmd.Process, os.Kill)
	for range 100 {
		if portFree(s.addr) == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// tailBytes is how much of a server's output is kept for an error.
const tailBytes = 2 << 10

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// Write keeps the last bytes of p.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if n := len(t.text) - tailBytes; n > 0 {
		t.text = append(t.text[:0], t.text[n:]...)
	}
	return len(p), nil
}

// said returns the kept text for an error message.
func (t *tail) said() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimSpace(string(bytes.ToValidUTF8(t.text, nil)))
	if text == "" {
		return ""
	}
	return "; it said: " + text
}
