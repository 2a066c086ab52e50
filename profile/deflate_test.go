package profile

import (
	stdbytes "bytes"
	"compress/gzip"
	"io"
	"math/rand/v2"
	"os"
	"testing"
)

// inflateAll unpacks with small buffers, which end in the middle of everything.
func inflateAll(data []byte, room int) ([]byte, error) {
	var z inflater
	z.reset(data)
	var all []byte
	buf := make([]byte, 0, inflateHistory+inflateRoom+room)
	for !z.done() {
		from := len(buf)
		var err error
		if buf, err = z.read(buf); err != nil {
			return nil, err
		}
		all = append(all, buf[from:]...)
		if keep := len(buf) - inflateHistory; keep > 0 {
			buf = buf[:copy(buf, buf[keep:])]
		}
		if len(all) > 1<<24 {
			return nil, errInflate
		}
	}
	return all, nil
}

func pack(data []byte, level int, name string) []byte {
	var b stdbytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, level) // a level that there is
	z.Name = name
	_, _ = z.Write(data) // to memory
	_ = z.Close()
	return b.Bytes()
}

// packable are contents of every kind: what repeats near and far, and what does not.
func packable() [][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 100_000)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	var text []byte
	for len(text) < 300_000 {
		from := r.IntN(len(noise) - 300)
		switch n := 1 + r.IntN(20); r.IntN(4) {
		case 0:
			text = append(text, noise[from:from+n]...)
		case 1:
			text = append(text, stdbytes.Repeat(noise[from:from+1+n%9], 1+r.IntN(60))...)
		default:
			text = append(text, noise[from%500:from%500+n]...)
		}
	}
	return [][]byte{nil, {7}, stdbytes.Repeat([]byte{1}, 70_000), noise, text, text[:1000], stdbytes.Repeat(noise[:40_000], 3)}
}

func TestInflate(t *testing.T) {
	for i, want := range packable() {
		for _, level := range []int{gzip.NoCompression, gzip.BestSpeed, gzip.DefaultCompression, gzip.BestCompression, gzip.HuffmanOnly} {
			data := pack(want, level, []string{"", "cpu.pprof"}[i%2])
			double := append(data[:len(data):len(data)], data...) // two members
			for _, room := range []int{1, 100, 1 << 18} {
				if got, err := inflateAll(data, room); err != nil || !stdbytes.Equal(got, want) {
					t.Errorf("content %d, level %d, %d bytes of room: %d bytes, error %v, want %d", i, level, room, len(got), err, len(want))
				}
				if got, err := inflateAll(double, room); err != nil || len(got) != 2*len(want) {
					t.Errorf("content %d twice, level %d: %d bytes, error %v, want %d", i, level, len(got), err, 2*len(want))
				}
			}
			for _, cut := range []int{1, 4, 8, 9, 12, len(data) / 2} {
				if _, err := inflateAll(data[:max(0, len(data)-cut)], 1<<16); err == nil {
					t.Errorf("content %d, level %d, cut by %d bytes: no error", i, level, cut)
				}
			}
		}
	}
}

// FuzzInflate compares with the standard library. What the inflater does not
// read is not wrong: the library is asked then.
func FuzzInflate(f *testing.F) {
	for _, data := range packable() {
		data = data[:min(len(data), 2000)]
		for _, level := range []int{gzip.NoCompression, gzip.BestSpeed, gzip.BestCompression, gzip.HuffmanOnly} {
			f.Add(pack(data, level, ""))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := inflateAll(data, 1+len(data)%3000)
		if err != nil {
			return
		}
		z, err := gzip.NewReader(stdbytes.NewReader(data))
		if err != nil {
			t.Fatalf("unpacked %d bytes, want error %v", len(got), err)
		}
		want, err := io.ReadAll(z)
		if err != nil || !stdbytes.Equal(got, want) {
			t.Fatalf("unpacked %d bytes, want %d and error %v", len(got), len(want), err)
		}
	})
}

// BenchmarkInflate compares with the reader that is asked for the reason of
// errors. LOUPE_PROFILE names another file than the small one.
func BenchmarkInflate(b *testing.B) {
	data := pack(packable()[4], gzip.BestSpeed, "")
	if name := os.Getenv("LOUPE_PROFILE"); name != "" {
		var err error
		if data, err = os.ReadFile(name); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("own", func(b *testing.B) {
		var z inflater
		buf := make([]byte, 0, 1<<18)
		size := 0
		for b.Loop() {
			size = 0
			for z.reset(data); !z.done(); {
				from := len(buf)
				var err error
				if buf, err = z.read(buf); err != nil {
					b.Fatal(err)
				}
				size += len(buf) - from
				buf = buf[:copy(buf, buf[max(0, len(buf)-inflateHistory):])]
			}
		}
		b.SetBytes(int64(size))
	})
	b.Run("library", func(b *testing.B) {
		size := 0
		for b.Loop() {
			out, err := inflate(data, 1<<32)
			if err != nil {
				b.Fatal(err)
			}
			size = len(out)
		}
		b.SetBytes(int64(size))
	})
}
