package main

import "log"

// example takes a slice, a string and an integer. It needs them after the call,
// which keeps their words in the stack trace alive.
//
//go:noinline
func example(slice []string, str string, i int) {
	fail()
	log.Println(slice, str, i)
}

// packed takes four values of one byte each.
//
//go:noinline
func packed(b1, b2, b3 bool, i uint8) {
	fail()
	log.Println(b1, b2, b3, i)
}

//go:noinline
func fail() { panic("Want stack trace") }
