package block

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"loupe/source/system"
	"loupe/store"
)

// filesystem is the folder of a store. Tests put one in its place that fails.
type filesystem interface {
	Create(name string) (file, error) // for appending; what was there is gone
	Open(name string) (file, error)   // for reading
	Rename(from, to string) error
	Remove(name string) error
	List() ([]string, error)
	// SyncDir makes names durable: files that were made, renamed or removed.
	SyncDir() error
}

// file is an open file.
type file interface {
	io.Writer
	io.ReaderAt
	io.Closer
	Sync() error
	Truncate(size int64) error
	Size() (int64, error)
}

// folder is the filesystem of the machine.
type folder string

type diskFile struct{ *os.File }

func (f diskFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (d folder) Create(name string) (file, error) {
	f, err := os.OpenFile(filepath.Join(string(d), name), os.O_RDWR|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o600)
	return diskFile{f}, err
}

func (d folder) Open(name string) (file, error) {
	f, err := os.Open(filepath.Join(string(d), name))
	return diskFile{f}, err
}

func (d folder) Rename(from, to string) error {
	return os.Rename(filepath.Join(string(d), from), filepath.Join(string(d), to))
}

func (d folder) Remove(name string) error {
	err := os.Remove(filepath.Join(string(d), name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (d folder) List() (names []string, err error) {
	list, err := os.ReadDir(string(d))
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names, err
}

// lock keeps every other process out of the folder until the file is closed or the process ends, however it does.
func (d folder) lock() (*os.File, error) {
	f, err := system.Lock(filepath.Join(string(d), "lock"))
	switch {
	case errors.Is(err, system.ErrLocked):
		return nil, fmt.Errorf("cannot open the store in %s: %w (stop it, or name another folder)", string(d), store.ErrLocked)
	case err != nil:
		return nil, fmt.Errorf("cannot lock the store in %s: %w", string(d), err)
	}
	return f, nil
}

// readAll reads a file as a whole, up to a limit.
func readAll(fs filesystem, name string, limit int64) ([]byte, error) {
	f, err := fs.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	if size > limit {
		return nil, errors.New("it is too long")
	}
	b := make([]byte, size)
	n, err := f.ReadAt(b, 0)
	if err == io.EOF {
		err = nil
	}
	return b[:n], err
}

// writeWhole writes a file such that either all of it is there or what was there before.
func writeWhole(fs filesystem, name string, data []byte) error {
	f, err := fs.Create(name + ".tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = fs.Rename(name+".tmp", name)
	}
	if err != nil {
		fs.Remove(name + ".tmp")
		return err
	}
	return fs.SyncDir()
}
