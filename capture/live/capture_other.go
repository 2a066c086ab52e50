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
