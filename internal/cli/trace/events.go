package trace

import (
	"bufio"
	"cmp"
	"fmt"
	"io"

	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/internal/cli/command"
	"loupe/report"
)

// traceEvents prints every event, in the words of go tool trace -d=parsed, or
// as one JSON object a line.
func traceEvents(e *command.Env, f *traceFlags, args []string) error {
	name, err := command.OneArg(args, "the trace")
	if err != nil {
		return err
	}
	if f.parsed != nil && f.parsed.Has("dur") {
		return command.Usagef("-filter: an event has no duration (loupe trace export lists periods in states, which have)")
	}
	if f.raw && (f.parsed != nil || f.format == "json") {
		return command.Usagef("-raw prints the whole file as text, without -filter and -json")
	}
	t, done, err := openTrace(e, f, name)
	if err != nil {
		return err
	}
	defer done()
	w := bufio.NewWriterSize(e.Plain(), 1<<16)
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
	pass := sweep.New(t)
	p := eventPrinter{w: w, f: f, pass: pass}
	pass.Join(sweep.On(sweep.Every, p.print))
	err = pass.Run(nil)
	if err := cmp.Or(p.err, w.Flush()); err != nil {
		return err
	}
	for _, p := range pass.Reader().Problems() {
		fmt.Fprintf(e.Stderr, "loupe trace: %v\n", p)
	}
	if err != nil {
		return err
	}
	return f.nothing(name, p.some)
}

// eventPrinter prints the events of a pass that count, and ends it when that is not
// possible.
type eventPrinter struct {
	w    io.Writer
	f    *traceFlags
	pass *sweep.Pass
	line []byte
	some bool // of them
	err  error
}

func (p *eventPrinter) print(ev *exectrace.Event) {
	r, gs := p.pass.Reader(), p.pass.Goroutines()
	if p.f.parsed != nil {
		if p.pass.Events() == 1 {
			p.f.parsed.Begin(ev.Time)
		}
		if !p.f.parsed.Event(gs, ev) {
			return
		}
	}
	p.some = true
	if p.f.format == "json" {
		p.line = report.AppendEvent(p.line[:0], r)
	} else {
		p.line = r.AppendText(p.line[:0])
	}
	if _, p.err = p.w.Write(append(p.line, '\n')); p.err != nil {
		p.pass.End()
	}
}
