package exectrace

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of events in docs/formats/exectrace.md anew")

// TestFormatPage keeps the table of events in the page about the format.
func TestFormatPage(t *testing.T) {
	const page, begin, end = "../../docs/formats/exectrace.md", "<!-- events -->\n", "<!-- end of events -->"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	table, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table", page)
	}
	var b strings.Builder
	b.WriteString("| no. | event | arguments | since |\n|---|---|---|---|\n")
	for i, s := range specs {
		if s.name == "" {
			continue
		}
		args := strings.Join(s.args, " ")
		switch {
		case hasData(byte(i)):
			args += " length bytes"
		case i == int(evStack):
			args += " then " + strings.Join(frameArgs[:], " ") + " for each frame"
		}
		fmt.Fprintf(&b, "| %d | %s | %s | 1.%d |\n", i, s.name, strings.TrimSpace(args), s.since)
	}
	if table == b.String() {
		return
	}
	if !*update {
		t.Fatalf("the table of events in %s is not that of the code: run go test ./format/exectrace -run FormatPage -update", page)
	}
	if err := os.WriteFile(page, []byte(before+begin+b.String()+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
