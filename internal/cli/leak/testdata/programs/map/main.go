// Map remembers every order, and forgets none.
package main

import (
	"fmt"
	"time"
)

var orders = map[int][]byte{}

func main() {
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(10 * time.Millisecond) {
		for float64(len(orders)) < 100*time.Since(began).Seconds() {
			take(len(orders))
		}
	}
	fmt.Println(len(orders))
}

func take(id int) {
	basket := make([]byte, 32<<10) // LEAK
	orders[id] = basket
}
