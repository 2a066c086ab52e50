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
	at      Endpoint
	cmd     *exec.Cmd
	mark    string
	family  *family
	done    chan struct{}
	output  tail
	lookout *lookout
	watched *background // for those who listen in its place
}

// StartServer runs a command through the shell and returns when it accepts
// connections at an endpoint. It fails when something else answers there
// already or in its place, when the command ends or does not listen within wait. What
// listens must come from the command: a descendant, a daemon, or what forwards the port of a
// container.
func StartServer(ctx context.Context, command string, at Endpoint, wait time.Duration) (*Server, error) {
	if err := portFree(at); err != nil {
		return nil, fmt.Errorf("cannot start %q: something listens on %s already (stop it, or leave out the command to load what runs there)", command, at)
	}
	shell := []string{"/bin/sh", "-c", command}
	if runtime.GOOS == "windows" {
		shell = []string{"cmd", "/c", command}
	}
	s := &Server{command: command, at: at, cmd: exec.Command(shell[0], shell[1:]...), mark: newMark(), done: make(chan struct{})}
	s.cmd.Stdout, s.cmd.Stderr = &s.output, &s.output
	s.cmd.WaitDelay = time.Second // children may hold the pipes
	s.cmd.Env = append(os.Environ(), s.mark)
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
	s.family = newFamily(s.cmd.Process.Pid, s.mark)
	s.family.look(0)
	ended := func() error {
		select {
		case <-s.done:
			return fmt.Errorf("%q ended before it listened on %s: %s%s", command, at, s.cmd.ProcessState, s.output.said()+s.daemons())
		default:
			return nil
		}
	}
	if err := dialUntil(ctx, fmt.Sprintf("%q", command), at, wait, ended); err != nil {
		s.Stop()
		if errors.Is(err, ErrUnreachable) {
			err = fmt.Errorf("%w%s", err, s.output.said())
		}
		return nil, err
	}
	s.lookout = newLookout([]Endpoint{at}, fmt.Sprintf("%q", command), s.cmd.Process.Pid, s.mark)
	if _, err := s.lookout.who(); err != nil {
		s.Stop()
		return nil, err
	}
	s.watched = inBackground(func(ctx context.Context) error {
		_, err := s.lookout.watch(ctx)
		return err
	})
	return s, nil
}

// daemons says which processes the command has left running, now that it has ended.
func (s *Server) daemons() string {
	left := marked(s.mark)
	if len(left) == 0 {
		return ""
	}
	return fmt.Sprintf("; it has left %s running, as a program does that goes into the background: give a command that stays in the foreground (most have a flag for it)", withNumbers(left))
}

// Ours returns an error when what was measured is not that of the server alone: it has ended by
// itself, or somebody else has listened in its place or besides.
func (s *Server) Ours() error {
	if err := s.Ended(); err != nil {
		return err
	}
	if err := s.watched.stop(); err != nil {
		return err
	}
	_, err := s.lookout.who()
	return err
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

// ServiceCPU is the CPU time until now of the process that listens at an endpoint of this machine,
// and its number; 0 where no such process is to be seen, or several are.
func ServiceCPU(at Endpoint) (used time.Duration, pid int) {
	if pid = listenerPID(at); pid == 0 {
		return 0, 0
	}
	s := sampleOS(pid)
	return s.User + s.System, pid
}

// Stop ends the server, the children in its group and what else has come from it, politely first,
// and returns when nothing listens any more.
func (s *Server) Stop() {
	if s.watched != nil {
		s.watched.stop()
	}
	s.family.look(0) // what comes from it is to be seen as long as it is there
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
	s.family.end(leftGrace)
	for range 100 {
		if portFree(s.at) == nil {
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
