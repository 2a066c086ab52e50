// Command aa finds out how often comparisons are wrong on a busy machine, and what they
// find, with real programs.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"
)

// options are the flags.
type options struct {
	record, only string
	rounds       int
	length, burn time.Duration
	quiet        bool
}

func main() {
	var o options
	flag.StringVar(&o.record, "record", "", "record series into this `file`")
	flag.StringVar(&o.only, "only", "", "record those whose name has this `text` in it")
	flag.IntVar(&o.rounds, "rounds", 600, "with -record: `number` of rounds of a benchmark; a quarter of it of what has several sides")
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
	if err := record(ctx, &o); err != nil {
		fmt.Fprintln(os.Stderr, "aa:", err)
		os.Exit(1)
	}
}
