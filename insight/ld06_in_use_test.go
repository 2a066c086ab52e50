package insight

import (
	"testing"

	"loupe/value/stack"
)

// TestSettingsOfOrigins: what the literal sets, or leaves open, that the requests are made with is known as theirs behind a constructor, too; not where another
// line sets it, and not of another one.
func TestSettingsOfOrigins(t *testing.T) {
	const head = "package main\n\nimport \"net/http\"\n\ntype api struct{ rt http.RoundTripper }\n\nfunc (a *api) get(r *http.Request) {\n\ta.rt.RoundTrip(r) // 1\n}\n\nfunc newAPI(rt http.RoundTripper) *api { return &api{rt: rt} }\n\n"
	const makes = "func newTransport(n int) *http.Transport {\n\treturn &http.Transport{ // made\n\t\tMaxIdleConns: n,\n\t}\n}\n\n"
	const other = "\nvar other = &http.Transport{}\n"
	for _, c := range []struct {
		name, source string
		traced       bool
	}{
		{"by a constructor", head + makes + "func main() {\n\tnewAPI(newTransport(9)).get(nil)\n}\n" + other, true},
		{"by a variable", head + makes + "func main() {\n\trt := newTransport(9)\n\tnewAPI(rt).get(nil)\n}\n" + other, true},
		{"set by who calls", head + makes + "func main() {\n\trt := newTransport(9)\n\trt.MaxIdleConnsPerHost = 64\n\tnewAPI(rt).get(nil)\n}\n" + other, false},
		{"another one", head + makes + "func main() {\n\tnewAPI(tuned(newTransport(9))).get(nil)\n}\n" + other, false},
	} {
		code := sourceOf(c.source)
		frames := []stack.Frame{{Func: "net/http.(*Transport).RoundTrip", File: "roundtrip.go", Line: 1}, {Func: "main.(*api).get", File: "a.go", Line: sourceLine(c.source, "1")}}
		some := settingsOfOrigins(code, frames, func(f stack.Frame) bool { return f.File == "a.go" }, connSources{code}.unsetPerHost())
		if len(some) == 1 != c.traced || c.traced && (!some[0].traced || some[0].at.Line != sourceLine(c.source, "made")) {
			t.Errorf("%s: %+v", c.name, some)
		}
	}
}
