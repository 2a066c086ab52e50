package main

import (
	"flag"
	"fmt"
	"log"

	"loupe/labs/form"
)

// modes lists the forms: each returns the primes below a limit in order.
var modes = map[string]func(limit int) []int{
	"chain":     func(limit int) []int { return chain(limit, 0) },
	"buffered":  func(limit int) []int { return chain(limit, 256) },
	"segmented": segmented,
}

func main() {
	log.SetFlags(0)
	mode := flag.String("mode", "chain", "how to find primes: `one` of "+form.Names(modes))
	limit := flag.Int("limit", 20000, "find the primes below this `number`")
	traceFile := flag.String("trace", "", "write an execution trace to `file`")
	flag.Parse()
	err := form.Traced(*traceFile, func() error {
		sieve, err := form.Choose(modes, *mode)
		if err != nil {
			return err
		}
		primes := sieve(*limit)
		if len(primes) == 0 {
			return fmt.Errorf("there is no prime below %d", *limit)
		}
		fmt.Printf("%d primes below %d, the last is %d\n", len(primes), *limit, primes[len(primes)-1])
		return nil
	})
	if err != nil {
		log.Fatalln("sieve:", err)
	}
}
