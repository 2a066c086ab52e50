package command

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/term"

	"loupe/value/secret"
	"loupe/value/terminal"
)

// IsTerminal tells whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := FileOf(w)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Colour tells whether w should get colours: a terminal, and nobody asked
// for none (no-color.org).
func Colour(w io.Writer) bool {
	return IsTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// Width returns the width of the terminal behind w, or 100.
func Width(w io.Writer) int {
	if f, ok := FileOf(w); ok {
		if cols, _, err := term.GetSize(int(f.Fd())); err == nil && cols > 20 {
			return cols
		}
	}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 20 {
		return n
	}
	return 100
}

// Progress returns a function that tells the user on stderr what happens;
// with quiet it tells nothing.
func (e *Env) Progress(quiet bool) func(format string, args ...any) {
	if quiet || e.Quiet {
		return func(string, ...any) {}
	}
	dim, plain := "", ""
	if Colour(e.Stderr) {
		dim, plain = "\x1b[2m", "\x1b[0m"
	}
	return func(format string, args ...any) {
		line := fmt.Sprintf("%sloupe: %s%s\n", dim, terminal.Text(secret.Text(fmt.Sprintf(format, args...))), plain)
		if picture := e.above.Load(); picture != nil {
			(*picture).Note(line)
			return
		}
		if p := e.pulse.Load(); p != nil {
			p.Note(line)
			return
		}
		io.WriteString(e.Stderr, line)
	}
}

// ShowPulse shows on a terminal, every second, that something goes on, until stop
// is called, which may be more than once.
func (e *Env) ShowPulse(quiet bool) (stop func()) {
	if quiet || e.Quiet || !IsTerminal(e.Stderr) || os.Getenv("TERM") == "dumb" {
		return func() {}
	}
	p := startPulse(e.Stderr, func() int { return Width(e.Stderr) })
	e.pulse.Store(p)
	return sync.OnceFunc(func() {
		e.pulse.Store(nil)
		p.stop()
	})
}

// Doing says what goes on, for those who wait.
func (e *Env) Doing(what string) {
	if p := e.pulse.Load(); p != nil {
		p.do(what)
	}
}

// Expect says how long it will take.
func (e *Env) Expect(about time.Duration) {
	if p := e.pulse.Load(); p != nil {
		p.expect(about)
	}
}
