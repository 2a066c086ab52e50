package e2e

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSaid: what a log says of the start of a program, and the compiler of its code, is on
// the first page.
func TestSaid(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"init.log": "init runtime @0.021 ms, 0.036 ms clock, 0 bytes, 0 allocs\ninit os @0.45 ms, 0.034 ms clock, 416 bytes, 9 allocs\n",
		"m.txt":    "./main.go:29:24: r escapes to heap in work:\n./main.go:29:24:   flow: {heap} ← r:\n./main.go:29:24:     from r (interface-converted) at ./main.go:29:24\n./main.go:29:24: r escapes to heap\n./main.go:25:6: cannot inline work: function too complex: cost 270 exceeds budget 80\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	address := serve(t, filepath.Join(dir, "init.log"), filepath.Join(dir, "m.txt"))
	for _, scheme := range []string{"light", "dark"} {
		b := open(t, address+"#/1/overview", 1280, 900, scheme)
		b.until(`["Package initialisation", "Compiler: what escapes", "the cost exceeds the budget", "416 B"].every(x => document.body.textContent.includes(x))`)
		b.picture("said-" + scheme)
	}
}
