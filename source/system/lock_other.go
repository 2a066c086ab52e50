//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly || windows)

package system

import (
	"errors"
	"os"
)

// LockFile is an error here.
func LockFile(*os.File) error { return errors.New("this system has no locks on files") }
