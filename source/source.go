// Package source is the door: it turns what a user names into files of this machine
// whose kind is known. A name is that of a file, packed or not, a folder, an entry of a
// recording, a pattern, standard input, an address of a service, or the number of a
// process. Every command takes its names through it, so that the same content meets
// the same door however it comes.
//
// What is no regular file (a stream, an answer, what comes out of a packed file) is put
// into a private folder and removed by [Door.Close]. Saying what a file is decodes none
// of it; see package kind. How much is read of what is in package bounded.
package source

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"loupe/format/kind"
	"loupe/recording"
	"loupe/source/bounded"
	"loupe/value/secret"
)

// Input is one thing that was named.
type Input struct {
	// Name is what the user calls it: the name as it was given, and of one of several
	// files behind a name that of the file.
	Name string
	// Path is where it lies on this machine. It is [Input.Name] for what lies there as
	// it is.
	Path string
	// Kind is what it is.
	Kind kind.Kind
	// Recording tells that it is one: a folder, or a zip or tar file, with a manifest. Path
	// is the folder or the zip file, of a tar file the folder that it was unpacked into.
	Recording bool
	// Folder tells that it is a folder that is no recording.
	Folder bool
	// Cut is the error that has ended the unpacking, of what is there only as far as that.
	Cut error
}

// Held tells whether the bytes lie where the user has put them, and not in a copy.
func (in *Input) Held() bool { return in.Path == in.Name }

// ErrNothing is wrapped by the errors of what is not there: no file of the name, no
// process, nobody who answers.
var ErrNothing = errors.New("there is nothing")

// nothing is an error that wraps [ErrNothing] and reads as its text.
type nothing struct{ error }

// Is tells that it is [ErrNothing].
func (n nothing) Is(target error) bool { return target == ErrNothing }

// Unwrap returns what it says.
func (n nothing) Unwrap() error { return n.error }

// Door opens what is named. What it cannot do itself is given to it: nil fields refuse.
// The methods are called one at a time.
type Door struct {
	// Stdin is what the name "-" stands for; it is read once.
	Stdin io.Reader
	// Fetch gets what is behind an address that says what is asked for,
	// http://host:6060/debug/pprof/heap. The caller closes it.
	Fetch func(ctx context.Context, address string) (io.ReadCloser, error)
	// Capture records what runs, the process of a number or a service by its bare
	// address, :6060, into a folder, as much as the command can use.
	Capture func(ctx context.Context, target, dir string) error

	copies copies
	used   bool // standard input
}

// Close removes the copies.
func (d *Door) Close() error { return d.copies.remove() }

// Rename puts what the user calls a copy in the place of where it lies, in a text.
func (d *Door) Rename(text string) string {
	for path, name := range d.copies.names {
		text = strings.ReplaceAll(text, path, name)
	}
	return text
}

// Open opens what the names stand for, in their order. A name may stand for several
// inputs. The error of what is not there wraps [ErrNothing].
func (d *Door) Open(ctx context.Context, names ...string) ([]*Input, error) {
	var all []*Input
	for _, name := range names {
		some, err := d.open(ctx, name)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// IsAddress tells an address from the name of a file: http://host:6060, :6060, a profile
// that a server keeps (pyroscope://host/service), and
// host:6060 with what may follow, where no file has that name.
func IsAddress(name string) bool {
	if strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://") || IsKept(name) {
		return true
	}
	address, _, _ := strings.Cut(name, "/")
	host, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil || host == "" {
		return err == nil
	}
	_, err = os.Stat(name)
	return errors.Is(err, fs.ErrNotExist)
}

// IsKept tells whether a name is the address of a profile that a server makes of what it
// keeps, loupe serve or a Pyroscope: pyroscope://host:4040/shop, and pyroscopes:// over TLS.
func IsKept(name string) bool {
	return strings.HasPrefix(name, "pyroscope://") || strings.HasPrefix(name, "pyroscopes://")
}

// open opens what one name stands for.
func (d *Door) open(ctx context.Context, name string) ([]*Input, error) {
	if name == "-" {
		switch {
		case d.Stdin == nil:
			return nil, errors.New("standard input cannot be read here: name a file")
		case d.used:
			return nil, errors.New("standard input is one file: name the other")
		}
		d.used = true
		return d.copied("standard input", "standard input", d.Stdin, bounded.MaxStream)
	}
	if IsAddress(name) {
		return d.service(ctx, name)
	}
	info, err := os.Stat(name)
	switch {
	case err == nil:
		return d.file(name, info)
	case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
		return nil, err
	}
	if some, ok, err := d.entry(name); ok {
		return some, err
	}
	if pid, err := strconv.ParseUint(name, 10, 31); err == nil {
		if d.Capture == nil {
			return nil, nothing{fmt.Errorf("cannot find %s, and process %d cannot be used here", name, pid)}
		}
		return d.capture(ctx, name, "process "+name)
	}
	if strings.ContainsAny(name, "*?[") {
		return d.pattern(ctx, name)
	}
	return nil, nothing{fmt.Errorf("cannot find %s", name)}
}

// Read opens what a reader brings, under a name that the user knows; base is that of a
// file.
func (d *Door) Read(name, base string, r io.Reader) ([]*Input, error) {
	return d.copied(name, base, r, bounded.MaxStream)
}

// pattern opens the files whose names are like a pattern.
func (d *Door) pattern(ctx context.Context, pattern string) ([]*Input, error) {
	names, err := filepath.Glob(pattern)
	if err != nil {
		return nil, fmt.Errorf("%s is not a file name pattern: %w", pattern, err)
	}
	if len(names) == 0 {
		return nil, nothing{fmt.Errorf("no file is called like %s", pattern)}
	}
	return d.Open(ctx, names...)
}

// file opens what lies on this machine.
func (d *Door) file(name string, info fs.FileInfo) ([]*Input, error) {
	switch {
	case info.IsDir():
		rec := IsRecording(name)
		if !rec {
			if files := compilerFiles(name); len(files) > 0 {
				path, err := d.copies.joined(name, files)
				if err != nil {
					return nil, err
				}
				return d.regular(name, path, 0)
			}
		}
		return []*Input{{Name: name, Path: name, Recording: rec, Folder: !rec}}, nil
	case !info.Mode().IsRegular():
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return d.copied(name, filepath.Base(name), f, bounded.MaxStream)
	}
	return d.regular(name, name, 0)
}

// IsRecording tells whether a name is that of a recording, whole or not: a folder, or
// a zip file.
func IsRecording(name string) bool {
	for _, file := range []string{recording.ManifestName, recording.JournalName} {
		if _, err := os.Stat(filepath.Join(name, file)); err == nil {
			return true
		}
	}
	z, err := zip.OpenReader(name)
	if err != nil {
		return false
	}
	defer z.Close()
	return slices.ContainsFunc(z.File, isManifest)
}

// layers is how often something may be packed: a log.gz in a zip file.
const layers = 3

// regular tells what a regular file is, and unpacks what is packed.
func (d *Door) regular(name, path string, depth int) ([]*Input, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	k, _, err := kind.Of(f)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", name, err)
	}
	in := &Input{Name: name, Path: path, Kind: k}
	switch k {
	case kind.Zip:
		return d.zip(in, depth)
	case kind.Tar:
		info, err := f.Stat()
		if err != nil {
			return nil, err
		}
		return openTar(d, in, info.Size(), depth)
	case kind.Gzip, kind.Zstd, kind.UTF16:
		if depth == layers {
			return nil, fmt.Errorf("%s is packed more than %d times: unpack it", name, layers)
		}
		info, err := f.Stat()
		if err != nil {
			return nil, err
		}
		return d.unpacked(in, info.Size(), depth)
	}
	return []*Input{in}, nil
}

// unpacked opens what comes out of a packed file.
func (d *Door) unpacked(in *Input, size int64, depth int) ([]*Input, error) {
	f, err := os.Open(in.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := unpacker(in.Kind, f)
	if err != nil {
		return nil, fmt.Errorf("cannot unpack %s: %w (was it truncated?)", in.Name, err)
	}
	base := filepath.Base(in.Path)
	for _, ending := range []string{".gz", ".zst", ".zstd"} {
		base = strings.TrimSuffix(base, ending)
	}
	path, err := d.copies.put(base, bounded.Limit(r, in.Name, bounded.Unpacked(size)), in.Name)
	if err != nil {
		if path == "" || errors.Is(err, bounded.ErrTooLong) || errors.Is(err, errNoRoom) {
			return nil, err
		}
		// What was cut is worth as much as came out of it, where it is a text; the
		// decoders of all else say what is missing.
		some, kerr := d.regular(in.Name, path, depth+1)
		if kerr != nil || len(some) != 1 || some[0].Kind == kind.Unknown || some[0].Kind == kind.Empty {
			return nil, fmt.Errorf("cannot unpack %s: %w (was it truncated?)", in.Name, err)
		}
		some[0].Cut = err
		return some, nil
	}
	return d.regular(in.Name, path, depth+1)
}

// copied makes a file of a stream and tells what it is.
func (d *Door) copied(name, base string, r io.Reader, limit int64) ([]*Input, error) {
	// What begins as nothing that is known and is no text will not become it.
	begin := bufio.NewReaderSize(r, lookedAt)
	if head, err := begin.Peek(lookedAt); err == nil {
		if k, _, _ := kind.Of(bytes.NewReader(head)); k == kind.Unknown && bytes.IndexByte(head, 0) >= 0 {
			return nil, fmt.Errorf("cannot tell what %s is: it is not a %s", name, kind.Known)
		}
	}
	path, err := d.copies.put(base, bounded.Limit(begin, name, limit), name)
	if err != nil {
		return nil, err
	}
	return d.regular(name, path, 0)
}

// lookedAt is how much of a stream is looked at before it is copied.
const lookedAt = 64 << 10

// service opens what a service answers: to an address with a path what is there, to
// a bare one what can be recorded of it.
func (d *Door) service(ctx context.Context, name string) ([]*Input, error) {
	shown := secret.URL(name)
	if isBare(name) && !IsKept(name) {
		return d.capture(ctx, name, shown)
	}
	if d.Fetch == nil {
		return nil, fmt.Errorf("%s is an address, which cannot be used here: name a file", shown)
	}
	address := name
	if strings.HasPrefix(address, ":") {
		address = "localhost" + address
	}
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	body, err := d.Fetch(ctx, address)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return d.copied(shown, baseOf(address), body, bounded.MaxAnswer)
}

// isBare tells whether an address names a service and nothing of it: :6060,
// http://host:6060/, and its page of profiles, http://host:6060/debug/pprof/.
func isBare(address string) bool {
	_, rest, ok := strings.Cut(address, "://")
	if !ok {
		rest = address
	}
	rest, _, query := strings.Cut(rest, "?")
	_, path, _ := strings.Cut(rest, "/")
	path = strings.Trim(path, "/")
	return !query && (path == "" || path == "debug/pprof")
}

// baseOf is the last part of the path of an address.
func baseOf(address string) string {
	address, _, _ = strings.Cut(address, "?")
	return address[strings.LastIndexByte(strings.TrimRight(address, "/"), '/')+1:]
}

// capture records what runs.
func (d *Door) capture(ctx context.Context, target, shown string) ([]*Input, error) {
	if d.Capture == nil {
		return nil, fmt.Errorf("%s is a running process, and a file is needed: record it with loupe attach %s", shown, shown)
	}
	dir, err := d.copies.folder(shown)
	if err != nil {
		return nil, err
	}
	at := filepath.Join(dir, "recording")
	d.copies.names[at] = shown
	if err := d.Capture(ctx, target, at); err != nil {
		return nil, err
	}
	return []*Input{{Name: shown, Path: at, Recording: true}}, nil
}
