package symbol

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"loupe/internal/long"
)

func TestOpenOther(t *testing.T) {
	for _, in := range []string{"", "#!/bin/sh\n", "\xca\xfe\xba\xbe\x00\x00\x00\x37", "MZ"} {
		_, err := Open(bytes.NewReader([]byte(in)), Options{})
		if err == nil {
			t.Errorf("Open(%q) has no error", in)
		}
		if in != "MZ" && !errors.Is(err, ErrNotBinary) {
			t.Errorf("Open(%q): %v, want ErrNotBinary", in, err)
		}
	}
}

// TestTiny reads a program that is written out in this package's tests.
func TestTiny(t *testing.T) {
	b, err := Open(bytes.NewReader(tinyELF()), Options{})
	if err != nil {
		t.Fatal(err)
	}
	funcs, err := b.Functions(nil)
	if err != nil || len(funcs) != 2 || funcs[0].Name != "main.main" || funcs[1].Name != "main.next" {
		t.Fatalf("functions %+v, %v", funcs, err)
	}
	f := func(pc uint64, want string) {
		t.Helper()
		var got []string
		for _, f := range b.Frames(funcs[0].Entry + pc) {
			got = append(got, fmt.Sprintf("%s %s:%d from %d", f.Func, f.File, f.Line, f.StartLine))
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("byte %d: %s, want %s", pc, s, want)
		}
	}
	f(0, "main.main /src/a.go:3 from 3")
	f(4, "main.leaf /src/a.go:5 from 5, main.main /src/a.go:3 from 3")
	f(8, "main.next /src/a.go:9 from 8")
	f(16, "")
	list, err := b.Disassemble(funcs[0].Entry, funcs[0].End, GoSyntax)
	if err != nil || len(list) != 8 {
		t.Fatalf("%d instructions, %v", len(list), err)
	}
	if in := list[7]; in.Text != "RET" || in.Line != 5 || len(in.Inlined) != 1 || in.Func != "main.main" {
		t.Errorf("the last instruction is %+v", in)
	}
}

// TestFat opens the parts of a fat Mach-O file.
func TestFat(t *testing.T) {
	long.Only(t, "it builds for other systems")
	hello := "./testdata/hello"
	parts := [][]byte{}
	for _, arch := range []string{"amd64", "arm64"} {
		data, err := os.ReadFile(target{goos: "darwin", goarch: arch, pkg: hello}.build(t))
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, data)
	}
	be := binary.BigEndian
	fat := be.AppendUint32([]byte(fatMagic), 2)
	at := uint32(4096)
	for i, cpu := range []uint32{7 | 1<<24, 12 | 1<<24} {
		for _, v := range []uint32{cpu, 0, at, uint32(len(parts[i])), 12} {
			fat = be.AppendUint32(fat, v)
		}
		at += uint32(len(parts[i])+4095) &^ 4095
	}
	for _, part := range parts {
		fat = append(fat, make([]byte, -len(fat)&4095)...)
		fat = append(fat, part...)
	}
	for _, arch := range []string{"", "amd64", "arm64"} {
		b, err := Open(bytes.NewReader(fat), Options{Arch: arch})
		if err != nil {
			t.Fatal(err)
		}
		if want := max(arch, "amd64"); b.Arch != want || !b.IsGo() {
			t.Errorf("asked for %q: got %q, Go: %v", arch, b.Arch, b.IsGo())
		}
		if info, err := b.BuildInfo(); err != nil || info.Path != "loupe/format/symbol/testdata/hello" {
			t.Errorf("build information of %q: %v, %v", arch, info, err)
		}
	}
	if _, err := Open(bytes.NewReader(fat), Options{Arch: "386"}); err == nil || !strings.Contains(err.Error(), "only for amd64, arm64") {
		t.Errorf("asked for 386: %v", err)
	}
}

// TestCut opens real binaries that end too early, at many places.
func TestCut(t *testing.T) {
	cutShort(t, "linux")
}

// TestCutElsewhere is the same of programs for other systems.
func TestCutElsewhere(t *testing.T) {
	long.Only(t, "it builds for other systems")
	cutShort(t, "darwin", "windows")
}

// cutShort asks what is left of programs that are cut off.
func cutShort(t *testing.T, systems ...string) {
	for _, goos := range systems {
		data, err := os.ReadFile(target{goos: goos, goarch: "amd64", pkg: "./testdata/hello"}.build(t))
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{60, 500, 4000, len(data) / 4, len(data) / 2, len(data) - 1000} {
			exercise(data[:n])
		}
	}
}

// TestShared asks one binary from many goroutines.
func TestShared(t *testing.T) {
	b := linux.open(t)
	funcs, err := linux.open(t).Functions(nil)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := i; j < len(funcs); j += 500 {
				if frames := b.Frames(funcs[j].Entry); len(frames) == 0 {
					t.Errorf("no frames at %+v", funcs[j])
				}
				if _, err := b.Disassemble(funcs[j].Entry, funcs[j].End, GoSyntax); err != nil {
					t.Error(err)
				}
			}
			if !slices.ContainsFunc(b.Judge(Mapping{}), func(f Fact) bool { return f.Kind == UnknownBuild }) {
				t.Error("no fact about the build")
			}
		})
	}
	wg.Wait()
}

// exercise asks a binary for everything, within reason.
func exercise(data []byte) {
	b, err := Open(bytes.NewReader(data), Options{MaxDWARF: 1 << 20})
	if err != nil {
		return
	}
	b.Judge(Mapping{BuildID: "00"})
	b.Symbols(nil)
	b.DWARF()
	funcs, _ := b.Functions(nil)
	for _, f := range funcs[:min(len(funcs), 4)] {
		for pc := f.Entry; pc < min(f.End, f.Entry+64); pc += 8 {
			b.FuncAt(pc)
			b.Line(pc)
			b.Frames(pc)
		}
		b.Disassemble(f.Entry, min(f.End, f.Entry+256), GoSyntax)
	}
	exerciseTypes(b)
	for _, s := range b.Segments[:min(len(b.Segments), 4)] {
		b.Frames(s.Addr)
		b.Translate(Mapping{Start: s.Addr, Limit: s.Addr + s.Size, Offset: s.Offset}, s.Addr+8)
	}
}

// exerciseTypes reads the types of a binary.
func exerciseTypes(b *Binary) {
	types, err := b.Types()
	if err != nil {
		return
	}
	for id := range TypeID(min(len(types.offs), 1000)) {
		types.Field(id, "a", "b")
	}
	for off := range min(len(types.runtime), 1000) {
		types.Runtime(uint64(off))
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(tinyELF())
	for _, name := range []string{
		"elf/testdata/gcc-amd64-linux-exec", "elf/testdata/gcc-386-freebsd-exec", "elf/testdata/go-relocation-test-clang-x86.obj",
		"pe/testdata/gcc-amd64-mingw-exec", "pe/testdata/gcc-386-mingw-exec",
	} {
		if data, err := os.ReadFile(filepath.Join(runtime.GOROOT(), "src", "debug", name)); err == nil {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		exercise(data)
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20+200*uint64(len(data)) {
			t.Errorf("%d bytes allocated for a file of %d", n, len(data))
		}
	})
}
