//go:build !unix

package source

import "os"

// gone tells whether no process has a number any more.
func gone(pid int) bool {
	_, err := os.FindProcess(pid) // which opens it here
	return err != nil
}
