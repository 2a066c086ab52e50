package cli

import (
	"bufio"
	"fmt"
	"io"

	"loupe/exectrace"
	"loupe/report"
)

// traceEvents prints every event, in the words of go tool trace -d=parsed, or
// as one JSON object a line.
func traceEvents(e *env, f *traceFlags, args []string) error {
	name, err := oneArg(args, "the trace")
	if err != nil {
		return err
	}
	if f.parsed != nil && f.parsed.Has("dur") {
		return usagef("-filter: an event has no duration (loupe trace export lists the stays in states, which have)")
	}
	if f.raw && (f.parsed != nil || f.format == "json") {
		return usagef("-raw prints the whole file as text, without -filter and -json")
	}
	t, done, err := openTrace(e, name)
	if err != nil {
		return err
	}
	defer done()
	w := bufio.NewWriterSize(e.plain(), 1<<16)
	if f.raw {
		if err := exectrace.WriteText(w, t); err != nil {
			return err
		}
		return w.Flush()
	}
	if f.parsed != nil {
		if err := f.parsed.Prepare(t); err != nil {
			return err
		}
	}
	r := t.Reader()
	if err := printEvents(w, f, r); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, p := range r.Problems() {
		fmt.Fprintf(e.stderr, "loupe trace: %v\n", p)
	}
	return r.Err()
}

func printEvents(w io.Writer, f *traceFlags, r *exectrace.Reader) error {
	var line []byte
	begun := false
	for r.Next() {
		if ev := r.Event(); f.parsed != nil {
			if !begun {
				f.parsed.Begin(ev.Time)
				begun = true
			}
			if !f.parsed.Event(r, ev) {
				continue
			}
		}
		if f.format == "json" {
			line = report.AppendEvent(line[:0], r)
		} else {
			line = r.AppendText(line[:0])
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}
