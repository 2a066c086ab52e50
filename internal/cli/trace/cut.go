package trace

import (
	"bufio"
	"fmt"
	"time"

	"loupe/internal/cli/command"
	"loupe/value/timeline"
	"loupe/value/unit"
)

// traceCut writes a part of a trace as a trace of its own.
func traceCut(e *command.Env, f *traceFlags, args []string) (err error) {
	name, err := command.OneArg(args, "the trace")
	if err != nil {
		return err
	}
	if f.out == "" {
		return command.Usagef("name the output file: -o part.trace")
	}
	if f.to > 0 && f.to <= f.from {
		return command.Usagef("-to %v is before -from %v", f.to, f.from)
	}
	t, done, err := openTrace(e, f, name)
	if err != nil {
		return err
	}
	defer done()
	whole, err := t.Span()
	if err != nil {
		return err
	}
	span := timeline.Span{Start: whole.Start.Add(f.from), End: 1<<63 - 1}
	if f.to > 0 {
		span.End = whole.Start.Add(f.to)
	}
	return command.WriteFile(f.out, func(w *bufio.Writer) error {
		n, err := t.Cut(w, span)
		if err != nil {
			return err
		}
		if n == 0 {
			return command.Nothingf("there is nothing of %s between %v and %v", name, f.from, f.to)
		}
		fmt.Fprintf(e.Stderr, "%s: %d of the %d generations; a trace can be cut only between generations\n", f.out, n, len(t.Generations()))
		return nil
	})
}

// offset is a flag value: a time since the start of the trace.
type offset struct{ d *time.Duration }

// String returns the time.
func (o offset) String() string {
	if o.d == nil {
		return "0"
	}
	return o.d.String()
}

// Set reads a time.
func (o offset) Set(s string) error {
	d, err := unit.ParseDuration(s)
	*o.d = d
	return err
}
