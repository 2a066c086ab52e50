package insight

import (
	"testing"

	"loupe/value/stack"
)

// TestDropsPooled: a function that takes connections from a pool, gives those away that pass its check, and closes the others
// before it dials, is told from one that closes what it has used, what failed, or what is not there.
func TestDropsPooled(t *testing.T) {
	for _, c := range []struct {
		name, source string
		asks         string // empty for none
	}{
		{"a loop", "for cn := p.pop(); cn != nil; cn = p.pop() {\nif p.healthy(cn) {\nreturn cn\n}\ncn.nc.Close()\n}\nreturn dial() // A\n", "p.healthy(cn)"},
		{"turned round", "cn := p.pop()\nif !p.healthy(cn) {\ncn.Close()\n} else {\nreturn cn\n}\nreturn dial() // A\n", "!p.healthy(cn)"},
		{"from a channel", "select {\ncase cn := <-p.idle:\nif time.Since(cn.at) < p.age {\nreturn cn\n}\ncn.Close()\ndefault:\n}\nreturn dial() // A\n", "time.Since(cn.at) < p.age"},
		{"an element", "cn := p.idle[0]\nif cn.ok() {\nreturn cn\n}\ncn.Close()\nreturn dial() // A\n", "cn.ok()"},
		{"no check", "cn := p.pop()\nif cn != nil {\nreturn cn\n}\nreturn dial() // A\n", ""},
		{"only whether there is one", "cn := p.pop()\nif cn != nil {\nreturn cn\n}\ncn.Close()\nreturn dial() // A\n", ""},
		{"closed when done", "cn := p.pop()\ndefer cn.Close()\nif cn.ok() {\nreturn cn\n}\nreturn dial() // A\n", ""},
		{"not given away", "cn := p.pop()\nif !cn.ok() {\ncn.Close()\n}\nreturn dial() // A\n", ""},
		{"after the dial", "cn, err := dial() // A\nif err != nil {\nreturn nil\n}\nif cn.ok() {\nreturn cn\n}\ncn.Close()\nreturn nil\n", ""},
		{"something else", "f := open()\nf.Close()\ncn := p.pop()\nif cn.ok() {\nreturn cn\n}\nreturn dial() // A\n", ""},
	} {
		source := "package main\n\nfunc (p *pool) get() *conn {\n" + c.source + "}\n"
		x, ok := dropsPooled(sourceOf(source), []stack.Frame{{Func: "net.Dial", File: "none.go", Line: 1}, {Func: "main.(*pool).get", File: "a.go", Line: lineOfMark(source, "A")}})
		if ok != (c.asks != "") || x.asks != c.asks {
			t.Errorf("%s: %v %q", c.name, ok, x.asks)
		}
	}
}
