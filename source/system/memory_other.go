//go:build !linux

package system

func memoryLimit() int64 { return 0 }
