package cli

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"loupe/internal/cli/command"
)

var update = flag.Bool("update", false, "rewrite the expectations in testdata, and docs/cli.md")

// TestHelpBeginsWithExample checks what a user sees first of every command:
// how it is called.
func TestHelpBeginsWithExample(t *testing.T) {
	for _, c := range commands() {
		var b bytes.Buffer
		c.Help(&b)
		lines := strings.Split(b.String(), "\n")
		if !strings.HasPrefix(lines[0], "loupe "+c.Name+" ") || !strings.HasSuffix(lines[0], ": "+c.Short) {
			t.Errorf("help of %s begins with %q", c.Name, lines[0])
		}
		if lines[1] != "" || !strings.Contains(lines[2], "loupe "+c.Name) || !strings.HasPrefix(lines[2], "\t") {
			t.Errorf("help of %s does not begin with an example: %q", c.Name, lines[2])
		}
		if strings.Contains(b.String(), " -cpuprofile") {
			t.Errorf("help of %s lists the flags for loupe itself", c.Name)
		}
		for _, line := range lines {
			if n := len([]rune(line)); n > 110 {
				t.Errorf("help of %s has a line of %d columns: %s", c.Name, n, line)
			}
		}
	}
}

// TestFlagsSayWhatTheyTake checks that every flag is explained, and that one
// with a value names it.
func TestFlagsSayWhatTheyTake(t *testing.T) {
	for _, c := range commands() {
		c.Flags().VisitAll(func(f *flag.Flag) {
			name, usage := flag.UnquoteUsage(f)
			boolean, ok := f.Value.(interface{ IsBoolFlag() bool })
			switch {
			case usage == "":
				t.Errorf("%s -%s is not explained", c.Name, f.Name)
			case ok && boolean.IsBoolFlag():
			case name == "value" || name == "string" || name == "int" || name == "float" || name == "duration":
				t.Errorf("%s -%s does not name its value", c.Name, f.Name)
			}
		})
	}
}

// TestCommandPage checks that docs/cli.md says what the commands say of
// themselves; -update writes it.
func TestCommandPage(t *testing.T) {
	name := filepath.Join("..", "..", "docs", "cli.md")
	want := commandPage()
	if *update {
		if err := os.WriteFile(name, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("docs/cli.md is stale: go test ./internal/cli -run TestCommandPage -update writes it")
	}
}

func commandPage() []byte {
	var b bytes.Buffer
	b.WriteString("# Commands\n\nThis page is what `loupe help COMMAND` prints, written by the test of the command line.\n\n" +
		"| exit code | means |\n|---|---|\n")
	for _, row := range []struct {
		code int
		text string
	}{
		{command.ExitOK, "fine"},
		{command.ExitFailed, "failed"},
		{command.ExitUsage, "wrong usage"},
		{command.ExitFound, "a threshold or finding was hit, or a regression found"},
		{command.ExitNothing, "nothing to show, or the target cannot be reached"},
		{command.ExitInterrupted, "interrupted; the partial result is still written and printed"},
	} {
		fmt.Fprintf(&b, "| %d | %s |\n", row.code, row.text)
	}
	b.WriteString("\nEvery command also takes `-cpuprofile`, `-memprofile` and `-selftrace`, each with a file: a profile or a\n" +
		"trace of loupe itself. Colours are left out when `NO_COLOR` is set or the output is no terminal.\n")
	for _, c := range commands() {
		var text bytes.Buffer
		c.Help(&text)
		fmt.Fprintf(&b, "\n## loupe %s\n\n```text\n%s```\n", c.Name, text.String())
	}
	return b.Bytes()
}

// TestCompletionParses lets each shell that is installed read its script.
func TestCompletionParses(t *testing.T) {
	dir := t.TempDir()
	for shell, check := range map[string][]string{
		"bash": {"bash", "-n"}, "zsh": {"zsh", "-n"}, "fish": {"fish", "--no-execute"},
		"pwsh": {"pwsh", "-NoProfile", "-File"},
	} {
		name := filepath.Join(dir, "loupe."+strings.Replace(shell, "pwsh", "ps1", 1))
		f, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		e := &command.Env{Stdout: f, Stderr: io.Discard, Ctx: t.Context()}
		code := find("completion").Main(e, []string{shell})
		if err := f.Close(); code != command.ExitOK || err != nil {
			t.Fatalf("completion %s: exit code %d, %v", shell, code, err)
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range commands() {
			if !bytes.Contains(text, []byte(c.Name)) {
				t.Errorf("completion %s does not know %s", shell, c.Name)
			}
		}
		if _, err := exec.LookPath(check[0]); err != nil {
			continue // the text was checked; no shell is here to parse it
		}
		if out, err := exec.Command(check[0], append(check[1:], name)...).CombinedOutput(); err != nil {
			t.Errorf("%s cannot read its completion: %v\n%s", shell, err, out)
		}
	}
}

// TestCompletionBash asks the script as bash does.
func TestCompletionBash(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is not installed")
	}
	var script bytes.Buffer
	completeBash(&script)
	f := func(want string, words ...string) {
		t.Helper()
		asked := fmt.Sprintf("%s\nCOMP_WORDS=(%s); COMP_CWORD=%d; _loupe; echo ${COMPREPLY[@]}", script.String(), strings.Join(words, " "), len(words)-1)
		out, err := exec.Command("bash", "-c", asked).CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%q completes to %q, want %q (%v)", words, got, want, err)
		}
	}
	f("report", "loupe", "rep")
	f("run report rules", "loupe", "r")
	f("-save", "loupe", "load", "-sa")
	f("compare completion", "loupe", "help", "com")
}

func TestSuggestion(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := suggestion(in); got != want {
			t.Errorf("suggestion(%q) = %q, want %q", in, got, want)
		}
	}
	f("raport", `, did you mean "report"?`)
	f("rn", `, did you mean "run"?`)
	f("comapre", `, did you mean "compare"?`)
	f("rnu", `, did you mean "run"?`)
	f("wtach", `, did you mean "watch"?`)
	f("qqq", " (loupe help lists them)")
	f("frobnicate", " (loupe help lists them)")
	f("", " (loupe help lists them)")
}
