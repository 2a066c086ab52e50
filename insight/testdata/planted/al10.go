package main

import (
	"bytes"
	"strings"
)

var line = []byte("GET /some/long/path/to/something?with=parameters HTTP/1.1")

//go:noinline
func countString(line []byte) int {
	return strings.Count(string(line), "/") // planted
}

//go:noinline
func countBytes(line []byte) int { return bytes.Count(line, []byte("/")) }

func converted() {
	for range 1000 {
		total += countString(line)
	}
}

func asBytes() {
	for range 1000 {
		total += countBytes(line)
	}
}
