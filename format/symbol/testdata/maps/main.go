// Command maps prints the address of one of its functions and where it was
// loaded.
package main

import (
	"fmt"
	"os"
	"reflect"
)

func main() {
	fmt.Println(reflect.ValueOf(main).Pointer())
	data, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Stdout.Write(data)
}
