package main

import (
	"errors"
	"flag"
	"fmt"
	"log"

	"loupe/labs/form"
)

// modes lists the forms: each plays the balls, with so many hits by either
// player, and returns the sum of what they remember.
var modes = map[string]func(balls, hits int) uint64{
	"single":  func(balls, hits int) uint64 { return play(balls, hits, 1) },
	"batched": func(balls, hits int) uint64 { return play(balls, hits, basketSize) },
	"alone":   alone,
}

func main() {
	log.SetFlags(0)
	mode := flag.String("mode", "single", "how to play: `one` of "+form.Names(modes))
	balls := flag.Int("balls", 2048, "`number` of balls")
	hits := flag.Int("hits", 1000, "`number` of times that either player hits each ball")
	traceFile := flag.String("trace", "", "write an execution trace to `file`")
	flag.Parse()
	err := form.Traced(*traceFile, func() error {
		game, err := form.Choose(modes, *mode)
		if err != nil {
			return err
		}
		if *balls < 0 || *hits < 0 {
			return errors.New("-balls and -hits cannot be negative")
		}
		fmt.Printf("%d balls, %d hits each: they remember %016x\n", *balls, 2**hits, game(*balls, *hits))
		return nil
	})
	if err != nil {
		log.Fatalln("pingpong:", err)
	}
}
