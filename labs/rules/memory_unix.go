//go:build unix

package main

import (
	"syscall"
	"time"
)

// gc10 has memory of the system that the runtime does not know; the other form asks the runtime
// for it.
func gc10() {
	const size = 256 << 20
	var room []byte
	if fixed {
		room = make([]byte, size)
	} else {
		var err error
		if room, err = syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE); err != nil {
			panic(err)
		}
	}
	for i := 0; i < size; i += 4096 {
		room[i] = 1
	}
	time.Sleep(2 * time.Second)
	keep(room)
}
