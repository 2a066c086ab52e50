package stacks

import (
	"context"
	"errors"
	"io"
	"net/url"
	"strings"

	"loupe/internal/cli/command"
	"loupe/internal/cli/door"
	"loupe/value/secret"
)

func noClose() error { return nil }

// stacksURL completes an address: :6060, host:6060 and http://host:6060 are the dump
// there.
func stacksURL(name string) (string, error) {
	if strings.HasPrefix(name, ":") {
		name = "localhost" + name
	}
	if !strings.Contains(name, "://") {
		name = "http://" + name
	}
	u, err := url.Parse(name)
	if err != nil || u.Host == "" {
		return "", command.Usagef("cannot understand the address %q: want http://HOST:PORT/debug/pprof/goroutine?debug=2", name)
	}
	switch strings.TrimSuffix(u.Path, "/") {
	case "":
		u.Path = "/debug/pprof/goroutine"
	case "/debug/pprof":
		u.Path = "/debug/pprof/goroutine"
	}
	if q := u.Query(); !q.Has("debug") && strings.HasSuffix(u.Path, "/pprof/goroutine") {
		q.Set("debug", "2")
		u.RawQuery = q.Encode()
	}
	return u.String(), nil
}

// fetch gets a dump from a server within the time that it may take.
func (f *stacksFlags) fetch(e *command.Env) func(context.Context, string) (io.ReadCloser, error) {
	return func(ctx context.Context, address string) (io.ReadCloser, error) {
		ctx, cancel := context.WithTimeout(ctx, f.timeout)
		body, err := door.Fetch(ctx, &f.asking, address)
		if err != nil {
			cancel()
			return nil, f.late(e, address, err)
		}
		return &answer{body, cancel, func(err error) error { return f.late(e, address, err) }}, nil
	}
}

// late says what to do about a server that does not answer in time.
func (f *stacksFlags) late(e *command.Env, address string, err error) error {
	if !errors.Is(err, context.DeadlineExceeded) || e.Ctx.Err() != nil {
		return err
	}
	address = secret.URL(address)
	return command.Nothingf("cannot get %s: no answer within %s (debug=2 stops the program while it collects; allow more time with -timeout, or take the profile, which is quick: loupe pprof %s)",
		address, f.timeout, strings.Replace(address, "debug=2", "debug=0", 1))
}

// answer is the body of an answer that must come in time.
type answer struct {
	io.ReadCloser
	cancel context.CancelFunc
	late   func(error) error
}

// Read reads some of it.
func (a *answer) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = a.late(err)
	}
	return n, err
}

// Close closes it.
func (a *answer) Close() error {
	a.cancel()
	return a.ReadCloser.Close()
}
