package cli

import (
	"errors"
	"fmt"
	"io"

	"loupe/source"
)

// readStream reads a stream that should end before it has more than
// [source.MaxStream] bytes.
func readStream(r io.Reader, name string) ([]byte, error) {
	data, err := source.ReadAll(r, name, source.MaxStream)
	if errors.Is(err, source.ErrTooLong) {
		return nil, fmt.Errorf("more than %d MB come out of %s: put them into a file, which needs no memory", source.MaxStream>>20, name)
	}
	return data, err
}
