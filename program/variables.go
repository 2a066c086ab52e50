package program

import (
	"fmt"

	"loupe/symbol"
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

// variablesOf finds the variables in the symbol table.
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
			return nil, fmt.Errorf("%w: the binary has no symbol table (-ldflags=-s or strip removes it), or is not of Go 1.18 or later", ErrNotGo)
		}
	}
	return v, nil
}
