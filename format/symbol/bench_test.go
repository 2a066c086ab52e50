package symbol

import (
	"debug/dwarf"
	"debug/elf"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// compiler is the largest Go program that is always at hand: 26 MB, with
// 28,000 symbols.
func compiler(b *testing.B) string {
	name := filepath.Join(runtime.GOROOT(), "pkg", "tool", runtime.GOOS+"_"+runtime.GOARCH, "compile")
	if _, err := os.Stat(name); err != nil || runtime.GOOS != "linux" {
		b.Skip("the Go compiler is not an ELF file here")
	}
	return name
}

// BenchmarkOpen opens the compiler and asks for one function.
func BenchmarkOpen(b *testing.B) {
	name := compiler(b)
	pc := somePCs(b, name, 1)[0]
	open := func(b *testing.B) *os.File {
		f, err := os.Open(name)
		if err != nil {
			b.Fatal(err)
		}
		return f
	}
	b.Run("symbol", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			f := open(b)
			bin, err := Open(f, Options{})
			if err != nil {
				b.Fatal(err)
			}
			if _, ok := bin.FuncAt(pc); !ok {
				b.Fatal("no function")
			}
			f.Close()
		}
	})
	b.Run("gosym", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if fn := gosymTable(b, name).PCToFunc(pc); fn == nil {
				b.Fatal("no function")
			}
		}
	})
}

// BenchmarkLookup finds function, file, line and, where the reader can,
// inlined calls of 10,000 addresses.
func BenchmarkLookup(b *testing.B) {
	name := compiler(b)
	pcs := somePCs(b, name, 10000)
	b.Run("symbol/frames", func(b *testing.B) {
		bin := openFile(b, name, Options{})
		b.ReportAllocs()
		for b.Loop() {
			for _, pc := range pcs {
				if len(bin.Frames(pc)) == 0 {
					b.Fatal("no frames")
				}
			}
		}
	})
	b.Run("symbol/line", func(b *testing.B) {
		bin := openFile(b, name, Options{})
		b.ReportAllocs()
		for b.Loop() {
			for _, pc := range pcs {
				bin.Line(pc)
			}
		}
	})
	b.Run("gosym/line", func(b *testing.B) {
		table := gosymTable(b, name)
		b.ReportAllocs()
		for b.Loop() {
			for _, pc := range pcs {
				table.PCToLine(pc)
			}
		}
	})
	b.Run("dwarf/100lines", func(b *testing.B) {
		f, err := elf.Open(linux.build(b))
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		pcs := somePCs(b, linux.build(b), 100)
		b.ReportAllocs()
		for b.Loop() {
			data, err := f.DWARF()
			if err != nil {
				b.Fatal(err)
			}
			for _, pc := range pcs {
				r := data.Reader()
				unit, err := r.SeekPC(pc)
				if err != nil {
					continue
				}
				var e dwarf.LineEntry
				if lines, err := data.LineReader(unit); err == nil {
					lines.SeekPC(pc, &e)
				}
			}
		}
	})
	b.Run("symbol/dwarf/100lines", func(b *testing.B) {
		pcs := somePCs(b, linux.build(b), 100)
		b.ReportAllocs()
		for b.Loop() {
			bin := openFile(b, linux.build(b), Options{})
			d, err := bin.debug()
			if err != nil {
				b.Fatal(err)
			}
			for _, pc := range pcs {
				d.line(pc)
			}
		}
	})
}

// BenchmarkDisassemble disassembles a hundred functions of the compiler.
func BenchmarkDisassemble(b *testing.B) {
	bin := openFile(b, compiler(b), Options{})
	funcs, err := bin.Functions(nil)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for i := 0; i < len(funcs); i += len(funcs) / 100 {
			list, err := bin.Disassemble(funcs[i].Entry, funcs[i].End, GoSyntax)
			if err != nil {
				b.Fatal(err)
			}
			n += len(list)
		}
		b.ReportMetric(float64(n), "insts/op")
	}
}

func somePCs(b *testing.B, name string, n int) []uint64 {
	funcs, err := openFile(b, name, Options{}).Functions(nil)
	if err != nil {
		b.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	pcs := make([]uint64, n)
	for i := range pcs {
		f := funcs[rnd.IntN(len(funcs))]
		pcs[i] = f.Entry + rnd.Uint64N(f.End-f.Entry)
	}
	return pcs
}
