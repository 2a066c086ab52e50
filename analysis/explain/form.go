package explain

import (
	"strings"

	"loupe/format/dump"
	"loupe/format/symbol"
)

// form is how the arguments of a dump are printed, which differs between versions of Go.
type form struct {
	version int  // 26 of Go 1.26; 0 is not known
	marked  bool // there is a ? somewhere, or what is younger than Go 1.17
	braces  bool // arguments are in the form of Go 1.17 and later
}

// maxLooks bounds how many goroutines are read to see how a file prints words.
const maxLooks = 2000

// formOf finds it in the text, and in the binary that printed it, which may be nil.
func formOf(f *dump.File, bin *symbol.Binary) (m form) {
	for g := range min(f.Len(), maxLooks) {
		text := string(f.Text(g))
		if !m.marked {
			m.marked = strings.Contains(text, "?)") || strings.Contains(text, "?,") || strings.Contains(text, "?}") || strings.Contains(text, "[...]") || strings.Contains(text, " in goroutine ")
		}
		m.braces = m.braces || m.marked || strings.Contains(text, "({") || strings.Contains(text, ", {")
		if m.marked {
			break
		}
	}
	if bin != nil {
		m.version, _ = bin.GoMinor()
	}
	return m
}

// structured tells that arguments are printed as values and not as the memory
// that they are in.
func (m form) structured() bool {
	if m.version > 0 {
		return m.version >= 17
	}
	return m.braces
}

// known tells that it is certain in which form words are.
func (m form) known() bool { return m.version > 0 || m.braces }

// inOrder is the version from which on parameters are listed as they are declared.
const inOrder = 16

// trust tells how far the marks of a call's words go.
func (m form) trust(c *dump.Call) trust {
	switch {
	case m.version == 17, m.version == 0 && !m.marked, strings.Contains(c.Func, "[...]"):
		// The marks of generic functions are those of their neighbours: the
		// hidden first argument is not counted, up to Go 1.26 at least.
		return trustNone
	case m.version < unnamedRight:
		return trustNamed
	}
	return trustAll
}

// unnamedRight is the version from which on parameters without a name are marked.
const unnamedRight = 26

type trust uint8

const (
	trustAll   trust = iota
	trustNamed       // parameters that have a name
	trustNone
)
