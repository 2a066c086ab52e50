package profile

// span is a piece of a text.
type span struct{ off, n uint32 }

// aside marks a span that lies in text.side.
const aside = 1 << 31

// text holds the label sets of a profile as they stood on the wire, and its
// strings. What is added later goes aside, so that profiles that were made from
// one another share the rest.
type text struct {
	sets    []byte
	words   []byte
	side    []byte
	strings []span // in words
}

// bytes returns a label set.
func (t *text) bytes(s span) []byte { return t.in(t.sets, s) }

// word returns a string.
func (t *text) word(s span) []byte { return t.in(t.words, s) }

func (t *text) in(from []byte, s span) []byte {
	if s.n&aside != 0 {
		n := s.n &^ aside
		return t.side[s.off : s.off+n]
	}
	return from[s.off : s.off+s.n]
}

// str returns string i of the string table, which must be in range.
func (t *text) str(i uint64) string { return string(t.word(t.strings[i])) }
