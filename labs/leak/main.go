package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"time"

	"loupe/labs/form"
)

func main() {
	log.SetFlags(0)
	mode := flag.String("mode", "map", "what is kept: `one` of "+form.Names(modes))
	rate := flag.Int("rate", 10_000, "`number` of orders a second")
	length := flag.Duration("for", 2*time.Minute, "how `long` to take orders")
	stay := flag.Duration("stay", 0, "how `long` to stay open when the last order was taken")
	flag.Parse()
	if err := run(*mode, *rate, *length, *stay); err != nil {
		log.Fatalln("leak:", err)
	}
}

// run takes orders at a rate, a batch every ten milliseconds, and stays open for
// a while after the last.
func run(mode string, rate int, length, stay time.Duration) error {
	if _, err := form.Choose(modes, mode); err != nil {
		return err
	}
	if rate < 100 {
		return errors.New("-rate: want at least 100")
	}
	s := newShop(mode)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	id, sum := 0, int64(0)
	for began := time.Now(); time.Since(began) < length+stay; <-tick.C {
		for range rate / 100 {
			if time.Since(began) >= length {
				break
			}
			id++
			sum += s.take(id)
		}
		// Half of what comes in, and twice as much when the rush is over.
		if time.Since(began) < length {
			s.deliver(rate / 200)
		} else {
			s.deliver(rate / 50)
		}
	}
	open, prices, waiting := s.held()
	fmt.Printf("%d orders cost %d.%02d; held: %d orders, %d prices, %d that wait\n", id, sum/100, sum%100, open, prices, waiting)
	return nil
}
