// Package explain says what the words of a goroutine dump are: which parameter
// each belongs to, of which type, and what value it has. It joins a dump with
// the binary that printed it, or, without one, with the source.
//
// A traceback shows the places where arguments are kept, and these outlive the
// arguments. So the package tells a value only where the runtime has said that
// the word is alive, where the function of the binary is the one that was printed
// (its lines are held against those of the dump) and where the parameters fit the
// words one by one. What falls short of that is shown as it was printed, with the
// reason.
//
// A word is what was passed, or what has been stored in its place since: a
// function that changes a parameter may keep the new value in a register.
//
// The package opens nothing: the caller passes the binary and a function that
// reads sources. docs/formats/stacks.md tells how the words are laid out.
package explain

import (
	"fmt"
	"strings"

	"loupe/format/dump"
	"loupe/format/symbol"
)

// Sources finds source files on this machine. Each function may be nil.
type Sources struct {
	// Read returns the text of a file of the dump, or nil. The function is one
	// that is declared in it.
	Read func(file, function string) []byte
	// Beside lists the other files of the package, under names for Read.
	Beside func(file, function string) []string
}

// Options are what an explanation is made of, beside the dump.
type Options struct {
	Binary  *symbol.Binary // nil for none
	Sources Sources
	// Memory reads what was in the memory of the program when the goroutines
	// were there, as a core has it; nil for text alone.
	Memory func(addr uint64, buf []byte) error
}

// Origin says where the names and types of parameters are from.
type Origin string

// The origins. Nowhere is none: [Frame.Why] says why.
const (
	Nowhere    Origin = ""
	FromBinary Origin = "binary" // the debug information of the program
	FromSource Origin = "source" // the source, as it is on this machine now
)

// State says how far a value is to be believed.
type State string

// The states. Unmarked are words of which Go does not say whether they are alive,
// or says it wrongly: all of 1.17, and some of generic functions later on.
const (
	Live     State = "live"
	Partly   State = "partly"   // some of its words are alive; the others have a ?
	Stale    State = "stale"    // none of them is: it is what happened to be there
	Unmarked State = "unmarked" // it may be stale, and nothing tells
	Unset    State = "unset"    // a result, before the function has returned
	Hidden   State = "hidden"   // not printed
)

// Param is one parameter with its value.
type Param struct {
	Name   string // "" where it has none
	Type   string
	Result bool
	State  State
	// Text is the value; where it is not alive, the words as they were printed.
	Text string
}

// Frame is one call of a goroutine with what its words are.
type Frame struct {
	Call   dump.Call
	From   Origin
	Params []Param
	// Why tells why there are no parameters, or "" where the function has none.
	Why string
}

// Explainer explains the goroutines of one file. It is not for use by several
// goroutines at once.
type Explainer struct {
	f      *dump.File
	src    *sourceReader
	mem    func(addr uint64, buf []byte) error
	fitted fitted
	form   form
}

// New prepares to explain the goroutines of a file.
func New(f *dump.File, opt Options) *Explainer {
	return &Explainer{f: f, mem: opt.Memory, src: newSourceReader(opt.Sources), fitted: fitTo(f, opt.Binary), form: formOf(f, opt.Binary)}
}

// Version returns the minor version of the Go that built the binary: 26 is
// Go 1.26; 0 is not known.
func (x *Explainer) Version() int { return x.form.version }

// Goroutine explains the frames of a goroutine, leaf first.
func (x *Explainer) Goroutine(g int) ([]Frame, error) {
	calls, err := x.f.Calls(g)
	if err != nil {
		return nil, err
	}
	frames := make([]Frame, len(calls))
	for i, c := range calls {
		frames[i] = x.frame(g, c)
	}
	return frames, nil
}

// frame explains one call.
func (x *Explainer) frame(g int, c dump.Call) Frame {
	out := Frame{Call: c}
	switch {
	case c.Created, c.Elided != 0:
		return out
	case c.Inlined:
		out.Why = "inlined into the next call: it has no arguments of its own in memory"
		return out
	case !c.HasArgs:
		return out
	}
	args, err := dump.ParseArgs(c.Args)
	if err != nil {
		out.Why = err.Error()
		return out
	}
	var why string
	if x.fitted.bin != nil {
		if out.Params, why = x.fromBinary(g, &c, args); why == "" {
			out.From = FromBinary
			return out
		}
	}
	params, srcWhy := x.fromSource(g, &c, args)
	switch {
	case srcWhy == "":
		out.Params, out.From = params, FromSource
	case why != "" && srcWhy != noSource:
		out.Why = why + "; " + srcWhy
	case why != "":
		out.Why = why
	default:
		out.Why = srcWhy
	}
	if len(args) == 0 && out.From == Nowhere {
		out.Why = "" // there is nothing to explain
	}
	return out
}

// fromBinary explains the words by the debug information of the program.
func (x *Explainer) fromBinary(g int, c *dump.Call, args []dump.Arg) ([]Param, string) {
	if x.fitted.fit.Refused() {
		return nil, "the binary is from another build"
	}
	fits, why := x.fitted.candidates(g, c)
	if why != "" {
		return nil, why
	}
	v := &values{p: process{bin: x.fitted.bin, mem: x.mem, slide: x.fitted.slide(g), wordSize: x.fitted.wordSize()}}
	var first []Param
	for i, f := range fits {
		params, why := x.labelled(c, f, args, v)
		if why != "" {
			return nil, why
		}
		if i > 0 && !same(first, params) {
			return nil, fmt.Sprintf("it was compiled for %d lists of types, and the dump does not say which one this is", len(fits))
		}
		first = params
	}
	return first, ""
}

func same(a, b []Param) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// labelled gives the words of a call the parameters of one function.
func (x *Explainer) labelled(c *dump.Call, f symbol.Func, args []dump.Arg, v *values) ([]Param, string) {
	shape, shaped := x.fitted.bin.ArgShape(f.Entry)
	if shaped && x.form.version >= 17 && !fitsShape(args, shape) {
		return nil, "the binary has other arguments for it"
	}
	params, err := x.fitted.bin.Params(f.Entry)
	if err != nil {
		switch {
		case !x.fitted.bin.HasDWARF():
			return nil, "the binary has no debug information (built with -ldflags=-w or -s, or stripped)"
		case strings.HasSuffix(c.File, ".s"):
			return nil, "it is written in assembly, and its declaration is not in the debug information"
		}
		return nil, err.Error()
	}
	if !x.form.structured() {
		if x.form.version < inOrder && !ordered(params) {
			return nil, "Go before 1.16 lists parameters by name, and where they are is not in the debug information that loupe reads"
		}
		bytes, ok := x.fitted.bin.ArgBytes(f.Entry)
		return v.flat(params, args, bytes, ok)
	}
	if !shaped {
		shape = nil
	}
	trust := x.form.trust(c)
	return v.structured(x.form.asPrinted(f.Name, params, x.fitted.wordSize()), args, shape, trust)
}

// ordered tells that it is certain in which order parameters are.
func ordered(params []symbol.Param) bool {
	inputs, placed := 0, 0
	for _, p := range params {
		if !p.Result {
			inputs++
		}
		if p.Placed {
			placed++
		}
	}
	return placed == len(params) || inputs < 2 && len(params)-inputs < 2
}

// mayLack tells that words of a type may not be stored and yet not be marked. A
// struct that is too large for registers inside of a function counts as stored
// when the function begins, and when nobody uses it, the compiler leaves that
// out. Those that do not fit into registers at all are stored by the caller.
func mayLack(t *symbol.Type, wordSize int64) bool {
	if !isAggregate(t.Kind) || inRegisters(t, wordSize) {
		return false
	}
	n, ok := registers(t, 0)
	return ok && n <= maxRegisters
}

// maxRegisters is at least what any machine has for arguments of one kind.
const maxRegisters = 32

// inRegisters tells that a function can have values of a type in registers: what
// the compiler calls CanSSA.
func inRegisters(t *symbol.Type, wordSize int64) bool {
	if t.Size > 4*wordSize {
		return false
	}
	switch t.Kind {
	case symbol.Array:
		return t.Len <= 1 && (t.Len == 0 || inRegisters(t.Elem, wordSize))
	case symbol.Struct:
		for _, f := range t.Fields {
			if !inRegisters(f.Type, wordSize) {
				return false
			}
		}
		return len(t.Fields) <= 4
	}
	return true
}

// registers counts those that a value takes; ok is false for what is never
// passed in them.
func registers(t *symbol.Type, depth int) (n int, ok bool) {
	switch t.Kind {
	case symbol.Array:
		if t.Len > 1 || depth > maxPrinted {
			return 0, false
		}
		if t.Len == 0 {
			return 0, true
		}
		return registers(t.Elem, depth+1)
	case symbol.Struct:
		for _, f := range t.Fields {
			m, ok := registers(f.Type, depth+1)
			if n += m; !ok || n > maxRegisters {
				return n, ok
			}
		}
		return n, true
	case symbol.Slice:
		return 3, true
	case symbol.String, symbol.Any, symbol.Interface, symbol.Complex:
		return 2, true
	}
	return 1, true
}
