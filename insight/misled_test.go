package insight

import (
	"go/parser"
	"go/token"
	"testing"

	"loupe/analysis/gc"
	"loupe/value/stack"
)

// TestStillGrows: a heap that has stood for nearly half of the time does not grow, however
// many collections there were while it did.
func TestStillGrows(t *testing.T) {
	rows := func(rising, standing int) (all []gc.Row) {
		for i := range rising {
			all = append(all, gc.Row{AtS: 5 * float64(i) / float64(rising), HeapLiveMB: 10 + 350*float64(i)/float64(rising)})
		}
		for i := range standing {
			all = append(all, gc.Row{AtS: 5 + 5*float64(i+1)/float64(standing), HeapLiveMB: 357})
		}
		return all
	}
	if stillGrows(rows(32, 8), 0.05) {
		t.Error("it has stood for half of the time")
	}
	if !stillGrows(rows(40, 0), 0.05) {
		t.Error("it has grown all the time")
	}
}

// TestPatterns: a pattern is fixed where all of it stands in the call.
func TestPatterns(t *testing.T) {
	for text, want := range map[string]bool{
		`regexp.MustCompile("a+")`:                        true,
		"regexp.MatchString(`^\\d+$`, s)":                 true,
		`regexp.MatchString("say \"x\"", s)`:              true,
		`regexp.Compile("(?i)" + q)`:                      false,
		"regexp.MustCompile(`\\b` + regexp.QuoteMeta(q))": false,
		`regexp.Compile(q + "[0-9]+$")`:                   false,
	} {
		if got := literal.MatchString(text); got != want {
			t.Errorf("%s is fixed: %v, want %v", text, got, want)
		}
	}
}

// TestNumberOf reads what a setting was set to.
func TestNumberOf(t *testing.T) {
	for text, want := range map[string]int64{"512 << 20": 512 << 20, "(5)": 5, "-1": -1, "3*1_000+2": 3002, "0x10": 16} {
		e, err := parser.ParseExpr(text)
		if err != nil {
			t.Fatal(err)
		}
		if n, known := numberOf(e); !known || n != want {
			t.Errorf("%s is %d (known: %v), want %d", text, n, known, want)
		}
	}
	for _, text := range []string{"limit", "f()", "1.5", "1 << 70", `"5"`} {
		if e, _ := parser.ParseExpr(text); e != nil {
			if n, known := numberOf(e); known {
				t.Errorf("%s is known to be %d", text, n)
			}
		}
	}
}

// TestIsSlice tells slices from maps by how they are declared.
func TestIsSlice(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "x.go", `package x
type shop struct { lines []string; live map[string]int }
var fixed [4]int
func f(given []int) {
	docs := make([]string, 4)
	seen := make(map[string]bool)
	some := []int{1}
	_, _, _ = docs, seen, some
}`, 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"lines": true, "live": false, "fixed": true, "given": true, "docs": true, "seen": false, "some": true, "other": false} {
		if got := isSlice(file, name); got != want {
			t.Errorf("%s is a slice: %v, want %v", name, got, want)
		}
	}
}

// TestRuntimeYields: what the runtime yields for is no loop of the program.
func TestRuntimeYields(t *testing.T) {
	of := func(names ...string) (frames []stack.Frame) {
		for _, n := range names {
			frames = append(frames, stack.Frame{Func: n})
		}
		return frames
	}
	if !runtimeYields(of("runtime.Gosched", "runtime/debug.freeOSMemory", "runtime/debug.FreeOSMemory", "main.main")) || !runtimeYields(of("runtime.Gosched", "runtime.GC", "main.main")) {
		t.Error("the runtime yields")
	}
	if runtimeYields(of("runtime.Gosched", "main.spin", "main.main")) {
		t.Error("main.spin yields")
	}
}
