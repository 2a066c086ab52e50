package explain

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// value is what an oracle knows of a variable: package main in testdata/delve
// prints the same.
type value struct {
	Name, Type, Kind string
	Base             uint64
	Len, Cap         int64
	Text             string
	Children         []value
	Bad              string

	base bool // Base is known
}

// generator writes a program of functions that call each other and stop at the
// end, with parameters of all kinds, and knows what was passed.
type generator struct {
	*rand.Rand
	generics bool
	code     strings.Builder
	n        int // functions so far
	// passed is what each function was given, by its name.
	passed map[string][]value
	// changes marks those that change a parameter.
	changes map[string]map[string]bool
}

// arg is a parameter of a generated function.
type arg struct {
	typ, expr string
	value     value
	number    bool // x++ is possible
}

const programHead = `package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
	"unsafe"
)

type (
	small  struct{ a int8; b string; c uint16 }
	point  struct{ x, y float64 }
	deep   struct{ p point; s small; in struct{ n int32; ok bool } }
	wrap   struct{ v [1]string }
	level  int
	names  []string
	table  map[string]int
	apply  func(int) string
	empty  struct{}
	reader interface{ Read() string }
	file   struct{ name string }
)

func (f *file) Read() string { return f.name }
func (l level) String() string { return "level" }

var (
	global   = 7
	globals  [8]int
	aFile    = &file{"a"}
	heap     = strings.Repeat("heap", 3)
	aMap     = map[string]int{"x": 1}
	aChan    = make(chan int, 3)
	anError  = errors.New("no")
	sink     []interface{}
	buf      = make([]byte, 1<<20)
	out, _   = os.Create(os.Args[1])
	_        = time.Second
	_        unsafe.Pointer
	_        = fmt.Sprint
)

func hello(n int) string { return "hello" }

//go:noinline
func use(args ...interface{}) {
	if len(sink) > 1<<20 {
		sink = args
	}
}

//go:noinline
func stop() {
	n := runtime.Stack(buf, false)
	out.Write(buf[:n])
	out.WriteString("\n\n")
	if len(os.Args) > 2 {
		runtime.Breakpoint()
	}
}

`

// arg makes a parameter of a random type.
func (g *generator) arg() arg {
	all := slices.Concat(g.numbers(), g.pointers(), g.composites())
	return all[g.IntN(len(all))]()
}

// integer makes a parameter of an integer type.
func (g *generator) integer(typ, kind string, bits uint, signed bool) arg {
	n := int64(g.Uint64())
	if g.IntN(3) > 0 {
		n = int64(g.IntN(100))
	}
	if signed {
		n = n << (64 - bits) >> (64 - bits)
		return arg{typ: typ, expr: fmt.Sprintf("%s(%d)", typ, n), value: value{Kind: kind, Text: strconv.FormatInt(n, 10)}, number: true}
	}
	u := uint64(n) << (64 - bits) >> (64 - bits)
	return arg{typ: typ, expr: fmt.Sprintf("%s(%d)", typ, u), value: value{Kind: kind, Text: strconv.FormatUint(u, 10)}, number: true}
}

// text makes a constant string.
func (g *generator) text() (string, value) {
	s := strings.Repeat("abc", g.IntN(5)) + strconv.Itoa(g.IntN(1000))
	return strconv.Quote(s), value{Kind: "string", Text: s, Len: int64(len(s))}
}

// number makes a constant with a fraction.
func (g *generator) number() (string, value) {
	f := math.Round(g.NormFloat64()*1000) / 8
	return strconv.FormatFloat(f, 'f', -1, 64), value{Kind: "float64", Text: strconv.FormatFloat(f, 'g', -1, 64)}
}

// numbers are parameters of one word, strings and slices.
func (g *generator) numbers() []func() arg {
	return []func() arg{
		func() arg {
			b := g.IntN(2) == 1
			return arg{typ: "bool", expr: fmt.Sprint(b), value: value{Kind: "bool", Text: fmt.Sprint(b)}}
		},
		func() arg { return g.integer("int", "int", 64, true) },
		func() arg { return g.integer("int8", "int8", 8, true) },
		func() arg { return g.integer("int16", "int16", 16, true) },
		func() arg { return g.integer("int32", "int32", 32, true) },
		func() arg { return g.integer("int64", "int64", 64, true) },
		func() arg { return g.integer("uint8", "uint8", 8, false) },
		func() arg { return g.integer("uint16", "uint16", 16, false) },
		func() arg { return g.integer("uint32", "uint32", 32, false) },
		func() arg { return g.integer("uint64", "uint64", 64, false) },
		func() arg { return g.integer("level", "int", 64, true) },
		func() arg {
			e, v := g.number()
			return arg{typ: "float64", expr: e, value: v, number: true}
		},
		func() arg {
			return arg{typ: "float32", expr: "1.5", value: value{Kind: "float32", Text: "1.5"}, number: true}
		},
		func() arg {
			e, v := g.text()
			return arg{typ: "string", expr: e, value: v}
		},
		func() arg {
			return arg{typ: "string", expr: "heap", value: value{Kind: "string", Text: "heapheapheap", Len: 12}}
		},
		func() arg {
			n, c := g.IntN(5), g.IntN(5)
			return arg{typ: "[]int", expr: fmt.Sprintf("make([]int, %d, %d)", n, n+c+1), value: value{Kind: "slice", Len: int64(n), Cap: int64(n + c + 1)}}
		},
		func() arg {
			return arg{typ: "names", expr: `names{"a", "b"}`, value: value{Kind: "slice", Len: 2, Cap: 2}}
		},
		func() arg {
			return arg{typ: "[]byte", expr: "nil", value: value{Kind: "slice", Text: "nil", base: true}}
		},
	}
}

// pointers are what leads elsewhere.
func (g *generator) pointers() []func() arg {
	return []func() arg{
		func() arg { return arg{typ: "*int", expr: "&global", value: value{Kind: "ptr", Text: "main.global"}} },
		func() arg {
			return arg{typ: "*[8]int", expr: "&globals", value: value{Kind: "ptr", Text: "main.globals"}}
		},
		func() arg { return arg{typ: "*point", expr: "nil", value: value{Kind: "ptr", base: true}} },
		func() arg { return arg{typ: "*file", expr: "aFile", value: value{Kind: "ptr"}} },
		func() arg {
			return arg{typ: "unsafe.Pointer", expr: "nil", value: value{Kind: "unsafe.Pointer", base: true}}
		},
		func() arg { return arg{typ: "map[string]int", expr: "aMap", value: value{Kind: "map"}} },
		func() arg { return arg{typ: "table", expr: "nil", value: value{Kind: "map", base: true}} },
		func() arg { return arg{typ: "chan int", expr: "aChan", value: value{Kind: "chan"}} },
		func() arg {
			return arg{typ: "func(int) string", expr: "hello", value: value{Kind: "func", Text: "main.hello"}}
		},
		func() arg { return arg{typ: "apply", expr: "nil", value: value{Kind: "func", base: true}} },
		func() arg {
			return arg{typ: "interface{}", expr: "aFile", value: value{Kind: "interface", Text: "*main.file"}}
		},
		func() arg {
			return arg{typ: "interface{}", expr: `"boxed"`, value: value{Kind: "interface", Text: "string"}}
		},
		func() arg { return arg{typ: "interface{}", expr: "nil", value: value{Kind: "interface", Text: "nil"}} },
		func() arg {
			return arg{typ: "interface{}", expr: "int16(300)", value: value{Kind: "interface", Text: "int16"}}
		},
		func() arg {
			return arg{typ: "error", expr: "anError", value: value{Kind: "interface", Text: "*errors.errorString"}}
		},
		func() arg {
			return arg{typ: "reader", expr: "aFile", value: value{Kind: "interface", Text: "*main.file"}}
		},
		func() arg {
			return arg{typ: "fmt.Stringer", expr: "level(3)", value: value{Kind: "interface", Text: "main.level"}}
		},
	}
}

// composites are what has parts.
func (g *generator) composites() []func() arg {
	return []func() arg{
		func() arg {
			return arg{typ: "complex128", expr: "complex(1.5, -2)", value: value{Kind: "complex128", Children: []value{{Kind: "float64", Text: "1.5"}, {Kind: "float64", Text: "-2"}}}}
		},
		func() arg {
			return arg{typ: "complex64", expr: "complex(1, 2)", value: value{Kind: "complex64", Children: []value{{Kind: "float32", Text: "1"}, {Kind: "float32", Text: "2"}}}}
		},
		func() arg {
			n := g.IntN(100)
			s, v := g.text()
			v.Name = "b"
			return arg{typ: "small", expr: fmt.Sprintf("small{%d, %s, %d}", n, s, 3*n), value: value{Kind: "struct", Children: []value{{Name: "a", Kind: "int8", Text: strconv.Itoa(n)}, v, {Name: "c", Kind: "uint16", Text: strconv.Itoa(3 * n)}}}}
		},
		func() arg {
			x, vx := g.number()
			y, vy := g.number()
			vx.Name, vy.Name = "x", "y"
			return arg{typ: "point", expr: "point{" + x + ", " + y + "}", value: value{Kind: "struct", Children: []value{vx, vy}}}
		},
		func() arg {
			f := func(name, kind, text string) value {
				return value{Name: name, Kind: kind, Text: text, Len: int64(len(text))}
			}
			return arg{typ: "deep", expr: `deep{p: point{1, 2}, s: small{a: 3, b: "dd"}}`, value: value{Kind: "struct", Children: []value{
				{Name: "p", Kind: "struct", Children: []value{f("x", "float64", "1"), f("y", "float64", "2")}},
				{Name: "s", Kind: "struct", Children: []value{f("a", "int8", "3"), f("b", "string", "dd"), f("c", "uint16", "0")}},
				{Name: "in", Kind: "struct", Children: []value{f("n", "int32", "0"), f("ok", "bool", "false")}}}}}
		},
		func() arg {
			return arg{typ: "wrap", expr: `wrap{[1]string{"w"}}`, value: value{Kind: "struct", Children: []value{{Name: "v", Kind: "array", Children: []value{{Kind: "string", Text: "w", Len: 1}}}}}}
		},
		func() arg {
			return arg{typ: "[2]int16", expr: "[2]int16{-1, 5}", value: value{Kind: "array", Children: []value{{Kind: "int16", Text: "-1"}, {Kind: "int16", Text: "5"}}}}
		},
		func() arg {
			return arg{typ: "[1]uint32", expr: "[1]uint32{9}", value: value{Kind: "array", Children: []value{{Kind: "uint32", Text: "9"}}}}
		},
		func() arg { return arg{typ: "[0]int", expr: "[0]int{}", value: value{Kind: "array"}} },
		func() arg { return arg{typ: "empty", expr: "empty{}", value: value{Kind: "struct"}} },
		func() arg {
			return arg{typ: "time.Duration", expr: "time.Second", value: value{Kind: "int64", Text: "1000000000"}, number: true}
		},
		func() arg { return arg{typ: "uintptr", expr: "0x1234", value: value{Kind: "uintptr", Text: "4660"}} },
	}
}

// chain writes functions that call each other, the last of which stops, and
// returns the call of the first.
func (g *generator) chain(length int) string {
	call := "stop()"
	for range length {
		call = g.function(call)
	}
	return call
}

// function writes one function that makes a call, and returns the call of it.
func (g *generator) function(call string) string {
	g.n++
	name := fmt.Sprintf("f%d", g.n)
	var params, exprs, names []string
	var values []value
	add := func(a arg, pname string) {
		a.value.Name = pname
		params = append(params, pname+" "+a.typ)
		exprs = append(exprs, a.expr)
		if pname != "_" {
			names = append(names, pname)
		}
		values = append(values, a.value)
	}
	form := g.IntN(7)
	if form == 3 && !g.generics {
		form = 0
	}
	changed := map[string]bool{}
	before := ""
	for i := range g.IntN(6) {
		a := g.arg()
		pname := fmt.Sprintf("p%d", i)
		if g.IntN(12) == 0 {
			pname = "_"
		}
		add(a, pname)
		if pname == "_" {
			continue
		}
		switch {
		case a.number && form != 5 && g.IntN(6) == 0:
			before += "\t" + pname + "++\n"
			changed[pname] = true
		case g.IntN(8) == 0:
			before += "\tuse(&" + pname + ")\n"
		}
	}
	after := ""
	if g.IntN(4) > 0 && len(names) > 0 {
		g.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		after = "\tuse(" + strings.Join(names[:1+g.IntN(len(names))], ", ") + ")\n"
	}
	if after == "" && before != "" {
		after = "\tuse(" + strings.Join(names, ", ") + ")\n"
	}
	results, ret := "", ""
	switch g.IntN(4) {
	case 0:
		results, ret = " (int, error)", "\treturn 1, nil\n"
	case 1:
		results, ret = " string", "\treturn heap\n"
	}
	body := before + "\t" + call + "\n" + after + ret
	list := strings.Join(params, ", ")
	printed := "main." + name
	switch form {
	case 1:
		fmt.Fprintf(&g.code, "//go:noinline\nfunc (r *file) %s(%s)%s {\n%s}\n\n", name, list, results, body)
		call = fmt.Sprintf("aFile.%s(%s)", name, strings.Join(exprs, ", "))
		printed = "main.(*file)." + name
		values = append([]value{{Name: "r", Kind: "ptr"}}, values...)
	case 2:
		fmt.Fprintf(&g.code, "//go:noinline\nfunc (r small) %s(%s)%s {\n%s}\n\n", name, list, results, body)
		call = fmt.Sprintf("small{1, \"r\", 2}.%s(%s)", name, strings.Join(exprs, ", "))
		printed = "main.small." + name
		values = append([]value{{Name: "r", Kind: "struct", Children: []value{{Name: "a", Kind: "int8", Text: "1"}, {Name: "b", Kind: "string", Text: "r", Len: 1}, {Name: "c", Kind: "uint16", Text: "2"}}}}, values...)
	case 3:
		fmt.Fprintf(&g.code, "//go:noinline\nfunc %s[T any](t T, %s)%s {\n\tuse(t)\n%s}\n\n", name, list, results, body)
		call = fmt.Sprintf("%s(%s)", name, strings.Join(append([]string{`"type"`}, exprs...), ", "))
		printed += "[...]"
		values = append([]value{{Name: "t", Kind: "string", Text: "type", Len: 4}}, values...)
	case 4:
		if list != "" {
			list += ", "
		}
		fmt.Fprintf(&g.code, "//go:noinline\nfunc %s(%sv ...string)%s {\n%s}\n\n", name, list, results, body)
		call = fmt.Sprintf("%s(%s)", name, strings.Join(append(exprs, `"v1"`, `"v2"`), ", "))
		values = append(values, value{Name: "v", Kind: "slice", Len: 2, Cap: 2})
	case 5:
		// The call is in a literal that is a value.
		fmt.Fprintf(&g.code, "var v%s = func(%s)%s {\n%s}\n\n", name, list, results, body)
		call = fmt.Sprintf("v%s(%s)", name, strings.Join(exprs, ", "))
		printed = "" // func1, func2, …: found by the variable's line alone
	default:
		fmt.Fprintf(&g.code, "//go:noinline\nfunc %s(%s)%s {\n%s}\n\n", name, list, results, body)
		call = fmt.Sprintf("%s(%s)", name, strings.Join(exprs, ", "))
	}
	if printed != "" {
		g.passed[printed], g.changes[printed] = values, changed
	}
	return call
}

// generate writes a program that stops some times.
func generate(seed uint64, stops, depth int, generics bool) *generator {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 1)), generics: generics, passed: map[string][]value{}, changes: map[string]map[string]bool{}}
	var calls []string
	for range stops {
		calls = append(calls, "\t"+g.chain(depth)+"\n")
	}
	main := "func main() {\n\tstop()\n" + strings.Join(calls, "") + "}\n"
	code := g.code.String()
	g.code.Reset()
	g.code.WriteString(programHead + code + main)
	return g
}
