package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"loupe/internal/cli/command"
)

// TestShellWords: what is shown is read as a shell reads it.
func TestShellWords(t *testing.T) {
	f := func(line, want string) {
		t.Helper()
		var got []string
		for _, words := range shownCommands(line) {
			got = append(got, strings.Join(words, "|"))
		}
		if got := strings.Join(got, " + "); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
	f("loupe open                       all recordings in this folder", "open")
	f("kubectl logs web-0 | loupe stacks -", "stacks|-")
	f("GODEBUG=gctrace=1 ./server 2> server.log; loupe gc server.log", "gc|server.log")
	f("LOUPE_EDITOR=\"code -g {file}:{line}\" loupe open …", "open|")
	f("loupe stacks -filter 'state~chan age>=10m' dump.txt", "stacks|-filter|state~chan age>=10m|dump.txt")
	f("go test -bench . -memprofile mem.out && loupe report mem.out", "report|mem.out")
	f("source <(loupe completion bash)", "")
	f("loupe: WARNING: nothing", "")
}

// TestShownCommands holds every command that the documentation, the labs and the
// help texts show against the commands, verbs and flags that there are.
func TestShownCommands(t *testing.T) {
	n := 0
	f := func(where, line string) {
		for _, words := range shownCommands(line) {
			n++
			if err := wrongCommand(words); err != nil {
				t.Errorf("%s: %q: %v", where, strings.Join(words, " "), err)
			}
		}
	}
	for _, page := range shownPages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range codeOf(string(text), filepath.Ext(page) == ".go") {
			f(page, line)
		}
	}
	for _, c := range commands() {
		for _, line := range c.Example {
			f("loupe help "+c.Name, line)
		}
	}
	t.Logf("%d commands", n)
	if n < 250 {
		t.Errorf("only %d commands are shown: are they found?", n)
	}
}

// shownPages are the pages, and the documentation of the labs. The help texts, which
// docs/cli.md repeats, are prose and examples in one.
func shownPages(t *testing.T) []string {
	t.Helper()
	pages := []string{"../../README.md", "../../CONTRIBUTING.md"}
	for _, root := range []string{"../../docs", "../../labs"} {
		err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			if ext := filepath.Ext(name); err == nil && (ext == ".md" && d.Name() != "cli.md" || d.Name() == "doc.go") {
				pages = append(pages, name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return pages
}

var codeSpan = regexp.MustCompile("`(loupe [^`]+)`")

// codeOf returns the lines of a page that are code, and the code within its text. In
// Go it is what the comments indent.
func codeOf(text string, isGo bool) (code []string) {
	fenced := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if isGo {
			line = strings.TrimPrefix(strings.TrimPrefix(line, "//"), " ")
		}
		fence := strings.HasPrefix(line, "```")
		fenced = fenced != fence
		switch rest, indented := strings.CutPrefix(line, "\t"); {
		case indented || fenced && !fence:
			code = append(code, rest)
		default:
			for _, m := range codeSpan.FindAllStringSubmatch(line, -1) {
				code = append(code, m[1])
			}
		}
	}
	return code
}

// shownCommands takes the calls of loupe out of a line of shell, each as words. What
// stands behind two blanks says what the call is for.
func shownCommands(line string) (all [][]string) {
	var words []string
	here := false // in a call
	end := func() {
		if here {
			all = append(all, words)
		}
		words, here = nil, false
	}
	for _, w := range shellWords(line) {
		switch {
		case !here && w == "loupe" && !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(w, "=") && w != "$" && w != "exec" && w != "sudo" }):
			here, words = true, nil
		case slices.Contains([]string{"|", "||", ";", "&&", "&", ">", "<", "2>", "#", ")", "  "}, w):
			end()
		default:
			words = append(words, strings.Trim(w, "…,"))
		}
	}
	end()
	return all
}

// shellWords splits a line at blanks outside of quotes, with what separates
// commands and two blanks as words of their own.
func shellWords(line string) (words []string) {
	word, quote, open := "", rune(0), false
	flush := func() {
		if open {
			words = append(words, word)
		}
		word, open = "", false
	}
	blank := false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, open = r, true
		case quote == 0 && (r == ' ' || r == '\t'):
			flush()
			if blank && len(words) > 0 && words[len(words)-1] != "  " {
				words = append(words, "  ")
			}
		case quote == 0 && strings.ContainsRune("|;&)", r):
			flush()
			words = append(words, string(r))
		default:
			word, open = word+string(r), true
		}
		blank = quote == 0 && (r == ' ' || r == '\t')
	}
	flush()
	return words
}

// wrongCommand says what is wrong with the words behind loupe, as far as that can
// be said without running them.
func wrongCommand(words []string) error {
	switch {
	case len(words) == 0, words[0] == "help" && len(words) == 1, words[0] == "COMMAND":
		return nil
	case words[0] == "help":
		words = words[1:]
	}
	if strings.ToUpper(words[0]) == words[0] {
		return nil // a word that stands for any command
	}
	c := find(words[0])
	if c == nil {
		return command.Usagef("there is no such command")
	}
	flags := c.Flags()
	command.ProfileFlags(flags)
	args, err := c.Parse(flags, words[1:])
	switch {
	case err == command.ErrHelp:
		return nil
	case err != nil:
		return err
	case c.Name == "trace" && len(args) > 0 && strings.ToUpper(args[0]) != args[0] &&
		!slices.ContainsFunc(c.Verbs, func(v string) bool { return slices.Contains(strings.Split(args[0], "|"), v) }):
		return command.Usagef("there is no such verb")
	}
	return nil
}
