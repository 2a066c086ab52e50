package main

import (
	"bytes"
	"io"
)

// modes lists the forms: each copies data to out with every find replaced by
// repl, from left to right, as bytes.ReplaceAll would. find is not empty.
var modes = map[string]func(data, find, repl []byte, out *bytes.Buffer){
	"one": replaceOne,
	"two": replaceTwo,
}

// replaceOne reads into a window as long as find, compares, and moves the
// window on by one byte, or past the match.
func replaceOne(data, find, repl []byte, out *bytes.Buffer) {
	in := bytes.NewBuffer(data)
	window := make([]byte, len(find))
	for missing := window; ; {
		n, err := io.ReadFull(in, missing)
		if err != nil {
			// The end: what was kept, and what came before it.
			out.Write(window[:len(window)-len(missing)+n])
			return
		}
		if bytes.Equal(window, find) {
			out.Write(repl)
			missing = window
			continue
		}
		out.WriteByte(window[0])
		copy(window, window[1:])
		missing = window[len(window)-1:]
	}
}

// replaceTwo remembers how much of find the bytes so far end with. Those bytes
// have not gone out yet; they are the same as find's, so that they need not be
// kept.
func replaceTwo(data, find, repl []byte, out *bytes.Buffer) {
	matched := 0
	for _, b := range data {
		for matched > 0 && b != find[matched] {
			// What is matched may end with a shorter beginning of find:
			// all before that goes out.
			shorter := border(find[:matched])
			out.Write(find[:matched-shorter])
			matched = shorter
		}
		if b != find[matched] {
			out.WriteByte(b)
			continue
		}
		if matched++; matched == len(find) {
			out.Write(repl)
			matched = 0
		}
	}
	out.Write(find[:matched])
}

// border returns the length of the longest proper beginning of word that word
// also ends with.
//
// Note: A table of all borders would save the comparisons and cost an
// allocation. Names have hardly any: that of "elvis" is always 0.
func border(word []byte) int {
	for n := len(word) - 1; n > 0; n-- {
		if bytes.HasSuffix(word, word[:n]) {
			return n
		}
	}
	return 0
}
