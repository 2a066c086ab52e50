// Unprofiled allocates a block for each line that it reads. Nothing in it asks for
// its heap profile, so that the linker switches it off.
package main

import (
	"bufio"
	"fmt"
	"os"
)

var kept [][]byte

//go:noinline
func keep(n int) { kept = append(kept, make([]byte, n)) }

func main() {
	in := bufio.NewScanner(os.Stdin)
	fmt.Println("ready")
	for in.Scan() {
		for i := 0; i < 64; i++ {
			keep(1 << 20)
			kept = kept[:0]
		}
		fmt.Println("kept")
	}
}
