// Churn collects garbage as often as it is told.
package main

import (
	"os"
	"runtime"
	"strconv"
)

func main() {
	n, _ := strconv.Atoi(os.Args[1])
	for range n {
		runtime.GC()
	}
}
