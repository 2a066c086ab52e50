//go:build !unix

package block

// SyncDir is that of [filesystem]. Windows writes names by itself.
func (d folder) SyncDir() error { return nil }
