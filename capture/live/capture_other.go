//go:build !linux || !(amd64 || arm64)

package live

import (
	"context"
	"os"
)

// Capture fails with [ErrNotSupported].
func Capture(context.Context, int, *os.File) (Captured, error) {
	return Captured{}, ErrNotSupported
}

func footprint(int) (int64, error) { return 0, ErrNotSupported }

func freeRoom(*os.File) (int64, bool) { return 0, false }
