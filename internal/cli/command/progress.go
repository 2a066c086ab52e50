package cli

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/term"

	"loupe/secret"
)

// isTerminal tells whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := fileOf(w)
	return ok && term.IsTerminal(int(f.Fd()))
}

// colour tells whether w should get colours: a terminal, and nobody asked
// for none (no-color.org).
func colour(w io.Writer) bool {
	return isTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// width returns the width of the terminal behind w, or 100.
func width(w io.Writer) int {
	if f, ok := fileOf(w); ok {
		if cols, _, err := term.GetSize(int(f.Fd())); err == nil && cols > 20 {
			return cols
		}
	}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 20 {
		return n
	}
	return 100
}

// progress returns a function that tells the user on stderr what happens;
// with quiet it tells nothing.
func (e *env) progress(quiet bool) func(format string, args ...any) {
	if quiet || e.quiet {
		return func(string, ...any) {}
	}
	dim, plain := "", ""
	if colour(e.stderr) {
		dim, plain = "\x1b[2m", "\x1b[0m"
	}
	return func(format string, args ...any) {
		line := fmt.Sprintf("%sloupe: %s%s\n", dim, printable(secret.Text(fmt.Sprintf(format, args...))), plain)
		if v := e.view.Load(); v != nil {
			v.note(line)
			return
		}
		if p := e.pulse.Load(); p != nil {
			p.note(line)
			return
		}
		io.WriteString(e.stderr, line)
	}
}

// showPulse shows on a terminal, every second, that something goes on, until stop
// is called, which may be more than once.
func (e *env) showPulse(quiet bool) (stop func()) {
	if quiet || e.quiet || !isTerminal(e.stderr) || os.Getenv("TERM") == "dumb" {
		return func() {}
	}
	p := startPulse(e.stderr, func() int { return width(e.stderr) })
	e.pulse.Store(p)
	return sync.OnceFunc(func() {
		e.pulse.Store(nil)
		p.stop()
	})
}

// doing says what goes on, for those who wait.
func (e *env) doing(what string) {
	if p := e.pulse.Load(); p != nil {
		p.do(what)
	}
}

// expect says how long it will take.
func (e *env) expect(about time.Duration) {
	if p := e.pulse.Load(); p != nil {
		p.expect(about)
	}
}
