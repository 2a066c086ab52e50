package insight

import (
	"bytes"
	"go/format"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// TestLoopsByGoto: what a function goes back to is a loop, and nothing else becomes one.
func TestLoopsByGoto(t *testing.T) {
	f := func(name, body, want string) {
		t.Helper()
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, "", "package p\n\nfunc f() {\n"+body+"\n}\n", parser.SkipObjectResolution)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		loopsByGoto(file)
		var buf bytes.Buffer
		if err := format.Node(&buf, token.NewFileSet(), file); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want = "package p func f() { " + want + " }"
		if got := strings.Join(strings.Fields(buf.String()), " "); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
	f("tries again", "again:\nerr := try()\nif err != nil {\ngoto again\n}\nuse()", "for { err := try() if err != nil { continue } break } use()")
	f("to its end", "again:\nif try() {\nreturn\n}\ngoto again", "for { if try() { return } continue }")
	f("in a case", "switch {\ncase on():\nagain:\nif try() {\ngoto again\n}\n}", "switch { case on(): for { if try() { continue } break } }")
	f("two of them", "a:\nx()\nb:\nif try() {\ngoto b\n}\nif try() {\ngoto a\n}", "for { x() for { if try() { continue } break } if try() { continue } break }")
	f("in a loop that goes on", "for {\nagain:\nif done() {\ncontinue\n}\nif try() {\ngoto again\n}\n}", "for { for { if done() { break around } if try() { continue } break } }")
	f("onwards", "if try() {\ngoto end\n}\nend:\nuse()", "if try() { goto end } end: use()")
	f("out of a loop", "again:\nfor {\nif try() {\ngoto again\n}\n}", "again: for { if try() { goto again } }")
}
