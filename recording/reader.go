package recording

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"loupe/source/bounded"
	"loupe/value/timeline"
)

// Recording is an opened recording. Its files are read on demand; it may be
// shared by several goroutines.
type Recording struct {
	Manifest
	fsys  fs.FS
	close func() error
	twice []string // names that a zip file has more than once

	mu      sync.Mutex
	closers []func() error // of the files of ReaderAt
}

// maxManifest bounds what is read as a manifest or a journal, in bytes;
// maxPhases and maxEntries bound what is worked on for it: ten thousand rounds of
// ten seconds last more than a day, and have five entries each.
const (
	maxManifest = 32 << 20
	maxPhases   = 10_000
	maxEntries  = 50_000
)

// bounded fails for a manifest that no loupe has written.
func (m *Manifest) bounded() error {
	if len(m.Phases) > maxPhases || len(m.Entries) > maxEntries || len(m.Clocks) > maxEntries {
		return fmt.Errorf("cannot read recording: it has more than %d phases or %d entries", maxPhases, maxEntries)
	}
	return nil
}

// ErrNotRecording is returned for something that holds neither a manifest nor
// a journal.
var ErrNotRecording = errors.New("it is not a recording (no " + ManifestName + " and no " + JournalName + ")")

// Open reads the recording at the root of fsys. One that was not closed is
// rebuilt from its journal and has Complete false.
func Open(fsys fs.FS) (*Recording, error) {
	m, err := readManifest(fsys)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(m.Schema, "loupe.recording/") {
		return nil, fmt.Errorf("cannot read recording: unknown schema %q", m.Schema)
	}
	if m.Schema != Schema {
		return nil, fmt.Errorf("cannot read recording: it has schema %q, this loupe reads %q (use a newer loupe)", m.Schema, Schema)
	}
	if err := m.bounded(); err != nil {
		return nil, err
	}
	for _, e := range m.Entries {
		if !fs.ValidPath(e.Path) {
			return nil, fmt.Errorf("cannot read recording: entry path %q leaves the recording", e.Path)
		}
		if e.Run < 0 {
			return nil, fmt.Errorf("cannot read recording: entry %s is of run %d (the manifest is damaged: get the recording again)", e.Path, e.Run)
		}
	}
	for i, e := range m.Entries {
		if e.Partial {
			if info, err := fs.Stat(fsys, e.Path); err == nil {
				m.Entries[i].Bytes = info.Size()
				if !m.Complete {
					m.End = max(m.End, timeline.Time(info.ModTime().Sub(m.Start)))
				}
			}
		}
	}
	if !m.Complete {
		// The phase that was cut, or goes on, lasts as long as anything was
		// written.
		for i, p := range m.Phases {
			if p.Span.End == 0 {
				m.Phases[i].Span.End = max(m.End, p.Span.Start)
			}
		}
	}
	return &Recording{Manifest: *m, fsys: fsys, close: func() error { return nil }}, nil
}

// Of makes a recording of files that stand in fsys without a manifest: it is
// given instead. Nothing is read.
func Of(m Manifest, fsys fs.FS) *Recording {
	m.Schema, m.Complete = Schema, true
	return &Recording{Manifest: m, fsys: fsys, close: func() error { return nil }}
}

func readManifest(fsys fs.FS) (*Manifest, error) {
	f, err := fsys.Open(ManifestName)
	if err == nil {
		defer f.Close()
		m := &Manifest{}
		if err := json.NewDecoder(io.LimitReader(f, maxManifest)).Decode(m); err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", ManifestName, err)
		}
		return m, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot read recording: %w", err)
	}
	j, err := fsys.Open(JournalName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotRecording
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read recording: %w", err)
	}
	defer j.Close()
	return readJournal(io.LimitReader(j, maxManifest))
}

// OpenFile opens the recording in a directory or a zip file. A zip file may
// hold it at its root or in its only folder. The caller closes it.
func OpenFile(name string) (*Recording, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		// A root confines what the manifest may name, symbolic links
		// included.
		root, err := os.OpenRoot(name)
		if err != nil {
			return nil, err
		}
		r, err := openWith(name, folder{root}, root.Close)
		if err == nil {
			r.glance()
		}
		return r, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("cannot open recording %s: %w", name, bounded.NotRegular(info.Mode()))
	}
	z, err := zip.OpenReader(name)
	if errors.Is(err, zip.ErrFormat) {
		return nil, fmt.Errorf("cannot open recording %s: it is neither a directory nor a zip file", name)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot open recording %s: %w", name, err)
	}
	fsys := fs.FS(packed{&z.Reader})
	if dir := onlyFolder(z.File); dir != "" {
		if fsys, err = fs.Sub(fsys, dir); err != nil {
			z.Close()
			return nil, fmt.Errorf("cannot open recording %s: %w", name, err)
		}
	}
	r, err := openWith(name, fsys, z.Close)
	if err == nil {
		r.twice = repeated(z.File)
	}
	return r, err
}

// repeated are the names that a zip file has more than once: which of them is read
// depends on who reads.
func repeated(files []*zip.File) (names []string) {
	seen := map[string]int{}
	for _, f := range files {
		if seen[f.Name]++; seen[f.Name] == 2 {
			names = append(names, f.Name)
		}
	}
	return names
}

func openWith(name string, fsys fs.FS, close func() error) (*Recording, error) {
	r, err := Open(fsys)
	if err != nil {
		close()
		return nil, fmt.Errorf("cannot open recording %s: %w", name, err)
	}
	r.close = close
	return r, nil
}

func onlyFolder(files []*zip.File) string {
	dir := ""
	for _, f := range files {
		first, _, ok := strings.Cut(f.Name, "/")
		if !ok || dir != "" && first != dir {
			return ""
		}
		dir = first
	}
	return dir
}

// Close releases the files of r, and with them what [Recording.ReaderAt] has
// returned.
func (r *Recording) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := []error{r.close()}
	for _, closeFile := range r.closers {
		all = append(all, closeFile())
	}
	r.closers = nil
	return errors.Join(all...)
}

// FS returns the tree of the recording.
func (r *Recording) FS() fs.FS { return r.fsys }

// ReadFile reads a whole entry of at most limit bytes.
func (r *Recording) ReadFile(name string, limit int64) ([]byte, error) {
	f, err := r.fsys.Open(name)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", name, err)
	}
	defer f.Close()
	tooLarge := fmt.Errorf("cannot read %s: it is larger than %d bytes", name, limit)
	var b bytes.Buffer
	// Most often the size is known: a buffer of that size is not copied as it
	// grows. A zip file can claim any size, so that not all of it is believed.
	size := sizeOf(f)
	if size > limit {
		return nil, tooLarge
	}
	b.Grow(int(min(size, maxBelieved)) + bytes.MinRead)
	_, err = b.ReadFrom(io.LimitReader(f, min(maxBelieved, limit+1)))
	if err == nil && b.Len() == maxBelieved {
		b.Grow(int(max(0, min(size-maxBelieved, 15*maxBelieved))) + bytes.MinRead) // it has shown that it is no small one
		_, err = b.ReadFrom(io.LimitReader(f, limit+1-maxBelieved))
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", name, err)
	}
	if int64(b.Len()) > limit {
		return nil, tooLarge
	}
	return b.Bytes(), nil
}

// sizeOf is the size that a file claims, 0 where it claims none.
func sizeOf(f fs.File) int64 {
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	return max(0, info.Size())
}

// ReaderAt returns the bytes of a whole entry, and how many there are, until the
// recording is closed. A file may have any size; what has no place in a file, as in a
// zip file, is read, if it has at most limit bytes.
//
// Note: A file is not mapped. It may become shorter while it is read, which with a
// mapping kills the program.
func (r *Recording) ReaderAt(name string, limit int64) (io.ReaderAt, int64, error) {
	f, err := r.fsys.Open(name)
	if err != nil {
		return nil, 0, fmt.Errorf("cannot read %s: %w", name, err)
	}
	if file, ok := f.(*os.File); ok {
		if info, err := f.Stat(); err == nil {
			r.mu.Lock()
			r.closers = append(r.closers, file.Close)
			r.mu.Unlock()
			return file, info.Size(), nil
		}
	}
	f.Close()
	data, err := r.ReadFile(name, limit)
	return bytes.NewReader(data), int64(len(data)), err
}

// maxBelieved is the claimed size up to which memory is taken in advance.
const maxBelieved = 64 << 20

// addAll packs all files of a tree. What packs so well that [packed] would take it for a bomb,
// such as a core that is zeroes for the most part, stays as it is.
func addAll(z *zip.Writer, fsys fs.FS) error {
	return fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		h, err := zip.FileInfoHeader(info)
		if err != nil {
			return err
		}
		h.Name, h.Method = name, zip.Deflate
		// The same again costs as much as packing: it is done where holes are likely.
		if strings.HasPrefix(name, "memory/") {
			if size, err := deflated(fsys, name); err != nil || info.Size() > bounded.Unpacked(size) {
				h.Method = zip.Store
			}
		}
		w, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		return copyFile(w, fsys, name)
	})
}

// copyFile copies a file of a tree.
func copyFile(w io.Writer, fsys fs.FS, name string) error {
	f, err := fsys.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}

// deflated is how many bytes a file takes packed.
func deflated(fsys fs.FS, name string) (n int64, err error) {
	var c counter
	w, err := flate.NewWriter(&c, flate.DefaultCompression)
	if err != nil {
		return 0, err
	}
	err = errors.Join(copyFile(w, fsys, name), w.Close())
	return int64(c), err
}

// counter counts what is written to it.
type counter int64

// Write implements [io.Writer].
func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// Zip packs the recording in dir into the file name, which must not exist.
// Profiles and traces are compressed already or compress well; either way the
// zip is not larger than the tree, but for the holes of a core.
func Zip(dir, name string) (err error) {
	f, err := os.OpenFile(name+partSuffix, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, fileMode)
	if err != nil {
		return fmt.Errorf("cannot pack recording: %w", err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(name + partSuffix)
			err = fmt.Errorf("cannot pack recording: %w", err)
		}
	}()
	z := zip.NewWriter(f)
	if err = addAll(z, os.DirFS(dir)); err != nil {
		return err
	}
	if err = errors.Join(z.Close(), f.Sync(), f.Close()); err != nil {
		return err
	}
	if _, err = os.Stat(name); err == nil {
		return fmt.Errorf("%s exists", filepath.Base(name))
	}
	return os.Rename(name+partSuffix, name)
}
