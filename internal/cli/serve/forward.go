package serve

import (
	"net/http"
	"strings"

	"loupe/capture/collect"
	"loupe/capture/forward"
	"loupe/capture/remote"
	"loupe/internal/cli/command"
	"loupe/source/bounded"
)

// forwarding are the flags of who gets all profiles as well.
type forwarding struct{ to, headers string }

func (f *forwarding) declare(fs *command.FlagSet) {
	fs.StringVar(&f.to, "forward", "", "`address` of a Pyroscope that is sent all profiles as well")
	fs.StringVar(&f.headers, "forward-headers", "", "`file` of headers for it, such as Authorization: Bearer …, a line each")
	fs.Needs([]string{"forward-headers"}, "forward")
}

// open makes what sends them; nil where nothing is forwarded.
func (f *forwarding) open(tell func(string, ...any)) (*forward.Forwarder, error) {
	if f.to == "" {
		return nil, nil
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
				return nil, command.Usagef("-forward-headers: line %d of %s is no header: want Name: value", i+1, f.headers)
			}
			access.Header.Add(name, strings.TrimSpace(value))
		}
	}
	server, err := remote.New(f.to, access)
	if err != nil {
		return nil, command.Usagef("-forward: %w", err)
	}
	return forward.New(server.Push, forward.Options{Tell: tell}), nil
}
