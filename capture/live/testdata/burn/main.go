// Command burn computes on two threads. With a number it has so many threads beside
// them, which wait, and says when it has.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
)

//go:noinline
func burn(n int) (sum int) {
	for i := 0; i < n; i++ {
		sum += i * i % 7
	}
	return sum
}

var out int

func work() {
	for {
		out += burn(1 << 20)
	}
}

func main() {
	if len(os.Args) > 1 {
		n, _ := strconv.Atoi(os.Args[1])
		begun := make(chan bool)
		for i := 0; i < n; i++ {
			go func() {
				runtime.LockOSThread()
				begun <- true
				select {}
			}()
		}
		for i := 0; i < n; i++ {
			<-begun
		}
		fmt.Println("ready")
	}
	go work()
	work()
}
