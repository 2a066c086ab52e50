package recording

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"testing/fstest"
)

// Store is where a [Writer] puts the files of a recording: a folder ([Create]), memory
// ([Memory]), or another place. It is read as a file system, also while it is written;
// its methods may be called by several goroutines.
type Store interface {
	fs.FS
	// Create begins the file of a name with slashes. One that grows, as a log, has its
	// name at once and may be read as far as it goes; any other gets it by Keep, and
	// takes the place of an older one then. It is an error for a file that grows to be
	// there.
	Create(name string, grows bool) (File, error)
}

// File is a file in a [Store] that is being written, by one goroutine.
type File interface {
	io.Writer
	// Sync returns when what was written outlasts a crash.
	Sync() error
	// Keep syncs the file, ends it and gives it its name. After an error there is
	// as much of the file as could be kept.
	Keep() error
	// Drop ends the file and leaves nothing of it.
	Drop() error
}

// partSuffix marks a file in a folder that is not complete.
const partSuffix = ".part"

// inFolder stores files in a folder.
type inFolder string

// Open implements [fs.FS].
func (d inFolder) Open(name string) (fs.File, error) { return os.DirFS(string(d)).Open(name) }

// Create implements [Store].
func (d inFolder) Create(name string, grows bool) (File, error) {
	final := filepath.Join(string(d), filepath.FromSlash(name))
	if path.Dir(name) != "." {
		if err := os.MkdirAll(filepath.Dir(final), dirMode); err != nil {
			return nil, err
		}
	}
	if grows {
		f, err := os.OpenFile(final, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, fileMode)
		return &folderFile{File: f, final: final}, err
	}
	f, err := os.OpenFile(final+partSuffix, os.O_CREATE|os.O_EXCL|os.O_WRONLY, fileMode)
	return &folderFile{File: f, final: final}, err
}

// folderFile is a file in a folder.
type folderFile struct {
	*os.File
	final string
	holes bool // it has some, which may be at its end
}

// noBytes is what holes read as. What is less than that is written.
var noBytes = make([]byte, 64<<10)

// Write implements [io.Writer]. A long run of zeroes becomes a hole, which takes no room on
// the disk: most of a core is such.
func (f *folderFile) Write(p []byte) (int, error) {
	if len(p) != len(noBytes) || f.Name() == f.final || !bytes.Equal(p, noBytes) {
		return f.File.Write(p)
	}
	if _, err := f.Seek(int64(len(p)), io.SeekCurrent); err != nil {
		return f.File.Write(p)
	}
	f.holes = true
	return len(p), nil
}

// end gives the file the length that was written.
func (f *folderFile) end() error {
	if !f.holes {
		return nil
	}
	at, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	return f.Truncate(at)
}

// Keep implements [File]. What could be written has its name after an error too.
func (f *folderFile) Keep() error {
	err := errors.Join(f.end(), f.Sync(), f.Close())
	if f.Name() != f.final {
		err = errors.Join(err, os.Rename(f.Name(), f.final))
	}
	return err
}

// Drop implements [File].
func (f *folderFile) Drop() error { return errors.Join(f.Close(), os.Remove(f.Name())) }

// Memory is a [Store] in memory, for what is looked at once. The zero Memory is empty.
type Memory struct {
	mu    sync.Mutex
	files fstest.MapFS
}

// Open implements [fs.FS]: the file is as it is now.
func (m *Memory) Open(name string) (fs.File, error) {
	m.mu.Lock()
	now := fstest.MapFS{}
	for name, f := range m.files {
		// What is appended later lies behind the end of this slice.
		now[name] = &fstest.MapFile{Data: f.Data, Mode: f.Mode}
	}
	m.mu.Unlock()
	return now.Open(name)
}

// Names returns the names of all files, sorted.
func (m *Memory) Names() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.files))
}

// Create implements [Store].
func (m *Memory) Create(name string, grows bool) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := &memoryFile{of: m, name: name, file: &fstest.MapFile{Mode: fileMode}}
	if grows {
		if m.files[name] != nil {
			return nil, &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
		}
		m.name(f)
	}
	return f, nil
}

// name gives a file its name. The caller holds m.mu.
func (m *Memory) name(f *memoryFile) {
	if m.files == nil {
		m.files = fstest.MapFS{}
	}
	m.files[f.name] = f.file
}

// memoryFile is a file in memory.
type memoryFile struct {
	of   *Memory
	name string
	file *fstest.MapFile
}

// Write implements [io.Writer].
func (f *memoryFile) Write(p []byte) (int, error) {
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	f.file.Data = append(f.file.Data, p...)
	return len(p), nil
}

// Sync implements [File]: nothing in memory outlasts a crash.
func (f *memoryFile) Sync() error { return nil }

// Keep implements [File].
func (f *memoryFile) Keep() error {
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	f.of.name(f)
	return nil
}

// Drop implements [File].
func (f *memoryFile) Drop() error {
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	if f.of.files[f.name] == f.file {
		delete(f.of.files, f.name)
	}
	return nil
}

// inNewFolder makes the folder of a recording, which must not exist or be empty.
func inNewFolder(dir string) (inFolder, error) {
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return "", fmt.Errorf("cannot create recording: %w (choose another place with -o)", err)
	}
	names, err := os.ReadDir(dir)
	if err != nil {
		return "", fmt.Errorf("cannot create recording: %w", err)
	}
	if len(names) > 0 {
		return "", fmt.Errorf("cannot create recording: %s exists and is not empty (choose another place with -o)", dir)
	}
	return inFolder(dir), hideFromGit(dir)
}

// ignoreName is the file that hides a recording from git.
const ignoreName = ".gitignore"

// hideFromGit has git leave out the recording, with the file that says so: it
// may lie in somebody's working tree, which is as clean afterwards as before.
func hideFromGit(dir string) error {
	text := "# A recording of loupe is not part of the repository around it.\n*\n"
	if err := os.WriteFile(filepath.Join(dir, ignoreName), []byte(text), fileMode); err != nil {
		return fmt.Errorf("cannot create recording: %w", err)
	}
	return nil
}
