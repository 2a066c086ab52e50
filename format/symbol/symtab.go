package symbol

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
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
		if !b.IsGo() {
			return nil, err
		}
		funcs, err := b.Functions(re)
		if err != nil {
			return nil, err
		}
		return symbolsOf(funcs), nil
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

// symbolsOf makes symbols of functions.
func symbolsOf(funcs []Func) []Symbol {
	out := make([]Symbol, len(funcs))
	for i, f := range funcs {
		out[i] = Symbol{Name: f.Name, Addr: f.Entry, Size: f.End - f.Entry, Kind: 'T'}
	}
	return out
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

// linkerTable is the symbol table of the linker.
type linkerTable struct {
	symbols   func() ([]Symbol, error) // in the order of the file
	byAddress func() ([]Symbol, error)
	labels    func() []Symbol // those that instructions refer to
	pretty    func(name string) string
}

func newLinkerTable(img *image, demangle func(string) string) linkerTable {
	x := linkerTable{pretty: demangle}
	x.symbols = sync.OnceValues(func() ([]Symbol, error) { return img.readSymbols(img) })
	byFile := x
	x.byAddress = sync.OnceValues(byFile.sort)
	sorted := x
	x.labels = sync.OnceValue(sorted.dropBounds)
	return x
}

// demangle passes the names of C++ and Rust through the caller's hook.
func (x *linkerTable) demangle(name string) string {
	if x.pretty == nil || !strings.HasPrefix(name, "_Z") && !strings.HasPrefix(name, "__Z") && !strings.HasPrefix(name, "_R") {
		return name
	}
	if s := x.pretty(name); s != "" {
		return s
	}
	return name
}

// sort returns all symbols by address.
func (x *linkerTable) sort() ([]Symbol, error) {
	syms, err := x.symbols()
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
func (x *linkerTable) dropBounds() []Symbol {
	syms, _ := x.byAddress()
	return slices.DeleteFunc(slices.Clone(syms), func(s Symbol) bool {
		switch s.Name {
		case "runtime.text", "text", "_text", "runtime.etext", "etext", "_etext":
			return true
		}
		return false
	})
}

// module returns where the code, the inline trees and the types begin and end, as
// the symbols of the linker have it.
func (x *linkerTable) module() (m module) {
	syms, err := x.symbols()
	if err != nil {
		return m
	}
	for _, s := range syms {
		switch s.Name {
		case "runtime.text":
			m.text = s.Addr
		case "runtime.types":
			m.types = s.Addr
		case "runtime.etypes":
			m.typesEnd = s.Addr
		case "go:func.*", "go.func.*":
			m.trees = s.Addr
		}
	}
	return m
}

// SymbolAt returns the function or variable that an address is in. In a stripped
// binary there are none.
func (x *linkerTable) SymbolAt(addr uint64) (Symbol, bool) {
	syms, err := x.byAddress()
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
