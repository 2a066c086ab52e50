package system

import (
	"errors"
	"os"
)

// ErrLocked is a file whose lock another process holds.
var ErrLocked = errors.New("another process holds the lock")

// Lock makes or opens a file, and takes its lock for this process until it is closed or the process ends, however it does. The
// error is ErrLocked where another has it.
func Lock(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := LockFile(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
