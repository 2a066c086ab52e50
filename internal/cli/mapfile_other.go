//go:build !unix

package cli

import "os"

// mapFile returns the bytes of a file.
func mapFile(name string) ([]byte, func() error, error) {
	data, err := os.ReadFile(name)
	return data, func() error { return nil }, err
}
