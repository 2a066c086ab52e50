package live

import (
	"context"
	"errors"
	"fmt"
	"os"

	"loupe/value/unit"
)

// ErrTooLarge is wrapped by errors that say that a core would be larger than allowed, or
// than the disk has room for.
var ErrTooLarge = errors.New("its memory is too large")

// spare is the share of a disk's free room that a core leaves at the least: the process may
// write there too.
const spare = 0.2

// CaptureWithin is [Capture] for a process that must not come to harm: it is not touched
// where its memory takes more than limit bytes, or the disk of f would become nearly full.
// Other than with Capture, a core that was cut is an error.
func CaptureWithin(ctx context.Context, pid int, f *os.File, limit int64) (Captured, error) {
	need, err := footprint(pid)
	if err != nil {
		return Captured{}, err
	}
	if need > limit {
		return Captured{}, fmt.Errorf("%w: it takes %s, and %s are allowed", ErrTooLarge, unit.Bytes(need), unit.Bytes(limit))
	}
	if free, known := freeRoom(f); known && float64(need) > (1-spare)*float64(free) {
		return Captured{}, fmt.Errorf("%w: it takes %s, and the disk of %s has %s left", ErrTooLarge, unit.Bytes(need), f.Name(), unit.Bytes(free))
	}
	c, err := Capture(ctx, pid, f)
	if err == nil && c.Cut != nil {
		err = fmt.Errorf("the core is cut after %s: %w", unit.Bytes(c.Size), c.Cut)
	}
	return c, err
}
