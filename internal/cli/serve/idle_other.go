//go:build !linux

package serve

// unmapProgram does nothing: what other systems count as the memory of a process has no such pages in it, or they cannot be
// given back.
func unmapProgram() {}
