package symbol

import (
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// TestTranslate has the facts of the tests of pprof's elfexec and binutils, end
// to end: there the segment is given, here it is found.
func TestTranslate(t *testing.T) {
	const whole = 1<<64 - 1
	elf := func(kind uint16, segments ...Segment) *loading {
		return &loading{&image{format: ELF, elfType: kind, segments: segments,
			sections: []section{{name: ".text", addr: 0x400000, size: 1, exec: true}}}}
	}
	fixed, movable := uint16(2), uint16(3)
	moved := Segment{Addr: 0x400000, Offset: 0x200000, Size: 0x1000000, FileSize: 0x1000000, Exec: true}
	tiny := []Segment{
		{Addr: 0, Offset: 0, Size: 0xc80, FileSize: 0xc80, Exec: true},
		{Addr: 0x200c80, Offset: 0xc80, Size: 0x1f0, FileSize: 0x1f0, Write: true},
	}
	mach := func(text uint64) *loading { return &loading{&image{format: MachO, imageBase: text}} }
	pe := &loading{&image{format: PE, imageBase: 0x140000000}}
	for _, tt := range []struct {
		name string
		b    *loading
		m    Mapping
		addr uint64
		want uint64
		err  bool
	}{
		{"fixed, no segments", elf(fixed), Mapping{Start: 0x400000}, 0x400010, 0x400010, false},
		{"fixed, moved", elf(fixed, moved), Mapping{Start: 0x600000, Limit: 0x800000, Offset: 0x200000}, 0x600010, 0x400010, false},
		{"fixed", elf(fixed, moved), Mapping{Start: 0x400000, Limit: 0x600000, Offset: 0x200000}, 0x400010, 0x400010, false},
		{"fixed, not mapped", elf(fixed), Mapping{}, 0x1234, 0x1234, false},
		{"made up", elf(movable, moved), Mapping{Limit: whole}, 0x1234, 0x1234, false},
		{"movable, no segments", elf(movable), Mapping{Start: 0x200000, Limit: 0x300000}, 0x200010, 0x10, false},
		{"movable, offset", elf(movable, moved), Mapping{Start: 0x900000, Limit: 0xa00000, Offset: 0x200000}, 0x900010, 0x400010, false},
		{"outside", elf(movable, moved), Mapping{Start: 0x2000, Limit: 0x5000, Offset: 0x1000}, 0x1000, 0, true},
		{"object file", elf(1), Mapping{Start: 0x2000, Limit: 0x5000}, 0x2000, 0, true},
		{"tiny: first page", elf(fixed, tiny...), Mapping{Start: 0x1000, Limit: 0x2000}, 0x1010, 0x10, false},
		{"tiny: data", elf(fixed, tiny...), Mapping{Start: 0x201000, Limit: 0x202000}, 0x201c90, 0x200c90, false},
		{"tiny: nothing there", elf(fixed, tiny...), Mapping{Start: 0x1000, Limit: 0x2000}, 0x1f00, 0, true},
		{"no such part", elf(fixed, tiny...), Mapping{Start: 0x1000, Limit: 0x2000, Offset: 0x9000}, 0x1010, 0, true},
		{"mac", mach(0x100000000), Mapping{Start: 0x100000000, Limit: whole}, 0x100000f50, 0x100000f50, false},
		{"mac, moved", mach(0x100000000), Mapping{Start: 0x200000000, Limit: whole}, 0x200000f50, 0x100000f50, false},
		{"mac library", mach(0), Mapping{Limit: whole}, 0xfa0, 0xfa0, false},
		{"mac, of another", mach(0x100000000), Mapping{Start: 0x1000, Limit: 0x2000}, 0x1010, 0, true},
		{"windows, made up", pe, Mapping{Limit: whole}, 0x140001594, 0x140001594, false},
		{"windows", pe, Mapping{Start: 0x140000000, Limit: 0x140002000}, 0x140001594, 0x140001594, false},
		{"windows, moved", pe, Mapping{Start: 0x150000000, Limit: 0x150002000}, 0x150001594, 0x140001594, false},
	} {
		got, err := tt.b.Translate(tt.m, tt.addr)
		if got != tt.want || (err != nil) != tt.err {
			t.Errorf("%s: Translate(%+v, %#x) = %#x, %v, want %#x", tt.name, tt.m, tt.addr, got, err, tt.want)
		}
	}
}

// TestTranslateProcess runs programs and finds one of their functions again
// from the address that it had in the process.
func TestTranslateProcess(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the maps of a process are in /proc, and the programs are for linux/amd64")
	}
	for _, g := range []target{
		{goos: "linux", goarch: "amd64"},
		{goos: "linux", goarch: "amd64", flags: "-buildmode=pie"},
		{goos: "linux", goarch: "amd64", flags: `-buildmode=pie -ldflags="-s -w"`},
	} {
		g.pkg = "./testdata/maps"
		t.Run(g.String(), func(t *testing.T) {
			t.Parallel()
			name := g.build(t)
			out, err := exec.Command(name).Output()
			if err != nil {
				t.Fatal(err)
			}
			first, maps, _ := strings.Cut(string(out), "\n")
			var pc uint64
			if _, err := fmt.Sscan(first, &pc); err != nil {
				t.Fatal(err)
			}
			b := openFile(t, name, Options{})
			for line := range strings.Lines(maps) {
				var m Mapping
				var perm string
				if _, err := fmt.Sscanf(line, "%x-%x %s %x", &m.Start, &m.Limit, &perm, &m.Offset); err != nil {
					t.Fatalf("%q: %v", line, err)
				}
				if pc < m.Start || pc >= m.Limit {
					continue
				}
				addr, err := b.Translate(m, pc)
				if err != nil {
					t.Fatal(err)
				}
				if f, ok := b.FuncAt(addr); !ok || f.Name != "main.main" || f.Entry != addr {
					t.Errorf("%#x is translated to %#x, which is in %+v, want the entry of main.main", pc, addr, f)
				}
				return
			}
			t.Errorf("%#x is in no mapping:\n%s", pc, maps)
		})
	}
}
