package static

import (
	"cmp"
	"compress/gzip"
	"encoding/gob"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// maxKept is how many answers are kept. The graph of a web server is about a megabyte.
const maxKept = 40

// kept reads an answer that was kept, and tells whether there is one.
func kept(dir, name string, into any) bool {
	if dir == "" {
		return false
	}
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return false
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	return err == nil && gob.NewDecoder(z).Decode(into) == nil
}

// keep keeps an answer. What goes wrong is not told: it is worked out again then.
func keep(dir, name string, answer any) {
	if dir == "" || os.MkdirAll(dir, 0o700) != nil {
		return
	}
	tmp, err := os.CreateTemp(dir, "new-*")
	if err != nil {
		return
	}
	z := gzip.NewWriter(tmp)
	err = cmp.Or(gob.NewEncoder(z).Encode(answer), z.Close())
	if cerr := tmp.Close(); err != nil || cerr != nil || os.Rename(tmp.Name(), filepath.Join(dir, name)) != nil {
		os.Remove(tmp.Name())
		return
	}
	prune(dir)
}

// prune removes the oldest answers beyond maxKept.
func prune(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	var infos []fs.FileInfo
	for _, e := range entries {
		if i, err := e.Info(); err == nil {
			infos = append(infos, i)
		}
	}
	slices.SortFunc(infos, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for _, i := range infos[min(maxKept, len(infos)):] {
		os.Remove(filepath.Join(dir, i.Name()))
	}
}
