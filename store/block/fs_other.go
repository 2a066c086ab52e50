//go:build !unix && !windows

package block

import (
	"errors"
	"os"
)

// SyncDir is that of [filesystem].
func (d folder) SyncDir() error { return nil }

func (d folder) lock() (*os.File, error) {
	return nil, errors.New("cannot keep a store on this system: it has no locks on files")
}
