package command

import (
	"bufio"
	"errors"
	"os"
	"sync"
)

// CreateFile makes a file, or empties the one that is there. What loupe writes tells
// what a program does and has in memory: a new file is for its owner alone.
func CreateFile(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
}

// WriteFile writes a new file through a temporary name, so that none is left
// half written. What is no file, such as a pipe or a device, is written to as
// it is.
func WriteFile(name string, write func(*bufio.Writer) error) error {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		file, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		w := bufio.NewWriterSize(file, 1<<20)
		return errors.Join(write(w), w.Flush(), file.Close())
	}
	tmp := name + ".part"
	file, err := CreateFile(tmp)
	if err != nil {
		return err
	}
	unfinished.Store(tmp, true)
	defer unfinished.Delete(tmp)
	w := bufio.NewWriterSize(file, 1<<20)
	err = write(w)
	if err == nil {
		err = w.Flush()
	}
	if cerr := file.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp, name)
	}
	if err != nil {
		os.Remove(tmp)
	}
	return err
}

// unfinished are the names of files that are being written: they go away when the
// program is left in the middle. A file that is written knows nothing of the command
// that is left, so that this is one set for all.
var unfinished sync.Map
