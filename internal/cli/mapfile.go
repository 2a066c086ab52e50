package cli

import (
	"os"
	"time"

	"loupe/system"
)

// settled is how long a file must not have changed to be mapped: reading a
// mapping beyond the end of a file that shrinks kills the program.
const settled = 2 * time.Second

// mapFile returns the bytes of a file, mapped where that is safe.
func mapFile(name string) ([]byte, func() error, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() || info.Size() == 0 || time.Since(info.ModTime()) < settled {
		data, err := os.ReadFile(name)
		return data, func() error { return nil }, err
	}
	return system.Map(name)
}
