// Command aa finds out how often comparisons are wrong on a busy machine, and what they
// find, with real programs.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"loupe/analysis/compare/comparetest"
)

// options are the flags.
type options struct {
	record, only        string
	rounds, pairs       int
	length, burn        time.Duration
	quiet, instructions bool
}

func main() {
	var o options
	flag.StringVar(&o.record, "record", "", "record series into this `file`")
	flag.StringVar(&o.only, "only", "", "record those whose name has this `text` in it")
	flag.IntVar(&o.rounds, "rounds", 600, "with -record: `number` of rounds of a benchmark; a quarter of it of what has several sides")
	flag.BoolVar(&o.instructions, "instructions", false, "with -record: count the instructions of benchmarks, too, by valgrind")
	flag.IntVar(&o.pairs, "pairs", 40, "`number` of rounds a side in which something is to be found")
	flag.DurationVar(&o.length, "length", 20*time.Millisecond, "with -record: how `long` a benchmark runs in a round")
	flag.DurationVar(&o.burn, "burn", 0, "be busy for so `long`, and end")
	flag.BoolVar(&o.quiet, "quiet", false, "with -record: without the programs that disturb")
	flag.Parse()
	if o.burn > 0 {
		burn(o.burn)
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, &o, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "aa:", err)
		os.Exit(1)
	}
}

// run records series, if that is asked for, and prints the tables of files.
func run(ctx context.Context, o *options, files []string) error {
	if o.record != "" {
		if err := record(ctx, o); err != nil {
			return err
		}
		files = append(files, o.record)
	}
	var all []comparetest.Series
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		more, err := comparetest.Read(bytes.NewReader(text))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, more...)
	}
	if len(all) == 0 {
		return errors.New("name a file of series, or record one with -record FILE")
	}
	comparetest.WriteWrong(os.Stdout, all, 10, 20)
	fmt.Println()
	comparetest.WriteFound(os.Stdout, all, o.pairs, 0.01, 0.02, 0.03, 0.05)
	return nil
}
