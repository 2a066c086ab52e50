//go:build !unix

package main

// gc10 wants memory that the runtime does not know.
func gc10() {}
