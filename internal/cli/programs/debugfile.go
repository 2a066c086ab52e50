package programs

import (
	"fmt"
	"hash/crc32"
	"io"
	"path/filepath"

	"loupe/format/symbol"
	"loupe/source/bounded"
)

// DebugFolder is where the packages of distributions put debug information.
var DebugFolder = "/usr/lib/debug"

// addDebug looks for the debug information of a binary that has none, where gdb does:
// by its build id below /usr/lib/debug, and by the name in .gnu_debuglink beside the
// binary, in .debug there, and below /usr/lib/debug.
func (all openBinaries) addDebug(name string, b *symbol.Binary) {
	if b.HasDWARF() || b.Format != symbol.ELF {
		return
	}
	if id := b.BuildID; len(id) > 2 {
		at := filepath.Join(DebugFolder, ".build-id", id[:2], id[2:]+".debug")
		if d := all.debugFile(at); d != nil && d.BuildID == id {
			b.WithDebug(d.Binary)
			return
		}
	}
	link, crc, ok := b.DebugLink()
	if !ok {
		return
	}
	dir := filepath.Dir(name)
	for _, at := range []string{filepath.Join(dir, link), filepath.Join(dir, ".debug", link), filepath.Join(DebugFolder, dir, link)} {
		if at == name {
			continue
		}
		d := all.debugFile(at)
		if d == nil || d.BuildID != b.BuildID {
			continue
		}
		if b.BuildID == "" && !hasCRC(d, crc) {
			continue // of another build
		}
		b.WithDebug(d.Binary)
		return
	}
}

// debugFile opens a file of debug information; nil where there is none.
func (all openBinaries) debugFile(name string) *openBinary {
	d := all.open(name)
	if d.err != nil || !d.HasDWARF() && !d.HasSymbols() {
		return nil
	}
	return d
}

// hasCRC tells whether the checksum of a file is the one that the binary knows.
func hasCRC(d *openBinary, crc uint32) bool {
	h := crc32.NewIEEE()
	_, err := io.Copy(h, io.NewSectionReader(d.File, 0, 4<<30))
	return err == nil && h.Sum32() == crc
}

// PerfMapFolder is where JIT compilers put their maps.
var PerfMapFolder = "/tmp"

// PerfMap opens what the JIT compiler of a process has noted; nil where there is
// nothing.
func PerfMap(pid int) *symbol.PerfMap {
	f, err := bounded.Open(filepath.Join(PerfMapFolder, fmt.Sprintf("perf-%d.map", pid)))
	if err != nil {
		return nil
	}
	defer f.Close()
	m, err := symbol.ReadPerfMap(io.LimitReader(f, 1<<30))
	if err != nil {
		return nil // without names it is as it was
	}
	return m
}
