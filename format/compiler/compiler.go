// Package compiler reads what the Go compiler says about the code that it has
// made: which values escape to the heap and by which way, which calls were
// inlined and which not, where bounds and nil checks are left. It knows the
// text of -gcflags=-m and -m=2, of -d=ssa/check_bce/debug=1 and of
// -d=ssa/prove/debug=1, and the files of -json=0,DIR, as Go 1.17 to 1.26 write
// them (docs/formats/compiler.md).
//
// It takes bytes and gives values. It starts no compiler, which is the work of
// collect, and it does not know profiles: the join of the two is package why.
package compiler

import (
	"strconv"
	"strings"
)

// Pos is a place in a source file. Line and Col begin at 1; 0 means unknown.
// The column is where the compiler sees the operation: of a call it is the
// opening parenthesis, of an operator the operator.
type Pos struct {
	File string
	Line int
	Col  int
}

// String returns the form "file.go:12:5".
func (p Pos) String() string {
	if p.Line == 0 {
		return p.File
	}
	s := p.File + ":" + strconv.Itoa(p.Line)
	if p.Col > 0 {
		s += ":" + strconv.Itoa(p.Col)
	}
	return s
}

// Kind says what a diagnostic is about.
type Kind uint8

// The kinds of diagnostics.
const (
	Other            Kind = iota // a message that has no kind of its own; Text is all of it
	Escape                       // an expression whose memory comes from the heap
	MovedToHeap                  // a variable whose memory comes from the heap
	NoEscape                     // an expression or parameter that does not escape
	LeakingParam                 // a parameter, or what it points to, that outlives the call
	CanInline                    // a function that may be inlined, with its cost
	CannotInline                 // a function that may not be inlined, with the reason
	CannotInlineCall             // a call that was not inlined, although the function may be
	InlinedCall                  // a call that was inlined
	BigFunction                  // a caller so big that it inlines only tiny functions
	Devirtualized                // an interface call that became a direct one
	NotDevirtualized             // an interface call that did not, with the reason
	BoundsCheck                  // an index that is checked at run time
	SliceCheck                   // slice bounds that are checked at run time
	NilCheck                     // a pointer that is checked at run time
	Proved                       // something that the compiler has proved, such as a bound
	ZeroCopy                     // a conversion of a string to bytes that copies nothing
	Copy                         // a large value that is copied; Size is in bytes
	Capture                      // a variable that a closure captures
	LoopVariable                 // a loop variable that is new in every iteration
	numKinds
)

var kindNames = [numKinds]string{
	"other", "escape", "moved to heap", "no escape", "leaking param", "can inline",
	"cannot inline", "cannot inline call", "inlined call", "big function", "devirtualized", "not devirtualized",
	"bounds check", "slice check", "nil check", "proved", "zero-copy conversion", "copy", "capture", "loop variable",
}

// String returns the kind in words: "moved to heap".
func (k Kind) String() string {
	if k < numKinds {
		return kindNames[k]
	}
	return "unknown"
}

// Diagnostic is one thing that the compiler has said.
type Diagnostic struct {
	Kind Kind
	// Pos is the outermost position: for code that came by inlining it is the
	// call in the function that was compiled.
	Pos Pos
	// Inline are the positions inside the functions that were inlined at Pos,
	// the innermost last. The text of -m does not tell them: there Inline is
	// nil, also for inlined code.
	Inline []Pos
	// Outer says that the diagnostic comes from text, so that the code at Pos
	// may be that of an inlined function.
	Outer bool
	// Package is the import path of the package that was compiled, Function
	// the function in it. They are "" where the dialect does not say so.
	Package  string
	Function string
	// Text is the expression, the variable, the parameter, or the function
	// that is inlined or not, in the compiler's words.
	Text string
	// Dest is where a parameter leaks to ("{heap}", "~r0") and what a call was
	// devirtualized to.
	Dest string
	// Reason is why something was not done, or where more is to be said.
	Reason string
	// Flow is the way from the value to what outlives it, one assignment after
	// the other. It is nil where the compiler was not asked (-m alone).
	Flow []Flow
	// Truncated says that Flow was cut short by a cycle of assignments.
	Truncated bool
	// Derefs is how many pointers are followed from a leaking parameter.
	Derefs int
	// Cost and Budget are those of inlining; 0 means unknown.
	Cost, Budget int
	// Size is the number of bytes that a Copy moves.
	Size int64
}

// Where returns the innermost known position: where the code stands in the
// source.
func (d *Diagnostic) Where() Pos {
	if n := len(d.Inline); n > 0 {
		return d.Inline[n-1]
	}
	return d.Pos
}

// Allocates says that the diagnostic tells of memory from the heap.
func (d *Diagnostic) Allocates() bool { return d.Kind == Escape || d.Kind == MovedToHeap }

// Flow is one edge of an escape: the value of Src, or its address, gets to
// Dst. Places without a name are written "{heap}", "{temp}" and "{storage for
// EXPR}".
type Flow struct {
	Dst, Src string
	// Derefs is how many pointers are followed on the way; -1 means that the
	// address of Src is taken.
	Derefs int
	Steps  []Step // by which expressions, from the source outwards
}

// Step is one expression that a value passes through, and how: "spill",
// "assign", "call parameter", "interface-converted", "captured by a closure".
type Step struct {
	Expr, Why string
	Pos       Pos   // outermost
	Inline    []Pos // as in [Diagnostic]
}

// Where returns the innermost known position of the step.
func (s *Step) Where() Pos {
	if n := len(s.Inline); n > 0 {
		return s.Inline[n-1]
	}
	return s.Pos
}

// Options say how to read compiler output. The zero value takes everything.
type Options struct {
	// Keep says which kinds are wanted. The others are passed over before they
	// are decoded: parameters that leak are 97% of the bytes that -json writes
	// for a large package. nil keeps all.
	Keep func(Kind) bool
	// Dir is the directory that relative file names start from: the one that
	// the go command ran in. "" leaves them as they are.
	Dir string
	// Package is the import path until the text names another ("# path").
	Package string
}

func (o *Options) keep(k Kind) bool { return o.Keep == nil || o.Keep(k) }

// Output is what one run of the compiler, or one file of it, has said.
type Output struct {
	Header      Header
	Diagnostics []Diagnostic
	// Malformed counts the lines that are no diagnostics: notes of the go
	// command, errors of the compiler, damage. FirstMalformed is the first.
	Malformed      int
	FirstMalformed string
}

// Header is the first line of a -json file. Text has none.
type Header struct {
	Package, GOOS, GOARCH, GoVersion string
	// File is the source file that the positions are in.
	File string
}

func (o *Output) malformed(line string) {
	o.Malformed++
	if o.FirstMalformed == "" {
		o.FirstMalformed = strings.ToValidUTF8(line[:min(len(line), 200)], "?")
	}
}

// Names of large sets repeat: interning a file name and an expression once
// keeps the sets of all packages of a program small.
type interner map[string]string

func (in interner) string(s string) string {
	if t, ok := in[s]; ok {
		return t
	}
	s = strings.Clone(s) // not a piece of the whole line
	in[s] = s
	return s
}
