// Rush holds what its sessions need: their number rises for some seconds, and then stays.
package main

import (
	"fmt"
	"time"
)

type session struct{ cart []byte }

func main() {
	var open []*session
	served := 0
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(10 * time.Millisecond) {
		for n := min(600, int(120*time.Since(began).Seconds())); len(open) < n; {
			open = append(open, &session{})
		}
		// Each session comes back some times a second with a cart of its own.
		for range len(open) / 10 {
			served++
			open[served%len(open)].cart = make([]byte, 64<<10)
		}
	}
	fmt.Println(served)
}
