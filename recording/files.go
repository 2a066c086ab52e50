package recording

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"loupe/source/bounded"
	"loupe/source/system"
)

// folder is a recording in a folder. Nothing is opened in it but regular files
// and folders, and nothing outside of it, symbolic links included. Whoever made the
// recording may have put a pipe there, for which one would wait for ever.
type folder struct{ root *os.Root }

// Open opens a file of the recording.
func (d folder) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	f, err := d.root.OpenFile(name, os.O_RDONLY|system.NonBlocking, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: name, Err: bounded.NotRegular(info.Mode())}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// packed is a recording in a zip file. An entry may not unpack to more than
// [bounded.Unpacked] allows for the bytes that it takes in the file.
type packed struct{ z *zip.Reader }

// Open opens a file of the recording.
func (p packed) Open(name string) (fs.File, error) {
	f, err := p.z.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil || info.IsDir() {
		return f, err
	}
	if !info.Mode().IsRegular() {
		f.Close()
		return nil, &fs.PathError{Op: "open", Path: name, Err: bounded.NotRegular(info.Mode())}
	}
	header, ok := info.Sys().(*zip.FileHeader)
	if !ok {
		f.Close()
		return nil, errors.New("BUG: a file of a zip file has no header")
	}
	limit := bounded.Unpacked(int64(header.CompressedSize64))
	if info.Size() > limit {
		f.Close()
		return nil, &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf(
			"%w: %d bytes are packed to %d, which no capture has (unzip it and open the folder if you trust it)", bounded.ErrTooLong, info.Size(), header.CompressedSize64)}
	}
	return &packedFile{f, bounded.Limit(f, name, limit)}, nil
}

// packedFile is an entry of a zip file. Its header may lie about its size.
type packedFile struct {
	fs.File
	bounded io.Reader
}

// Read reads as far as the limit.
func (f *packedFile) Read(p []byte) (int, error) { return f.bounded.Read(p) }
