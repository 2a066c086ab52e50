// Workers starts a worker for each job that finds none idle, up to a bound, and none after
// that.
package main

import (
	"fmt"
	"time"
)

const bound = 160

func main() {
	jobs := make(chan int)
	started := 0
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(10 * time.Millisecond) {
		for ; started < bound && float64(started) < 20*time.Since(began).Seconds(); started++ {
			go work(jobs)
		}
	}
	close(jobs)
	fmt.Println(started)
}

func work(jobs <-chan int) {
	for n := range jobs {
		fmt.Println(n)
	}
}
