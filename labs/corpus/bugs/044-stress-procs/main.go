package main

import (
	"flag"
	"fmt"
	"runtime"
	"sync"
)

func main() {
	form := flag.String("form", "slow", "slow or fixed")
	workers := flag.Int("c", 8, "workers")
	total := flag.Int("n", 40_000, "checks")
	flag.Parse()
	if *form == "slow" {
		runtime.GOMAXPROCS(1)
	}
	results := make(chan []result, *workers)
	var wg sync.WaitGroup
	for w := range *workers {
		wg.Go(func() {
			var part []result
			for id := w; id < *total; id += *workers {
				part = append(part, verify(id))
			}
			results <- part
		})
	}
	wg.Wait()
	close(results)
	passed := 0
	for part := range results {
		for _, r := range part {
			if r.OK {
				passed++
			}
		}
	}
	fmt.Println(passed, "of", *total, "passed")
}
