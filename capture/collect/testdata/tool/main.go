// Tool works for a moment and ends: by returning from main, or by os.Exit(7).
package main

import (
	"fmt"
	"os"
	"time"
)

var sink []byte

func main() {
	for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); {
		sink = make([]byte, 32<<10)
	}
	fmt.Fprintln(os.Stderr, "tool says goodbye")
	if os.Args[1] == "exit" {
		os.Exit(7)
	}
}
