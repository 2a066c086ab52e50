// Package bounded opens what is read under one contract: which kind of file, how
// many bytes, how much may come out of what is packed, how long it may take.
//
// Two things are told apart. What the user has named may be anything, also a
// pipe or a device: it was asked for. What a file names, such as the sources
// and the binaries in a profile, was put there by whoever made the file: of it
// nothing is read but regular files, of a bounded size, where the user's own
// code is, and nobody waits for a file system that does not answer.
//
// The package decodes nothing, and says nothing of what is in a file.
package bounded

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"loupe/source/system"
)

// The contract. See docs/limits.md.
const (
	// MaxStream is how much is taken from what may have no end: standard input,
	// a pipe, a device.
	MaxStream = 1 << 30
	// MaxAnswer is how much is taken from a server for one profile or dump. Go
	// cuts its largest, the dump of goroutines, off at 64 MiB.
	MaxAnswer = 128 << 20
	// MaxText is the size of the largest source file that is read.
	MaxText = 16 << 20
)

// Patience is how long is waited for a file that nobody has named.
const Patience = 2 * time.Second

// unpacked is what may come out of any packed file, and ratio how often its
// size beyond that. Logs pack to a tenth, samples in JSON to a fortieth; deflate
// can be made to hold a thousand times its size.
const (
	unpacked = 16 << 20
	ratio    = 100
)

// Unpacked is the most that may come out of so many packed bytes.
func Unpacked(packed int64) int64 { return unpacked + ratio*max(0, packed) }

// taken counts the bytes of what is read beside the files of the command line.
var taken atomic.Int64

// Taken returns how many bytes came out of streams and answers so far, and are in
// the files that [Open] has opened.
func Taken() int64 { return taken.Load() }

// Took counts bytes that were read under this contract by somebody else's loop.
func Took(n int64) { taken.Add(n) }

// ErrTooLong is wrapped by the errors of what has more bytes than it may.
var ErrTooLong = errors.New("it is too long")

// ReadAll reads a stream that should end before it has more than limit bytes.
// The error beside the first limit bytes of one that goes on wraps [ErrTooLong].
func ReadAll(r io.Reader, name string, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	taken.Add(int64(len(data)))
	if err == nil && int64(len(data)) > limit {
		return data[:limit], fmt.Errorf("cannot read %s: %w: it unpacks to more than %d MB", name, ErrTooLong, limit>>20)
	}
	return data, err
}

// ReadNamed reads what the user has named: a whole file, or a pipe or device up
// to [MaxStream].
func ReadNamed(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return ReadAll(f, name, MaxStream)
	}
	data := make([]byte, info.Size())
	n, err := io.ReadFull(f, data)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("%s became shorter while it was being read: %d of %d bytes are there (is something writing it? try again when that is done)", name, n, len(data))
	}
	return data[:n], err
}

// Limit returns a reader of r that fails with [ErrTooLong] beyond limit bytes.
func Limit(r io.Reader, name string, limit int64) io.Reader { return &limited{r, name, limit, limit} }

type limited struct {
	r           io.Reader
	name        string
	left, limit int64
}

// Read reads up to the limit, and a byte more to see whether there is one.
func (l *limited) Read(p []byte) (int, error) {
	if l.left < 0 {
		return 0, fmt.Errorf("cannot read %s: %w: it unpacks to more than %d MB", l.name, ErrTooLong, l.limit>>20)
	}
	n, err := l.r.Read(p[:min(int64(len(p)), l.left+1)])
	if l.left -= int64(n); l.left < 0 {
		return n - 1, nil
	}
	return n, err
}

// Open opens a file that something else than the user has named. What is no
// regular file is refused, and a pipe is not waited for.
func Open(name string) (*os.File, error) {
	return patiently(name, func() (*os.File, error) {
		f, err := os.OpenFile(name, os.O_RDONLY|system.NonBlocking, 0)
		if err != nil {
			return nil, err
		}
		info, err := f.Stat()
		if err == nil && !info.Mode().IsRegular() {
			err = &fs.PathError{Op: "open", Path: name, Err: NotRegular(info.Mode())}
		}
		if err != nil {
			f.Close()
			return nil, err
		}
		taken.Add(info.Size())
		return f, nil
	})
}

// NotRegular is the error of what is not a regular file; it says what it is.
func NotRegular(mode fs.FileMode) error {
	what := "device"
	switch {
	case mode.IsDir():
		what = "folder"
	case mode&fs.ModeNamedPipe != 0:
		what = "pipe"
	case mode&fs.ModeSocket != 0:
		what = "socket"
	}
	return fmt.Errorf("it is not a regular file (it is a %s)", what)
}

// Read reads a regular file of at most limit bytes that something else than the
// user has named.
func Read(name string, limit int64) ([]byte, error) {
	return patiently(name, func() ([]byte, error) {
		f, err := Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil && info.Size() > limit {
			return nil, fmt.Errorf("cannot read %s: %w: it has %d bytes, and the limit is %d", name, ErrTooLong, info.Size(), limit)
		}
		return ReadAll(f, name, limit)
	})
}

// stuck are the folders in which a file did not answer in time.
var stuck sync.Map

// patiently does something with a file that may lie on a file system that does
// not answer. It gives up after [Patience], and at once for what lies in the
// same folder from then on. What is given up on stays behind as a goroutine:
// nothing ends a system call that hangs.
func patiently[T any](name string, do func() (T, error)) (T, error) {
	var zero T
	dir := filepath.Dir(name)
	late := &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("the file system does not answer within %v", Patience)}
	if _, hangs := stuck.Load(dir); hangs {
		return zero, late
	}
	type answer struct {
		value T
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		v, err := do()
		done <- answer{v, err}
	}()
	timer := time.NewTimer(Patience)
	defer timer.Stop()
	select {
	case a := <-done:
		return a.value, a.err
	case <-timer.C:
		stuck.Store(dir, true)
		return zero, late
	}
}

// Stat tells about a file that something else than the user has named.
func Stat(name string) (fs.FileInfo, error) {
	return patiently(name, func() (fs.FileInfo, error) { return os.Stat(name) })
}

// endings are those of the texts that a compiler reads.
var endings = []string{
	".go", ".s", ".S", ".asm", ".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".inc", ".m", ".mm", ".rs", ".y", ".l", ".java", ".py", ".js", ".ts", ".tmpl", ".templ",
}

// Places are where source files may be read that a profile, a dump or a recording
// names.
type Places struct {
	// Roots are the folders that the user has named or stands in, those of the
	// Go installation, and of the module cache. Anywhere else a file must lie in
	// a Go module.
	Roots []string
}

// errOutside says why a source file is not read.
var errOutside = errors.New("it is neither in a Go module nor in a named folder (name its folder with -source_path)")

// Read reads a source file. It must have the ending of one and lie in one of the
// places, symbolic links followed: a profile may name any file of the machine.
func (p Places) Read(name string) ([]byte, error) {
	if err := p.check(name); err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return Read(name, MaxText)
}

// Open opens a source file under the rules of [Places.Read].
func (p Places) Open(name string) (fs.File, error) {
	if err := p.check(name); err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return Open(name)
}

// Has tells whether a source file is there and may be read.
func (p Places) Has(name string) bool {
	if p.check(name) != nil {
		return false
	}
	info, err := Stat(name)
	return err == nil && info.Mode().IsRegular() && info.Size() <= MaxText
}

func (p Places) check(name string) error {
	if !isText(name) {
		return errors.New("its name is not that of a source file")
	}
	real, err := patiently(name, func() (string, error) { return filepath.EvalSymlinks(name) })
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err // the caller names the file
	}
	if err != nil {
		return err
	}
	if real, err = filepath.Abs(real); err != nil {
		return err
	}
	if !isText(real) {
		return errors.New("it is a link to a file whose name is not that of a source file")
	}
	for _, root := range p.Roots {
		if root == "" {
			continue
		}
		if r, err := filepath.EvalSymlinks(root); err == nil {
			root = r
		}
		if abs, err := filepath.Abs(root); err == nil && within(abs, real) {
			return nil
		}
	}
	if inModule(real) {
		return nil
	}
	return errOutside
}

func isText(name string) bool {
	for _, e := range endings {
		if strings.HasSuffix(name, e) {
			return true
		}
	}
	return false
}

// within tells whether a file lies below a folder other than the root of all.
func within(dir, file string) bool {
	rel, err := filepath.Rel(dir, file)
	return err == nil && filepath.IsLocal(rel) && filepath.Dir(dir) != dir
}

// inModule tells whether a folder above a file has a go.mod.
func inModule(file string) bool {
	for dir := filepath.Dir(file); ; dir = filepath.Dir(dir) {
		if info, err := Stat(filepath.Join(dir, "go.mod")); err == nil && info.Mode().IsRegular() {
			return true
		}
		if filepath.Dir(dir) == dir {
			return false
		}
	}
}
