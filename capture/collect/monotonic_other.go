//go:build !linux

package collect

import "time"

// Monotonic returns 0: only on Linux execution traces have a clock that other
// programs can read.
func Monotonic(time.Time) (ns int64, boot string) { return 0, "" }
