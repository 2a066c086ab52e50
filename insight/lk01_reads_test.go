package insight

import (
	"testing"

	"loupe/value/stack"
)

// TestMayOnlyRead: RLock is suggested only where nothing under the lock changes what it guards, or may.
func TestMayOnlyRead(t *testing.T) {
	const head = "package main\n\nimport (\n\t\"fmt\"\n\t\"sort\"\n\t\"strings\"\n)\n\nvar total int\n\n"
	const more = "\nfunc touch(e *entry) { e.hits++ }\nfunc weight(e *entry) int { return len(e.text) }\nfunc (s *store) size(k string) int { n := 0; for range s.m { n++ }; return n }\nfunc (s *store) count() { s.n++ }\n"
	for body, want := range map[string]bool{
		"best := \"\"\nfor k, e := range s.m {\nif strings.HasPrefix(k, p) {\nbest = e.text\n}\n}\nreturn best": true,
		"n := 0\nfor _, e := range s.m {\nn += weight(e)\n}\nreturn n":                                          true,
		"var b strings.Builder\nfor k := range s.m {\nb.WriteString(k)\n}\nreturn b.String()":                   true,
		"out := map[string]int{}\nfor k, e := range s.m {\nout[k] = e.n\n}\nreturn out":                         true,
		"return fmt.Sprint(s.size(p))":         true,
		"for _, e := range s.m {\ntouch(e)\n}": false,
		"s.count()":                            false,
		"n := s.rnd.Intn(6)\nreturn n":         false,
		"h := s.h\nh.Reset()":                  false,
		"l := s.list\nsort.Slice(l, func(i, j int) bool { return l[i] < l[j] })": false,
		"for i, r := range s.rows {\ns.each(i, r)\n}":                            false,
		"s.n++":             false,
		"s.m[p] = &entry{}": false,
		"total += len(s.m)": false,
		"delete(s.m, p)":    false,
		"out <- s.n":        false,
	} {
		c := sourceOf(head + "func (s *store) do(p string) any {\ns.mu.Lock()\ndefer s.mu.Unlock()\n" + body + "\nreturn nil\n}\n" + more)
		if got := mayOnlyRead(c, stack.Frame{Func: "main.(*store).do", File: "a.go", Line: 12}); got != want {
			t.Errorf("%s: %v", body, got)
		}
	}
	if !mayOnlyRead(sourceOf(head), stack.Frame{Func: "x.f", File: "b.go", Line: 3}) {
		t.Error("without the source nothing says that it writes")
	}
}
