package kept

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"loupe/analysis/tiles"
	"loupe/internal/cli/command"
	"loupe/source/system"
)

// OpenIndex opens the index of a trace, if there is one that fits.
func OpenIndex(name string, key tiles.Key) (set *tiles.Set, path string, done func() error) {
	for _, path := range IndexPaths(name) {
		data, done, err := system.Map(path) // an index is never written in place
		if err != nil {
			continue
		}
		if set, err := tiles.Open(data); err == nil && set.Key() == key {
			return set, path, done
		}
		done()
	}
	return nil, "", nil
}

// IndexPaths are where the index of a trace may lie: beside it, or in the
// user's cache.
func IndexPaths(name string) []string {
	paths := []string{name + ".loupe"}
	abs, err := filepath.Abs(name)
	if err != nil {
		return paths
	}
	if dir, err := system.UserCache(); err == nil {
		sum := sha256.Sum256([]byte(abs))
		paths = append(paths, filepath.Join(dir, "index", fmt.Sprintf("%x.loupe", sum[:16])))
	}
	return paths
}

// KeepIndex writes the index to the first of some paths where that can be.
func KeepIndex(paths []string, set *tiles.Set) (string, error) {
	var first error
	for _, path := range paths {
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if err == nil {
			err = command.WriteFile(path, func(w *bufio.Writer) error {
				_, err := set.WriteTo(w)
				return err
			})
		}
		if err == nil {
			return path, nil
		}
		if first == nil {
			first = err
		}
	}
	return "", first
}

// Indexes are the timelines of one source of the pages, whose traces have
// names by their entries.
type Indexes struct {
	Name func(entry string) string

	mu   sync.Mutex
	done []func() error
}

// Find implements [web.Index].
func (x *Indexes) Find(entry string, key tiles.Key) *tiles.Set {
	set, _, done := OpenIndex(x.Name(entry), key)
	if set != nil {
		x.mu.Lock()
		x.done = append(x.done, done)
		x.mu.Unlock()
	}
	return set
}

// Keep implements [web.Index]. Who only looks at a file does not want another
// one beside it: the user's cache comes first.
func (x *Indexes) Keep(entry string, set *tiles.Set) *tiles.Set {
	paths := IndexPaths(x.Name(entry))
	slices.Reverse(paths)
	path, err := KeepIndex(paths, set)
	if err != nil {
		return nil
	}
	if path == paths[0] && len(paths) > 1 {
		pruneOldest(filepath.Dir(path), maxIndexes)
	}
	return x.Find(entry, set.Key())
}

// maxIndexes is how many indexes are kept in the user's cache. One has about
// half the bytes of its trace, of a large one a quarter.
const maxIndexes = 30

// Close closes the timelines that were found.
func (x *Indexes) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	var all []error
	for _, done := range x.done {
		all = append(all, done())
	}
	x.done = nil
	return errors.Join(all...)
}
