//go:build linux && (amd64 || arm64)

package program_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"loupe/format/core"
)

// unpacked writes what is packed in a file of testdata/arm64 into another one.
func unpacked(t *testing.T, name string) string {
	t.Helper()
	data := unpack(t, name)
	to := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(to, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return to
}

func unpack(t *testing.T, name string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "arm64", name+".gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestARM64 reads a core that the kernel has written on arm64, on every machine: the
// frame of every goroutine must be where Go has printed it.
func TestARM64(t *testing.T) {
	file, st, ours := read(t, unpacked(t, "held"), unpacked(t, "core"))
	theirs := string(unpack(t, "printed.txt"))
	if file.Arch != "arm64" || file.Writer != core.Kernel || file.Signal.Number != int(syscall.SIGABRT) {
		t.Errorf("a core of %s by %q of signal %+v", file.Arch, file.Writer, file.Signal)
	}
	crash, ok := st.Crash()
	if begin, _, _ := strings.Cut(theirs, "\n\n"); !ok || strings.TrimSpace(crash.Message) != strings.TrimSpace(begin) {
		t.Errorf("the end is told as %q, Go has printed %q", crash.Message, begin)
	}
	compare(t, calls(t, ours, true), printed(t, theirs, ours), 15)
	if !strings.Contains(theirs, "206 frames elided") {
		t.Error("no stack is so deep that frames are left out")
	}
}

// TestShrinkARM64 makes the files of testdata/arm64 from those that LOUPE_ARM64 names a
// folder of: held, core and printed.txt. Pages without which everything is told alike are
// made zero. testdata/arm64/README.md says more.
func TestShrinkARM64(t *testing.T) {
	from := os.Getenv("LOUPE_ARM64")
	if from == "" {
		t.Skip("LOUPE_ARM64 is not set")
	}
	load := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	bin, dump := load("held"), load("core")
	want, ok := told(bin, dump)
	if !ok {
		t.Fatal("the core cannot be read")
	}
	for _, data := range [][]byte{dump, bin} {
		shrink(data, func() bool {
			got, ok := told(bin, dump)
			return ok && got == want
		})
	}
	for name, data := range map[string][]byte{"held": bin, "core": dump, "printed.txt": load("printed.txt")} {
		var b bytes.Buffer
		z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
		z.Write(data)
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join("testdata", "arm64", name+".gz"), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d bytes", name, b.Len())
	}
}

// told is everything that a core tells; ok is false where it cannot be read.
func told(bin, dump []byte) (text string, ok bool) {
	o, err := openCore(bytes.NewReader(bin), bytes.NewReader(dump), int64(len(dump)))
	if err != nil {
		return "", false
	}
	_, id := o.core.BuildIDs()
	same, known := o.program.SameBuild(bytes.NewReader(bin))
	crash, _ := o.stopped.Crash()
	text = fmt.Sprintln(id, o.bin.GoBuildID, same, known, crash, o.core.Signal, o.core.Threads, o.core.Odd, o.core.Segments, o.text)
	for _, th := range o.threads {
		text += fmt.Sprintln(o.stopped.ThreadStack(th))
	}
	return text, true
}

// shrink makes the pages of data zero without which the same is told.
func shrink(data []byte, same func() bool) {
	const page = 1 << 12
	if len(bytes.TrimLeft(data, "\x00")) == 0 {
		return
	}
	kept := bytes.Clone(data)
	clear(data)
	if same() {
		return
	}
	copy(data, kept)
	if len(data) > page {
		half := (len(data)/2 + page - 1) / page * page
		shrink(data[:half], same)
		shrink(data[half:], same)
	}
}
