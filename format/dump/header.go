package dump

import (
	"bytes"
	"strconv"
	"strings"
)

const headerStart = "goroutine "

// header is what was learned of one text in brackets.
type header struct {
	tail     string
	state    StateID
	wait     int32
	sentinel uint32 // the call that predicts the first frame
}

// cutHeader takes "goroutine 7 gp=0xc0 m=nil [chan receive, 5 minutes]:" apart.
// What stands between the number and the brackets may be anything.
func cutHeader(line []byte) (id uint64, tail []byte, ok bool) {
	n := len(line)
	if n < len("goroutine 0 []:") || string(line[:len(headerStart)]) != headerStart || line[n-1] != ':' || line[n-2] != ']' {
		return 0, nil, false
	}
	i := len(headerStart)
	id, i, ok = number(line, i)
	if !ok || line[i] != ' ' {
		return 0, nil, false
	}
	// The first bracket: labels may have some of their own.
	open := bytes.IndexByte(line[i:], '[')
	if open < 0 || i+open+1 > n-2 {
		return 0, nil, false
	}
	return id, line[i+open+1 : n-2], true
}

// number reads decimal digits at i; 20 of them at most.
func number(b []byte, i int) (n uint64, end int, ok bool) {
	start := i
	for i < len(b) && b[i]-'0' <= 9 && i-start < 20 {
		n = n*10 + uint64(b[i]-'0')
		i++
	}
	return n, i, i > start && i < len(b)
}

// maxHeader is more than a header has with its labels, where it is looked for
// inside of lines.
const maxHeader = 4096

// looseHeader returns the length of the header that text begins with, whatever
// follows it in the line, or 0.
func looseHeader(text []byte) int {
	if !bytes.HasPrefix(text, []byte(headerStart)) {
		return 0
	}
	_, i, ok := number(text, len(headerStart))
	if !ok || text[i] != ' ' {
		return 0
	}
	text = text[:min(len(text), maxHeader)]
	if i >= len(text) {
		return 0
	}
	end := bytes.Index(text[i:], []byte("]:"))
	if end < 0 || bytes.IndexByte(text[i:i+end], '[') < 0 {
		return 0
	}
	return i + end + 2
}

// nearHeader tells that a line begins as a header does and is none.
func nearHeader(line []byte) bool {
	if !bytes.HasPrefix(line, []byte(headerStart)) {
		return false
	}
	_, i, ok := number(line, len(headerStart))
	return ok && (bytes.IndexByte(line[i:], '[') >= 0)
}

// maxHeaders is how many distinct texts in brackets are remembered. Labels can
// make each of them another one, which is not worth remembering then.
const maxHeaders = 1 << 14

// headers are the texts in brackets that were told apart so far.
type headers struct {
	f      *File // has the states
	byText map[string]*header
	last   *header
	states map[State]StateID
}

func newHeaders(f *File) headers {
	return headers{f: f, byText: map[string]*header{}, states: map[State]StateID{}}
}

// of interns what the brackets say.
func (x *headers) of(tail []byte, c *calls) *header {
	if h := x.last; h != nil && string(tail) == h.tail {
		return h
	}
	h, ok := x.byText[string(tail)]
	if !ok {
		text := string(tail)
		s, wait := parseState(text)
		h = &header{tail: text, state: x.number(s), wait: wait}
		if len(x.byText) < maxHeaders {
			h.sentinel = c.put(call{})
			x.byText[text] = h
		}
	}
	x.last = h
	return h
}

// parseState reads "chan receive (leaked), 5 minutes, locked to thread,
// synctest bubble 1 labels:{"k": "v"}".
func parseState(text string) (s State, wait int32) {
	text, labels, ok := strings.Cut(text, " labels:{")
	if ok {
		s.Labels = strings.TrimSuffix(labels, "}")
	}
	name, rest, more := strings.Cut(text, ", ")
	for again := true; again; {
		again = false
		for _, flag := range [...]struct {
			text string
			set  *bool
		}{{" (leaked)", &s.Leaked}, {" (scan)", &s.Scan}, {" (durable)", &s.Durable}} {
			if cut, ok := strings.CutSuffix(name, flag.text); ok {
				name, again, *flag.set = cut, true, true
			}
		}
	}
	s.Name = name
	var odd []string
	for more {
		var part string
		part, rest, more = strings.Cut(rest, ", ")
		if n, ok := strings.CutSuffix(part, " minutes"); ok {
			if m, err := strconv.ParseInt(n, 10, 32); err == nil && m >= 0 {
				wait = int32(m)
				continue
			}
		}
		switch bubble, ok := strings.CutPrefix(part, "synctest bubble "); {
		case ok:
			s.Bubble = bubble
		case part == "locked to thread":
			s.Locked = true
		default:
			odd = append(odd, part)
		}
	}
	s.More = strings.Join(odd, ", ")
	return s, wait
}

// Label is one label that the program has set with runtime/pprof.
type Label struct{ Key, Value string }

// Pairs takes the labels apart. What does not have the form of Go 1.26 is one
// label without a key.
func (s *State) Pairs() (labels []Label) {
	for rest := s.Labels; rest != ""; {
		key, after, ok := cutQuoted(rest)
		if ok {
			after, ok = strings.CutPrefix(after, ":")
		}
		var value string
		if ok {
			value, after, ok = cutQuoted(strings.TrimPrefix(after, " "))
		}
		if !ok {
			return append(labels, Label{Value: rest})
		}
		labels = append(labels, Label{key, value})
		rest = strings.TrimPrefix(after, ", ")
		if rest == after && after != "" {
			return append(labels, Label{Value: rest})
		}
	}
	return labels
}

func cutQuoted(s string) (word, rest string, ok bool) {
	quoted, err := strconv.QuotedPrefix(s)
	if err != nil {
		return "", s, false
	}
	word, err = strconv.Unquote(quoted)
	return word, s[len(quoted):], err == nil
}
