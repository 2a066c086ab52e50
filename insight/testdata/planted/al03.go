package main

import (
	"fmt"
	"io"
	"strconv"
)

func boxed() {
	for i := range 1000 {
		fmt.Fprintf(io.Discard, "item %d\n", i+1_000_000) // planted
	}
}

func appended() {
	var room [64]byte
	for i := range 1000 {
		b := append(room[:0], "item "...)
		b = strconv.AppendInt(b, int64(i+1_000_000), 10)
		total += len(b)
	}
}
