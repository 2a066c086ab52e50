package main

import (
	"fmt"
	"os/exec"
	"regexp"
	"strings"
)

// manual are the man pages: loupe(1) for all of it, and loupe-NAME(1) for each command, out of
// what loupe help prints.
func (s *source) manual(loupe string) ([]entry, error) {
	overview, err := help(loupe)
	if err != nil {
		return nil, err
	}
	names := commands(overview)
	if len(names) == 0 {
		return nil, fmt.Errorf("loupe help lists no commands")
	}
	pages := []entry{{"man/man1/loupe.1", 0o644, []byte(s.page("loupe", overview, names))}}
	for _, name := range names {
		text, err := help(loupe, name)
		if err != nil {
			return nil, err
		}
		pages = append(pages, entry{"man/man1/loupe-" + name + ".1", 0o644, []byte(s.page("loupe-"+name, text, nil))})
	}
	return pages, nil
}

func help(loupe string, args ...string) (string, error) {
	out, err := exec.Command(loupe, append([]string{"help"}, args...)...).Output()
	if err != nil {
		return "", fmt.Errorf("loupe help %v: %w", args, err)
	}
	return string(out), nil
}

var listed = regexp.MustCompile(`(?m)^  ([a-z]+)  `)

// commands are those that the overview lists.
func commands(overview string) (names []string) {
	_, list, _ := strings.Cut(overview, "\nCommands:\n")
	for _, m := range listed.FindAllStringSubmatch(list, -1) {
		names = append(names, m[1])
	}
	return names
}

// page writes a page in the macros of man(7). Text keeps its lines: tables and examples
// are in it.
func (s *source) page(name, text string, commands []string) string {
	var b strings.Builder
	title, rest, _ := strings.Cut(text, "\n")
	usage, short := "loupe COMMAND [flags] [arguments]", strings.TrimPrefix(strings.TrimSuffix(title, "."), "loupe ")
	if commands == nil {
		usage, short, _ = strings.Cut(title, ": ")
	}
	fmt.Fprintf(&b, ".TH %s 1 %s %q %q\n", strings.ToUpper(strings.ReplaceAll(name, "-", `\-`)), s.time.Format("2006-01-02"), "loupe "+s.version, "loupe")
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", escape(name), escape(short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n.SH DESCRIPTION\n", escape(usage))
	open, first := false, true // open: in lines that stay as they are
	plain := func(on bool) {
		switch {
		case on && !open && first:
			b.WriteString(".nf\n")
		case on && !open:
			b.WriteString(".PP\n.nf\n")
		case open && !on:
			b.WriteString(".fi\n")
		}
		open, first = on, first && !on
	}
	for line := range strings.Lines(strings.Trim(rest, "\n")) {
		line = strings.TrimRight(line, "\n")
		switch heading := strings.TrimSuffix(line, ":"); {
		case line == "":
			plain(false)
		case heading != line && !strings.ContainsAny(line, ".,") && line[0] != ' ' && line[0] != '\t':
			plain(false)
			fmt.Fprintf(&b, ".SH %s\n", escape(strings.ToUpper(heading)))
			first = true
		default:
			plain(true)
			fmt.Fprintln(&b, escape(strings.ReplaceAll(line, "\t", "    ")))
		}
	}
	plain(false)
	b.WriteString(".SH SEE ALSO\n")
	if commands == nil {
		b.WriteString(".BR loupe (1)\n")
		return b.String()
	}
	for i, c := range commands {
		end := ","
		if i == len(commands)-1 {
			end = ""
		}
		fmt.Fprintf(&b, ".BR loupe\\-%s (1)%s\n", c, end)
	}
	return b.String()
}

// escape keeps roff from reading a line as its own.
func escape(line string) string {
	line = strings.NewReplacer(`\`, `\e`, "-", `\-`, "…", `\[u2026]`, "→", `\(->`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(line)
	if strings.HasPrefix(line, ".") {
		line = `\&` + line
	}
	return line
}
