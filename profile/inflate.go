package profile

import (
	stdbytes "bytes"
	"encoding/binary"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
)

func isGzip(data []byte) bool { return len(data) >= 2 && data[0] == 0x1f && data[1] == 0x8b }

// inflaters keeps the windows and tables of readers, 50 KB each, for the next of
// many small profiles.
var inflaters sync.Pool

// inflate unpacks a gzip file into one buffer of at most limit bytes.
//
// The size in the trailer sizes the buffer, which saves the garbage of
// growing. An attacker writes the trailer, so it is believed only up to 16
// times the packed size: real profiles inflate by a factor of 2 to 8, and for
// the rest the buffer grows with what has really come out.
func inflate(data []byte, limit int64) ([]byte, error) {
	in := stdbytes.NewReader(data)
	z, _ := inflaters.Get().(*gzip.Reader)
	if z == nil {
		z = new(gzip.Reader)
	}
	defer inflaters.Put(z)
	if err := z.Reset(in); err != nil {
		return nil, fmt.Errorf("cannot inflate profile: %w in the first %d bytes (was the file cut? fetch it again)", err, len(data))
	}
	size := int64(0)
	if len(data) >= 4 {
		size = int64(binary.LittleEndian.Uint32(data[len(data)-4:]))
	}
	size = min(size, 16*int64(len(data)), limit)
	out := make([]byte, 0, size+512)
	for {
		if len(out) == cap(out) {
			grown := make([]byte, len(out), cap(out)+cap(out)/2)
			copy(grown, out)
			out = grown
		}
		n, err := z.Read(out[len(out):cap(out)])
		out = out[:len(out)+n]
		if int64(len(out)) > limit {
			return nil, fmt.Errorf("cannot inflate profile: more than %d bytes come out of %d (raise Options.MaxBytes if that is right)", limit, len(data))
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
