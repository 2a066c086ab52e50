package collect

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// portFree fails when something else answers where the program will listen.
func portFree(at ...Endpoint) error {
	for _, e := range at {
		c, err := e.dial(context.Background(), time.Second)
		if err != nil {
			continue
		}
		c.Close()
		return fmt.Errorf("cannot record: something listens on %s already (stop it, or record it with `loupe attach`)", e)
	}
	return nil
}

// ErrUnreachable is wrapped by errors that say that the target does not
// answer.
var ErrUnreachable = errors.New("the target cannot be reached")

// ErrForeign is wrapped by errors that say that a load would reach another
// process than the one that it is meant for, or has.
var ErrForeign = errors.New("another process listens")

// foreigner is the error of a process that listens instead of the program of a name, or besides.
type foreigner struct {
	at   Endpoint
	name string
	pid  int // 0 where it is another user's
}

// who is the process.
func (f foreigner) who() string {
	if f.pid == 0 {
		return "a process of another user"
	}
	return withNumber(f.pid)
}

// Error says who it is and what to do.
func (f foreigner) Error() string {
	return fmt.Sprintf("%v: %s accepts connections on %s, but the load is meant for %s (stop that process, or give the program and the URL another %s)", ErrForeign, f.who(), f.at, f.name, f.at.which())
}

// Unwrap is [ErrForeign].
func (f foreigner) Unwrap() error { return ErrForeign }

// waitPort waits until the program accepts connections wherever the load connects to, makes sure
// that nobody else does so in its place, and finds out which process it is that does.
func (r *running) waitPort(ctx context.Context, plan Plan) error {
	ended := func() error {
		if r.proc.ended() {
			return fmt.Errorf("%s ended before it listened on %s: %s%s", r.prog.name(), plan.WaitFor[0], r.ending(), daemons(r.proc))
		}
		return nil
	}
	for _, e := range plan.WaitFor {
		if err := dialUntil(ctx, r.prog.name(), e, plan.Wait, ended); err != nil {
			return err
		}
	}
	r.answers.lookout = newLookout(plan.WaitFor, r.prog.name(), r.proc.PID, r.proc.mark)
	s, err := r.answers.lookout.who()
	if err != nil {
		return err
	}
	takeFiguresOf(r, s)
	return nil
}

// daemons says of a program that has ended which processes it has left running, and what to do.
func daemons(proc *Process) string {
	left := marked(proc.mark)
	if len(left) == 0 {
		return ""
	}
	return fmt.Sprintf("; it has left %s running, as a program does that goes into the background: loupe can only record one that stays in the foreground (most have a flag for it), or attach to one that you have started yourself (loupe attach PID)", withNumbers(left))
}

// dialUntil waits until the program of a name accepts connections at an endpoint, as long
// as ended returns no error; a wait of 0 is half a minute.
func dialUntil(ctx context.Context, name string, at Endpoint, wait time.Duration, ended func() error) error {
	if wait <= 0 {
		wait = 30 * time.Second
	}
	deadline := time.Now().Add(wait)
	for {
		if err := ended(); err != nil {
			return err
		}
		c, err := at.dial(ctx, time.Second)
		if err == nil {
			return c.Close()
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%w: %s does not listen on %s after %v (is it the right %s? -wait gives it longer)", ErrUnreachable, name, at, wait, at.which())
		}
		sleep(ctx, 10*time.Millisecond)
	}
}
