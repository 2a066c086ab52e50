package command

import (
	"bufio"
	"errors"
	"io"
	"os"

	"loupe/report"
)

// Style is how text is laid out on standard output.
func (e *Env) Style() report.Style {
	whole := !IsTerminal(e.Stdout) && os.Getenv("COLUMNS") == ""
	return report.Style{Width: Width(e.Stdout), Colour: Colour(e.Stdout), Whole: whole}
}

// WriteJSON prints a value as all commands do.
func WriteJSON(w io.Writer, v any) error { return report.WriteJSON(w, v) }

// Buffered writes through a buffer.
func Buffered(w io.Writer, write func(io.Writer) error) error {
	b := bufio.NewWriter(w)
	return errors.Join(write(b), b.Flush())
}

// Formats are the forms that reports and comparisons are printed in.
var Formats = []string{"text", "json", "md", "svg"}

// SVGColumns is the width of the text in a picture.
const SVGColumns = 100

// ShellWord writes a word as a shell reads it, see [report.ShellWord].
func ShellWord(s string) string { return report.ShellWord(s) }
