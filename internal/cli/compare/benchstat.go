package compare

import (
	"errors"
	"fmt"
	"io"
	"os"

	"loupe/format/benchmark"
	"loupe/internal/cli/command"
	"loupe/report"
	"loupe/source/bounded"
)

// Benchstat is loupe benchstat: what scripts call benchstat for, byte for byte.
var Benchstat = &command.Command{
	Name:  "benchstat",
	Short: "benchstat's tables: same flags, same output",
	Args:  "[flags] FILE…",
	Example: []string{
		"loupe benchstat old.txt new.txt                       outputs of go test -bench -count=10",
		"loupe benchstat before=old.txt after=new.txt          with names for the columns",
		"go test -bench . -count 10 | loupe benchstat -        standard input",
		"loupe benchstat -col /format new.txt                  sub-benchmarks against each other",
		"loupe benchstat -row .name -col '/format@(gob json)' new.txt",
		"loupe benchstat -filter '/size:4k .unit:ns/op' -ignore cpu old.txt new.txt",
		"loupe benchstat -format csv old.txt new.txt",
	},
	About: `
A drop-in replacement for golang.org/x/perf/cmd/benchstat in scripts: flags, tables, messages
and exit codes are the same, byte for byte. Flags come before the files.

A KEY is .name, .fullname, .file, .config (all lines "key: value" in front of
results), /key of a sub-benchmark, or one key of the configuration. A projection
is a list of KEYs, with commas between. KEY@alpha and KEY@num sort its values,
KEY@(A B) takes these alone, in this order. A filter has terms like KEY:value,
KEY:/regexp/, KEY:(A OR B) and .unit:ns/op, joined by AND, OR, a minus sign for
"not", and parentheses.

As with benchstat, the exit code is 0 even if a file cannot be read, and does not depend on
what has changed: 2 is wrong usage, and 1 is for what only loupe rejects, such as a stream of
more than 1 GiB. Samples with values that are not numbers get no comparison; benchstat does
not stop at them.

loupe compare old.txt new.txt also prints a verdict, and can write Markdown and JSON.`,
	Files:       true,
	Reads:       true,
	StopAtFirst: true,
	Peer:        true,
	Setup: func(fs *command.FlagSet) func(*command.Env, []string) error {
		q := benchmark.Everything()
		fs.StringVar(&q.Filter, "filter", q.Filter, "use the results and units that match a `query`")
		fs.StringVar(&q.Table, "table", q.Table, "a table for each value of a `projection`")
		fs.StringVar(&q.Row, "row", q.Row, "a row for each value of a `projection`")
		fs.StringVar(&q.Col, "col", q.Col, "a column for each value of a `projection`; the first is the base")
		fs.StringVar(&q.Ignore, "ignore", q.Ignore, "`keys` in which results of one cell may differ")
		fs.Float64Var(&q.Alpha, "alpha", q.Alpha, "a change counts below this `probability` of chance")
		fs.Float64Var(&q.Confidence, "confidence", q.Confidence, "`level` of the intervals, from 0 to 1")
		format := fs.String("format", "text", "output `format`: text, or csv with notes on standard error")
		return func(e *command.Env, args []string) error {
			if len(args) == 0 {
				return command.Usagef("the files are missing")
			}
			r, err := readResults(e, q, *format, benchmark.Inputs(args))
			if errors.Is(err, bounded.ErrTooLong) {
				return err
			}
			if err != nil {
				fmt.Fprintf(e.Stderr, "benchstat: %s\n", err) // and exits with 0
				return nil
			}
			return command.Buffered(e.Stdout, func(w io.Writer) error {
				if *format == "csv" {
					return report.WriteBenchstatCSV(w, e.Stderr, r)
				}
				return report.WriteBenchstat(w, r)
			})
		}
	},
}

// readResults reads all inputs. Nothing is read when the flags are wrong.
func readResults(e *command.Env, q benchmark.Query, format string, inputs []benchmark.Input) (*benchmark.Result, error) {
	c, err := benchmark.NewCollector(q)
	if err != nil {
		return nil, err
	}
	if format != "text" && format != "csv" {
		return nil, errors.New("-format must be text or csv")
	}
	for _, in := range inputs {
		if err := readInput(e, c, in, bounded.MaxStream); err != nil {
			return nil, err
		}
	}
	return c.Result(), nil
}

// readInput streams one input. What is no regular file may have so many bytes.
func readInput(e *command.Env, c *benchmark.Collector, in benchmark.Input, limit int64) error {
	f := e.Stdin
	if in.Name != "-" {
		var err error
		if f, err = os.Open(in.Name); err != nil {
			return err
		}
		defer f.Close()
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	var from io.Reader = counted{f}
	if info.Mode().IsRegular() {
		e.Reads(in.Name, f.Name(), info)
	} else {
		from = bounded.Limit(from, in.Name, limit)
	}
	return c.Read(from, in, func(problem error) { fmt.Fprintln(e.Stderr, problem) })
}

// counted counts what is read towards the memory that the command may need.
type counted struct{ r io.Reader }

func (c counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	bounded.Took(int64(n))
	return n, err
}
