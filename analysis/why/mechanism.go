package why

import (
	"slices"
	"strconv"
	"strings"

	"loupe/format/compiler"
	"loupe/value/stack"
)

// Mechanism says by which operation memory is taken. A set of them says what
// something may be.
type Mechanism uint32

// The mechanisms.
const (
	Object        Mechanism = 1 << iota // new(T), &T{}, a composite literal
	Variable                            // a variable that was moved to the heap
	Slice                               // make([]T, n)
	Append                              // append
	MakeMap                             // make(map[K]V), or a map literal
	MapWrite                            // m[k] = v
	MakeChan                            // make(chan T)
	Concat                              // s + t
	Convert                             // string(b), []byte(s), []rune(s), string(r)
	Interface                           // a value that is put into an interface
	Closure                             // a function literal or a method value
	Variadic                            // the slice of the arguments for a ... parameter
	Goroutine                           // a go statement
	Defer                               // a defer statement
	Wait                                // a wait on a channel
	Assertion                           // a type assertion to an interface
	Call                                // a function of the runtime that is called by name
	Internal                            // the runtime's own memory
	numMechanisms = iota
)

var mechanismNames = [numMechanisms]string{
	"object", "variable", "slice", "append", "map", "map write", "channel", "concatenation", "conversion",
	"interface", "closure", "variadic", "goroutine", "defer", "wait", "assertion", "call", "internal",
}

// String returns the mechanisms in lower case: "append", "object or interface".
func (m Mechanism) String() string {
	var names []string
	for i, name := range mechanismNames {
		if m&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	if names == nil {
		return "unknown"
	}
	return strings.Join(names, " or ")
}

// newobject is called for everything whose size is known, but for maps, which
// have makemap, and for interfaces, which have convT.
const newobject = Object | Variable | Closure | Variadic | Defer

// runtimeFuncs are the functions that the compiler puts calls to into the code
// (typecheck/_builtin/runtime.go of the compiler), and what they serve. Names
// that end in * stand for all that begin so.
var runtimeFuncs = []struct {
	name string
	mask Mechanism
}{
	{"newobject", newobject},
	{"mallocgc*", newobject | Slice}, // makes followed by a copy are turned into it
	{"newarray", Object | Slice | Variadic},
	{"makeslicecopy", Slice},
	{"makeslice*", Slice},
	{"growslice*", Append},
	{"moveSlice*", Append},
	{"makemap*", MakeMap},
	{"mapassign*", MapWrite | MakeMap},
	{"makechan*", MakeChan},
	{"concatstring*", Concat},
	{"concatbyte*", Concat | Convert},
	{"slicebytetostring", Convert},
	{"slicerunetostring", Convert},
	{"stringtoslicebyte", Convert},
	{"stringtoslicerune", Convert},
	{"intstring", Convert},
	{"convT*", Interface},
	{"newproc*", Goroutine},
	{"deferproc*", Defer},
	{"newdefer", Defer},
	{"deferrangefunc", Defer},
	{"chansend*", Wait}, {"chanrecv*", Wait}, {"selectgo", Wait}, {"selectnb*", Wait},
	{"typeAssert", Assertion}, {"assertE2I*", Assertion}, {"interfaceSwitch", Assertion},
}

// MechanismsOf says what a function of the runtime serves; 0 means that it is
// not one of those that the compiler puts calls to into the code.
func MechanismsOf(function string) Mechanism {
	if pkg := stack.Package(function); pkg != "runtime" && !strings.HasPrefix(pkg, "internal/runtime/") {
		return 0
	}
	name := stack.Local(function)
	for _, f := range runtimeFuncs {
		if prefix, ok := strings.CutSuffix(f.name, "*"); ok && strings.HasPrefix(name, prefix) || f.name == name {
			return f.mask
		}
	}
	return 0
}

// internalWords say what the runtime allocates on its own account, by the name
// of the function without its package.
var internalWords = map[string]string{
	"malg":                                 "a new goroutine: its descriptor, kept for the next one when it ends",
	"newproc1":                             "a new goroutine: its descriptor, kept for the next one when it ends",
	"allocm":                               "a new thread of the scheduler",
	"allgadd":                              "the runtime's list of goroutines grows",
	"acquireSudog":                         "an entry of a wait queue, which the runtime keeps for the next wait",
	"procresize":                           "the scheduler's processors, allocated when GOMAXPROCS is set",
	"newdefer":                             "the record of a deferred call, kept for the next one",
	"addspecial":                           "the runtime's record of a finalizer, cleanup or weak pointer",
	"unsafe_New":                           "reflection allocates a new value",
	"unsafe_NewArray":                      "reflection allocates a new array, for the elements of a slice",
	"makechan":                             "a new channel",
	"makemap":                              "a new map",
	"mapassign":                            "a map grows to take another key",
	"growslice":                            "a slice grows",
	"MakeNoZero":                           "a buffer for bytes that are about to be written, as in strings.Builder",
	"newTimer":                             "a new timer",
	"doInit1":                              "the values of package variables",
	"schedinit":                            "the start of the program",
	"goenvs_unix":                          "the environment of the program",
	"goargs":                               "the arguments of the program",
	"CallersFrames":                        "runtime.CallersFrames makes the iterator over a stack",
	"(*TypeAssertionError)":                "the error of a type assertion",
	"gcenable":                             "the start of the garbage collector",
	"clone":                                "a copy of a map",
	"intern":                               "the table of unique values",
	"getOrAddWeakHandle":                   "the handle of a weak pointer",
	"registerWeakPointer":                  "the handle of a weak pointer",
	"rt0_go":                               "the start of the program",
	"gcBgMarkStartWorkers":                 "the workers of the garbage collector",
	"profilealloc":                         "the memory profile itself",
	"goroutineProfileWithGs":               "a goroutine profile",
	"goroutineProfileWithLabelsConcurrent": "a goroutine profile",
}

// maskOfText says what an expression that escapes may be, from its text as the
// compiler prints it.
func maskOfText(d *compiler.Diagnostic) Mechanism {
	t := d.Text
	switch {
	case d.Kind == compiler.MovedToHeap:
		return Variable
	case t == "... argument":
		return Variadic
	case t == "func literal":
		return Closure
	case strings.HasPrefix(t, "make(map["):
		return MakeMap
	case strings.HasPrefix(t, "make([]"):
		return Slice | Interface
	case strings.HasPrefix(t, "make("): // of a named type
		return Slice | MakeMap | Interface
	case t == "append" || strings.HasPrefix(t, "append("):
		return Append | Interface
	case strings.HasPrefix(t, "new("), strings.HasPrefix(t, "&"):
		return Object
	case strings.HasPrefix(t, "map[") && strings.HasSuffix(t, "}"):
		return MakeMap | MapWrite
	}
	mask := Interface
	if outsideBrackets(t, " + ") {
		return mask | Concat
	}
	switch {
	case strings.HasPrefix(t, "[") && strings.HasSuffix(t, "}"):
		mask |= Object // the array behind a slice literal
	case strings.HasSuffix(t, "{}"):
		mask |= Object | MakeMap // an empty literal of a named type
	case strings.HasSuffix(t, "{...}"):
		mask |= Object | MakeMap | MapWrite // a literal of a named type
	case strings.HasPrefix(t, "string(") || strings.HasPrefix(t, "([]byte)(") || strings.HasPrefix(t, "([]rune)("):
		mask |= Convert
	case strings.HasPrefix(t, "<node "): // a concatenation of many, in old compilers
		mask |= Concat
	case isName(t) && strings.Contains(t, "."):
		mask |= Closure // x.M may be a method value
	case strings.HasSuffix(t, ")"):
		mask |= Convert // of a named type, or the result of a call
	}
	return mask
}

// settle narrows what an escape is by the first edge of its flow. A box of an
// interface is filled from the storage of the same expression.
func settle(d *compiler.Diagnostic, mask Mechanism) Mechanism {
	if mask&Interface == 0 || mask == Interface || len(d.Flow) == 0 {
		return mask
	}
	if f := d.Flow[0]; f.Dst == f.Src && strings.HasPrefix(f.Src, "{storage for ") {
		return mask &^ Interface // the operation itself, whose box is another diagnostic
	}
	return mask
}

// splitBoxes tells an operation from the box of its result, which the compiler
// prints alike: where both are there, the second is the box. A box on the heap
// has its content there as well, so what makes a slice and is there only once
// is no box.
func splitBoxes(list []candidate) {
	for i := range list {
		op := &list[i]
		if op.Diagnostic == nil || !op.escapes || op.Mechanism&Interface != 0 {
			continue
		}
		for j := range list {
			// The box has the place of the conversion, the operation that of its
			// operand, if they differ.
			if box := &list[j]; box.escapes && box.Expr == op.Expr && box.Mechanism&Interface != 0 {
				box.Mechanism = Interface
			}
		}
	}
	added := slices.ContainsFunc(list, func(c candidate) bool { return c.Diagnostic == nil && c.Mechanism == Concat })
	for i := range list {
		if c := &list[i]; added && c.escapes && c.Mechanism == Interface|Concat && len(c.Diagnostic.Flow) > 0 && c.Diagnostic.Flow[0].Dst == "{storage for ... argument}" {
			// s += fmt.Sprint(i + j): a sum of strings would have a diagnostic
			// of its own beside that of its box.
			c.Mechanism = Interface
		}
		if c := &list[i]; c.Mechanism != Interface && (c.Mechanism&(Slice|Append) != 0 || strings.HasPrefix(c.Expr, "[]")) {
			c.Mechanism &^= Interface
		}
	}
}

// serves says as what a candidate may have called a function that serves these
// mechanisms; 0 means that it has not.
func (c *Cause) serves(asked Mechanism) Mechanism {
	if m := c.Mechanism & asked; m != 0 {
		return m
	}
	// The bytes of a constant string are a copy of an array in the binary.
	if i := strings.LastIndexByte(c.Expr, '('); asked&Object != 0 && c.Mechanism&Convert != 0 && i > 0 {
		for ; i > 0; i = strings.LastIndexByte(c.Expr[:i], '(') {
			if strings.HasPrefix(c.Expr[i:], "(\"") && (isConstant(strings.TrimSuffix(c.Expr[i+1:], ")")) || strings.HasSuffix(c.Expr, "...)")) {
				return Convert
			}
		}
	}
	return 0
}

// Agrees says whether the cause can be what has called a function of the
// runtime.
func (c *Cause) Agrees(function string) bool { return c.serves(MechanismsOf(function)|Call) != 0 }

// isConstant says whether an expression is a constant, as the compiler prints
// it. The box of a constant is read-only data of the binary: the compiler says
// that it escapes, and it allocates nothing. Neither does an empty struct.
func isConstant(t string) bool {
	if t == "struct {}{}" || t == "true" || t == "false" || t == "nil" {
		return true
	}
	for _, kind := range []string{"int", "uint", "float", "complex", "byte", "rune", "bool"} {
		if rest, ok := strings.CutPrefix(t, kind); ok {
			rest = strings.TrimLeft(rest, "0123456789")
			if strings.HasPrefix(rest, "(") && strings.HasSuffix(rest, ")") {
				t = rest[1 : len(rest)-1]
			}
			break
		}
	}
	if _, err := strconv.Unquote(t); err == nil {
		return true
	}
	_, err := strconv.ParseFloat(t, 64)
	return err == nil
}

func isName(t string) bool {
	return t != "" && strings.IndexFunc(t, func(r rune) bool {
		return !(r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 127)
	}) < 0
}

// outsideBrackets finds an operator at the top of an expression.
func outsideBrackets(t, op string) bool {
	depth, quote := 0, byte(0)
	for i := 0; i < len(t); i++ {
		switch c := t[i]; {
		case quote != 0:
			if c == '\\' && quote == '"' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '"' || c == '`':
			quote = c
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			depth--
		case depth == 0 && strings.HasPrefix(t[i:], op):
			return true
		}
	}
	return false
}
