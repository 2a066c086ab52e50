//go:build !linux

package main

// sc15 wants a call that waits in the kernel.
func sc15() {}
