package trace

import (
	"errors"
	"fmt"
	"strings"

	"loupe/format/exectrace"
	"loupe/format/kind"
	"loupe/internal/cli/command"
	"loupe/internal/cli/door"
	"loupe/source"
	"loupe/value/unit"
)

// traceInputs opens what was named as a trace, or as several of one process: names, a
// pattern, a folder with traces.
func traceInputs(e *command.Env, d *source.Door, names ...string) ([]*source.Input, error) {
	if len(names) == 0 {
		return nil, command.Usagef("the trace is missing")
	}
	all, err := door.Take(e, d, names...)
	if err != nil {
		return nil, err
	}
	var traces []*source.Input
	for _, in := range all {
		if !in.Folder {
			traces = append(traces, in)
			continue
		}
		inside, err := door.FilesIn(e, d, in.Path)
		if err != nil {
			return nil, err
		}
		before := len(traces)
		for _, x := range inside {
			if x.Kind == kind.Trace {
				traces = append(traces, x)
			}
		}
		if len(traces) == before {
			return nil, command.Nothingf("there is no execution trace in %s (loupe open %s shows what is)", in.Name, command.ShellWord(in.Name))
		}
	}
	for _, in := range traces {
		if len(traces) > 1 && in.Kind != kind.Trace {
			return nil, fmt.Errorf("several files are shown as one only if all are execution traces of one process, but %s is %s: open each separately", in.Name, in.Kind.One())
		}
	}
	return traces, nil
}

// namesOf are the names of inputs in a row.
func namesOf(all []*source.Input) string {
	var names []string
	for _, in := range all {
		names = append(names, in.Name)
	}
	return strings.Join(names, ", ")
}

// tracesOf opens inputs as one trace, which done closes.
func tracesOf(e *command.Env, all []*source.Input) (t *exectrace.Trace, done func() error, err error) {
	if len(all) == 1 {
		return traceOf(e, all[0])
	}
	var closers []func() error
	done = func() error {
		var errs []error
		for _, c := range closers {
			errs = append(errs, c())
		}
		return errors.Join(errs...)
	}
	var traces []*exectrace.Trace
	var labels []string
	for _, in := range all {
		t, close, err := traceOf(e, in)
		if err != nil {
			done()
			return nil, nil, err
		}
		closers = append(closers, close)
		traces, labels = append(traces, t), append(labels, in.Name)
	}
	if t, err = exectrace.Join(traces, labels, exectrace.Options{}); err != nil {
		done()
		return nil, nil, err
	}
	how := "each continues where the previous one ends"
	if gaps := t.Gaps(); gaps > 0 {
		how = fmt.Sprintf("with %s between them", unit.Plural(gaps, "gap"))
	}
	fmt.Fprintf(e.Stderr, "loupe trace: %d traces of one process, shown as one: %s\n", len(all), how)
	return t, done, nil
}
