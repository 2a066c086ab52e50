package inflate_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"

	"loupe/value/inflate"
)

func pack(t testing.TB, content []byte, level int) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, level)
	if err != nil {
		t.Fatal(err)
	}
	z.Write(content)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// contents are of the kinds that packers treat each in its own way.
func contents() map[string][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 70_000)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	skewed := make([]byte, 200_000) // with codes of all lengths
	for i := range skewed {
		skewed[i] = byte(min(255, r.ExpFloat64()*9))
	}
	var text bytes.Buffer
	for text.Len() < 300_000 {
		fmt.Fprintf(&text, "net/http.(*conn).serve.func%d\n/usr/lib/go/src/net/http/server.go:%d\n", r.IntN(50), r.IntN(3000))
	}
	return map[string][]byte{
		"empty": {}, "one": {'x'}, "noise": noise, "skewed": skewed, "text": text.Bytes(),
		"zeroes": make([]byte, 100_000), "pairs": bytes.Repeat([]byte("ab"), 40_000), "sevens": bytes.Repeat([]byte("abcdefg"), 9_000),
		"mixed": bytes.Join([][]byte{noise[:9000], text.Bytes()[:50_000], make([]byte, 9000), skewed[:30_000]}, nil),
	}
}

// TestGzip unpacks what the levels of a packer make, and compares.
func TestGzip(t *testing.T) {
	t.Parallel()
	for name, content := range contents() {
		for _, level := range []int{gzip.HuffmanOnly, gzip.StatelessCompression, 0, 1, 2, 5, 6, 9} {
			packed := pack(t, content, level)
			if n := inflate.Size(packed); n != int64(len(content)) {
				t.Fatalf("%s: the size is %d, want %d", name, n, len(content))
			}
			got, ok := inflate.Gzip(make([]byte, 0, len(content)+inflate.Slack), packed)
			if !ok || !bytes.Equal(got, content) {
				t.Errorf("%s, level %d: got %d bytes, %t", name, level, len(got), ok)
			}
			if _, ok := inflate.Gzip(make([]byte, 0, len(content)+inflate.Slack-1), packed); ok {
				t.Errorf("%s, level %d: it was unpacked into too small a buffer", name, level)
			}
		}
	}
}

// TestHeader reads files with all that a header may have.
func TestHeader(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Name, z.Comment, z.Extra = "cpu.pprof", "taken on Tuesday", []byte{1, 2, 0, 3}
	io.WriteString(z, "content")
	z.Close()
	if got, ok := inflate.Gzip(make([]byte, 0, 1000), b.Bytes()); !ok || string(got) != "content" {
		t.Errorf("got %q, %t", got, ok)
	}
	for n := range b.Len() {
		if _, ok := inflate.Gzip(make([]byte, 0, 1000), b.Bytes()[:n]); ok {
			t.Errorf("the first %d bytes were unpacked", n)
		}
	}
	two := append(bytes.Clone(b.Bytes()), b.Bytes()...)
	if _, ok := inflate.Gzip(make([]byte, 0, 1000), two); ok {
		t.Error("of two members one was unpacked")
	}
}

// TestDamage changes every bit of a file. What is read nevertheless must have the content
// that is expected: the change was in the header, which no checksum is about.
func TestDamage(t *testing.T) {
	t.Parallel()
	content := contents()["text"][:3000]
	packed := pack(t, content, 6)
	buf := make([]byte, 0, 1<<20)
	for bit := range 8 * len(packed) {
		packed[bit/8] ^= 1 << (bit % 8)
		if got, ok := inflate.Gzip(buf, packed); ok && !bytes.Equal(got, content) {
			t.Errorf("bit %d: damaged content was returned", bit)
		}
		packed[bit/8] ^= 1 << (bit % 8)
	}
}

// FuzzRaw holds that what is unpacked is what the other reader makes of it. Checksums would
// keep nearly all that is tried from being compared.
func FuzzRaw(f *testing.F) {
	for _, content := range contents() {
		content = content[:min(len(content), 600)]
		for _, level := range []int{gzip.HuffmanOnly, 0, 1, 9} {
			packed := pack(f, content, level)
			f.Add(packed[10 : len(packed)-8])
		}
	}
	f.Fuzz(func(t *testing.T, packed []byte) {
		got, used, ok := inflate.Raw(make([]byte, 0, 1<<20), packed)
		if !ok || used > len(packed) { // the caller of Raw sees that the end is missing
			return
		}
		in := bytes.NewReader(packed)
		want, err := io.ReadAll(flate.NewReader(in))
		if err != nil || !bytes.Equal(got, want) || used != len(packed)-in.Len() {
			t.Fatalf("got %d bytes of %d, the other reader %d of %d, %v", len(got), used, len(want), len(packed)-in.Len(), err)
		}
	})
}

// TestAllocations holds that nothing is allocated.
func TestAllocations(t *testing.T) {
	packed := pack(t, contents()["text"], 6)
	buf := make([]byte, 0, 1<<20)
	if n := testing.AllocsPerRun(20, func() { inflate.Gzip(buf, packed) }); n > 0.5 { // the pool may be emptied
		t.Errorf("unpacking allocates %v times", n)
	}
}

// BenchmarkGzip unpacks beside the reader that is used elsewhere.
func BenchmarkGzip(b *testing.B) {
	content := contents()["text"]
	packed := pack(b, content, 1)
	buf := make([]byte, 0, len(content)+inflate.Slack)
	b.Run("inflate", func(b *testing.B) {
		b.SetBytes(int64(len(content)))
		for b.Loop() {
			if _, ok := inflate.Gzip(buf, packed); !ok {
				b.Fatal("it cannot be unpacked")
			}
		}
	})
	b.Run("klauspost", func(b *testing.B) {
		b.SetBytes(int64(len(content)))
		var z gzip.Reader
		for b.Loop() {
			z.Reset(bytes.NewReader(packed))
			if _, err := io.ReadFull(&z, buf[:len(content)]); err != nil {
				b.Fatal(err)
			}
		}
	})
}
