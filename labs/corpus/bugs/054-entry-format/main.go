package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"sync"
)

func main() {
	form := flag.String("form", "slow", "slow or fixed")
	workers := flag.Int("workers", 12, "goroutines that log")
	entries := flag.Int("entries", 30_000, "entries of each")
	flag.Parse()
	l := &logger{out: io.Discard, early: *form == "fixed"}
	var wg sync.WaitGroup
	for w := range *workers {
		wg.Go(func() {
			for i := range *entries {
				f := fields{"worker": w, "job": i, "queue": "default", "host": "worker-7", "took_ms": i % 113}
				if err := l.log("info", "job done", f); err != nil {
					log.Print(err)
				}
			}
		})
	}
	wg.Wait()
	fmt.Println(*workers**entries, "entries")
}
