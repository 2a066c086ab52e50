// Package streams tells the processes apart that have written to one log.
//
// A log may hold what several processes have printed at the same time, a line of one
// between two of the other. What tells them apart is a prefix (docker compose, kubectl
// --prefix, syslog with its process id) or the fields of JSON beside the message.
// Whoever reads something of which the lines belong together, such as a dump or the
// lines of the runtime, takes the streams apart before anything is parsed.
//
// The package knows nothing of what is in the lines: the caller says where in a line
// that which it reads begins, and what stands before is the prefix.
package streams

import (
	"bytes"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Bounds of splitting.
const (
	// MaxText is how many bytes of a text are taken apart.
	MaxText    = 256 << 20
	maxStreams = 512
	// maxTemplates bounds the shapes that each line is held against.
	maxTemplates = 32
	maxPrefix    = 512 // bytes of a prefix
	// fewFields is how many lines each value of something that names a process has
	// at least, on average: a counter has another value in each.
	fewFields = 3
)

// clock matches the parts of a prefix that are a time.
var clock = regexp.MustCompile(`\d{4}[-/.]\d\d[-/.]\d\d(?:[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)?` +
	`|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d:\d\d(?:[.,]\d+)?` +
	`|\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?|\d{9,}(?:\.\d+)?|\d+\.\d{3,}`)

var digits = regexp.MustCompile(`\d+`)

// Stream is what one process has printed, without the prefixes.
type Stream struct {
	Name string
	Text []byte
}

// Find returns where in a line that begins which the caller reads, searching from
// byte from on; -1 where there is nothing.
type Find func(line []byte, from int) int

// Splitter knows how the lines of a log tell whose they are. The zero Splitter takes
// nothing apart.
type Splitter struct {
	keys      []string // of templates, the longest first
	templates map[string]*template
	fields    []string // of JSON; nil where the lines are no objects
	// inner are the splitters of streams whose lines are objects behind a prefix.
	inner map[string]*Splitter
	// several tells that the text that was learned from holds more than one stream.
	several bool
}

// Learn finds out how the lines of a text tell whose they are; nil where they do
// not.
func Learn(text []byte, find Find) *Splitter {
	if s := learnPrefixes(text, find); s != nil {
		return s
	}
	return learnJSON(text)
}

// Several tells whether there was more than one stream in the text that s was
// learned from.
func (s *Splitter) Several() bool { return s.several }

// Split takes the streams of a text apart. What belongs to none of them is the last
// one, without a name.
func (s *Splitter) Split(text []byte) []Stream {
	var out gathered
	for line := range bytes.Lines(text) {
		out.add(s.Of(line))
	}
	return out.all()
}

// Of returns the stream that a line is of, and what the process has written of it;
// the whole line is of the stream without a name where nothing tells.
func (s *Splitter) Of(line []byte) (name string, own []byte) {
	if s.fields != nil {
		return s.ofObject(line)
	}
	k, m := s.which(line)
	if m == nil {
		return "", line
	}
	t := s.templates[k]
	name = k
	for i, named := range t.names {
		value := "…"
		if named {
			value = string(line[m[2*i+2]:m[2*i+3]])
		}
		name = strings.Replace(name, "#", value, 1)
	}
	own = line[m[1]:]
	if in := s.inner[name]; in != nil {
		more, message := in.Of(own)
		return name + more, message
	}
	return name, own
}

// which returns the template that a line has the prefix of, and where its numbers
// are.
func (s *Splitter) which(line []byte) (string, []int) {
	for _, k := range s.keys {
		if m := s.templates[k].shape.FindSubmatchIndex(line); m != nil {
			return k, m
		}
	}
	return "", nil
}

// template is the shape of a prefix: what stands between the times and the numbers.
type template struct {
	shape *regexp.Regexp
	// names tells of each number whether it names a process.
	names []bool
	lines int
	seen  []map[string]int
}

// learnPrefixes learns from what stands before the lines that are looked for.
func learnPrefixes(text []byte, find Find) *Splitter {
	s := &Splitter{templates: map[string]*template{}}
	objects := false // what stands behind the prefix is JSON
	for line := range bytes.Lines(text) {
		for i := find(line, 0); i >= 0 && len(s.templates) < maxTemplates; i = find(line, i+1) {
			prefix := line[:i]
			if i == 0 || i >= maxPrefix {
				continue
			}
			if OpenQuote(prefix) >= 0 {
				n := bytes.Index(prefix, []byte(`{"`)) // JSON behind a prefix
				if n > 0 && separates(prefix[:n]) {
					prefix, objects = prefix[:n], true
				}
			}
			if OpenQuote(prefix) < 0 && separates(prefix) {
				key, shape := shapeOf(string(prefix))
				if s.templates[key] == nil {
					s.templates[key] = &template{shape: shape, seen: make([]map[string]int, shape.NumSubexp())}
				}
			}
		}
	}
	if len(s.templates) == 0 {
		return nil
	}
	s.keys = slices.SortedFunc(maps.Keys(s.templates), func(a, b string) int { return len(b) - len(a) + strings.Compare(a, b)/2 })
	for line := range bytes.Lines(text) {
		if k, m := s.which(line); m != nil {
			s.templates[k].count(line, m)
		}
	}
	s.several = len(s.templates) > 1 || objects
	for _, t := range s.templates {
		t.names = make([]bool, len(t.seen))
		for i, values := range t.seen {
			t.names[i] = len(values) <= maxStreams && t.lines >= fewFields*len(values)
			s.several = s.several || t.names[i] && len(values) > 1
		}
	}
	if objects {
		inner := map[string]*Splitter{}
		for _, x := range s.Split(text) {
			if in := learnJSON(x.Text); in != nil && x.Name != "" {
				inner[x.Name] = in
			}
		}
		s.inner = inner
	}
	return s
}

// OpenQuote returns the position of the quotation mark that is open at the end
// of text, or -1.
func OpenQuote(text []byte) int {
	open := -1
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && open >= 0:
			i++
		case text[i] == '"' && open >= 0:
			open = -1
		case text[i] == '"':
			open = i
		}
	}
	return open
}

// separates tells that a prefix is set apart from what follows: prose that ends with
// "stack of goroutine 7 [running]:" is none.
func separates(prefix []byte) bool {
	trimmed := bytes.TrimRight(prefix, " \t")
	if len(trimmed) == 0 {
		return false // it is indented
	}
	if clock.Match(prefix) {
		return true
	}
	return bytes.IndexByte([]byte("|:]>)}"), trimmed[len(trimmed)-1]) >= 0 || prefix[len(prefix)-1] == '\t'
}

// shapeOf makes the pattern of a prefix. Blanks at its end may be missing in a line
// that is empty otherwise. Bytes that are no UTF-8 match each other: package regexp
// reads each as the replacement character, and takes it nowhere else in a pattern.
func shapeOf(prefix string) (key string, shape *regexp.Regexp) {
	prefix = string([]rune(prefix))
	var pattern, name strings.Builder
	literal := func(s string) {
		for s != "" {
			m := digits.FindStringIndex(s)
			if m == nil {
				m = []int{len(s), len(s)}
			}
			pattern.WriteString(regexp.QuoteMeta(s[:m[0]]))
			name.WriteString(strings.ReplaceAll(s[:m[0]], "#", "♯"))
			if m[0] < m[1] {
				pattern.WriteString(`(\d+)`)
				name.WriteString("#")
			}
			s = s[m[1]:]
		}
	}
	body := strings.TrimRight(prefix, " \t")
	at := 0
	for _, m := range clock.FindAllStringIndex(body, -1) {
		literal(body[at:m[0]])
		pattern.WriteString("(?:" + clock.String() + ")")
		name.WriteString("TIME")
		at = m[1]
	}
	literal(body[at:])
	blanks := prefix[len(body):]
	if blanks != "" {
		pattern.WriteString("(?:" + regexp.QuoteMeta(blanks) + "|[ \t]*\r?$)")
	}
	return name.String() + blanks, regexp.MustCompile(`(?m)\A` + pattern.String())
}

// count notes the numbers of a line.
func (t *template) count(line []byte, m []int) {
	t.lines++
	for i := range t.seen {
		if t.seen[i] == nil {
			t.seen[i] = map[string]int{}
		}
		if len(t.seen[i]) <= maxStreams {
			t.seen[i][string(line[m[2*i+2]:m[2*i+3]])]++
		}
	}
}

// gathered are lines by the name of their stream.
type gathered struct {
	order []*Stream
	by    map[string]*Stream
}

func (s *gathered) add(name string, line []byte) {
	if s.by == nil {
		s.by = map[string]*Stream{}
	}
	x := s.by[name]
	if x == nil && len(s.by) >= maxStreams {
		name = ""
		x = s.by[name]
	}
	if x == nil {
		x = &Stream{Name: name}
		s.by[name] = x
		s.order = append(s.order, x)
	}
	x.Text = append(append(x.Text, bytes.TrimRight(line, "\r\n")...), '\n')
}

// all returns the streams, that of lines without one last.
func (s *gathered) all() (all []Stream) {
	for _, x := range s.order {
		if x.Name != "" {
			all = append(all, *x)
		}
	}
	if x := s.by[""]; x != nil {
		all = append(all, *x)
	}
	return all
}
