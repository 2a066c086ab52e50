//go:build !linux || !(amd64 || arm64)

package live

import (
	"context"
	"time"

	"loupe/format/dump"
	"loupe/format/profile"
	"loupe/format/symbol"
)

// Process is a running Go program that is looked into.
type Process struct{ Binary *symbol.Binary }

// Open fails with [ErrNotSupported].
func Open(int) (*Process, error) { return nil, ErrNotSupported }

// Close releases the process.
func (p *Process) Close() error { return nil }

// Goroutines fails with [ErrNotSupported].
func (p *Process) Goroutines() (*dump.File, error) { return nil, ErrNotSupported }

// HeapProfile fails with [ErrNotSupported].
func (p *Process) HeapProfile() (*profile.Profile, error) { return nil, ErrNotSupported }

// HeapProfiling is heap profiling that was switched on from outside.
type HeapProfiling struct {
	Addr         uint64
	Before, Rate int64
}

// StartHeapProfiling fails with [ErrNotSupported].
func (p *Process) StartHeapProfiling() (*HeapProfiling, error) { return nil, ErrNotSupported }

// Stop does nothing.
func (h *HeapProfiling) Stop() error { return nil }

// Undo is a command that does nothing.
func (h *HeapProfiling) Undo() string { return "true" }

// Frequency is how often a second CPUProfile would look.
const Frequency = 99

// CPUProfile fails with [ErrNotSupported].
func (p *Process) CPUProfile(context.Context, time.Duration) (*profile.Profile, error) {
	return nil, ErrNotSupported
}

// Permissions says that nothing is possible.
func Permissions(int) (all []Permission) {
	for _, way := range ways {
		all = append(all, Permission{What: way[0], How: way[1], Why: ErrNotSupported.Error()})
	}
	return all
}

// Unrelated says that nothing is possible.
func Unrelated() Permission {
	return Permission{What: "ptrace", How: "processes of the same user may be looked into", Why: ErrNotSupported.Error()}
}
