// Command burn computes on two threads.
package main

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
	go work()
	work()
}
