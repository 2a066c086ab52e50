package pages

import (
	"context"

	"loupe/internal/cli/command"
	"loupe/internal/cli/programs"
	"loupe/web"
)

// WithProgram lets the pages see what a profile points to on this machine: the
// sources and the binary, found as loupe pprof finds them.
func WithProgram(e *command.Env, open func(context.Context) (*web.Opened, error)) func(context.Context) (*web.Opened, error) {
	return func(ctx context.Context) (*web.Opened, error) {
		o, err := open(ctx)
		if err != nil {
			return nil, err
		}
		find := programs.NewFinder(e.Ctx, func(string) {})
		o.Source = find.SourceAt
		o.Binary = find.Binary
		before := o.Close
		o.Close = func() error {
			find.Close()
			if before == nil {
				return nil
			}
			return before()
		}
		return o, nil
	}
}
