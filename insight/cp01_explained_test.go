package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/value/stack"
)

// hotIn is the answer of CP01 about a source and one stack that takes most of the CPU time.
func hotIn(t *testing.T, source, frames string) Finding {
	r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
	r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
	withProfile(r, recording.CPU, "cpu", column{stackAt(source, frames), []int64{80}}, column{"net/http.(*conn).serve main.other:/src/other.go:3", []int64{20}})
	return answers(t, r, "CP01")[0]
}

// TestRecursesOver: a function that comes to the same arguments in several ways and keeps nothing is told from walks,
// from halves, from one that keeps its results, and from one that takes either way.
func TestRecursesOver(t *testing.T) {
	for _, c := range []struct {
		name, source string
		over         bool
	}{
		{"two numbers before", "func f(n int) int {\nif n < 2 {\nreturn n\n}\nreturn f(n-1) + f(n-2) // 1\n}\n", true},
		{"two texts", "func f(a, b string) int {\nif a == \"\" || b == \"\" {\nreturn len(a) + len(b)\n}\nreturn 1 + min(f(a[1:], b), f(a, b[1:])) // 1\n}\n", true},
		{"with or without the first", "func f(weights []int, room int) int {\nif len(weights) == 0 {\nreturn room\n}\nbest := f(weights[1:], room)\nif x := f(weights[1:], room-1); x < best { // 1\nbest = x\n}\nreturn best\n}\n", true},

		{"an error in between", "func f(n int) (int, error) {\nif n < 2 {\nreturn n, nil\n}\na, err := f(n-1)\nif err != nil {\nreturn 0, err\n}\nb, err := f(n-2) // 1\nreturn a + b, err\n}\n", true},
		{"under a condition of its own", "func f(all []int, room int) int {\nif len(all) == 0 {\nreturn 0\n}\nbest := f(all[1:], room)\nif all[0] <= room {\nbest = max(best, 1+f(all[1:], room-1)) // 1\n}\nreturn best\n}\n", true},
		{"where there was no error", "func f(n int) (int, error) {\nif n <= 0 {\nreturn 0, nil\n}\nv, err := f(n-1)\nif err == nil {\nw, _ := f(n-2) // 1\nv += w\n}\nreturn v, err\n}\n", true},
		{"new ones that are only read", "type node struct { l, r *node }\nfunc f(n int) *node {\nif n == 0 {\nreturn &node{}\n}\nreturn &node{l: f(n-1), r: f(n-1)} // 1\n}\nfunc depth(n *node) int { return depth(n.l) }\nfunc run() { depth(f(9)) }\n", true},

		{"the one or else the other", "func f(n int) bool {\nif n <= 0 {\nreturn true\n}\nreturn n*7%5 != 1 && (f(n-1) || f(n-2)) // 1\n}\n", false},
		{"both have to hold", "func f(n int) bool {\nif n <= 0 {\nreturn true\n}\nreturn f(n-1) && f(n-2) // 1\n}\n", false},
		{"the other where the one finds nothing", "func f(n int) []int {\nif n <= 0 {\nreturn nil\n}\nif v := f(n-1); v != nil {\nreturn v\n}\nreturn f(n-2) // 1\n}\n", false},
		{"under a condition of the first", "func f(n int) int {\nif n <= 0 {\nreturn 0\n}\nbest := f(n-1)\nif best < 3 {\nbest += f(n-2) // 1\n}\nreturn best\n}\n", false},
		{"the other where the one fails", "func f(n int) error {\nif n <= 0 {\nreturn nil\n}\nif err := f(n-1); err == nil {\nreturn nil\n}\nreturn f(n-2) // 1\n}\n", false},
		{"the other as a fallback", "func f(n int) (int, error) {\nif n <= 0 {\nreturn 0, nil\n}\nv, err := f(n-1)\nif err != nil {\nreturn f(n-2) // 1\n}\nreturn v, nil\n}\n", false},
		{"new ones that are numbered", "type node struct { l, r *node; n int }\nfunc f(n int) *node {\nif n == 0 {\nreturn &node{}\n}\nreturn &node{l: f(n-1), r: f(n-1)} // 1\n}\nfunc (n *node) number(next int) { n.n = next\nn.l.number(next+1) }\nfunc run() { f(9).number(0) }\n", false},
		{"a tree", "type node struct { left, right *node; n int }\nfunc f(t *node) int {\nif t == nil {\nreturn 0\n}\nreturn t.n + f(t.left) + f(t.right) // 1\n}\n", false},
		{"halves", "func f(all []int) int {\nif len(all) < 2 {\nreturn len(all)\n}\nm := len(all) / 2\nreturn f(all[:m]) + f(all[m:]) // 1\n}\n", false},
		{"one or the other", "func f(n int) int {\nif n < 2 {\nreturn n\n}\nif n%2 == 0 {\nreturn f(n-1)\n}\nreturn f(n-2) // 1\n}\n", false},
		{"it keeps its results", "var known = map[int]int{}\nfunc f(n int) int {\nif v, ok := known[n]; ok {\nreturn v\n}\nv := f(n-1) + f(n-2) // 1\nknown[n] = v\nreturn v\n}\n", false},
		{"it counts", "var calls int\nfunc f(n int) int {\ncalls++\nif n < 2 {\nreturn n\n}\nreturn f(n-1) + f(n-2) // 1\n}\n", false},
		{"once", "func f(n int) int {\nif n < 2 {\nreturn n\n}\nreturn n + f(n-1) // 1\n}\n", false},
		{"of other arguments", "func f(n, k int) int {\nif n < 2 {\nreturn k\n}\nreturn f(n/2, k) + f(n/2, k*2) // 1\n}\n", false},
	} {
		source := "package main\n\n" + c.source
		line := lineOfMark(source, "1")
		_, over := recursesOver(newDerivations(sourceOf(source)), stack.Frame{Func: "main.f", File: "a.go", Line: line})
		if over != c.over {
			t.Errorf("%s: %v", c.name, over)
		}
	}
}

// TestVolatileKey: a cache whose key has something in it that is another one each time never hits; one of whose key the
// source shows nothing of the kind, or of which only the minute counts, may.
func TestVolatileKey(t *testing.T) {
	const cache = "package main\n\nimport (\"time\"; \"math/rand/v2\"; \"fmt\")\n\ntype key struct { name string; at time.Time }\nvar known = map[key]int{}\nvar texts = map[string]int{}\nvar _ = rand.Int\nvar _ = fmt.Sprint\n\n" +
		"func compute(name string) int {\nn := 0\nfor i := range 1000 {\nn += i // A\n}\nreturn n\n}\n"
	const lookup = "func lookup(k key) int {\nif v, ok := known[k]; ok {\nreturn v\n}\nv := compute(k.name) // B\nknown[k] = v\nreturn v\n}\n"
	const byText = "func lookup(k string) int {\nif v, ok := texts[k]; ok {\nreturn v\n}\nv := compute(k) // B\ntexts[k] = v\nreturn v\n}\n"
	for _, c := range []struct{ name, source, volatile string }{
		{"the time in a struct", lookup + "func run() {\nfor {\nlookup(key{\"a\", time.Now()}) // C\n}\n}\n", "time.Now()"},
		{"the time in a variable", lookup + "func run() {\nfor {\nk := key{name: \"a\", at: time.Now()}\nlookup(k) // C\n}\n}\n", "time.Now()"},
		{"a number in a text", byText + "func run() {\nfor {\nlookup(fmt.Sprintf(\"%s-%d\", \"a\", rand.Int64())) // C\n}\n}\n", "rand.Int64()"},
		{"the minute", lookup + "func run() {\nfor {\nlookup(key{\"a\", time.Now().Truncate(time.Minute)}) // C\n}\n}\n", ""},
		{"a small number", byText + "func run() {\nfor {\nlookup(fmt.Sprint(rand.IntN(10))) // C\n}\n}\n", ""},
		{"what is asked for", byText + "func run(names []string) {\nfor _, n := range names {\nlookup(n) // C\n}\n}\n", ""},
	} {
		f := hotIn(t, cache+c.source, "runtime.main main.main:/src/none.go:1 main.run@C main.lookup@B main.compute@A")
		if !strings.Contains(f.Summary, "only where a cache does not have the result") {
			t.Errorf("%s: %s", c.name, f.Summary)
		}
		if never := strings.Contains(f.Title, "never hits"); never != (c.volatile != "") || !strings.Contains(f.Summary, c.volatile) {
			t.Errorf("%s: %s: %s", c.name, f.Title, f.Summary)
		}
	}
}

// TestHotTurns: the turns of the loop around the heaviest line of a hot function are told where they were counted, and many.
func TestHotTurns(t *testing.T) {
	for _, c := range []struct{ name, source, says string }{
		{"of a generic function", "func f[T int](row []T) (n T) { /*30*/\nfor _, x := range row { /*45123456*/\nn += x // A\n}\nreturn n\n}\n", "turns in 30 calls, all instances of it together"},
		{"many", "func f(all [][]int) (n int) { /*30*/\nfor _, row := range all { /*90000*/\nfor _, x := range row { /*45123456*/\nn += x // A\n}\n}\nreturn n\n}\n", "its loop at line 5 had about 45,000,000 turns in 30 calls"},
		{"few in each call", "func f(row []int) (n int) { /*30000000*/\nfor _, x := range row { /*45123456*/\nn += x // A\n}\nreturn n\n}\n", ""},
		{"not counted", "func f(row []int) (n int) {\nfor _, x := range row {\nn += x // A\n}\nreturn n\n}\n", ""},
	} {
		source := "package main\n\n" + c.source
		called, generic := "main.f@A", strings.Contains(source, "[T int]")
		if generic {
			called = "main.f[go.shape.int]@A"
		}
		r := countedRecording(t, source, stackAt(source, "runtime.main main.main:/src/none.go:1 "+called))
		if f := answers(t, r, "CP01")[0]; !strings.Contains(f.Summary, c.says) || strings.Contains(f.Summary, "turns") != (c.says != "") || strings.Contains(f.Summary, "instances") != generic {
			t.Errorf("%s: %s", c.name, f.Summary)
		}
	}
}
