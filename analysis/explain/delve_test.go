package explain

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"loupe/format/dump"
	"loupe/format/symbol"
	"loupe/value/stack"
)

// build is one way of building the generated program.
type build struct {
	toolchain string // "" is the installed one
	flags     []string
	seed      uint64
}

func (b build) String() string {
	return fmt.Sprint(max(b.toolchain, "go"), " ", strings.Join(b.flags, " "), " ", b.seed)
}

// TestDelve generates programs that call functions with parameters of all kinds
// and stop, and holds what is told of the words against what was passed and
// against what delve says of the same process at the same place. Nothing that is
// told as alive may be wrong.
//
// Without delve in the module cache what was passed is the only oracle.
// LOUPE_DELVE=fetch gets it from the network, and LOUPE_DELVE=all goes through all
// versions of Go that are in the module cache, in some minutes:
//
//	LOUPE_DELVE=all go test -run TestDelve -v ./analysis/explain
func TestDelve(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the programs are traced on linux/amd64 alone")
	}
	mode := os.Getenv("LOUPE_DELVE")
	builds := []build{{seed: 1}, {seed: 2, flags: []string{"-buildmode=pie"}}}
	if older := toolchain(t, "go1.21.13"); older != "" {
		builds = append(builds, build{toolchain: older, seed: 3})
	}
	if mode == "all" {
		builds = nil
		for _, v := range []string{"", "go1.26.0", "go1.25.4", "go1.24.9", "go1.23.12", "go1.22.12", "go1.21.13", "go1.20", "go1.19.13", "go1.18.10", "go1.17", "go1.16.15", "go1.14", "go1.11", "go1.10"} {
			root := ""
			if v != "" {
				if root = toolchain(t, v); root == "" {
					continue
				}
			}
			for seed := range uint64(3) {
				builds = append(builds, build{root, nil, 10 + seed}, build{root, []string{"-buildmode=pie"}, 20 + seed}, build{root, []string{"-gcflags=-N -l"}, 30 + seed})
			}
		}
	}
	oracle := buildDelve(t, mode)
	var total tally
	for _, b := range builds {
		t.Run(b.String(), func(t *testing.T) {
			n := check(t, b, oracle)
			t.Logf("%+v", n)
			total.add(n)
		})
	}
	t.Logf("all: %+v", total)
	if total.Passed < 500 || total.Delve > 0 && total.Delve < 500 {
		t.Errorf("%d words were held against what was passed, %d against delve: too few to tell", total.Passed, total.Delve)
	}
}

// toolchain returns the GOROOT of a downloaded Go, "" if it is not there.
func toolchain(t *testing.T, version string) string {
	out, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(strings.TrimSpace(string(out)), "golang.org", "toolchain@v0.0.1-"+version+".linux-amd64")
	// The go command makes it executable when it is the one to use; as a module
	// it is not.
	if info, err := os.Stat(filepath.Join(root, "bin", "go")); err != nil || info.Mode()&0o111 == 0 {
		return ""
	}
	return root
}

// buildDelve builds the oracle, and returns "" where that is not possible.
func buildDelve(t *testing.T, mode string) string {
	name := filepath.Join(t.TempDir(), "delve")
	cmd := exec.Command("go", "build", "-o", name, ".")
	cmd.Dir = filepath.Join("testdata", "delve")
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=readonly", "GOTOOLCHAIN=local")
	if mode == "" {
		cmd.Env = append(cmd.Env, "GOPROXY=off")
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		if mode != "" {
			t.Fatalf("cannot build the oracle: %v\n%s", err, out)
		}
		t.Logf("%s", out)
		t.Log("delve is not in the module cache: LOUPE_DELVE=fetch gets it")
		return ""
	}
	return name
}

// tally counts what was compared.
type tally struct {
	Frames, Explained int
	// Passed and Delve are live words that were held against the oracles.
	Passed, Delve int
	// Alone are words that are told as alive where no oracle knows a value.
	Alone, NotAlive int
}

func (t *tally) add(n tally) {
	t.Frames += n.Frames
	t.Explained += n.Explained
	t.Passed += n.Passed
	t.Delve += n.Delve
	t.Alone += n.Alone
	t.NotAlive += n.NotAlive
}

type delveFrame struct {
	Func    string
	Line    int
	Inlined bool
	Args    []value
}

// stops is how often a program stops, with eight functions each time.
const stops = 40

// check builds and runs a program, and compares.
func check(t *testing.T, b build, oracle string) (n tally) {
	dir := t.TempDir()
	minor := 26
	if b.toolchain != "" {
		_, v, _ := strings.Cut(b.toolchain, "-go1.")
		v, _, _ = strings.Cut(v, ".")
		minor, _ = strconv.Atoi(v)
	}
	g := generate(b.seed, stops, 8, minor >= 18)
	program := compile(t, b, dir, g.code.String(), minor)
	dumpFile := filepath.Join(dir, "dump.txt")
	if minor < 17 {
		oracle = "" // what delve reads of their locations is not what was passed
	}
	seen := runProgram(t, program, dumpFile, oracle)
	text, err := os.ReadFile(dumpFile)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	bin, err := symbol.Open(file, symbol.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := dump.Parse(text)
	if len(f.Dumps) != stops+1 {
		t.Fatalf("%d dumps, want %d:\n%s", len(f.Dumps), stops+1, text[:min(len(text), 2000)])
	}
	x := New(f, Options{Binary: bin})
	if x.Fit().Wrong() > 0 || x.Fit().Checked == 0 {
		t.Errorf("the binary does not fit: %+v", x.Fit())
	}
	for i, d := range f.Dumps {
		var at []delveFrame
		if i < len(seen) {
			at = seen[i]
		}
		compareStop(t, x, g, d.First, at, &n)
	}
	return n
}

func compile(t *testing.T, b build, dir, code string, minor int) string {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(code), 0o644); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "program")
	cmd := exec.Command("go", append(append([]string{"build", "-o", program}, b.flags...), "main.go")...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "CGO_ENABLED=0", "GO111MODULE=off", "GOTOOLCHAIN=local", "GOENV=off")
	if b.toolchain != "" {
		goCommand := filepath.Join(b.toolchain, "bin", "go")
		cmd.Path, cmd.Err = goCommand, nil
		cmd.Env = append(cmd.Env, "GOROOT="+b.toolchain, "GOPATH="+dir)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		if minor < 16 && strings.Contains(b.String(), "pie") {
			t.Skip("this Go makes no such program without C")
		}
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// runProgram runs a program under delve, or without.
func runProgram(t *testing.T, program, dumpFile, oracle string) (at [][]delveFrame) {
	t.Helper()
	run := func(args ...string) ([]byte, error) {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Env = append(os.Environ(), "GOTRACEBACK=system")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			err = fmt.Errorf("%w: %s", err, stderr.Bytes())
		}
		return out, err
	}
	if oracle != "" {
		out, err := run(oracle, program, dumpFile, "break")
		if err == nil {
			dec := json.NewDecoder(bytes.NewReader(out))
			for dec.More() {
				var frames []delveFrame
				if err := dec.Decode(&frames); err != nil {
					t.Fatal(err)
				}
				at = append(at, frames)
			}
			if len(at) == stops+1 {
				return at
			}
			err = fmt.Errorf("%d stops, want %d", len(at), stops+1)
		}
		t.Logf("no delve: %v", err)
	}
	if _, err := run(program, dumpFile); err != nil {
		t.Fatal(err)
	}
	return nil
}

// compareStop compares the frames of one stop.
func compareStop(t *testing.T, x *Explainer, g *generator, goroutine int, at []delveFrame, n *tally) {
	frames, err := x.Goroutine(goroutine)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range frames {
		var of *delveFrame
		i := slices.IndexFunc(at, func(a delveFrame) bool {
			return stack.FoldGenerics(a.Func) == f.Call.Func && a.Line == f.Call.Line
		})
		if i >= 0 {
			of = &at[i]
			at = at[i+1:]
		}
		if f.Call.Created || !strings.HasPrefix(f.Call.Func, "main.") {
			continue
		}
		n.Frames++
		if f.From == Nowhere {
			if f.Call.Args != "" && f.Call.Args != "..." {
				t.Logf("%s(%s): %s", f.Call.Func, f.Call.Args, f.Why)
			}
			continue
		}
		n.Explained++
		compareFrame(t, x, g, &f, of, n)
	}
}

func compareFrame(t *testing.T, x *Explainer, g *generator, f *Frame, of *delveFrame, n *tally) {
	passed, isPassed := g.passed[f.Call.Func]
	for i, p := range f.Params {
		if p.State != Live && p.State != Partly {
			n.NotAlive++
			continue
		}
		var why []string
		known := false
		right := func(v *value, words *int) {
			known = true
			c := comparison{x: x, text: p.Text}
			if err := c.value(v); err != nil {
				why = append(why, err.Error())
				return
			}
			*words += c.words
		}
		before := len(why)
		var inPassed, inDelve bool
		if isPassed && i < len(passed) && (passed[i].Name == p.Name || p.Name == "") {
			right(&passed[i], &n.Passed)
			inPassed = len(why) == before
		}
		if of != nil && p.Name != "" {
			for j := range of.Args {
				if v := &of.Args[j]; v.Name == p.Name && v.Bad == "" {
					before = len(why)
					markBase(v)
					right(v, &n.Delve)
					inDelve = len(why) == before
				}
			}
		}
		if !known {
			n.Alone++
		}
		// A parameter that the function changes may be either.
		if len(why) > 0 && !(g.changes[f.Call.Func][p.Name] && (inPassed || inDelve || of == nil)) {
			t.Errorf("%s(%s) line %d: %s %s is told to be %s (%s): %s", f.Call.Func, f.Call.Args, f.Call.Line, p.Name, p.Type, p.Text, p.State, strings.Join(why, "; "))
		}
	}
}

// markBase tells that a value is delve's, which knows where things are.
func markBase(v *value) {
	v.base = v.Kind != "map" && v.Kind != "chan" && v.Kind != "interface"
	for i := range v.Children {
		markBase(&v.Children[i])
	}
}

// comparison reads what was told of a value along what an oracle says.
type comparison struct {
	x     *Explainer
	text  string
	words int
}

var errDiffers = errors.New("differs")

func (c *comparison) differs(v *value) error {
	return fmt.Errorf("%w at %q: want %s %s len %d cap %d base %#x", errDiffers, c.text, v.Kind, v.Text, v.Len, v.Cap, v.Base)
}

// word cuts off what ends at one of the ends.
func (c *comparison) word() string {
	i := strings.IndexAny(c.text, ",}])")
	if i < 0 {
		i = len(c.text)
	}
	w := c.text[:i]
	c.text = c.text[i:]
	return w
}

func (c *comparison) take(s string) bool {
	rest, ok := strings.CutPrefix(c.text, s)
	if ok {
		c.text = rest
	}
	return ok
}

// address reads 0x… and compares it. One with ? is not alive.
func (c *comparison) address(v *value) error {
	w := c.word()
	if strings.HasSuffix(w, "?") {
		return nil
	}
	n, err := strconv.ParseUint(w, 0, 64)
	if err != nil || v.base && n != v.Base {
		c.text = w + c.text
		return c.differs(v)
	}
	c.words++
	return nil
}

// number reads a decimal number and compares it. One with ? is not alive.
func (c *comparison) number(want int64, v *value) error {
	w := c.word()
	if strings.HasSuffix(w, "?") {
		return nil
	}
	if w != strconv.FormatInt(want, 10) {
		c.text = w + c.text
		return c.differs(v)
	}
	c.words++
	return nil
}

func (c *comparison) value(v *value) error {
	if strings.HasPrefix(c.text, "…") || strings.HasPrefix(c.text, "_") {
		c.word()
		return nil
	}
	if strings.HasPrefix(c.text, "{0x") || strings.HasPrefix(c.text, "{...") { // a part that is not explained
		for depth := 0; ; c.text = c.text[1:] {
			switch c.text[0] {
			case '{':
				depth++
			case '}':
				depth--
			}
			if depth == 0 {
				c.text = c.text[1:]
				return nil
			}
		}
	}
	switch v.Kind {
	case "struct", "array":
		return c.composite(v)
	case "complex64", "complex128":
		want := ""
		if len(v.Children) == 2 {
			re, im := v.Children[0].Text, v.Children[1].Text
			want = "(" + decimal(re) + plus(decimal(im)) + "i)"
		}
		if !c.take(want) {
			return c.differs(v)
		}
		c.words += 2
		return nil
	case "string":
		return c.str(v)
	case "slice":
		if v.Len == 0 && v.Cap == 0 && c.take("nil") {
			c.words += 3
			return nil
		}
		if !c.take("len ") {
			return c.differs(v)
		}
		if err := c.number(v.Len, v); err != nil || !c.take(", cap ") {
			return errors.Join(err, c.differs(v))
		}
		if err := c.number(v.Cap, v); err != nil || !c.take(", at ") {
			return errors.Join(err, c.differs(v))
		}
		return c.address(v)
	case "interface":
		return c.iface(v)
	}
	return c.scalar(v)
}

func decimal(s string) string {
	if n, d, ok := strings.Cut(s, "/"); ok { // an exact fraction
		x, _ := strconv.ParseFloat(n, 64)
		y, _ := strconv.ParseFloat(d, 64)
		return strconv.FormatFloat(x/y, 'g', -1, 64)
	}
	f, _ := strconv.ParseFloat(s, 64)
	return strconv.FormatFloat(f, 'g', -1, 64)
}

func plus(s string) string {
	if strings.HasPrefix(s, "-") {
		return s
	}
	return "+" + s
}

func (c *comparison) composite(v *value) error {
	open, end := "{", "}"
	if v.Kind == "array" {
		open, end = "[", "]"
	}
	if !c.take(open) {
		return c.differs(v)
	}
	for i := range v.Children {
		if i > 0 && !c.take(", ") {
			return c.differs(v)
		}
		if c.take("…") {
			break
		}
		if v.Kind == "struct" && !c.take(v.Children[i].Name+": ") {
			return c.differs(v)
		}
		if err := c.value(&v.Children[i]); err != nil {
			return err
		}
	}
	if !c.take(end) {
		return c.differs(v)
	}
	return nil
}

func (c *comparison) str(v *value) error {
	if quoted, err := strconv.QuotedPrefix(c.text); err == nil {
		s, _ := strconv.Unquote(quoted)
		if s != v.Text {
			return c.differs(v)
		}
		c.text = c.text[len(quoted):]
		c.words += 2
		return nil
	}
	if !c.take("len ") {
		return c.differs(v)
	}
	if err := c.number(v.Len, v); err != nil || !c.take(", at ") {
		return errors.Join(err, c.differs(v))
	}
	return c.address(v)
}

func (c *comparison) iface(v *value) error {
	switch {
	case c.take("type 0x"):
		// It is not alive.
		c.text = ""
	case v.Text == "nil":
		if !c.take("nil") {
			return c.differs(v)
		}
		c.words += 2
	case c.take("type at "):
		// The table of methods is in memory, or the program somewhere.
		c.text = ""
	default:
		want := strings.ReplaceAll(v.Text, "interface {}", "any")
		if !c.take(want) {
			return c.differs(v)
		}
		c.words++
		c.text = ""
	}
	return nil
}

func (c *comparison) scalar(v *value) error {
	w := c.word()
	if strings.HasSuffix(w, "?") && strings.HasPrefix(w, "0x") {
		return nil
	}
	ok := false
	switch v.Kind {
	case "ptr", "unsafe.Pointer", "map", "chan":
		ok = c.pointer(w, v)
	case "func":
		ok = w == v.Text || w == "nil" && v.Text == "" || strings.HasPrefix(w, "closure at 0x") && v.Text != ""
	case "float32", "float64":
		got, err := strconv.ParseFloat(w, 64)
		want, _ := strconv.ParseFloat(decimal(v.Text), 64)
		ok = err == nil && got == want
	case "uintptr", "uint":
		n, err := strconv.ParseUint(w, 0, 64)
		ok = err == nil && strconv.FormatUint(n, 10) == v.Text
	default:
		ok = w == v.Text || w == "1s" && v.Text == "1000000000" || w == "1.000000001s" && v.Text == "1000000001"
	}
	if !ok {
		c.text = w + c.text
		return c.differs(v)
	}
	c.words++
	return nil
}

// pointer compares where a pointer leads.
func (c *comparison) pointer(w string, v *value) bool {
	switch {
	case w == "nil":
		return v.Base == 0 && (v.Text == "" || v.Text == "0") && (v.base || v.Kind == "map" || v.Kind == "chan")
	case strings.HasPrefix(w, "&"):
		name, _, _ := strings.Cut(w[1:], " + ")
		if v.Text != "" && !v.base {
			return name == v.Text
		}
		return true // delve's address is where the variable is; what was passed has told
	}
	n, err := strconv.ParseUint(w, 0, 64)
	return err == nil && (!v.base || n == v.Base) && n != 0
}
