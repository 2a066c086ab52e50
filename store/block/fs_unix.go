//go:build unix

package block

import "os"

// SyncDir is that of [filesystem].
func (d folder) SyncDir() error {
	f, err := os.Open(string(d))
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
