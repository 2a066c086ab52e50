package cli

import (
	"context"
	"sync"

	"loupe/pprof"
	"loupe/profile"
	"loupe/symbol"
	"loupe/web"
)

// withProgram lets the pages see what a profile points to on this machine: the
// sources and the binary, found as loupe pprof finds them.
func withProgram(e *env, open func(context.Context) (*web.Opened, error)) func(context.Context) (*web.Opened, error) {
	return func(ctx context.Context) (*web.Opened, error) {
		o, err := open(ctx)
		if err != nil {
			return nil, err
		}
		var mu sync.Mutex // of what a session keeps
		s := &pprofSession{e: e, flags: &pprofFlags{config: pprof.Defaults()}, p: &profile.Profile{}, binaries: map[string]*openBinary{}}
		o.Source = func(p *profile.Profile, file string) ([]byte, error) {
			mu.Lock()
			defer mu.Unlock()
			s.p = p
			return s.source(file, &s.flags.config)
		}
		o.Binary = func(m profile.Mapping) (*symbol.Binary, error) {
			mu.Lock()
			defer mu.Unlock()
			return s.binary(m)
		}
		before := o.Close
		o.Close = func() error {
			mu.Lock()
			defer mu.Unlock()
			s.close()
			if before == nil {
				return nil
			}
			return before()
		}
		return o, nil
	}
}
