package query

import (
	"errors"
	"io"
	"strconv"

	"loupe/internal/cli/command"
	"loupe/internal/cli/door"
	"loupe/report/kept"
)

// top prints functions as go tool pprof -top does. A server that cannot rank them is asked for
// the whole profile.
func (q *query) top() error {
	ask, err := q.one()
	if err != nil {
		return err
	}
	if _, err := ask.Range(q.now); err != nil {
		return command.Usage(err)
	}
	sel, err := q.server.Resolve(q.e.Ctx, ask, q.now)
	if err != nil {
		return door.Remote(err)
	}
	got, err := q.server.Top(q.e.Ctx, sel, q.n)
	if errors.Is(err, errors.ErrUnsupported) {
		return q.handed("pprof", "-top", "-nodecount="+strconv.Itoa(q.n))
	}
	if err != nil {
		return door.Remote(err)
	}
	return command.Buffered(q.e.Stdout, func(w io.Writer) error { return kept.WriteTop(w, sel.Type, got) })
}
