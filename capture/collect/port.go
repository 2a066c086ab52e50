package collect

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

// portFree fails when something else answers where the program will listen.
func portFree(addr string) error {
	c, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return nil
	}
	c.Close()
	return fmt.Errorf("cannot record: something listens on %s already (stop it, or record it with `loupe attach`)", addr)
}

// ErrUnreachable is wrapped by errors that say that the target does not
// answer.
var ErrUnreachable = errors.New("the target cannot be reached")

// ErrForeign is wrapped by errors that say that a load would reach another
// process than the one that it is meant for.
var ErrForeign = errors.New("another process listens")

// waitPort waits until the program accepts connections, and makes sure that nobody else
// does so in its place.
func (r *running) waitPort(ctx context.Context, addr string, wait time.Duration) error {
	ended := func() error {
		if r.proc.ended() {
			return fmt.Errorf("%s ended before it listened on %s: %s", r.prog.name(), addr, r.ending())
		}
		return nil
	}
	if err := dialUntil(ctx, r.prog.name(), addr, wait, ended); err != nil {
		return err
	}
	return reachesOnly(addr, r.prog.name(), r.proc.PID, "")
}

// dialUntil waits until the program of a name accepts connections at addr, as long
// as ended returns no error; a wait of 0 is half a minute.
func dialUntil(ctx context.Context, name, addr string, wait time.Duration, ended func() error) error {
	if wait <= 0 {
		wait = 30 * time.Second
	}
	deadline := time.Now().Add(wait)
	var d net.Dialer
	for {
		if err := ended(); err != nil {
			return err
		}
		dctx, cancel := context.WithTimeout(ctx, time.Second)
		c, err := d.DialContext(dctx, "tcp", addr)
		cancel()
		if err == nil {
			return c.Close()
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%w: %s does not listen on %s after %v (is it the right port? -wait gives it longer)", ErrUnreachable, name, addr, wait)
		}
		sleep(ctx, 10*time.Millisecond)
	}
}
