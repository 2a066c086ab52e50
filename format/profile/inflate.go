package profile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"

	unpack "loupe/value/inflate"
	"loupe/value/protobuf"
)

func isGzip(data []byte) bool { return len(data) >= 2 && data[0] == 0x1f && data[1] == 0x8b }

// inflate unpacks a gzip file into one buffer of at most limit bytes.
//
// It is for all that is no profile.proto, and for the reason why one cannot be
// read. The size in the trailer sizes the buffer, and for the rest it grows with
// what has really come out.
func inflate(data []byte, limit int64) ([]byte, error) {
	limit = believable(limit, len(data))
	in := bytes.NewReader(data)
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, fmt.Errorf("cannot inflate profile: %w in the first %d bytes (was the file cut? fetch it again)", err, len(data))
	}
	out := make([]byte, 0, trailerSize(data, limit)+512)
	for {
		if len(out) == cap(out) {
			grown := make([]byte, len(out), cap(out)+cap(out)/2)
			copy(grown, out)
			out = grown
		}
		n, err := z.Read(out[len(out):cap(out)])
		out = out[:len(out)+n]
		if int64(len(out)) > limit {
			return nil, fmt.Errorf("cannot inflate profile: more than %d bytes come out of %d (Options.MaxBytes is the bound)", limit, len(data))
		}
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("cannot inflate profile: %w at byte %d of %d (was the file cut or changed? fetch it again)",
				err, len(data)-in.Len(), len(data))
		}
	}
}

// input is what a decoder reads: a whole file, or the part of a packed one that
// was inflated last.
type input struct {
	buf   []byte
	base  int64           // bytes that came before buf
	total int64           // how long all is, if the file does not lie
	top   protobuf.Cursor // over the fields of Profile, in buf

	packed bool
	limit  int64
	window []byte // where buf is when the file is packed
	file   bytes.Reader
	gzip   *gzip.Reader // kept for the next file: its tables are what is large
	ended  bool
}

// windowSize is for what was inflated last, and mostAtOnce for what is inflated in one step.
const (
	windowSize = 128 << 10
	mostAtOnce = 1 << 20
)

var errTooLong = errors.New("the profile is too long")

// unpack begins a packed file.
func (in *input) unpack(data []byte, limit int64) error {
	in.file.Reset(data)
	limit = believable(limit, len(data))
	if size := unpack.Size(data); size == trailerSize(data, limit) && size <= mostAtOnce-unpack.Slack {
		if need := int(size) + unpack.Slack; cap(in.window) < need {
			in.window = make([]byte, 0, max(windowSize, min(need+need/4, mostAtOnce)))
		}
		if raw, ok := unpack.Gzip(in.window, data); ok {
			in.buf, in.total = raw, size
			return nil
		}
	}
	in.packed, in.ended, in.limit, in.total = true, false, limit, trailerSize(data, limit)
	if in.window == nil {
		in.window = make([]byte, 0, windowSize)
	}
	in.buf = in.window[:0]
	if in.gzip == nil {
		in.gzip = new(gzip.Reader)
	}
	return in.gzip.Reset(&in.file)
}

// whole says whether nothing comes after buf.
func (in *input) whole() bool { return !in.packed || in.ended }

// more inflates the next part. What is before the position from may go. It
// returns where that is now.
func (in *input) more(from int) (int, error) {
	in.base += int64(from)
	in.buf = in.buf[:copy(in.buf, in.buf[from:])]
	if room := cap(in.buf) - len(in.buf); room < windowSize/4 { // a long field
		in.buf = append(make([]byte, 0, 2*cap(in.buf)), in.buf...)
	}
	for !in.ended && len(in.buf) < cap(in.buf) {
		n, err := in.gzip.Read(in.buf[len(in.buf):cap(in.buf)])
		in.buf = in.buf[:len(in.buf)+n]
		switch {
		case err == io.EOF:
			in.ended = true
		case err != nil:
			return 0, err
		}
		if in.base+int64(len(in.buf)) > in.limit {
			return 0, errTooLong
		}
	}
	return 0, nil
}

// believable is the most that may come out of a packed file of a size. Real
// profiles inflate by a factor of 2 to 8; a megabyte of gzip can be made to
// hold a thousand. The least that is believed keeps small: what is decoded takes
// up to thirty times the bytes that came out.
func believable(limit int64, packed int) int64 { return min(limit, max(16<<20, 128*int64(packed))) }

// trailerSize returns how large the packed file says that it is.
//
// An attacker writes the trailer, so it is believed only up to 16 times the
// packed size: real profiles inflate by a factor of 2 to 8.
func trailerSize(data []byte, limit int64) int64 {
	if len(data) < 4 {
		return 0
	}
	size := int64(binary.LittleEndian.Uint32(data[len(data)-4:]))
	return min(size, 16*int64(len(data)), limit)
}
