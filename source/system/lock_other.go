//go:build !unix && !windows

package system

import (
	"errors"
	"os"
)

// lock is [Lock].
func lock(*os.File) error { return errors.New("this system has no locks on files") }
