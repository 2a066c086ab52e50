// Tool works for a moment, or with "long" for two seconds, and ends: by returning from
// main, or with "exit" by os.Exit(7). With "waits" it lets a process of its own do that, and with "sleeps" it sleeps for as long.
// With "asks" it asks a server of its own for as long, with "asksafresh" by a connection each time, and
// with "asksforever" it does not end.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

var sink []byte

func main() {
	if os.Args[1] == "waits" {
		if err := exec.Command(os.Args[0], "long").Run(); err != nil {
			panic(err)
		}
		return
	}
	if os.Args[1] == "sleeps" {
		time.Sleep(2 * time.Second)
		return
	}
	if how, ok := strings.CutPrefix(os.Args[1], "asks"); ok {
		length := 2 * time.Second
		if how == "forever" {
			length = time.Hour
		}
		asks(length, how == "afresh")
		return
	}
	length := 300 * time.Millisecond
	if strings.HasPrefix(os.Args[1], "long") {
		length = 2 * time.Second
	}
	for end := time.Now().Add(length); time.Now().Before(end); {
		sink = make([]byte, 32<<10)
	}
	fmt.Fprintln(os.Stderr, "tool says goodbye")
	if strings.HasSuffix(os.Args[1], "exit") {
		os.Exit(7)
	}
}
