package insight

import (
	"strings"
	"testing"
)

// TestLeavesStream: a body that is read a piece at a time until no more is wanted is a stream; one that is read to its end, but for errors, is none.
func TestLeavesStream(t *testing.T) {
	const scan = "sc := bufio.NewScanner(resp.Body)\n\tfor sc.Scan() {\n\t\t"
	for _, c := range []struct {
		name, body string
		want       bool
	}{
		{"until the context ends", "go func() {\n\t" + scan + "select {\n\t\tcase out <- sc.Text():\n\t\tcase <-ctx.Done(): // left\n\t\t\treturn\n\t\t}\n\t}\n\t}()", true},
		{"until one suits", scan + "if sc.Text() == want { // left\n\t\t\treturn\n\t\t}\n\t}", true},
		{"until who asks has enough", "dec := json.NewDecoder(resp.Body)\n\tfor {\n\t\tvar e event\n\t\tif err := dec.Decode(&e); err != nil {\n\t\t\treturn\n\t\t}\n\t\tif !yield(e) { // left\n\t\t\treturn\n\t\t}\n\t}", true},
		{"to its end", scan + "use(sc.Text())\n\t}", false},
		{"to its end or an error", scan + "if json.Unmarshal(sc.Bytes(), &e) != nil {\n\t\t\treturn\n\t\t}\n\t\tif err := use(e); err != nil {\n\t\t\treturn\n\t\t}\n\t}", false},
		{"decoded to its end", "dec := json.NewDecoder(resp.Body)\n\tfor {\n\t\terr := dec.Decode(&e)\n\t\tif err == io.EOF {\n\t\t\tbreak\n\t\t}\n\t}", false},
		{"one value", "json.NewDecoder(resp.Body).Decode(&e)\n\tfor _, x := range e.All {\n\t\tif x == want {\n\t\t\treturn\n\t\t}\n\t}", false},
		{"another reader", "sc := bufio.NewScanner(file)\n\tfor sc.Scan() {\n\t\tif sc.Text() == want {\n\t\t\treturn\n\t\t}\n\t}", false},
	} {
		text := "package main\n\nfunc f() {\n\tresp, err := client.Do(req) // asks\n\tif err != nil {\n\t\treturn\n\t}\n\tdefer resp.Body.Close()\n\t" + c.body + "\n}\n"
		line := leavesStream(sourceOf(text), lineWith(text, "// asks"))
		if line != 0 != c.want || c.want && line != lineWith(text, "// left").Line {
			t.Errorf("%s: line %d", c.name, line)
		}
		f := Finding{Severity: Warning, Doubts: []string{restDoubt}}
		if tellStream(&f, sourceOf(text), lineWith(text, "// asks")); (f.Severity == Info) != c.want || strings.Contains(f.Advice, "is a stream") != c.want || len(f.Doubts) == 0 != c.want {
			t.Errorf("%s: %s %s %q", c.name, f.Severity, f.Advice, f.Doubts)
		}
	}
}
