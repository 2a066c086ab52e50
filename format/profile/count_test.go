package profile

import (
	"bytes"
	"runtime"
	"testing"

	"loupe/value/protobuf"
)

// TestCount: the samples of a profile are known before they are read, and nothing that follows a wide first sample makes
// room for more than the file can have.
func TestCount(t *testing.T) {
	values := bytes.Repeat([]byte{1}, 1000)
	first := append([]byte{2<<3 | protobuf.Bytes, 0xe8, 7}, values...)
	file := append([]byte{2<<3 | protobuf.Bytes, 0xeb, 7}, first...)
	for range 200_000 {
		file = append(file, 2<<3|protobuf.Bytes, 0)
	}
	d := newDecoder()
	d.count(file)
	if d.samples != 200_001 || d.sampleBytes != len(first) {
		t.Errorf("%d samples of %d bytes", d.samples, d.sampleBytes)
	}
	d.free()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := decode(file); err == nil {
		t.Error("a profile is decoded whose samples differ in their values")
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 4<<20 {
		t.Errorf("a file of %d bytes makes %d bytes of room", len(file), got)
	}
	for _, odd := range [][]byte{{}, {0xff}, {2<<3 | protobuf.Bytes}, {2<<3 | protobuf.Bytes, 5, 1}, {9 << 3, 0x80}} {
		d := newDecoder()
		if d.count(odd); d.samples != 0 {
			t.Errorf("%x has %d samples", odd, d.samples)
		}
		d.free()
	}
}
