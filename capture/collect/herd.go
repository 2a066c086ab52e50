package collect

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"time"

	"loupe/format/metrics"
	"loupe/source/system"
)

// Herd runs programs one after the other, for those who measure them: all of them in one
// process group, which goes as a whole when loupe dies. So nothing is started beside a
// program that is being measured. The zero value is ready; Close ends what is left.
type Herd struct{ minder *minder }

// minder is the leader of a process group.
type minder struct {
	sh   *exec.Cmd
	pipe *os.File
}

// Ran is a program that has ended.
type Ran struct {
	// Wall is the time from its start until its end was seen; User, System and
	// Peak are what the kernel says of it and of its children that it has waited for.
	Wall, User, System time.Duration
	// Peak is the largest resident set in bytes. The kernel counts that of loupe too
	// when it starts a program: AtMost tells that Peak is no more than that, and the
	// program's own may be smaller.
	Peak   int64
	AtMost bool
	// Code is its exit code, -1 where a signal ended it; State says it in words.
	Code  int
	State string
	// TimedOut tells that it was ended because it took too long.
	TimedOut bool
	// Before and After are what the machine did.
	Before, After metrics.OSSample
}

// Launch is a program to be run by a [Herd].
type Launch struct {
	Path string // as exec.LookPath finds it
	Args []string
	Dir  string
	Env  []string // nil is loupe's own
	// Stdin is the null device where it is nil, Stdout and Stderr go nowhere.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Timeout bounds how long it runs; 0 does not.
	Timeout time.Duration
}

// Run runs a program to its end. An error is that it could not be started, or that of
// ctx; a program that fails is no error.
func (h *Herd) Run(ctx context.Context, l Launch) (Ran, error) {
	if h.minder == nil {
		m, err := startMinder()
		if err != nil {
			return Ran{}, err
		}
		h.minder = m
	}
	cmd := exec.Command(l.Path, l.Args...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = l.Dir, l.Env, l.Stdin, l.Stdout, l.Stderr
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	if l.Dir != "" {
		cmd.Env = append(cmd.Env, "PWD="+l.Dir)
	}
	cmd.WaitDelay = time.Second // a child that it left holds its output
	h.minder.join(cmd)
	r := Ran{Before: sampleOS(0)}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return r, err
	}
	ours := ownPeak()
	waited := make(chan error, 1)
	go func() { waited <- cmd.Wait() }()
	err := h.await(ctx, waited, cmd.Process, l.Timeout, &r)
	r.Wall = time.Since(start)
	r.After = sampleOS(0)
	if _, ok := errors.AsType[*exec.ExitError](err); ok || errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	if state := cmd.ProcessState; state != nil {
		r.User, r.System, r.Peak = state.UserTime(), state.SystemTime(), system.PeakMemory(state)
		r.AtMost = atMost(r.Peak, ours)
		r.Code, r.State = state.ExitCode(), state.String()
	}
	return r, errors.Join(ctx.Err(), err)
}

// await waits for the end of a program, and makes one where there is no more time.
func (h *Herd) await(ctx context.Context, waited chan error, p *os.Process, timeout time.Duration, r *Ran) error {
	var late <-chan time.Time
	if timeout > 0 {
		t := time.NewTimer(timeout)
		defer t.Stop()
		late = t.C
	}
	select {
	case err := <-waited:
		return err
	case <-late:
		r.TimedOut = true
	case <-ctx.Done():
	}
	h.Close()
	p.Kill()
	return <-waited
}

// Close ends what the programs have left running.
func (h *Herd) Close() {
	if h.minder != nil {
		h.minder.kill()
		h.minder = nil
	}
}

// Tail is a writer that keeps the last bytes of what a program prints.
type Tail struct {
	buf  bytes.Buffer
	Most int
}

// Write keeps p, and forgets what is too old.
func (t *Tail) Write(p []byte) (int, error) {
	t.buf.Write(p)
	if over := t.buf.Len() - t.Most; over > t.Most { // now and then, not at each write
		t.buf.Next(over)
	}
	return len(p), nil
}

// String returns what is kept, from the begin of a line where something is forgotten.
func (t *Tail) String() string {
	b := t.buf.Bytes()
	if over := len(b) - t.Most; over > 0 {
		b = b[over:]
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			b = b[i+1:]
		}
	}
	return string(b)
}

// atMost tells whether the largest resident set that the kernel tells of a process may be loupe's
// own, which it counts too when a process is started.
func atMost(peak, ours int64) bool { return peak <= ours+ours/8 } // pages are counted in lots
