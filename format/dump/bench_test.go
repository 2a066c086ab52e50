package dump

import (
	"bytes"
	"os"
	"testing"
)

// BenchmarkParse reads 20 MB of one goroutine after another; numbers stay, so
// that every repetition is a dump of its own.
func BenchmarkParse(b *testing.B) {
	sample, err := os.ReadFile("testdata/go1.26.nil-system.txt")
	if err != nil {
		b.Fatal(err)
	}
	sample = append(bytes.TrimSuffix(sample, []byte("exit status 2\n")), '\n')
	text := bytes.Repeat(sample, 20<<20/len(sample))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Parse(text)
	}
}

// TestAllocations: what a goroutine costs is its row in the columns.
func TestAllocations(t *testing.T) {
	one := []byte("goroutine 7 [chan receive, 7 minutes]:\nmain.worker(0xc000020000)\n\t/home/user/main.go:20 +0x2a\ncreated by main.main in goroutine 1\n\t/home/user/main.go:4 +0x3c\n\n")
	few, many := bytes.Repeat(one, 100), bytes.Repeat(one, 1100)
	a := testing.AllocsPerRun(5, func() { Parse(few) })
	b := testing.AllocsPerRun(5, func() { Parse(many) })
	// Each is a dump of its own here, as its number is that of the one before:
	// the list of dumps grows.
	if per := (b - a) / 1000; per > 0.2 {
		t.Errorf("%.2f allocations a goroutine", per)
	}
}
