// Command cgo is a program with functions in C, one of them inlined.
package main

// #include "add.h"
import "C"

import "fmt"

func main() { fmt.Println(C.add_twice(1, 2)) }
