package block

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"

	"loupe/store"
)

// SyncDir is that of [filesystem]. Windows writes names by itself.
func (d folder) SyncDir() error { return nil }

// lock keeps every other process out of the folder until the file is closed or the
// process ends, however it does.
func (d folder) lock() (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(string(d), "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err = windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
	if err == nil {
		return f, nil
	}
	f.Close()
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return nil, fmt.Errorf("cannot open the store in %s: %w (stop it, or name another folder)", string(d), store.ErrLocked)
	}
	return nil, fmt.Errorf("cannot lock the store in %s: %w", string(d), err)
}
