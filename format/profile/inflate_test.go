package profile

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"
)

// TestBomb: a small file that inflates to very much is refused before it does.
func TestBomb(t *testing.T) {
	var file bytes.Buffer
	z, err := gzip.NewWriterLevel(&file, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	for chunk, n := make([]byte, 1<<20), 0; n < 200; n++ {
		if _, err := z.Write(chunk); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Decode(file.Bytes(), Options{}); err == nil || !strings.Contains(err.Error(), "bytes come out of") {
		t.Errorf("200 MiB out of %d bytes: %v", file.Len(), err)
	}
}
