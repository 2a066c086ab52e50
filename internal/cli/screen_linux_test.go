package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"loupe/analysis/pprof"
	"loupe/internal/cli/clitest"
)

// ownColour is what the output of a command may have of escape sequences.
var ownColour = regexp.MustCompile("\x1b\\[(0|1|2|31|32|33|36)m")

// TestTerminalShowsText shows files whose names a terminal would obey, in all forms.
func TestTerminalShowsText(t *testing.T) {
	const evil = "main.\x1b[2J\x1b]0;title\x07\x1b[31m\u202e\u2066\u009bevil\r"
	dump := "panic: " + evil + "\n\ngoroutine 1 [running, " + evil + "]:\n" + evil + "(0x1)\n\t/" + evil + "/m.go:5 +0x1d\nmain.main()\n\t/m.go:3 +0x1\n"
	for name, text := range map[string]string{
		"folded":    "main;" + evil + " 5\n=cmd();" + evil + " 3\n",
		"dump":      dump,
		"debug1":    "goroutine profile: total 1\n1 @ 0x1\n# labels: {\"" + evil + "\":\"" + evil + "\"}\n#\t0x1\t" + evil + "+0x1\t/" + evil + ".go:3\n\n",
		"benchmark": "pkg: " + evil + "\nBenchmark" + evil + "-2 100 12.5 ns/op\nBenchmark" + evil + "-2 100 12.7 ns/op\nPASS\n",
		"log":       "gc 1 @1.000s 1%: 0.1+1+0.1 ms clock, 0.1+1/1/1+0.1 ms cpu, 1->1->1 MB, 1 MB goal, 1 P\n" + dump,
	} {
		file := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, line := range formsOf(file) {
			command := pprof.Find(strings.TrimPrefix(strings.Fields(line)[1], "-"))
			if strings.Contains(line, "OUT") || strings.Contains(line, "html") || command != nil && command.File != "" {
				continue // it goes into a file
			}
			checkShown(t, name+": "+line, strings.Fields(strings.ReplaceAll(line, "FILE", file)))
		}
	}
}

func checkShown(t *testing.T, what string, args []string) {
	t.Helper()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	tty, shown := clitest.OpenTerminal(t)
	Main(args, null, tty, tty)
	text := ownColour.ReplaceAllString(strings.ReplaceAll(shown(), "\r\n", "\n"), "")
	if i := strings.IndexFunc(text, func(r rune) bool {
		return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
	}); i >= 0 {
		t.Errorf("%s shows %q", what, text[max(0, i-40):min(len(text), i+20)])
	}
}
