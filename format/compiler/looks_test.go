package compiler_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"loupe/format/compiler"
)

// TestLooks: what ten releases print is known by its begin, wherever that is cut, and
// other texts with names of sources in them are not.
func TestLooks(t *testing.T) {
	files := 0
	for _, pattern := range []string{"testdata/go1.*/*.txt", "testdata/go1.*/json/*.json"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files++
			for _, n := range []int{len(data), min(len(data), 1000), min(len(data), 700)} {
				if !compiler.Looks(data[:n]) {
					t.Errorf("%d bytes of %s look like something else", n, name)
				}
			}
			out, err := compiler.Parse(data, compiler.Options{})
			if err != nil || len(out.Diagnostics) == 0 {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if files < 40 {
		t.Errorf("%d files were looked at", files)
	}
	for _, text := range []string{
		"", "\n", "# example.com/p\n", "x.go:12:5: undefined: y\nx.go:13:5: undefined: z\n", "goroutine 1 [running]:\nmain.main()\n\t/src/main.go:3 +0x1d\n",
		"2026/11/21 main.go:12: n escapes to heap\nhello\nhello\n", `{"version":0}`, `{"version":1,"gc_version":"go1.26"}`,
	} {
		if compiler.Looks([]byte(text)) {
			t.Errorf("%q looks like output of the compiler", text)
		}
	}
}

func FuzzLooks(f *testing.F) {
	f.Add([]byte("# p\nx.go:1:2: can inline f\nx.go:3:4: &T{} escapes to heap in f:\nx.go:3:4:   flow: ~r0 ← &{storage for &T{}}:\n"))
	f.Add([]byte(`{"version":0,"package":"p","goos":"linux","goarch":"amd64","gc_version":"go1.26","file":"x.go"}` + "\n" +
		`{"range":{"start":{"line":1,"character":2},"end":{"line":1,"character":2}},"severity":3,"code":"isInBounds","source":"go compiler","message":""}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		looks := compiler.Looks(data)
		out, err := compiler.Parse(data, compiler.Options{})
		if err == nil && looks && bytes.HasSuffix(data, []byte("\n")) && data[0] != '{' && len(out.Diagnostics) == 0 && out.Malformed == 0 {
			t.Errorf("%q has nothing", data)
		}
	})
}
