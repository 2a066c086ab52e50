package streams_test

import (
	"bytes"
	"fmt"

	"loupe/value/streams"
)

// A log of two containers, of which the lines that begin with "panic" are looked for.
func ExampleLearn() {
	log := []byte("web-1 | panic: one\nweb-2 | panic: two\nweb-1 | main.a\nweb-2 | main.b\nweb-1 | main.c\nweb-2 | main.d\n")
	find := func(line []byte, from int) int {
		if i := bytes.Index(line[from:], []byte("panic")); i >= 0 {
			return from + i
		}
		return -1
	}
	for _, s := range streams.Learn(log, find).Split(log) {
		fmt.Printf("%s%q\n", s.Name, s.Text)
	}
	// Output:
	// web-1 | "panic: one\nmain.a\nmain.c\n"
	// web-2 | "panic: two\nmain.b\nmain.d\n"
}
