package program

import (
	"fmt"

	"loupe/format/symbol"
)

// variables are where variables of the runtime lie, as linked. One that the
// binary does not have is not among them.
type variables map[string]symbol.Symbol

// The variables of the runtime that are read.
const (
	allgptr    = "runtime.allgptr"
	allglen    = "runtime.allglen"
	reasons    = "runtime.waitReasonStrings"
	allm       = "runtime.allm"
	printed    = "runtime.printBacklog"
	printedAt  = "runtime.printBacklogIndex"
	mbuckets   = "runtime.mbuckets"
	profCycle  = "runtime.mProfCycle"
	profCycle8 = "runtime.mProf" // in Go 1.18
	profRate   = "runtime.MemProfileRate"
)

// variablesOf finds the variables in the symbol table, or in the code that uses
// them where there is none.
func variablesOf(b *symbol.Binary) (variables, error) {
	list, err := b.Symbols(nil)
	if err != nil {
		return nil, err
	}
	v := variables{}
	for _, s := range list {
		switch s.Name {
		case allgptr, allglen, reasons, allm, printed, printedAt, mbuckets, profCycle, profCycle8, profRate:
			v[s.Name] = s
		}
	}
	for _, name := range []string{allgptr, allglen, reasons} {
		if _, ok := v[name]; !ok {
			return variablesInCode(b)
		}
	}
	return v, nil
}

// use is where in a function of the runtime a variable is used: as the n-th
// operand of some kind and size, from 0.
type use struct {
	name     string
	function string
	kind     symbol.OperandKind
	size, n  int
}

// anywhere is the place of a second use, which only confirms the first.
const anywhere = -1

// uses are the uses by which the variables are found in a binary without a symbol
// table (-ldflags=-s, strip), the same in Go 1.18 to 1.26 on amd64. Functions are
// known there too, by the table that tracebacks need. MemProfileRate, which may be
// written to, must be where two functions say.
// TestVariablesInCode holds them against symbol tables.
var uses = []use{
	{allglen, "runtime.forEachGRace", symbol.Loads, 8, 0},
	{allgptr, "runtime.forEachGRace", symbol.Loads, 8, 1},
	{reasons, "runtime.waitReason.String", symbol.Takes, 0, 1},
	{mbuckets, "runtime.mProf_FlushLocked", symbol.Loads, 8, 0},
	{profCycle, "runtime.mProf_Free", symbol.Loads, 4, 0},
	{profRate, "runtime.allocmcache", symbol.Loads, 8, 0},
	{profRate, "runtime.profilealloc", symbol.Loads, 8, anywhere},
}

// variablesInCode finds the variables by the instructions that use them.
func variablesInCode(b *symbol.Binary) (variables, error) {
	minor, ok := b.GoMinor()
	if !ok || minor < 18 || layouts[minor] == (layout{}) {
		return nil, fmt.Errorf("%w: the binary has no symbol table (-ldflags=-s or strip removes it), and is not known to be of Go 1.18 to 1.26", ErrNotGo)
	}
	functions := map[string]bool{}
	for _, u := range uses {
		functions[u.function] = true
	}
	found, err := b.FunctionsNamed(functions)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotGo, err)
	}
	v := variables{}
	for _, u := range uses {
		list := found[u.function]
		if len(list) != 1 {
			return nil, fmt.Errorf("%w: the binary has no symbol table, and %s by which %s is found is not in it", ErrNotGo, u.function, u.name)
		}
		operands, err := b.Operands(list[0])
		if err != nil {
			return nil, fmt.Errorf("%w: the binary has no symbol table (-ldflags=-s or strip removes it): %w", ErrNotGo, err)
		}
		s, ok := u.in(operands, v[u.name].Addr)
		if !ok {
			return nil, fmt.Errorf("%w: the binary has no symbol table, and %s does not use %s as it should", ErrNotGo, u.function, u.name)
		}
		v[u.name] = s
	}
	if minor == 18 {
		v[profCycle8] = v[profCycle]
		delete(v, profCycle)
	}
	return v, nil
}

// in finds the variable among the operands of the function; known is where it
// was found before. The length of a table
// is what its index is compared with.
func (u use) in(operands []symbol.Operand, known uint64) (s symbol.Symbol, ok bool) {
	s, n, limit := symbol.Symbol{Name: u.name, Size: uint64(u.size)}, 0, int64(-1)
	for _, o := range operands {
		if o.Kind == symbol.Compares && limit < 0 {
			limit = o.Number
		}
		if o.Kind != u.kind || o.Size != u.size {
			continue
		}
		if n++; u.n == anywhere && o.Addr == known || u.n != anywhere && n > u.n {
			s.Addr, ok = o.Addr, true
			break
		}
	}
	if u.kind == symbol.Takes {
		s.Size = 16 * uint64(max(0, limit))
		ok = ok && limit > 0 && limit <= 256
	}
	return s, ok
}
