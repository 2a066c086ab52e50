package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

	"loupe/source"
	"loupe/system"
)

// mapFile returns the bytes of a file, mapped where that is safe.
func mapFile(name string) ([]byte, func() error, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, nil, err
	}
	if !system.Settled(info) {
		data, err := source.ReadNamed(name)
		return data, func() error { return nil }, err
	}
	return system.Map(name)
}

// readStream reads a stream that should end before it has more than
// [source.MaxStream] bytes.
func readStream(r io.Reader, name string) ([]byte, error) {
	data, err := source.ReadAll(r, name, source.MaxStream)
	if errors.Is(err, source.ErrTooLong) {
		return nil, fmt.Errorf("more than %d MB come out of %s: put them into a file, which needs no memory", source.MaxStream>>20, name)
	}
	return data, err
}
