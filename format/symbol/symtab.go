package symbol

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"
)

var errNoSymbols = errors.New("the binary has no symbol table (built with -ldflags=-s, or stripped)")

// Symbol is an entry of the linker's symbol table: function or variable.
type Symbol struct {
	Name string
	Addr uint64
	Size uint64 // 0 means unknown
	Kind byte   // the letter of nm: T text, R read-only, D data, B bss, U undefined; lower case: local
}

// IsText says whether the symbol is code.
func (s Symbol) IsText() bool { return s.Kind == 'T' || s.Kind == 't' }

func compare[T cmp.Ordered](x, y T) int { return cmp.Compare(x, y) }

// symtabPlace says where the symbol table and its names are in the file.
type symtabPlace struct {
	off, size       uint64
	strOff, strSize uint64
}

// names reads the string table of the symbols: one string that all names are
// parts of.
func (img *image) names() (string, error) {
	data, err := img.bytes(img.symtab.strOff, img.symtab.strSize)
	if err != nil {
		return "", fmt.Errorf("cannot read the names of symbols: %w", err)
	}
	return string(data), nil
}

// cut returns the name at off in a string table.
func cut(names string, off uint64) string {
	if off >= uint64(len(names)) {
		return ""
	}
	name := names[off:]
	if i := strings.IndexByte(name, 0); i >= 0 {
		return name[:i]
	}
	return name
}

// Symbols returns the entries of the symbol table whose name matches re, by
// address; a nil re matches all. These are what go tool pprof searches for
// disasm and weblist, variables included. In a stripped binary the functions
// of Go's own table stand in for it, which pprof does not do.
func (b *Binary) Symbols(re *regexp.Regexp) ([]Symbol, error) {
	syms, err := b.byAddress()
	if err != nil {
		return b.functionSymbols(re, err)
	}
	var out []Symbol
	for _, s := range syms {
		// The entry of a source file has neither address nor size.
		if s.Addr == 0 && s.Size == 0 || re != nil && !re.MatchString(s.Name) {
			continue
		}
		out = append(out, s)
	}
	return out, nil
}

// functionSymbols makes symbols of the functions; err is why there are no real
// ones.
func (b *Binary) functionSymbols(re *regexp.Regexp, err error) ([]Symbol, error) {
	if !b.IsGo() {
		return nil, err
	}
	funcs, err := b.Functions(re)
	if err != nil {
		return nil, err
	}
	out := make([]Symbol, len(funcs))
	for i, f := range funcs {
		out[i] = Symbol{Name: f.Name, Addr: f.Entry, Size: f.End - f.Entry, Kind: 'T'}
	}
	return out, nil
}

// sortSymbols returns all symbols by address.
func (b *Binary) sortSymbols() ([]Symbol, error) {
	syms, err := b.symbols()
	if err != nil {
		return nil, err
	}
	if len(syms) == 0 {
		return nil, errNoSymbols
	}
	syms = slices.Clone(syms)
	// Of several symbols with one address, the one that a disassembly shows is
	// left to chance by the Go tools: their sort is not stable. The same sort
	// on the same input gives the same choice.
	slices.SortFunc(syms, func(x, y Symbol) int { return cmp.Compare(x.Addr, y.Addr) })
	return syms, nil
}

// dropBounds returns the symbols by address without those that mark where the
// code begins and ends: they have the address of a function and would hide it.
func (b *Binary) dropBounds() []Symbol {
	syms, _ := b.byAddress()
	return slices.DeleteFunc(slices.Clone(syms), func(s Symbol) bool {
		switch s.Name {
		case "runtime.text", "text", "_text", "runtime.etext", "etext", "_etext":
			return true
		}
		return false
	})
}

// label returns what an instruction refers to. In a stripped binary that are
// functions alone.
func (b *Binary) label(addr uint64) (name string, base uint64) {
	if syms := b.labels(); len(syms) > 0 {
		s, _ := findSymbol(syms, addr)
		return s.Name, s.Addr
	}
	if t, err := b.table(); err == nil {
		if f, ok := t.find(addr); ok {
			return f.name(), f.entry
		}
	}
	return "", 0
}

// symbolAt returns the symbol that covers an address.
func (b *Binary) symbolAt(addr uint64) (Symbol, bool) {
	syms, err := b.byAddress()
	if err != nil {
		return Symbol{}, false
	}
	return findSymbol(syms, addr)
}

func findSymbol(syms []Symbol, addr uint64) (Symbol, bool) {
	i := sort.Search(len(syms), func(i int) bool { return addr < syms[i].Addr })
	if i == 0 {
		return Symbol{}, false
	}
	s := syms[i-1]
	if s.Addr == 0 || addr-s.Addr >= s.Size {
		return Symbol{}, false
	}
	return s, true
}
