// Command hello is what every Go compiles.
package main

import "fmt"

func main() { fmt.Println("hello") }
