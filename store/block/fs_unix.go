//go:build unix

package block

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"loupe/store"
)

// SyncDir is that of [filesystem].
func (d folder) SyncDir() error {
	f, err := os.Open(string(d))
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// lock keeps every other process out of the folder until the file is closed or the
// process ends, however it does.
func (d folder) lock() (*os.File, error) {
	name := filepath.Join(string(d), "lock")
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return f, nil
	}
	f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("cannot open the store in %s: %w (stop it, or name another folder)", string(d), store.ErrLocked)
	}
	return nil, fmt.Errorf("cannot lock the store in %s: %w", string(d), err)
}
