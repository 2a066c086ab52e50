package symbol

import (
	"fmt"

	"golang.org/x/arch/x86/x86asm"
)

// OperandKind says what an instruction does with an operand.
type OperandKind uint8

// The kinds of operands.
const (
	Loads    OperandKind = iota // reads a variable
	Stores                      // writes to a variable, or reads and writes
	Takes                       // takes the address of a variable
	Compares                    // compares with a number
)

// Operand is what an instruction of a function works on: a variable that lies
// at a fixed address, or a number that it compares with.
type Operand struct {
	Kind OperandKind
	Addr uint64 // of the variable, as linked
	Size int    // of the variable in bytes, as far as the instruction goes; 0 for Takes
	// Number is what is compared with.
	Number int64
}

// Operands returns the operands of a function's instructions, in the order of
// the code. Where a binary has no symbols they tell where the variables of a known
// function are. Only amd64 is understood; the error wraps [ErrNoDisassembler] on
// other machines.
func (b *Binary) Operands(f Func) ([]Operand, error) {
	if b.Arch != "amd64" {
		return nil, fmt.Errorf("cannot read the operands of %q code: %w", b.Arch, ErrNoDisassembler)
	}
	list, err := b.Disassemble(f.Entry, f.End, GoSyntax)
	if err != nil {
		return nil, err
	}
	var out []Operand
	for _, in := range list {
		inst, err := x86asm.Decode(in.Bytes, 64)
		if err != nil {
			continue
		}
		if imm, ok := inst.Args[1].(x86asm.Imm); ok && inst.Op == x86asm.CMP {
			out = append(out, Operand{Kind: Compares, Number: int64(imm)})
		}
		for i, arg := range inst.Args {
			m, ok := arg.(x86asm.Mem)
			if !ok || m.Base != x86asm.RIP || m.Index != 0 {
				continue
			}
			o := Operand{Kind: Loads, Addr: in.PC + uint64(inst.Len) + uint64(m.Disp), Size: inst.MemBytes}
			switch {
			case inst.Op == x86asm.LEA:
				o.Kind, o.Size = Takes, 0
			case i == 0 && inst.Op != x86asm.CMP && inst.Op != x86asm.TEST:
				o.Kind = Stores
			}
			out = append(out, o)
		}
	}
	return out, nil
}
