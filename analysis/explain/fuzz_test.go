package explain

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"loupe/format/dump"
	"loupe/format/symbol"
)

const fuzzProgram = `package main

type point struct{ x, y float64 }
type shape interface{ area() int }

func (p *point) area() int { return int(p.x) }

//go:noinline
func example(list []string, text string, n int, s shape, e interface{}, p point, a [2]int8, ok bool) {
	println(len(list), text, n, s.area(), e != nil, p.x, a[1], ok)
	panic("stop")
}

func main() {
	example(make([]string, 2, 4), "hello", 10, &point{1, 2}, 3, point{4, 5}, [2]int8{6, 7}, true)
}
`

// fuzzed is a program, with where its tables are, and what it prints.
type fuzzed struct {
	file     []byte
	sections [][2]uint64
	dump     []byte
}

func buildFuzzed(f *testing.F) (out fuzzed) {
	if runtime.GOOS != "linux" {
		f.Skip("the program is an ELF file of this machine")
	}
	dir := f.TempDir()
	name := filepath.Join(dir, "program")
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(fuzzProgram), 0o644); err != nil {
		f.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-ldflags=-compressdwarf=false", "-o", name, "main.go")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off", "CGO_ENABLED=0", "GO111MODULE=off")
	if text, err := cmd.CombinedOutput(); err != nil {
		f.Fatalf("%v\n%s", err, text)
	}
	var err error
	if out.file, err = os.ReadFile(name); err != nil {
		f.Fatal(err)
	}
	run := exec.Command(name)
	run.Env = append(os.Environ(), "GOTRACEBACK=system")
	out.dump, _ = run.CombinedOutput()
	e, err := elf.NewFile(bytes.NewReader(out.file))
	if err != nil {
		f.Fatal(err)
	}
	out.sections = append(out.sections, [2]uint64{0, 4096}) // the headers
	for _, want := range []string{".debug_info", ".debug_abbrev", ".gopclntab", ".rodata", ".go.module", ".symtab", ".debug_rnglists"} {
		if s := e.Section(want); s != nil && s.Type != elf.SHT_NOBITS {
			out.sections = append(out.sections, [2]uint64{s.Offset, s.FileSize})
		}
	}
	return out
}

// patched changes the file: records of a section, an offset in it and what to
// write there.
func (p *fuzzed) patched(patches []byte) []byte {
	file := slices.Clone(p.file)
	for ; len(patches) >= 8; patches = patches[8:] {
		s := p.sections[int(patches[0])%len(p.sections)]
		at := s[0] + uint64(binary.LittleEndian.Uint32(patches[1:5]))%s[1]
		copy(file[at:], patches[5:8])
	}
	return file
}

// maxFuzzed is what explaining a dump with a binary of 1.5 MB may allocate.
const maxFuzzed = 256 << 20

// FuzzExplain explains dumps with damaged binaries: nothing may panic, or take
// much memory.
func FuzzExplain(f *testing.F) {
	p := buildFuzzed(f)
	f.Add([]byte{}, p.dump)
	f.Add([]byte{1, 9, 9, 0, 0, 0xff, 0xff, 0xff}, p.dump)
	f.Add([]byte{3, 200, 1, 0, 0, 0, 0, 0x80, 2, 4, 0, 0, 0, 1, 2, 3}, p.dump)
	f.Add([]byte{}, []byte("goroutine 1 [running]:\nmain.example(0x1, 0x2, 0x4, 0x4, 0x5, 0xa, ...)\n\t/main.go:10 +0x39\n"))
	f.Add([]byte{4, 0, 0, 0, 0, 1, 1, 1}, []byte("goroutine 1 [running]:\nmain.example({0x1, 0x2, {...}}, _, {0x4?, ...})\n\t/main.go:11 +0x1\n"))
	f.Fuzz(func(t *testing.T, patches, text []byte) {
		if len(text) > 64<<10 || len(patches) > 4096 {
			return
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		bin, err := symbol.Open(bytes.NewReader(p.patched(patches)), symbol.Options{})
		if err != nil {
			return
		}
		d := dump.Parse(text)
		source := Sources{Read: func(string, string) []byte { return []byte(fuzzProgram) }}
		for _, opt := range []Options{{Binary: bin}, {Binary: bin, Sources: source}, {Sources: source}} {
			x := New(d, opt)
			for g := range d.Len() {
				frames, _ := x.Goroutine(g)
				for _, fr := range frames {
					for _, param := range fr.Params {
						if len(param.Text) > 16<<10 || len(param.Type) > 1<<20 {
							t.Errorf("%d bytes are told of one value of %d bytes of type", len(param.Text), len(param.Type))
						}
					}
				}
			}
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > maxFuzzed {
			t.Errorf("it took %d MB", n>>20)
		}
	})
}
