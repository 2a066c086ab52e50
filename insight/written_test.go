package insight

import (
	"go/ast"
	"strings"
	"testing"

	"loupe/value/stack"
)

// totals is a program that sums what it keeps in a package.
const totals = `package main

import ("encoding/binary"; "encoding/hex"; "io"; "sort"; "strconv")

var frame [9000]byte
var nums [9000]int
var raw []byte

func check() (s uint32) {
	for _, v := range frame {
		s = s*31 + uint32(v) // A
	}
	return s
}
func order(x []int) (s int) {
	for _, v := range x {
		s = s*31 + v // B
	}
	return s
}
func mix(b []byte) (s uint32) {
	for _, v := range b {
		s = s*31 + uint32(v) // C
	}
	return s
}
`

// TestWrittenThrough: what is written by another name, or by a call of the library, is not the same in the next turn.
func TestWrittenThrough(t *testing.T) {
	for _, c := range []struct {
		name, source, mark string
		again              bool
	}{
		{"nothing writes", "func run(in []int) {\nfor _, x := range in {\nprint(check(), x) // 2\n}\n}\n", "A", true},
		{"a part is only read", "func run(in []int) {\nview := nums[100:200]\nfor _, x := range in {\nprint(order(nums[:]), view[x]) // 2\n}\n}\n", "B", true},
		{"another array is written", "var other [10]byte\nfunc run(in []int) {\nfor _, x := range in {\nbinary.BigEndian.PutUint32(other[4:8], uint32(x))\nprint(check(), x) // 2\n}\n}\n", "A", true},
		{"something is put behind it", "func run(in []int) {\nb := make([]byte, 100)\nfor _, x := range in {\nline := strconv.AppendInt(nil, int64(x), 10)\nprint(mix(b), line) // 2\n}\n}\n", "C", true},

		{"a number is put into a part of an array", "func stamp(x int) { binary.BigEndian.PutUint32(frame[4:8], uint32(x)) }\nfunc run(in []int) {\nfor _, x := range in {\nstamp(x)\nprint(check(), x) // 2\n}\n}\n", "A", false},
		{"by another name", "func run(in []int) {\nview := nums[100:200]\nfor _, x := range in {\nview[x%100] = x\nprint(order(nums[:]), x) // 2\n}\n}\n", "B", false},
		{"by the address of an element", "func run(in []int) {\ncur := &nums[5]\nfor _, x := range in {\n*cur = x\nprint(order(nums[:]), x) // 2\n}\n}\n", "B", false},
		{"by a function that has another name", "type view struct { part []int }\nvar v = view{nums[:10]}\nfunc (v view) set(x int) { v.part[0] = x }\nfunc run(in []int) {\nfor _, x := range in {\nv.set(x)\nprint(order(nums[:]), x) // 2\n}\n}\n", "B", false},
		{"decoded into a local one", "func run(in [][]byte) {\nb := make([]byte, 100)\nfor i, x := range in {\nhex.Decode(b[i:], x)\nprint(mix(b)) // 2\n}\n}\n", "C", false},
		{"read into another name of a local one", "func run(r io.Reader, in []int) {\nb := make([]byte, 100)\nhead := b[:10]\nfor _, x := range in {\nio.ReadFull(r, head)\nprint(mix(b), x) // 2\n}\n}\n", "C", false},
		{"appended in front of what stays", "func set(b []byte, x int) { strconv.AppendInt(b[:9], int64(x), 10) }\nfunc run(in []int) {\nfor _, x := range in {\nset(raw, x)\nprint(mix(raw), x) // 2\n}\n}\n", "C", false},
		{"a part is sorted", "func run(in []int) {\npart := nums[:64]\nfor _, x := range in {\nsort.Ints(part)\nprint(order(nums[:]), x) // 2\n}\n}\n", "B", false},
	} {
		text := strings.Replace(totals+c.source, "// "+c.mark, "// 1", 1)
		d := newDerivations(sourceOf(text))
		way, user := derivedStack(text, "")
		in, ok := d.at(way[0])
		if !ok {
			t.Fatalf("%s: no function at %+v", c.name, way[0])
		}
		again := false
		if f := d.value(in.decl); f != nil {
			rec, ok := d.again(f, way, user)
			again = ok && rec.kind != againNot
		}
		if again != c.again {
			t.Errorf("%s: %v", c.name, again)
		}
	}
}

// TestResultWritten: a result that somebody writes to, by whatever name, cannot be one for all; one that is read, copied
// or put beside others can.
func TestResultWritten(t *testing.T) {
	const head = "package main\n\nimport (\"container/heap\"; \"fmt\"; \"slices\"; \"sort\")\n\ntype order struct { name string; lines []int; tags map[string]int; next *order }\nfunc fresh() *order {\no := &order{lines: make([]int, 3)}\no.name = \"x\"\nfill(o)\nreturn o\n}\nfunc fill(o *order) { o.lines[0] = 1 }\nfunc list() []int { return make([]int, 9) }\nfunc plain() order { return order{} }\nvar all []*order\nvar seen = map[string]*order{}\n"
	for _, c := range []struct {
		name, source, of string
		written          bool
	}{
		{"only read", "func run() { o := fresh(); print(o.name, o.lines[0]) }", "fresh", false},
		{"kept in a list, which is sorted", "func run() { all = append(all, fresh()); sort.Slice(all, nil); seen[\"a\"] = fresh(); all[0] = nil; delete(seen, \"a\") }", "fresh", false},
		{"a copy is written", "func run() { o := slices.Clone(list()); o[0] = 1; sort.Ints(o) }", "list", false},
		{"a struct by value is written", "func run() { o := plain(); o.name = \"y\"; print(o.name) }", "plain", false},
		{"another one is written", "func run() { o, p := fresh(), &order{}; p.name = o.name }", "fresh", false},
		{"an element as a number", "func run() { x := list()[3]; x++; print(x) }", "list", false},

		{"a field", "func run() { o := fresh(); o.name = \"y\" }", "fresh", true},
		{"an element of a field", "func run() { fresh().lines[1]++ }", "fresh", true},
		{"a map in it", "func run() { o := fresh(); o.tags[\"a\"] = 1 }", "fresh", true},
		{"by a method", "func (o *order) hit() { o.name += \"!\" }\nfunc run() { o := fresh(); o.hit() }", "fresh", true},
		{"by a function that gets a part", "func add(all []int) { for i := range all { all[i]++ } }\nfunc run() { o := fresh(); add(o.lines) }", "fresh", true},
		{"out of the list where it was kept", "func run() { all = append(all, fresh()) }\nfunc later() { for _, o := range all { o.name = \"y\" } }", "fresh", true},
		{"through another one", "func run() { o := &order{next: fresh()}; o.next.name = \"y\" }", "fresh", true},
		{"sorted", "func run() { x := list(); sort.Ints(x[:3]) }", "list", true},
		{"reversed", "func run() { slices.Reverse(list()) }", "list", true},
		{"a heap", "type h []int\nfunc (h) Len() int { return 0 }\nfunc run() { x := h(list()); heap.Pop(&x) }", "list", true},
		{"the fields of a value's map", "func run() { o := plain(); o.tags[\"a\"] = 1 }", "plain", true},
		{"by a function that is handed over", "func each(do func(*order)) { do(fresh()) }\nfunc run() { each(func(o *order) { o.name = \"y\" }) }", "fresh", true},
		{"by a method that is a value", "func (o *order) hit() { o.name += \"!\" }\nfunc run() { o := fresh(); hit := o.hit; hit() }", "fresh", true},
		{"by who ranges over it", "func each() func(func(*order) bool) { return func(yield func(*order) bool) { yield(fresh()) } }\nfunc run() { for o := range each() { o.name = \"y\" } }", "fresh", true},
		{"by who receives it", "func run(c chan *order) { c <- fresh() }\nfunc other(c chan *order) { o := <-c; o.name = \"y\" }\nfunc main() { c := make(chan *order); go run(c); other(c) }", "fresh", true},
		{"by a decoder of the program's own", "func decode(b []byte, v any) { json.Unmarshal(b, v) }\nfunc run(b []byte) { o := fresh(); decode(b, o) }", "fresh", true},
		{"by what is typed in", "func run() { o := fresh(); fmt.Scanln(&o.name) }", "fresh", true},
		{"by what is typed in by a format", "func run() { o := fresh(); fmt.Scanf(\"%d\", &o.name) }", "fresh", true},
		{"by a decoder", "func run(b []byte) { o := fresh(); json.Unmarshal(b, o) }", "fresh", true},
		{"what a caller's caller does", "func get() *order { return fresh() }\nfunc run() { o := get(); o.name = \"y\" }", "fresh", true},
	} {
		d := newDerivations(sourceOf(head + c.source + "\n"))
		var decl *ast.FuncDecl
		for _, f := range d.named[c.of] {
			decl = f
		}
		if _, written := resultWritten(d, decl, callsTo(d, decl)); written != c.written {
			t.Errorf("%s: %v", c.name, written)
		}
	}
}

// TestConfiguredLater: what is changed by a condition, with what differs or elsewhere is told from what belongs to making
// it.
func TestConfiguredLater(t *testing.T) {
	const head = "package main\n\nimport (\"regexp\"; \"html/template\")\n\nconst body = \"b\"\n"
	for _, c := range []struct {
		name, source, callee, want string
	}{
		{"by a condition", "func f(long bool) {\nre := regexp.MustCompile(`a`) // 1\nif long {\nre.Longest()\n}\n}\n", "MustCompile", "Longest"},
		{"in another function", "func g(re *regexp.Regexp) { re.Longest() }\nfunc f() {\nre := regexp.MustCompile(`a`) // 1\ng(re)\n}\n", "MustCompile", "Longest"},
		{"another text each time", "func f(text string) {\nt := template.Must(template.New(\"a\").Parse(body)) // 1\nt.New(\"b\").Parse(text)\n}\n", "Parse", "Parse"},

		{"always", "func f() {\nre := regexp.MustCompile(`a`) // 1\nre.Longest()\n}\n", "MustCompile", ""},
		{"another one", "func f(re *regexp.Regexp) {\none := regexp.MustCompile(`a`) // 1\nif one != nil {\nre.Longest()\n}\n}\n", "MustCompile", ""},
		{"a constant text", "func f() {\nt := template.Must(template.New(\"a\").Parse(body)) // 1\nt.New(\"b\").Parse(body)\n}\n", "Parse", ""},
		{"only executed", "func f(w any) {\nt := template.Must(template.New(\"a\").Parse(body)) // 1\nt.Execute(w, nil)\n}\n", "Parse", ""},
	} {
		text := head + c.source
		d := newDerivations(sourceOf(text))
		at := stack.Frame{Func: "main.f", File: "a.go", Line: lineOfMark(text, "1")}
		in, ok := d.at(at)
		if !ok {
			t.Fatalf("%s: no function", c.name)
		}
		got := ""
		for _, call := range d.callsOn(in, at, c.callee) {
			_, got, _ = configuredLater(d, in, call, func(name string) bool { return configures.MatchString(name) || extends.MatchString(name) })
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
