package insight

import (
	"testing"

	"loupe/value/stack"
)

// TestAsksWhatItMakes: a list that its maker searches while it makes it is needed to count; one that is only added to, put in order or copied is not.
func TestAsksWhatItMakes(t *testing.T) {
	const head = "package main\n\nimport (\n\t\"slices\"\n\t\"sort\"\n)\n\n"
	for _, c := range []struct {
		name, source string
		want         bool
	}{
		{"by a function of the program", "func f(in []string) []string {\n\tvar out []string\n\tfor _, s := range in {\n\t\tif !has(out, s) {\n\t\t\tout = append(out, s)\n\t\t}\n\t}\n\treturn out\n}\n\nfunc has(xs []string, x string) bool { return len(xs) > 0 && xs[0] == x }\n", true},
		{"by the library", "func f(in []string) (out []string) {\n\tfor _, s := range in {\n\t\tif !slices.Contains(out, s) {\n\t\t\tout = append(out, s)\n\t\t}\n\t}\n\treturn\n}\n", true},
		{"the last one", "func f(in []string) []string {\n\tvar out []string\n\tfor _, s := range in {\n\t\tif len(out) == 0 || out[len(out)-1] != s {\n\t\t\tout = append(out, s)\n\t\t}\n\t}\n\treturn out\n}\n", true},
		{"a loop over it", "func f(in []string) []string {\n\tvar out []string\n\tfor _, s := range in {\n\t\tfor _, o := range out {\n\t\t\tif o == s {\n\t\t\t\tcontinue\n\t\t\t}\n\t\t}\n\t\tout = append(out, s)\n\t}\n\treturn out\n}\n", true},
		{"entries of a map", "func f(in []string) map[string]int {\n\tout := map[string]int{}\n\tfor _, s := range in {\n\t\tif _, ok := out[s]; !ok {\n\t\t\tout[s] = 1\n\t\t}\n\t}\n\treturn out\n}\n", true},

		{"added to", "func f(in []string) []string {\n\tvar out []string\n\tfor _, s := range in {\n\t\tif s != \"\" {\n\t\t\tout = append(out, s)\n\t\t}\n\t}\n\treturn out\n}\n", false},
		{"put in order", "func f(in []string) []string {\n\tout := append([]string(nil), in...)\n\tsort.Strings(out)\n\tslices.Reverse(out)\n\treturn out\n}\n", false},
		{"set by a place", "func f(in []string) []string {\n\tout := make([]string, len(in))\n\tfor i, s := range in {\n\t\tout[i] = s\n\t}\n\treturn out\n}\n", false},
		{"filled by a function", "func f(in []string) []string {\n\tvar out []string\n\tfor _, s := range in {\n\t\tout = add(out, s)\n\t}\n\treturn out\n}\n\nfunc add(xs []string, x string) []string { return append(xs, x) }\n", false},
		{"another list is searched", "func f(in, known []string) []string {\n\tvar out []string\n\tfor _, s := range in {\n\t\tif slices.Contains(known, s) {\n\t\t\tout = append(out, s)\n\t\t}\n\t}\n\treturn out\n}\n", false},
	} {
		d := newDerivations(codeOf(head + c.source))
		in, ok := d.at(stack.Frame{Func: "main.f", File: "a.go", Line: 9})
		if got := ok && asksWhatItMakes(d, in.decl); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
