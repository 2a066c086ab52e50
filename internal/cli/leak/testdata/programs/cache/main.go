// Cache fills up to its bound, and from then on forgets the oldest for each that comes.
package main

import (
	"fmt"
	"time"
)

const bound = 500

var (
	pages = map[int][]byte{}
	order []int
)

func main() {
	n := 0
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(10 * time.Millisecond) {
		for ; float64(n) < 100*time.Since(began).Seconds(); n++ {
			keep(n)
		}
	}
	fmt.Println(len(pages))
}

func keep(id int) {
	pages[id] = make([]byte, 64<<10)
	order = append(order, id)
	if len(order) > bound {
		delete(pages, order[0])
		order = append(order[:0], order[1:]...)
	}
}
