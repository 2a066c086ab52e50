//go:build !linux

package load

import "time"

// The monotonic clocks of other systems are not those of their traces.
func monotonicAt(time.Time) int64 { return 0 }
func bootID() string              { return "" }
