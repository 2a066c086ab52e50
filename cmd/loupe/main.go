// Loupe is the performance workbench for Go programs; see the README.
package main

import (
	"os"

	"loupe/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
