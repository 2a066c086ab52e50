package push

import (
	"bytes"
	"encoding/binary"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"

	"loupe/format/connect"
)

// inflater is what unpacking takes: the tables of gzip, and room for what comes out. Both are
// used again, since a server unpacks small profiles all the time: that saves a quarter of a
// megabyte of garbage for each.
type inflater struct {
	z   gzip.Reader
	out bytes.Buffer
}

var inflaters = sync.Pool{New: func() any { return new(inflater) }}

// mostKept is the most room that is kept for the next profile, in bytes.
const mostKept = 1 << 20

// inflate unpacks a profile, and calls use with it, which must not keep any of it. More than
// limit bytes are an error.
func inflate(data []byte, limit int64, use func(raw []byte) error) error {
	in := inflaters.Get().(*inflater)
	defer func() {
		if in.out.Cap() <= mostKept {
			inflaters.Put(in)
		}
	}()
	if err := in.z.Reset(bytes.NewReader(data)); err != nil {
		return connect.Errorf(connect.InvalidArgument, "cannot unpack the profile: %v", err)
	}
	in.out.Reset()
	if len(data) >= 4 { // the size is at the end, and nobody has to believe it
		size := int64(binary.LittleEndian.Uint32(data[len(data)-4:]))
		in.out.Grow(int(min(size, limit, 8*int64(len(data)))) + bytes.MinRead)
	}
	if _, err := in.out.ReadFrom(io.LimitReader(&in.z, limit+1)); err != nil {
		return connect.Errorf(connect.InvalidArgument, "cannot unpack the profile: %v (was it cut?)", err)
	}
	if int64(in.out.Len()) > limit {
		return connect.TooLarge(limit)
	}
	return use(in.out.Bytes())
}
