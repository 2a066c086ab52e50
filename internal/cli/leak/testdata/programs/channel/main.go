// Channel leaves goroutines behind that send to a channel nobody receives from any more.
package main

import (
	"fmt"
	"time"
)

func main() {
	started := 0
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(10 * time.Millisecond) {
		for ; float64(started) < 100*time.Since(began).Seconds(); started++ {
			ask(started)
		}
	}
	fmt.Println(started)
}

// ask gives up on the answer at once, and its sender waits for ever.
func ask(n int) {
	answer := make(chan int)
	go func() {
		answer <- n * n // LEAK
	}()
	select {
	case <-answer:
	default:
	}
}
