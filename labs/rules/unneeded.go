package main

import (
	"fmt"
	"os"
)

// verbose24 is a level that is off.
var verbose24 = len(os.Getenv("LOUPE_LAB_VERBOSE")) > 0

// cp24 describes each step for a log that is off, and asks for that afterwards; the other form asks first.
func cp24() {
	spend(func() {
		for i := range 1_000 {
			counted += int(count(300))
			if fixed {
				logFirst(i)
			} else {
				logLast(i)
			}
		}
	})
}

func logLast(i int) {
	text := fmt.Sprintf("step %d of %s: %v %v", i, os.Args[0], counted, []int{i, i + 1})
	if verbose24 {
		fmt.Println(text)
	}
}

func logFirst(i int) {
	if verbose24 {
		text := fmt.Sprintf("step %d of %s: %v %v", i, os.Args[0], counted, []int{i, i + 1})
		fmt.Println(text)
	}
}
