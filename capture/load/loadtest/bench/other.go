//go:build !linux

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "bench: pinning processes to CPUs needs Linux")
	os.Exit(1)
}
