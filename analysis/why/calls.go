package why

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
)

// Calls reads a Go binary and returns the function that names what is called
// by the instruction in front of a return address, for [Options]. It knows ELF
// files for amd64 and arm64 that have a symbol table.
func Calls(r io.ReaderAt) (callee func(returnAddress uint64) string, err error) {
	f, err := elf.NewFile(r)
	if err != nil {
		return nil, fmt.Errorf("cannot read the binary: %w", err)
	}
	text := f.Section(".text")
	if text == nil || f.Machine != elf.EM_X86_64 && f.Machine != elf.EM_AARCH64 {
		return nil, fmt.Errorf("cannot read calls of a binary for %v: only amd64 and arm64 are known", f.Machine)
	}
	symbols, err := f.Symbols()
	if err != nil {
		return nil, fmt.Errorf("cannot read calls: %w (was it linked with -s?)", err)
	}
	names := map[uint64]string{}
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC {
			names[s.Value] = s.Name
		}
	}
	decode := callAMD64
	if f.Machine == elf.EM_AARCH64 {
		decode = callARM64
	}
	return func(pc uint64) string {
		if pc < text.Addr+8 || pc > text.Addr+text.Size {
			return ""
		}
		var code [5]byte
		if _, err := text.ReadAt(code[:], int64(pc-text.Addr-5)); err != nil {
			return ""
		}
		target, ok := decode(code, pc)
		if !ok {
			return ""
		}
		return names[target]
	}, nil
}

// callAMD64 decodes E8 rel32, which ends at the return address.
func callAMD64(code [5]byte, pc uint64) (uint64, bool) {
	rel := int32(binary.LittleEndian.Uint32(code[1:]))
	return pc + uint64(int64(rel)), code[0] == 0xe8
}

// callARM64 decodes BL imm26.
func callARM64(code [5]byte, pc uint64) (uint64, bool) {
	word := binary.LittleEndian.Uint32(code[1:])
	rel := int64(int32(word<<6)) >> 6 * 4
	return pc - 4 + uint64(rel), word>>26 == 0b100101
}
