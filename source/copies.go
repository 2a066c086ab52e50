package source

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"loupe/source/bounded"
)

// copies are the files of what is no regular file, in a private folder.
type copies struct {
	dir   string // "" before there is one
	count int
	names map[string]string // what the user calls them, by where they lie
}

// remove removes them.
func (c *copies) remove() error {
	if c.dir == "" {
		return nil
	}
	dir := c.dir
	c.dir = ""
	return os.RemoveAll(dir)
}

// errNoRoom is wrapped by the errors of a copy that cannot be written.
var errNoRoom = errors.New("cannot keep a copy of it in the temporary folder")

// put writes a stream into a file of its own and returns where that is; beside an
// error of the stream, with what came before.
func (c *copies) put(base string, r io.Reader, name string) (path string, err error) {
	dir, err := c.folder(name)
	if err != nil {
		return "", err
	}
	return c.putAt(filepath.Join(dir, fileName(base)), r, name)
}

// putAt is put of a file at a place in one of the folders.
func (c *copies) putAt(path string, r io.Reader, name string) (string, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return "", fmt.Errorf("cannot read %s: %w: %w", name, errNoRoom, err)
	}
	c.names[path] = name
	w := &written{w: f}
	n, err := io.Copy(w, r)
	bounded.Took(n)
	if cerr := f.Close(); w.err == nil {
		w.err = cerr
	}
	if w.err != nil {
		return "", fmt.Errorf("cannot read %s: %w: %w", name, errNoRoom, w.err)
	}
	return path, err
}

// folder makes a folder for a copy.
func (c *copies) folder(name string) (string, error) {
	if c.dir == "" {
		removeStale(os.TempDir())
		dir, err := os.MkdirTemp("", fmt.Sprintf("%s%d-*", copiesBegin, os.Getpid()))
		if err != nil {
			return "", fmt.Errorf("cannot read %s: %w: %w", name, errNoRoom, err)
		}
		c.dir, c.names = dir, map[string]string{}
	}
	c.count++
	dir := filepath.Join(c.dir, strconv.Itoa(c.count))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", fmt.Errorf("cannot read %s: %w: %w", name, errNoRoom, err)
	}
	return dir, nil
}

// copiesBegin begins the names of the folders of copies; the number of the process follows.
const copiesBegin = "loupe-in-"

// removeStale removes the copies of processes that were killed.
func removeStale(dir string) {
	names, err := filepath.Glob(filepath.Join(dir, copiesBegin+"*-*"))
	if err != nil {
		return
	}
	for _, name := range names {
		number, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(name), copiesBegin), "-")
		if pid, err := strconv.Atoi(number); err == nil && gone(pid) {
			os.RemoveAll(name) // that of somebody else stays
		}
	}
}

// written tells errors of the writer from those of the reader.
type written struct {
	w   io.Writer
	err error
}

// Write writes.
func (w *written) Write(p []byte) (int, error) {
	n, err := w.w.Write(p)
	if err != nil {
		w.err = err
	}
	return n, err
}

// fileName makes the name of a copy: what is odd in it is left out.
func fileName(base string) string {
	name := strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, base)
	if name = strings.Trim(name, ". "); name == "" {
		return "input"
	}
	return name[max(0, len(name)-100):]
}
