package cli

import (
	"fmt"
	"io"
	"os"

	"loupe/system"
)

// mapFile returns the bytes of a file, mapped where that is safe.
func mapFile(name string) ([]byte, func() error, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, nil, err
	}
	if !system.Settled(info) {
		data, err := readFile(name)
		return data, func() error { return nil }, err
	}
	return system.Map(name)
}

// readFile reads a file, and what is none, a pipe or a device, up to maxStream.
func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		return os.ReadFile(name)
	}
	return readStream(f, name, maxStream)
}

// maxStream is how much is taken from what may have no end.
const maxStream = 1 << 30

// readStream reads a stream that should end before it has more than limit bytes.
func readStream(r io.Reader, name string, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		return nil, fmt.Errorf("more than %d MB come out of %s: put them into a file, which needs no memory", limit>>20, name)
	}
	return data, err
}
