package gc

import (
	"bufio"
	"io"
	"os"

	"loupe/format/godebug"
	"loupe/internal/cli/command"
	"loupe/report"
)

// explain says what a line of the runtime means, or the first line of each form in a
// file of that name.
func explain(e *command.Env, text string, asJSON bool) error {
	var all []*godebug.Explained
	file, err := os.Open(text)
	switch {
	case text == "-":
		all, err = explained(e.Stdin, "standard input")
	case err == nil:
		defer file.Close()
		all, err = explained(file, text)
	default:
		var one *godebug.Explained
		if one, err = godebug.Explain(text); err != nil {
			return command.Usagef("-explain: %q: %w (nor is it a file; put the whole line in quotation marks, - reads standard input)", text, err)
		}
		all = append(all, one)
	}
	if err != nil {
		return err
	}
	return command.Buffered(e.Stdout, func(out io.Writer) error {
		if asJSON {
			return report.WriteJSON(out, report.RuntimeWords{Schema: report.RuntimeWordsSchema, Lines: all})
		}
		return report.WriteRuntimeWords(out, all, e.Style())
	})
}

// explained are the first lines of each form.
func explained(in io.Reader, name string) (all []*godebug.Explained, err error) {
	type form struct{ setting, when string }
	seen := map[form]bool{}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, godebug.MaxLine)
	for lines.Scan() {
		x, err := godebug.Explain(lines.Text())
		if err != nil {
			continue // a line of the program
		}
		if f := (form{x.Setting, x.When}); !seen[f] {
			seen[f] = true
			all = append(all, x)
		}
	}
	if lines.Err() == bufio.ErrTooLong {
		err = nil // no line of the runtime is that long: what came before is shown
	} else {
		err = lines.Err()
	}
	if err == nil && len(all) == 0 {
		err = command.Nothingf("%s has no line of gctrace, schedtrace, inittrace, scavtrace or gcpacertrace", name)
	}
	return all, err
}
