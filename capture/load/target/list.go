package target

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Reader reads targets from the files and command lines of other programs.
type Reader struct {
	// Read returns what a file holds that a list or a command line names;
	// nil when there are no files.
	Read func(name string) ([]byte, error)
	// Base is the URL whose scheme and host go before a path without them.
	Base string
	// Literal takes every text as it stands: {{ begins no template.
	Literal bool
}

// List is what a file of targets holds.
type List struct {
	Targets []Target
	// Turns are the times of a timed list, in its order; empty for others.
	Turns []Turn
	// Form says in words what the file was taken for.
	Form string
}

// Turn is one line of a timed list.
type Turn struct {
	Due    time.Duration // since the start
	Target int           // index into List.Targets
}

// The forms of a list of targets.
const (
	VegetaText = "vegeta's targets"
	VegetaJSON = "vegeta's targets in JSON"
	TimedList  = "a timed list"
	URLList    = "a list of URLs"
)

// List reads a file of targets. It tells by the first line that is neither
// empty nor a comment (#) which form it is:
//
//	GET http://host/path          vegeta's targets: headers follow, and the
//	Content-Type: text/plain      name of a file with the body;
//	@body.txt                     an empty line between targets
//	{"method":"GET","url":"…"}    the same as a line of JSON each
//	12.5  http://host/path        h2load's timed list: milliseconds, URL
//	http://host/path              a list of URLs
//	3:http://host/path            the same with weights
func (r Reader) List(text []byte) (List, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if !utf8.Valid(text) {
		return List{}, errors.New("cannot read targets: this is not text")
	}
	first := ""
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			first = line
			break
		}
	}
	var l List
	var err error
	switch {
	case first == "":
		return l, errors.New("cannot read targets: there are none (want lines like GET http://host/path, or URLs)")
	case first[0] == '{':
		l.Form = VegetaJSON
		l.Targets, err = r.vegetaJSON(text)
	case isRequestLine(first):
		l.Form = VegetaText
		l.Targets, err = r.vegetaText(string(text))
	case isTimed(first):
		l.Form = TimedList
		err = r.timed(string(text), &l)
	default:
		l.Form = URLList
		l.Targets, err = r.urls(string(text))
	}
	if err == nil && len(l.Targets) > MaxTargets {
		err = fmt.Errorf("there are %d different ones, more than %d (a template {{line \"file\"}} takes as many as you like)", len(l.Targets), MaxTargets)
	}
	if err != nil {
		return List{}, fmt.Errorf("cannot read %s: %w", l.Form, err)
	}
	return l, nil
}

// isRequestLine tells whether a line begins with a method, in capitals.
func isRequestLine(line string) bool {
	method, rest, ok := strings.Cut(line, " ")
	return ok && isMethod(method) && strings.TrimSpace(rest) != ""
}

func isMethod(s string) bool {
	return s != "" && strings.IndexFunc(s, func(c rune) bool { return (c < 'A' || c > 'Z') && c != '-' && c != '_' }) < 0
}

func isTimed(line string) bool {
	at := strings.IndexAny(line, " \t")
	if at <= 0 {
		return false
	}
	_, err := parseMillis(line[:at])
	return err == nil
}

func parseMillis(s string) (time.Duration, error) {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || !(x >= 0) || x > 1e12 {
		return 0, fmt.Errorf("%q is not a time in milliseconds", clip(s))
	}
	return time.Duration(x * 1e6), nil
}

// resolve puts the base before a path, and checks what came of it.
func (r Reader) resolve(text string) (string, error) {
	if strings.HasPrefix(text, "/") {
		if r.Base == "" {
			return "", fmt.Errorf("%s has no host (give a URL to begin with, too)", quoted(text))
		}
		a, err := Split(r.Base)
		if err != nil {
			return "", err
		}
		text = a.Scheme + "://" + a.Host + text
	}
	if r.Literal {
		text = Quote(text)
	}
	_, err := Split(text)
	return text, err
}

// Body makes the text of a body: as it stands when it is no text, so that
// braces in a picture are no template.
func (r Reader) Body(content []byte) string {
	if r.Literal || !utf8.Valid(content) {
		return Quote(string(content))
	}
	return string(content)
}

// Text makes the text of a header or a short body.
func (r Reader) Text(s string) string {
	if r.Literal {
		return Quote(s)
	}
	return s
}

func (r Reader) file(name string) ([]byte, error) {
	if r.Read == nil {
		return nil, fmt.Errorf("cannot read %q: there are no files here", name)
	}
	return r.Read(name)
}

// vegetaText reads vegeta's targets as vegeta does (lib/targets.go there).
func (r Reader) vegetaText(text string) (out []Target, err error) {
	var at *Target
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		fail := func(format string, args ...any) ([]Target, error) {
			return nil, fmt.Errorf("line %d: %w", n, fmt.Errorf(format, args...))
		}
		switch {
		case line == "":
			at = nil
		case line[0] == '#':
		case isRequestLine(line):
			method, address, _ := strings.Cut(line, " ")
			if address, err = r.resolve(strings.TrimSpace(address)); err != nil {
				return fail("%w", err)
			}
			out = append(out, Target{Method: method, URL: address})
			at = &out[len(out)-1]
		case at == nil:
			return fail("want a method and a URL, not %s", quoted(line))
		case line[0] == '@':
			body, err := r.file(line[1:])
			if err != nil {
				return fail("%w", err)
			}
			at.Body = r.Body(body)
		default:
			f, err := parseField(line)
			if err != nil {
				return fail("%w", err)
			}
			f.Value = r.Text(f.Value)
			at.Header = append(at.Header, f)
		}
	}
	return out, nil
}

// vegetaJSON reads vegeta's targets in JSON.
func (r Reader) vegetaJSON(text []byte) (out []Target, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	for n := 1; ; n++ {
		var v struct {
			Method string              `json:"method"`
			URL    string              `json:"url"`
			Body   string              `json:"body"`
			Header map[string][]string `json:"header"`
		}
		if err := d.Decode(&v); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, fmt.Errorf("target %d: %w", n, err)
		}
		t := Target{Method: v.Method}
		if !isToken(v.Method) {
			return nil, fmt.Errorf("target %d: %s is not a method", n, quoted(v.Method))
		}
		if t.URL, err = r.resolve(v.URL); err != nil {
			return nil, fmt.Errorf("target %d: %w", n, err)
		}
		body, err := base64.StdEncoding.DecodeString(v.Body)
		if err != nil {
			return nil, fmt.Errorf("target %d: its body is not base64: %w", n, err)
		}
		t.Body = r.Body(body)
		names := make([]string, 0, len(v.Header))
		for name := range v.Header {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			for _, value := range v.Header[name] {
				f, err := parseField(name + ": " + value)
				if err != nil {
					return nil, fmt.Errorf("target %d: %w", n, err)
				}
				f.Value = r.Text(f.Value)
				t.Header = append(t.Header, f)
			}
		}
		out = append(out, t)
	}
}

// timed reads lines of a time in milliseconds and a URL, with a method before
// the URL if it is not GET. Equal lines are one target.
func (r Reader) timed(text string, l *List) error {
	seen := map[string]int{}
	n := 0
	for line := range strings.Lines(text) {
		n++
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		fields := strings.Fields(line)
		if len(fields) != 2 && (len(fields) != 3 || !isMethod(fields[1])) {
			return fmt.Errorf("line %d: want milliseconds and a URL, not %s", n, quoted(line))
		}
		due, err := parseMillis(fields[0])
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		key := strings.Join(fields[1:], " ")
		at, ok := seen[key]
		if !ok {
			t := Target{}
			if len(fields) == 3 {
				t.Method = fields[1]
			}
			if t.URL, err = r.resolve(fields[len(fields)-1]); err != nil {
				return fmt.Errorf("line %d: %w", n, err)
			}
			at = len(l.Targets)
			seen[key] = at
			l.Targets = append(l.Targets, t)
		}
		l.Turns = append(l.Turns, Turn{Due: due, Target: at})
	}
	return nil
}

// urls reads a URL a line.
func (r Reader) urls(text string) (out []Target, err error) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		var t Target
		if t.Weight, line, err = ParseWeight(line); err == nil {
			t.URL, err = r.resolve(line)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		out = append(out, t)
	}
	return out, nil
}

// maxWeight bounds the weight of a target.
const maxWeight = 1_000_000

// ParseWeight cuts the weight off "3:http://host/path"; it is 0 when there is
// none.
func ParseWeight(s string) (weight int, rest string, err error) {
	number, rest, ok := strings.Cut(s, ":")
	if !ok || number == "" || strings.Trim(number, "0123456789") != "" {
		return 0, s, nil
	}
	weight, err = strconv.Atoi(number)
	if err != nil || weight < 1 || weight > maxWeight {
		return 0, "", fmt.Errorf("weight %s is not between 1 and %d", number, maxWeight)
	}
	return weight, rest, nil
}

// parseField reads a line of a header, "Name: value".
func parseField(line string) (Field, error) {
	name, value, ok := strings.Cut(line, ":")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if !ok || !isToken(name) {
		return Field{}, fmt.Errorf("cannot read %s: want 'Name: value'", quoted(line))
	}
	if strings.ContainsAny(value, "\r\n\x00") {
		return Field{}, fmt.Errorf("cannot send %s: its value has a line break", quoted(line))
	}
	return Field{Name: name, Value: value}, nil
}

// isToken tells whether s is a token of RFC 9110.
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}
