// Package live looks into a running Go process from outside: its goroutines
// with their stacks and what they wait for and its heap profile, read out of its
// memory, and a CPU profile by the kernel's perf events. The process is neither stopped nor
// changed, and needs no agent, no import and no port. The one exception is
// [Process.StartHeapProfiling], which nobody calls unasked.
//
// It works on Linux for a process of the same user (or by root), where the
// kernel lets one process look into another; [Permissions] says what it lets
// do, and why not. What the runtime keeps in that memory is read by package
// program; a binary without a symbol table is understood on amd64.
//
// What is read is read while the process runs: a goroutine that moves meanwhile
// is noticed and given without its stack.
package live

import (
	"errors"

	"loupe/format/program"
)

// ErrNotSupported is wrapped by errors on systems that do not let one process
// look into another, or where loupe does not know how.
var ErrNotSupported = errors.New("looking into a running process needs Linux on amd64 or arm64")

// ErrNotPermitted is wrapped by errors that say that the kernel refuses.
var ErrNotPermitted = errors.New("the kernel does not permit it")

// ErrNotGo is wrapped by errors about a process that is not one of Go, or of which
// the binary says too little.
var ErrNotGo = program.ErrNotGo

// ErrHeapProfileOff is wrapped by the error about a process that keeps no heap
// profile, ErrHeapProfileOn by that about one that keeps one already.
var (
	ErrHeapProfileOff = program.ErrHeapProfileOff
	ErrHeapProfileOn  = errors.New("it is on already")
)

// HeapProfileRate is how many bytes are allocated between two samples of a heap
// profile that is switched on from outside: Go's own default.
const HeapProfileRate = 512 << 10
