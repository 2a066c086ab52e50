package command

import (
	"bytes"
	"io"
	"os"
	"unicode/utf8"

	"loupe/value/terminal"
)

// textScreen is a terminal that is shown text alone: a name in a profile may hold what
// moves the cursor, sets the title, turns the order of letters around or answers
// in the user's stead. Control characters, bidirectional ones and bytes that are no
// text are left out, but for the few sequences that loupe itself prints.
//
// It stands behind the printers, most of which clean their names themselves. Those
// of pprof and of the events of a trace do not: their text is that of other tools,
// byte for byte, when it goes into a file or another program.
type textScreen struct {
	file *os.File
	own  [][]byte // sequences that pass
	held []byte   // the begin of a character or sequence whose rest has not come
}

// ownSequences are colours, and what draws a line again.
var ownSequences = [][]byte{
	[]byte("\x1b[0m"), []byte("\x1b[1m"), []byte("\x1b[2m"), []byte("\x1b[31m"), []byte("\x1b[32m"), []byte("\x1b[33m"), []byte("\x1b[36m"),
	[]byte("\r\x1b[K"),
}

// shownOn is what prints to f: f itself, unless it is a terminal.
func shownOn(f *os.File) io.Writer {
	if !IsTerminal(f) {
		return &keeper{file: f}
	}
	return &textScreen{file: f, own: ownSequences}
}

// Plain is standard output for text that has no sequences of ours: on a terminal
// none passes.
func (e *Env) Plain() io.Writer {
	if s, ok := e.Stdout.(*textScreen); ok {
		return &textScreen{file: s.file}
	}
	return e.Stdout
}

// keeper is standard output where it is no terminal. It remembers that a write has
// failed: what lands on a full disk in part must not end as if it had all been
// printed, whoever wrote it.
type keeper struct {
	file *os.File
	err  error
}

// Write writes to the file.
func (k *keeper) Write(b []byte) (n int, err error) {
	n, err = k.file.Write(b)
	if err != nil && k.err == nil {
		k.err = err
	}
	return n, err
}

// FileOf is the file behind a writer.
func FileOf(w io.Writer) (*os.File, bool) {
	switch s := w.(type) {
	case *textScreen:
		return s.file, true
	case *keeper:
		return s.file, true
	}
	f, ok := w.(*os.File)
	return f, ok
}

// Write shows text.
func (s *textScreen) Write(p []byte) (int, error) {
	text := append(s.held, p...)
	s.held = nil
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		if text[0] == 0x1b || text[0] == '\r' {
			n, cut := s.ownAt(text)
			if cut {
				break
			}
			out = append(out, text[:n]...)
			text = text[max(n, 1):]
			continue
		}
		if !utf8.FullRune(text) {
			break
		}
		r, n := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && n == 1:
			out = utf8.AppendRune(out, utf8.RuneError)
		case r == '\n' || r == '\t' || !terminal.Obeyed(r):
			out = append(out, text[:n]...)
		}
		text = text[n:]
	}
	s.held = bytes.Clone(text)
	if _, err := s.file.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// ownAt returns the length of the sequence of ours that text begins with, 0 for
// none; cut says that it may be the begin of one.
func (s *textScreen) ownAt(text []byte) (n int, cut bool) {
	for _, seq := range s.own {
		if bytes.HasPrefix(text, seq) {
			return len(seq), false
		}
		cut = cut || bytes.HasPrefix(seq, text)
	}
	return 0, cut
}
