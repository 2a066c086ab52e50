package report

import (
	"strings"
	"testing"

	"loupe/insight"
)

// TestCallers: who called the place of a finding is printed below it, a few of
// them, and nothing where it is not known.
func TestCallers(t *testing.T) {
	e := insight.Evidence{Text: "seen", File: "/src/cart.go", Line: 7, Function: "shop/cart.wait", Stack: []insight.Frame{
		{Function: "runtime.chanrecv1", File: "/go/chan.go", Line: 506},
		{Function: "shop/cart.wait", File: "/src/cart.go", Line: 7},
		{Function: "shop/cart.Add", File: "/src/cart.go", Line: 3},
		{Function: "shop.serve", File: `C:\src\shop.go`, Line: 40},
		{Function: "main.main", File: "/src/main.go", Line: 9},
		{Function: "runtime.goexit", File: "/go/asm.s", Line: 1},
	}}
	f := func(want string) {
		t.Helper()
		var b strings.Builder
		w := &lines{w: &b}
		writeFinding(w, insight.Finding{Rule: "LK01", State: insight.Found, Evidence: []insight.Evidence{e}}, Style{})
		if got := b.String(); want == "" && strings.Contains(got, "from") || !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	f("                from cart.Add cart.go:3, shop.serve shop.go:40, main.main main.go:9, +1\n")
	e.Stack = e.Stack[:3]
	f("                from cart.Add cart.go:3\n")
	e.Stack = e.Stack[:2]
	f("")
	e.Stack = nil
	f("")
}
