package collect

import (
	"debug/elf"
	"debug/macho"
)

// stripped tells whether an executable lost its symbol table. An executable
// of a format that is not known here counts as whole.
func stripped(path string) bool {
	if f, err := elf.Open(path); err == nil {
		defer f.Close()
		return f.Section(".symtab") == nil
	}
	if f, err := macho.Open(path); err == nil {
		defer f.Close()
		return f.Symtab == nil || len(f.Symtab.Syms) == 0
	}
	return false
}
