package tiles

import (
	"encoding/binary"
	"fmt"
)

// wireHeader is what a tile begins with on the wire.
const wireHeader = 16

// AppendTiles appends the tiles that are asked for in the form in which they
// go to the browser: their number, and each with a header of 16 bytes.
func (s *Set) AppendTiles(dst []byte, ids []TileID) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(ids)))
	for _, id := range ids {
		t := s.Tile(id)
		dst = t.append(dst)
	}
	return dst
}

func (t *Tile) append(dst []byte) []byte {
	le := binary.LittleEndian
	dst = le.AppendUint32(dst, uint32(t.Lane))
	dst = le.AppendUint32(dst, t.Index)
	dst = append(dst, t.Level, byte(t.Form), 0, 0)
	dst = le.AppendUint32(dst, uint32(len(t.Data)))
	return append(dst, t.Data...)
}

// ReadTiles reads what [Set.AppendTiles] has written. The tiles share the
// bytes.
func ReadTiles(data []byte) ([]Tile, error) {
	if len(data) < 4 {
		return nil, fmt.Errorf("cannot read tiles: %d bytes", len(data))
	}
	le := binary.LittleEndian
	n := le.Uint32(data)
	data = data[4:]
	if uint64(n)*wireHeader > uint64(len(data)) {
		return nil, fmt.Errorf("cannot read tiles: %d of them in %d bytes", n, len(data))
	}
	out := make([]Tile, n)
	for i := range out {
		if len(data) < wireHeader {
			return nil, fmt.Errorf("cannot read tile %d of %d: it is truncated", i, n)
		}
		size := le.Uint32(data[12:])
		if uint64(size) > uint64(len(data)-wireHeader) {
			return nil, fmt.Errorf("cannot read tile %d of %d: %d bytes of %d are there", i, n, len(data)-wireHeader, size)
		}
		end := wireHeader + int(size)
		out[i] = Tile{Lane: LaneID(le.Uint32(data)), Index: le.Uint32(data[4:]), Level: data[8], Form: Form(data[9]), Data: data[wireHeader:end:end]}
		data = data[end:]
	}
	return out, nil
}
