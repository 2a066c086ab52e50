// Ticker starts a poller for each session, and never stops one.
package main

import (
	"fmt"
	"time"
)

func main() {
	sessions := 0
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(10 * time.Millisecond) {
		for ; float64(sessions) < 50*time.Since(began).Seconds(); sessions++ {
			go poll(sessions)
		}
	}
	fmt.Println(sessions)
}

// poll outlives its session: Stop would not close the channel, and nobody calls it.
func poll(session int) {
	ticks := time.NewTicker(time.Minute)
	for range ticks.C { // LEAK
		fmt.Println(session)
	}
}
