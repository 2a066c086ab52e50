package push

import (
	"bytes"
	"encoding/binary"
	"io"

	"github.com/klauspost/compress/gzip"

	"loupe/format/connect"
)

// inflate unpacks a profile. More than limit bytes are an error.
func inflate(data []byte, limit int64) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, connect.Errorf(connect.InvalidArgument, "cannot unpack the profile: %v", err)
	}
	var out bytes.Buffer
	if len(data) >= 4 { // the size is at the end, and nobody has to believe it
		size := int64(binary.LittleEndian.Uint32(data[len(data)-4:]))
		out.Grow(int(min(size, limit, 8*int64(len(data)))) + bytes.MinRead)
	}
	if _, err := out.ReadFrom(io.LimitReader(z, limit+1)); err != nil {
		return nil, connect.Errorf(connect.InvalidArgument, "cannot unpack the profile: %v (was it cut?)", err)
	}
	if int64(out.Len()) > limit {
		return nil, connect.TooLarge(limit)
	}
	return out.Bytes(), nil
}
