// Package forwarding has the flags of loupe serve about the server that is sent all profiles as
// well.
package forwarding

import (
	"context"
	"net/http"
	"strings"

	"loupe/capture/collect"
	"loupe/capture/forward"
	"loupe/capture/remote"
	"loupe/internal/cli/command"
	"loupe/source/bounded"
	"loupe/store"
)

// Flags say who gets all profiles as well, if anybody does. Its other methods do what [forward]
// does.
type Flags struct {
	to, headers string
	running     *forward.Forwarder // nil where nothing is forwarded
}

// Declare declares them.
func (f *Flags) Declare(fs *command.FlagSet) {
	fs.StringVar(&f.to, "forward", "", "`URL` of a Pyroscope to send all profiles to as well")
	fs.StringVar(&f.headers, "forward-headers", "", "`file` of HTTP headers for it, one per line, such as Authorization: Bearer …")
	fs.Needs([]string{"forward-headers"}, "forward")
}

// Around is the engine, whose written profiles are sent to the other server as well, if there
// is one.
func (f *Flags) Around(e store.Engine, tell func(string, ...any)) (store.Engine, error) {
	if f.to == "" {
		return e, nil
	}
	access := collect.Access{Header: http.Header{}}
	if f.headers != "" {
		text, err := bounded.ReadNamed(f.headers)
		if err != nil {
			return nil, err
		}
		for i, line := range strings.Split(string(text), "\n") {
			if line = strings.TrimSpace(line); line == "" {
				continue
			}
			name, value, ok := strings.Cut(line, ":")
			if name = strings.TrimSpace(name); !ok || name == "" || strings.ContainsAny(name, " \t") {
				return nil, command.Usagef("-forward-headers: line %d of %s is not a header (Name: value)", i+1, f.headers)
			}
			access.Header.Add(name, strings.TrimSpace(value))
		}
	}
	server, err := remote.New(f.to, access)
	if err != nil {
		return nil, command.Usagef("-forward: %w", err)
	}
	f.running = forward.New(server.Push, forward.Options{Tell: tell})
	return f.running.Around(e), nil
}

// Run sends what waits until ctx ends.
func (f *Flags) Run(ctx context.Context) {
	if f.running != nil {
		f.running.Run(ctx)
	}
}
