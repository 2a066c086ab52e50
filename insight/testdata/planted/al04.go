package main

import (
	"bytes"
	"io"
)

var data = bytes.Repeat([]byte("some text that is read again and again. "), 20)

//go:noinline
func readInterface(data []byte) int {
	input := bytes.NewBuffer(data) // planted
	var buf [8]byte                // planted
	n, sum := 0, 0
	for n < 10 {
		if _, err := io.ReadFull(input, buf[:]); err != nil {
			break
		}
		sum += int(buf[0])
		n++
	}
	return sum
}

//go:noinline
func readBytes(data []byte) int {
	sum := 0
	for n := 0; n < 10 && len(data) >= 8; n++ {
		sum += int(data[0])
		data = data[8:]
	}
	return sum
}

func throughReader() {
	for range 500 {
		total += readInterface(data)
	}
}

func concrete() {
	for range 500 {
		total += readBytes(data)
	}
}
