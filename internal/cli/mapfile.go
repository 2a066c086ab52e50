package cli

import (
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
		data, err := os.ReadFile(name)
		return data, func() error { return nil }, err
	}
	return system.Map(name)
}
