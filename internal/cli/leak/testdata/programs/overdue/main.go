// Overdue fills a pool of workers quickly, and loses a goroutine every quarter of a second
// beside it: most of the growth is sound, and soon over.
package main

import (
	"fmt"
	"time"
)

const bound = 300

func main() {
	jobs := make(chan int)
	workers, lost := 0, 0
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(10 * time.Millisecond) {
		for ; workers < bound && float64(workers) < 60*time.Since(began).Seconds(); workers++ {
			go work(jobs)
		}
		for ; float64(lost) < 4*time.Since(began).Seconds(); lost++ {
			remind(lost)
		}
	}
	close(jobs)
	fmt.Println(workers, lost)
}

func work(jobs <-chan int) {
	for n := range jobs {
		fmt.Println(n)
	}
}

// remind waits for a payment that nobody reports.
func remind(n int) {
	paid := make(chan struct{})
	go func() {
		<-paid // LEAK
		fmt.Println(n)
	}()
}
