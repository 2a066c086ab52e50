package main

import (
	"os"
	"slices"
)

// words are the tables of CP22's program.
var words = buildWords()

// buildWords fills the tables where the program of CP22 is asked for in its slow form: before
// main begins, when no flag has been read yet.
func buildWords() (all []uint64) {
	if slices.Contains(os.Args, "CP22") && slices.Contains(os.Args, "slow") {
		spend(func() { all = append(all, count(1_000_000)) })
	}
	return all
}

// cp22 uses one of the tables; the other form builds that one alone.
func cp22() {
	if fixed {
		words = append(words, count(1_000_000))
	}
	counted += int(words[0])
	for range 2 {
		for _, part := range parts {
			part()
		}
	}
	spend(func() { counted += int(count(1_000_000)) })
}
