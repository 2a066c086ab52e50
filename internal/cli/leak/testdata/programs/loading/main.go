// Loading reads its data in the first seconds, and then answers questions about it.
package main

import (
	"fmt"
	"time"
)

var rows [][]byte

func main() {
	sum := 0
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(10 * time.Millisecond) {
		for n := min(1000, int(200*time.Since(began).Seconds())); len(rows) < n; {
			rows = append(rows, make([]byte, 64<<10))
		}
		sum += answer()
	}
	fmt.Println(sum)
}

// answer makes garbage, as every request does.
func answer() int {
	page := make([]byte, 0, 64<<10)
	for _, r := range rows {
		page = append(page, r[0])
	}
	return len(page)
}
