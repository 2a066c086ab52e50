package dump

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A log may hold what several processes have printed at the same time, a line of one
// between two of the other. What tells them apart is a prefix (docker compose, kubectl
// --prefix, syslog with its process id) or the fields of JSON beside the message.
// Streams are told apart before anything is parsed, as a dump is a matter of lines that
// follow each other.

// Bounds of splitting.
const (
	maxSplit   = 256 << 20 // bytes of a text that is split
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

// withoutColour takes the escape sequences of a terminal out of a text.
func withoutColour(text []byte) []byte {
	if bytes.IndexByte(text, 0x1b) < 0 {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		if text[i] != 0x1b {
			n := bytes.IndexByte(text[i:], 0x1b)
			if n < 0 {
				n = len(text) - i
			}
			out = append(out, text[i:i+n]...)
			i += n
			continue
		}
		if n := escapeLen(text[i:]); n > 0 {
			i += n
			continue
		}
		out = append(out, text[i])
		i++
	}
	return out
}

// escapeLen is the length of the control sequence that text begins with, 0 for none.
func escapeLen(text []byte) int {
	if len(text) < 3 || text[1] != '[' {
		return 0
	}
	for i := 2; i < len(text) && i < 34; i++ {
		switch c := text[i]; {
		case c >= 0x40 && c <= 0x7e:
			return i + 1
		case c < 0x20 || c > 0x3f:
			return 0
		}
	}
	return 0
}

// stream is what one process has printed, without the prefixes.
type stream struct {
	name string
	text []byte
}

// split takes the streams of a log apart; nil where there is nothing to take apart.
// What belongs to none of them is the last one, without a name.
func split(text []byte) []stream {
	if len(text) > maxSplit || !bytes.Contains(text, []byte(headerStart)) {
		return nil
	}
	if all := splitPrefixes(text); all != nil {
		return all
	}
	return splitJSON(text)
}

// template is the shape of a prefix: what stands between the times and the numbers.
type template struct {
	shape *regexp.Regexp
	// names tells of each number whether it names a process.
	names []bool
	lines int
	seen  []map[string]int
}

// splitPrefixes splits by what stands before the headers of goroutines.
func splitPrefixes(text []byte) []stream {
	templates := map[string]*template{}
	objects := false // what stands behind the prefix is JSON
	for rest := text; len(templates) < maxTemplates; {
		i := bytes.Index(rest, []byte(headerStart))
		if i < 0 {
			break
		}
		begin := bytes.LastIndexByte(rest[:i], '\n') + 1
		line, _, _ := bytes.Cut(rest[i:min(len(rest), i+maxHeader)], []byte("\n"))
		if n := looseHeader(line); n > 0 && i > begin && i-begin < maxPrefix {
			prefix := rest[begin:i]
			if openQuote(prefix) >= 0 {
				n := bytes.Index(prefix, []byte(`{"`)) // JSON behind a prefix
				if n > 0 && separates(prefix[:n]) {
					prefix, objects = prefix[:n], true
				}
			}
			if openQuote(prefix) < 0 && separates(prefix) {
				key, shape := shapeOf(string(prefix))
				if templates[key] == nil {
					templates[key] = &template{shape: shape, seen: make([]map[string]int, shape.NumSubexp())}
				}
			}
		}
		rest = rest[i+len(headerStart):]
	}
	if len(templates) == 0 {
		return nil
	}
	keys := slices.SortedFunc(maps.Keys(templates), func(a, b string) int { return len(b) - len(a) + strings.Compare(a, b)/2 })
	which := func(line []byte) (string, []int) {
		for _, k := range keys {
			if m := templates[k].shape.FindSubmatchIndex(line); m != nil {
				return k, m
			}
		}
		return "", nil
	}
	for line := range bytes.Lines(text) {
		if k, m := which(line); m != nil {
			templates[k].count(line, m)
		}
	}
	numbered := false
	for _, t := range templates {
		t.names = make([]bool, len(t.seen))
		for i, values := range t.seen {
			t.names[i] = len(values) <= maxStreams && t.lines >= fewFields*len(values)
			numbered = numbered || t.names[i] && len(values) > 1
		}
	}
	if len(templates) == 1 && !numbered && !objects {
		return nil // one stream, or one among lines of another shape
	}
	var out streams
	for line := range bytes.Lines(text) {
		k, m := which(line)
		if m == nil {
			out.add("", line)
			continue
		}
		t := templates[k]
		name := k
		for i, named := range t.names {
			if named {
				name = strings.Replace(name, "#", string(line[m[2*i+2]:m[2*i+3]]), 1)
			} else {
				name = strings.Replace(name, "#", "…", 1)
			}
		}
		out.add(name, line[m[1]:])
	}
	return out.all()
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
// that is empty otherwise.
func shapeOf(prefix string) (key string, shape *regexp.Regexp) {
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

// streams gathers lines by the name of their stream.
type streams struct {
	order []*stream
	by    map[string]*stream
}

func (s *streams) add(name string, line []byte) {
	if s.by == nil {
		s.by = map[string]*stream{}
	}
	x := s.by[name]
	if x == nil && len(s.by) >= maxStreams {
		name = ""
		x = s.by[name]
	}
	if x == nil {
		x = &stream{name: name}
		s.by[name] = x
		s.order = append(s.order, x)
	}
	x.text = append(append(x.text, bytes.TrimRight(line, "\r\n")...), '\n')
}

// all returns the streams, that of lines without one last.
func (s *streams) all() (all []stream) {
	for _, x := range s.order {
		if x.name != "" {
			all = append(all, *x)
		}
	}
	if x := s.by[""]; x != nil {
		all = append(all, *x)
	}
	return all
}

// messageFields are where loggers put what a program has printed, the likeliest first.
var messageFields = []string{"log", "message", "msg", "MESSAGE", "textPayload", "line", "text", "body", "@message", "event"}

// varies are fields that say something of the line, and nothing of who has printed it.
func varies(field string) bool {
	switch f := strings.ToLower(strings.Trim(field, "@_")); f {
	case "time", "ts", "timestamp", "date", "datetime", "level", "severity", "lvl", "loglevel", "seq", "sequence", "offset", "caller", "logtag", "insertid", "priority":
		return true
	default:
		return strings.HasSuffix(f, "time") || strings.HasSuffix(f, "timestamp") || strings.HasSuffix(f, "cursor")
	}
}

// splitJSON splits lines that are objects with a message, by their other fields.
func splitJSON(text []byte) []stream {
	if !bytes.HasPrefix(text, []byte("{")) && !bytes.Contains(text, []byte("\n{")) && !bytes.Contains(text, []byte("\n {")) {
		return nil
	}
	values := map[string]map[string]int{}
	objects := 0
	each := func(do func(line []byte, fields map[string]json.RawMessage, message string)) {
		for line := range bytes.Lines(text) {
			var fields map[string]json.RawMessage
			if t := bytes.TrimSpace(line); len(t) > 1 && t[0] == '{' && t[len(t)-1] == '}' && json.Unmarshal(t, &fields) == nil {
				for _, name := range messageFields {
					var message string
					if raw, ok := fields[name]; ok && json.Unmarshal(raw, &message) == nil {
						delete(fields, name)
						do(line, fields, message)
						fields = nil
						break
					}
				}
				if fields == nil {
					continue
				}
			}
			do(line, nil, "")
		}
	}
	each(func(_ []byte, fields map[string]json.RawMessage, _ string) {
		if fields == nil {
			return
		}
		objects++
		for name, raw := range fields {
			if varies(name) || len(values) > 64 {
				continue
			}
			if values[name] == nil {
				values[name] = map[string]int{}
			}
			if len(values[name]) <= maxStreams {
				values[name][string(raw)]++
			}
		}
	})
	var names []string
	for name, seen := range values {
		total := 0
		for _, n := range seen {
			total += n
		}
		// A field that names a process is in all of its lines.
		if len(seen) <= maxStreams && total >= fewFields*len(seen) && (len(seen) > 1 || total < objects) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	var out streams
	each(func(line []byte, fields map[string]json.RawMessage, message string) {
		if fields == nil || strings.Contains(strings.TrimRight(message, "\r\n"), "\n") {
			out.add("", line) // a whole dump in one string is found where it is
			return
		}
		key := "{"
		for _, name := range names {
			if raw, ok := fields[name]; ok {
				key += name + "=" + strings.Trim(string(raw), `"`) + " "
			}
		}
		out.add(strings.TrimRight(key, " ")+"}", []byte(message))
	})
	return out.all()
}

// isSymbol tells that a text may be the name of a function as Go prints it. A line of a
// log is none: it has blanks, or has no dot.
func isSymbol(name []byte) bool {
	depth, dot := 0, false
	for i := 0; i < len(name); {
		r, n := utf8.DecodeRune(name[i:])
		i += n
		switch {
		case r == '[' || r == '{':
			depth++
		case r == ']' || r == '}':
			if depth--; depth < 0 {
				return false
			}
		case depth > 0:
			if r < ' ' || r == utf8.RuneError {
				return false
			}
		case r == '.':
			dot = true
		case strings.ContainsRune("_/-()*%~+@$:·<>,;!", r) || unicode.IsLetter(r) || unicode.IsDigit(r):
		default:
			return false
		}
	}
	return depth == 0 && len(name) > 0 && (dot || isCName(name))
}

// isCName tells that a name has the form of one of C: those have no package.
func isCName(name []byte) bool {
	for _, c := range name {
		if c != '_' && c-'0' > 9 && (c|0x20)-'a' > 25 {
			return false
		}
	}
	return name[0]-'0' > 9
}
