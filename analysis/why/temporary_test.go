package why

import "testing"

// TestTemporary: assignments that the compiler makes of inlined functions are left out of a way, those of the source are not.
func TestTemporary(t *testing.T) {
	for expr, want := range map[string]bool{
		"~r0 = string(bufio.s.token)":        true,
		"l := ~r0":                           false,
		"strings.s, strings.sep := l, \" \"": true,
		"strings.before, strings.after, strings.found = string(.autotmp_5), a, b": true,
		"l := string(b)":               false,
		"r.refs = m":                   false,
		"n.left, n.right = a, b":       false,
		"s.items = append(s.items, x)": false,
		"strings.b.buf = append(strings.b.buf, strings.c)": false,
		"x": false,
	} {
		if got := temporary(expr); got != want {
			t.Errorf("%s: %v", expr, got)
		}
	}
}
