package cli

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"loupe/timeline"
	"loupe/unit"
)

// traceCut writes a part of a trace as a trace of its own.
func traceCut(e *env, f *traceFlags, args []string) (err error) {
	name, err := oneArg(args, "the trace")
	if err != nil {
		return err
	}
	if f.out == "" {
		return usagef("say where to write the part: -o part.trace")
	}
	if f.to > 0 && f.to <= f.from {
		return usagef("-to %v lies before -from %v", f.to, f.from)
	}
	t, done, err := openTrace(e, name)
	if err != nil {
		return err
	}
	defer done()
	start := timeline.Time(0)
	if r := t.Reader(); r.Next() {
		start = r.Event().Time
	}
	span := timeline.Span{Start: start.Add(f.from), End: 1<<63 - 1}
	if f.to > 0 {
		span.End = start.Add(f.to)
	}
	return writeFile(f.out, func(w *bufio.Writer) error {
		n, err := t.Cut(w, span)
		if err != nil {
			return err
		}
		if n == 0 {
			return exitError{exitNothing, fmt.Errorf("nothing of %s lies between %v and %v", name, f.from, f.to)}
		}
		fmt.Fprintf(e.stderr, "%s: %d of the %d generations; a trace can be cut between them alone\n", f.out, n, len(t.Generations()))
		return nil
	})
}

// writeFile writes a new file through a temporary name, so that none is left
// half written. What is no file, such as a pipe or a device, is written to as
// it is.
func writeFile(name string, write func(*bufio.Writer) error) error {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		file, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		w := bufio.NewWriterSize(file, 1<<20)
		return errors.Join(write(w), w.Flush(), file.Close())
	}
	tmp := name + ".part"
	file, err := createFile(tmp)
	if err != nil {
		return err
	}
	unfinished.Store(tmp, true)
	defer unfinished.Delete(tmp)
	w := bufio.NewWriterSize(file, 1<<20)
	err = write(w)
	if err == nil {
		err = w.Flush()
	}
	if cerr := file.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp, name)
	}
	if err != nil {
		os.Remove(tmp)
	}
	return err
}

// unfinished are the names of files that are being written: they go away when the
// program is left in the middle. A file that is written knows nothing of the command
// that is left, so that this is one set for all.
var unfinished sync.Map

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
