// Package kept has what loupe keeps of large files, beside them or in the user's cache: pages
// and timelines, so that nothing is read twice.
package kept

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"loupe/source"
	"loupe/source/system"
)

// worthCaching is the size of a file from which the page that is made of it is
// kept: a smaller one is read faster than anybody notices.
const worthCaching = 4 << 20

// maxPages is how many pages are kept.
const maxPages = 200

// Key names what a page shows of a file: it changes when the file does, or
// the way to look at it, or loupe itself. It is "" for what cannot be kept.
func Key(in *source.Input, how ...any) string {
	if !in.Held() || in.Recording {
		return ""
	}
	file := in.Path
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() < worthCaching {
		return ""
	}
	path, err := filepath.Abs(file)
	if err != nil {
		return ""
	}
	self := ""
	if exe, err := os.Executable(); err == nil {
		if i, err := os.Stat(exe); err == nil {
			self = fmt.Sprint(i.Size(), i.ModTime().UnixNano())
		}
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %d %d %s %q", path, info.Size(), info.ModTime().UnixNano(), self, fmt.Sprint(how...)))
	return fmt.Sprintf("%x", sum[:16])
}

// pageDir is where pages are kept.
func pageDir() (string, error) {
	dir, err := system.UserCache()
	return filepath.Join(dir, "pages"), err
}

// Page prints the page of this key if it is there; else it makes it,
// prints it, and keeps it. Nothing that goes wrong with the keeping is told:
// the page is made again then.
func Page(w io.Writer, key string, make func(io.Writer) error) error {
	dir, err := pageDir()
	if key == "" || err != nil {
		return make(w)
	}
	name := filepath.Join(dir, key)
	if page, err := os.ReadFile(name); err == nil {
		_, err = w.Write(page)
		return err
	}
	var page bytes.Buffer
	if err := make(io.MultiWriter(w, &page)); err != nil {
		return err
	}
	if os.MkdirAll(dir, 0o700) != nil {
		return nil
	}
	tmp, err := os.CreateTemp(dir, "new-*")
	if err != nil {
		return nil
	}
	_, err = tmp.Write(page.Bytes())
	if cerr := tmp.Close(); err != nil || cerr != nil || os.Rename(tmp.Name(), name) != nil {
		os.Remove(tmp.Name())
	}
	pruneOldest(dir, maxPages)
	return nil
}

// pruneOldest removes the oldest files of a folder beyond so many.
func pruneOldest(dir string, keep int) {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) <= keep {
		return
	}
	var infos []fs.FileInfo
	for _, e := range entries {
		if i, err := e.Info(); err == nil {
			infos = append(infos, i)
		}
	}
	slices.SortFunc(infos, func(a, b fs.FileInfo) int {
		return cmp.Compare(a.ModTime().UnixNano(), b.ModTime().UnixNano())
	})
	for _, i := range infos[:max(0, len(infos)-keep)] {
		os.Remove(filepath.Join(dir, i.Name()))
	}
}
