package push

import (
	"bytes"
	"encoding/binary"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"

	"loupe/format/connect"
	unpack "loupe/value/inflate"
)

// inflater is what unpacking takes: the tables of gzip, and room for what comes out. Both are
// used again, since a server unpacks small profiles all the time: that saves a quarter of a
// megabyte of garbage for each.
type inflater struct {
	room []byte
	z    gzip.Reader // of what is not unpacked in one step
	out  bytes.Buffer
}

// step unpacks what is as it should be, in one step, and says whether it was. Sizes that no
// profile has are not believed.
func (in *inflater) step(data []byte, limit int64) (raw []byte, ok bool) {
	size := unpack.Size(data)
	if size > min(limit, 16*int64(len(data))) {
		return nil, false
	}
	if need := int(size) + unpack.Slack; cap(in.room) < need {
		in.room = make([]byte, 0, need+need/4)
	}
	return unpack.Gzip(in.room, data)
}

var inflaters = sync.Pool{New: func() any { return new(inflater) }}

// mostKept is the most room that is kept for the next profile, in bytes.
const mostKept = 1 << 20

// inflate unpacks a profile, and calls use with it, which must not keep any of it. More than
// limit bytes are an error.
func inflate(data []byte, limit int64, use func(raw []byte) error) error {
	in := inflaters.Get().(*inflater)
	defer func() {
		if max(in.out.Cap(), cap(in.room)) <= mostKept {
			inflaters.Put(in)
		}
	}()
	if raw, ok := in.step(data, limit); ok {
		return use(raw)
	}
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
