package source

import (
	"archive/zip"
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"loupe/format/kind"
	"loupe/recording"
	"loupe/source/bounded"
)

// unpacker reads what comes out of a packed file.
func unpacker(k kind.Kind, r io.Reader) (io.Reader, error) {
	switch k {
	case kind.Gzip:
		return gzip.NewReader(r)
	case kind.Zstd:
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxWindow))
		if err != nil {
			return nil, err
		}
		return z.IOReadCloser(), nil
	case kind.UTF16:
		return newUTF16(r)
	}
	return nil, fmt.Errorf("BUG: a %s is not a packed file", k)
}

// maxWindow bounds the memory that a zstd file may ask for.
const maxWindow = 256 << 20

// utf16Reader turns a text in UTF-16 into UTF-8.
type utf16Reader struct {
	r     *bufio.Reader
	order binary.ByteOrder
	out   []byte
	high  uint16 // the first half of a pair
}

func newUTF16(r io.Reader) (io.Reader, error) {
	u := &utf16Reader{r: bufio.NewReader(r)}
	head, err := u.r.Peek(64)
	if err != nil && err != io.EOF {
		return nil, err
	}
	order, ok := kind.UTF16Order(head)
	if !ok {
		return nil, errors.New("BUG: this is not text in UTF-16")
	}
	if u.order = order; order.Uint16(head) == 0xfeff {
		_, err = u.r.Discard(2)
		return u, err
	}
	return u, nil
}

// Read reads some of the text.
func (u *utf16Reader) Read(p []byte) (int, error) {
	for len(u.out) == 0 {
		var word [2]byte
		if _, err := io.ReadFull(u.r, word[:]); err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) { // half a word at the end
				err = io.EOF
			}
			return 0, err
		}
		c := u.order.Uint16(word[:])
		switch r := rune(c); {
		case u.high != 0:
			u.out = utf8.AppendRune(u.out[:0], utf16.DecodeRune(rune(u.high), r))
			u.high = 0
		case utf16.IsSurrogate(r) && r < 0xdc00:
			u.high = c
		default:
			u.out = utf8.AppendRune(u.out[:0], r)
		}
	}
	n := copy(p, u.out)
	u.out = u.out[n:]
	return n, nil
}

// maxInside bounds how many files of a zip or tar file or a folder are opened.
const maxInside = 1000

// zip opens a recording, or the files in a zip file that is none.
func (d *Door) zip(in *Input, depth int) ([]*Input, error) {
	z, err := zip.OpenReader(in.Path)
	if err != nil {
		return nil, fmt.Errorf("cannot open %s: %w (was it truncated?)", in.Name, err)
	}
	defer z.Close()
	if slices.ContainsFunc(z.File, isManifest) {
		in.Recording = true
		return []*Input{in}, nil
	}
	var files []*zip.File
	for _, f := range z.File {
		if f.Mode().IsRegular() && !strings.HasPrefix(path.Base(f.Name), ".") {
			files = append(files, f)
		}
	}
	switch {
	case len(files) == 0:
		return nil, fmt.Errorf("there is no file in %s", in.Name)
	case len(files) > maxInside:
		return nil, fmt.Errorf("%s holds %d files, more than %d: unzip it and name the file to look at", in.Name, len(files), maxInside)
	case depth == layers:
		return nil, fmt.Errorf("%s is packed more than %d times: unpack it", in.Name, layers)
	}
	slices.SortFunc(files, func(a, b *zip.File) int { return strings.Compare(a.Name, b.Name) })
	var all []*Input
	for _, f := range files {
		some, err := d.inside(in.Name, f, depth)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// isManifest tells whether a file in a zip file makes it a recording.
func isManifest(f *zip.File) bool {
	base := path.Base(f.Name)
	return (base == recording.ManifestName || base == recording.JournalName) && strings.Count(f.Name, "/") <= 1
}

// inside opens a file in a zip file.
func (d *Door) inside(zipName string, f *zip.File, depth int) ([]*Input, error) {
	name := zipName + "/" + f.Name
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("cannot unpack %s: %w", name, err)
	}
	defer r.Close()
	at, err := d.copies.put(path.Base(f.Name), bounded.Limit(r, name, bounded.Unpacked(int64(f.CompressedSize64))), name)
	if err != nil {
		return nil, fmt.Errorf("cannot unpack %s: %w", name, err)
	}
	return d.regular(name, at, depth+1)
}

// entry opens an entry of a packed recording, or a file in a zip or tar file: rec.zip/cpu.pb.gz.
// ok tells whether the name is one.
func (d *Door) entry(name string) (all []*Input, ok bool, err error) {
	for at := filepath.ToSlash(name); ; {
		i := strings.LastIndexByte(at, '/')
		if i <= 0 {
			return nil, false, nil
		}
		at = at[:i]
		info, err := os.Stat(filepath.FromSlash(at))
		if err != nil {
			continue
		}
		if !info.Mode().IsRegular() {
			return nil, false, nil
		}
		z, err := zip.OpenReader(filepath.FromSlash(at))
		inner := filepath.ToSlash(name)[i+1:]
		if err != nil {
			return tarEntry(d, filepath.FromSlash(at), inner) // or the name is one of nothing
		}
		defer z.Close()
		for _, f := range z.File {
			// A recording may lie in a folder of its zip file.
			if f.Name == inner || strings.HasSuffix(f.Name, "/"+inner) && strings.Count(f.Name, "/") == strings.Count(inner, "/")+1 {
				all, err := d.inside(at, f, 0)
				return all, true, err
			}
		}
		return nil, true, nothing{fmt.Errorf("%s holds no file %s", at, inner)}
	}
}
