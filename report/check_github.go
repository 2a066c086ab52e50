package report

import (
	"fmt"
	"io"
	"strings"

	"loupe/value/terminal"
)

// WriteAnnotations prints what fails as workflow commands of GitHub, which shows them at their
// lines of a pull request: an error for each benchmark that fails, a notice for each that is
// undecided. GitHub shows ten of each from a step.
// https://docs.github.com/actions/reference/workflow-commands-for-github-actions
func WriteAnnotations(out io.Writer, c *Check) error {
	w := &lines{w: out}
	for _, rows := range c.cases() {
		if _, failing, _ := c.sorted(rows); len(failing) > 0 {
			w.printf("%s\n", annotation("error", rows[0].File, rows[0].Line, rows[0].heading(), strings.Join(failing, "\n")))
		}
	}
	for _, f := range c.Findings {
		if f.Fails {
			file, line := f.place()
			w.printf("%s\n", annotation("error", file, line, f.Load+": "+f.Rule+" "+f.Title, f.Summary))
		}
	}
	for _, b := range c.Broken {
		w.printf("%s\n", annotation("error", "", 0, b.heading()+": not measured", b.Text))
	}
	for _, rows := range c.cases() {
		if _, failing, open := c.sorted(rows); len(failing) == 0 && len(open) > 0 {
			w.printf("%s\n", annotation("notice", rows[0].File, rows[0].Line, rows[0].heading()+": undecided", strings.Join(open, "\n")))
		}
	}
	return w.err
}

// heading names a row where nothing else says what it is of.
func (r *CheckRow) heading() string {
	if r.Of != "" {
		return r.Group + ": " + r.title() // a figure of a load
	}
	return r.title()
}

// place is the first line of a finding's evidence.
func (f *CheckFinding) place() (file string, line int) {
	for _, e := range f.Evidence {
		if e.File != "" {
			return shortFile(e), e.Line
		}
	}
	return "", 0
}

// annotation is a workflow command: "::error file=a.go,line=3,title=x::text".
func annotation(kind, file string, line int, title, text string) string {
	var properties []string
	if file != "" {
		properties = append(properties, "file="+escapeProperty(file))
		if line > 0 {
			properties = append(properties, fmt.Sprintf("line=%d", line))
		}
	}
	properties = append(properties, "title="+escapeProperty("loupe: "+title))
	return fmt.Sprintf("::%s %s::%s", kind, strings.Join(properties, ","), escapeData(text))
}

// escapeData and escapeProperty write text as GitHub's runner reads it back (escapeData and
// escapeProperty of actions/toolkit, packages/core/src/command.ts).
func escapeData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(terminal.Text(s))
}

func escapeProperty(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(terminal.Text(s))
}
