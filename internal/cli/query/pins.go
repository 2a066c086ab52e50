package query

import (
	"fmt"
	"strings"
	"time"

	"loupe/format/querier"
	"loupe/internal/cli/command"
	"loupe/internal/cli/door"
	"loupe/report/kept"
	"loupe/value/unit"
)

// pin pins a selection.
func (q *query) pin() error {
	if len(q.args) == 0 || len(q.args) > 2 || strings.HasPrefix(strings.TrimSpace(q.args[0]), "{") {
		return command.Usagef("want pin NAME [SERVICE|SELECTOR], with a name of your choice")
	}
	if q.ask.From == "" {
		return command.Usagef("a pin needs a range: -from and -until, or -last")
	}
	r, err := q.ask.Range(q.now)
	if err != nil {
		return command.Usage(err)
	}
	p := querier.Pin{Name: q.args[0], Selector: "{}", Start: r.From.UnixMilli(), End: r.Until.UnixMilli(), Reason: q.reason}
	if len(q.args) == 2 {
		p.Selector = selector(q.args[1])
	}
	series, err := q.server.Pin(q.e.Ctx, p)
	if err != nil {
		return door.Remote(err)
	}
	fmt.Fprintf(q.e.Stdout, "%s keeps %s of %s, from %s to %s, at full resolution (loupe query unpin %s removes the pin)\n", q.server, unit.Plural(series, "series"), p.Selector,
		r.From.UTC().Format(time.RFC3339), r.Until.UTC().Format(time.RFC3339), p.Name)
	return nil
}

// pins lists the pins.
func (q *query) pins() error {
	if len(q.args) > 0 {
		return command.Usagef("too many arguments: %q (pins takes none)", q.args)
	}
	pins, err := q.server.Pins(q.e.Ctx)
	if err == nil && len(pins) == 0 && q.format == "text" {
		return command.Nothingf("%s has no pins (loupe query pin makes one)", q.server)
	}
	return q.shown(kept.Pins(pins), err)
}

// unpin takes a pin away.
func (q *query) unpin() error {
	if len(q.args) != 1 {
		return command.Usagef("want unpin NAME (loupe query pins lists the names)")
	}
	if err := q.server.Unpin(q.e.Ctx, q.args[0]); err != nil {
		return door.Remote(err)
	}
	fmt.Fprintf(q.e.Stdout, "%s: removed the pin %s\n", q.server, q.args[0])
	return nil
}
