package target

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Place is where in a request a template stands. It decides what becomes of
// characters that would end that place too early.
type Place uint8

// The places.
const (
	InBody   Place = iota
	InURL          // values are percent-encoded
	InHeader       // line breaks in values become spaces
)

// Template is a text with gaps that each request fills in for itself. It is
// read-only, and goroutines may share it.
type Template struct {
	pieces []piece
	size   int // an estimate of the length
}

// piece is a literal text, or a function with its arguments.
type piece struct {
	kind      kind
	text      string
	low, high int64    // of rand
	values    []string // of line and csv, escaped for their place
	scattered bool     // a value at random rather than in order
}

type kind uint8

const (
	literal kind = iota
	sequence
	identifier
	random
	value
	millis
	seconds
	nanos
	rfc3339
)

// placeholders are the names that a template may use, each with an example of its use
// and what stands there in the request.
var placeholders = []struct{ Form, Means string }{
	{`{{seq}}`, "the number of the request, from 0, which goes on in what else is sent to the same process"},
	{`{{uuid}}`, "a random UUID (version 4)"},
	{`{{rand}}`, "a random whole number below 2^53"},
	{`{{rand 1 100}}`, "a random whole number from 1 to 100"},
	{`{{line "file"}}`, "a line of a file; requests take one after the other, and begin again at its end"},
	{`{{csv "column"}}`, "a field of the row of the feed that the request took"},
	{`{{now}}`, `milliseconds since 1970; {{now "unix"}} seconds, {{now "nano"}} nanoseconds, {{now "rfc3339"}} a text`},
	{`{{"{{"}}`, "the text between the quotes, here two braces"},
}

// Parse reads a text with templates, taking values from s, which may be nil
// when the text needs no files. A value is fitted into its place; the words
// raw, json and url before a name say otherwise: {{raw line "paths.txt"}} is
// a path with its slashes, {{json csv "name"}} goes between the quotes of a
// JSON string.
func Parse(text string, in Place, s *Sources) (*Template, error) {
	t := &Template{}
	rest := text
	for {
		before, after, ok := strings.Cut(rest, "{{")
		t.literal(before)
		if !ok {
			return t, nil
		}
		inner, tail, ok := cutGap(after)
		if !ok {
			return nil, fmt.Errorf("cannot read template: the {{ has no }}: the one in front of byte %d of %d (two braces that are no template are written {{\"{{\"}})", len(text)-len(after)+1, len(text))
		}
		p, err := parseGap(inner, in, s)
		if err != nil {
			return nil, fmt.Errorf("cannot read template {{%s}}: %w", firstWord(inner), err)
		}
		if p.kind == literal {
			t.literal(p.text)
		} else {
			t.pieces = append(t.pieces, p)
			t.size += 20
		}
		rest = tail
	}
}

// Quote returns a text that [Parse] gives back as it stands.
func Quote(text string) string { return strings.ReplaceAll(text, "{{", `{{"{{"}}`) }

// HasTemplate tells whether a text would be anything but itself to [Parse].
func HasTemplate(text string) bool { return strings.Contains(text, "{{") }

func (t *Template) literal(text string) {
	if text == "" {
		return
	}
	t.size += len(text)
	if n := len(t.pieces); n > 0 && t.pieces[n-1].kind == literal {
		t.pieces[n-1].text += text
		return
	}
	t.pieces = append(t.pieces, piece{kind: literal, text: text})
}

// cutGap cuts at the first }} that stands in no quotes.
func cutGap(s string) (inner, rest string, ok bool) {
	inside := false
	for i := 0; i < len(s); i++ {
		switch {
		case inside && s[i] == '\\':
			i++
		case s[i] == '"':
			inside = !inside
		case !inside && strings.HasPrefix(s[i:], "}}"):
			return s[:i], s[i+2:], true
		}
	}
	return "", "", false
}

// words splits what stands between the braces; quoted tells which words were
// in quotes.
func words(s string) (list []string, inQuotes []bool, err error) {
	for {
		s = strings.TrimLeft(s, " \t\n\r")
		if s == "" {
			return list, inQuotes, nil
		}
		if s[0] == '"' || s[0] == '`' {
			prefix, err := strconv.QuotedPrefix(s)
			if err != nil {
				return nil, nil, errors.New("a quoted text has no end")
			}
			text, err := strconv.Unquote(prefix)
			if err != nil {
				return nil, nil, errors.New("a quoted text has no end")
			}
			list, inQuotes, s = append(list, text), append(inQuotes, true), s[len(prefix):]
			continue
		}
		end := strings.IndexAny(s, " \t\n\r\"`")
		if end < 0 {
			end = len(s)
		}
		list, inQuotes, s = append(list, s[:end]), append(inQuotes, false), s[end:]
	}
}

// parseGap reads what stands between two pairs of braces.
func parseGap(inner string, in Place, s *Sources) (piece, error) {
	list, inQuotes, err := words(inner)
	if err != nil {
		return piece{}, err
	}
	if len(list) == 1 && inQuotes[0] {
		return piece{kind: literal, text: escapeNamed("raw", in)(list[0])}, nil
	}
	escape := escapeFor(in)
	if len(list) > 1 && !inQuotes[0] {
		if e := escapeNamed(list[0], in); e != nil {
			escape, list, inQuotes = e, list[1:], inQuotes[1:]
		}
	}
	if len(list) == 0 || inQuotes[0] {
		return piece{}, unknown("")
	}
	name, args := list[0], list[1:]
	switch name {
	case "seq":
		return piece{kind: sequence}, none(name, args)
	case "uuid":
		return piece{kind: identifier}, none(name, args)
	case "rand":
		return parseRand(args)
	case "now":
		return parseNow(args)
	case "line", "csv":
		if len(args) != 1 {
			return piece{}, fmt.Errorf("%s takes one name in quotes", name)
		}
		if name == "line" {
			return s.line(args[0], escape)
		}
		return s.column(args[0], escape)
	}
	return piece{}, unknown(name)
}

func unknown(name string) error {
	forms := make([]string, len(placeholders))
	for i, n := range placeholders {
		forms[i] = n.Form
	}
	what := "there is no name in it"
	if name != "" {
		what = fmt.Sprintf("unknown name %q", name)
	}
	return fmt.Errorf("%s; there are %s", what, strings.Join(forms, ", "))
}

func none(name string, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no %q", name, args[0])
	}
	return nil
}

func parseRand(args []string) (piece, error) {
	p := piece{kind: random, low: 0, high: 1<<53 - 1}
	if len(args) == 0 {
		return p, nil
	}
	if len(args) != 2 {
		return p, errors.New("rand takes nothing, or the lowest and the highest number")
	}
	var err [2]error
	p.low, err[0] = strconv.ParseInt(args[0], 10, 64)
	p.high, err[1] = strconv.ParseInt(args[1], 10, 64)
	if e := errors.Join(err[:]...); e != nil {
		return p, fmt.Errorf("rand takes whole numbers, not %q and %q", args[0], args[1])
	}
	if p.low > p.high {
		return p, fmt.Errorf("rand: %d is more than %d", p.low, p.high)
	}
	return p, nil
}

func parseNow(args []string) (piece, error) {
	form := "milli"
	if len(args) > 1 {
		return piece{}, errors.New("now takes one form")
	}
	if len(args) == 1 {
		form = args[0]
	}
	kinds := map[string]kind{"milli": millis, "unix": seconds, "nano": nanos, "rfc3339": rfc3339}
	k, ok := kinds[form]
	if !ok {
		return piece{}, fmt.Errorf("now: unknown form %q; there are milli, unix, nano and rfc3339", form)
	}
	return piece{kind: k}, nil
}

// Constant returns the text when it is the same for every request.
func (t *Template) Constant() (text string, ok bool) {
	switch {
	case len(t.pieces) == 0:
		return "", true
	case len(t.pieces) == 1 && t.pieces[0].kind == literal:
		return t.pieces[0].text, true
	}
	return "", false
}

// Size is about how long the text becomes.
func (t *Template) Size() int { return t.size }

// Append appends the text for the request that v stands at. It allocates
// nothing beyond what dst needs.
func (t *Template) Append(dst []byte, v *Values) []byte {
	for i := range t.pieces {
		p := &t.pieces[i]
		switch p.kind {
		case literal:
			dst = append(dst, p.text...)
		case sequence:
			dst = strconv.AppendInt(dst, v.seq, 10)
		case identifier:
			dst = v.appendUUID(dst)
		case random:
			dst = strconv.AppendInt(dst, v.between(p.low, p.high), 10)
		case value:
			dst = append(dst, p.values[v.row(len(p.values), p.scattered)]...)
		case millis:
			dst = strconv.AppendInt(dst, v.now().UnixMilli(), 10)
		case seconds:
			dst = strconv.AppendInt(dst, v.now().Unix(), 10)
		case nanos:
			dst = strconv.AppendInt(dst, v.now().UnixNano(), 10)
		case rfc3339:
			dst = v.now().UTC().AppendFormat(dst, time.RFC3339Nano)
		}
	}
	return dst
}

// quoted shortens a text for an error.
func quoted(s string) string { return strconv.Quote(clip(s)) }

// firstWord is what an error may tell of a template, whose other words may be
// secret.
func firstWord(s string) string {
	words := strings.Fields(s)
	if len(words) == 0 {
		return ""
	}
	if len(words) == 1 && !strings.ContainsAny(words[0], "\"'`(") {
		return clip(words[0])
	}
	return clip(words[0]) + " …"
}

func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
