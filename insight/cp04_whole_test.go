package insight

import (
	"strings"
	"testing"

	"loupe/analysis/calltree"
)

// TestTellWhole: of whole files that are written again and again it is told which are appended to, and which replace a state that has to survive a crash.
func TestTellWhole(t *testing.T) {
	const head = "package main\n\nimport \"os\"\n\nfunc f(path string, b []byte) error {\n"
	for _, c := range []struct {
		name, body, advice, doubt string
		severity                  Severity
	}{
		{"one for each", "return os.WriteFile(path, b, 0o644) // here", "Each call is for a whole file", "", Warning},
		{"appended to", "w, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o644) // here\nif err != nil {\nreturn err\n}\ndefer w.Close()\n_, err = w.Write(b)\nreturn err", "a.go:6 opens a file to append to it", "", Warning},
		{"replaced", "if err := os.WriteFile(path+`.tmp`, b, 0o644); err != nil { // here\nreturn err\n}\nreturn os.Rename(path+`.tmp`, path)", "Each call is for a whole file", "is renamed at a.go:9", Info},
		{"where it is renamed", "os.WriteFile(path+`.tmp`, b, 0o644)\nreturn os.Rename(path+`.tmp`, path) // here", "Each call is for a whole file", "is renamed at a.go:7", Info},
		{"beside another one that is renamed", "os.WriteFile(path, b, 0o644) // here\nreturn os.Rename(path+`.tmp`, path)", "Each call is for a whole file", "", Warning},
	} {
		text := head + c.body + "\n}\n"
		h := &hit{in: sourceInput(text), lines: []*hitLine{{Site: calltree.Site{Caller: lineWith(text, "// here")}}}}
		f := Finding{Severity: Warning}
		tellWhole(h, &f)
		if doubts := strings.Join(f.Doubts, "\n"); !strings.Contains(f.Advice, c.advice) || (doubts != "") != (c.doubt != "") || !strings.Contains(doubts, c.doubt) || f.Severity != c.severity {
			t.Errorf("%s: %s %s %q", c.name, f.Severity, f.Advice, f.Doubts)
		}
	}
}
