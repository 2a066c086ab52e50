//go:build !linux

package collect

import "os"

// awaitEnd returns at once: waiting for a child takes nothing but its end here.
func awaitEnd(*os.Process) {}

// holdable has nothing against it: no process can be held still here anyway.
func holdable(*os.Process) error { return nil }
