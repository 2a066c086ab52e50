// Package yamlfile reads the files in YAML that people write for loupe: keys that are known
// by name, and errors that say which file, which line, and what would be right.
//
// A file is read once by [Parse], and then handed down key by key: a Reader of the whole
// ([Reader.Fields]) calls the reader of each key.
package yamlfile

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"loupe/value/unit"
)

// maxBytes bounds a file.
const maxBytes = 1 << 20

// ErrEmpty is the error of a file in which there is nothing.
var ErrEmpty = errors.New("is empty")

// Node is a part of a file: a text, a list, or keys with their values.
type Node = yaml.Node

// Value reads the value of a key.
type Value func(*Node) error

// Keys are what a mapping may have, each with what reads its value.
type Keys map[string]Value

// Reader reads the nodes of a file. Its errors name the file and the line.
type Reader struct {
	// Path is what the user calls the file.
	Path string
}

// Parse reads the text of a file of one document. It fails with ErrEmpty where there is
// none.
func Parse(path string, data []byte) (Reader, *Node, error) {
	r := Reader{path}
	if len(data) > maxBytes {
		return r, nil, fmt.Errorf("%s is longer than %d bytes", path, maxBytes)
	}
	dec := yaml.NewDecoder(strings.NewReader(string(data)))
	var doc yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return r, nil, fmt.Errorf("%s %w", path, ErrEmpty)
	case err != nil:
		return r, nil, r.syntax(err)
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return r, nil, fmt.Errorf("%s has more than one document (---)", path)
	}
	return r, whole(doc.Content[0]), nil
}

// Errorf is an error about a node.
func (r Reader) Errorf(n *Node, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", r.Path, n.Line, fmt.Sprintf(format, args...))
}

// syntax words an error of the library: "yaml: line 3: …".
func (r Reader) syntax(err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		return fmt.Errorf("%s:%s", r.Path, rest)
	}
	return fmt.Errorf("%s: %s", r.Path, text)
}

// whole is what a node stands for.
func whole(n *Node) *Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// Fields hands the values of a mapping to what reads them. A key that is unknown, comes
// twice or has no value is an error.
func (r Reader) Fields(n *Node, known Keys) error {
	n = whole(n)
	if n.Kind != yaml.MappingNode {
		return r.Errorf(n, "want keys and values (%s)", strings.Join(known.names(), ", "))
	}
	seen := map[string]int{}
	for key, value := range pairs(n) {
		read := known[key.Value]
		if read == nil {
			return r.unknown(key, known)
		}
		if seen[key.Value] > 0 {
			return r.Errorf(key, "%s stands in line %d already", key.Value, seen[key.Value])
		}
		seen[key.Value] = key.Line
		if value.Tag == "!!null" {
			return r.Errorf(key, "%s has no value", key.Value)
		}
		if err := read(value); err != nil {
			return err
		}
	}
	return nil
}

func (r Reader) unknown(key *Node, known Keys) error {
	if near := unit.Nearest(key.Value, known.names()); near != "" {
		return r.Errorf(key, "unknown key %q, did you mean %q?", key.Value, near)
	}
	return r.Errorf(key, "unknown key %q: there are %s", key.Value, strings.Join(known.names(), ", "))
}

// names are the keys, sorted.
func (k Keys) names() []string {
	names := make([]string, 0, len(k))
	for name := range k {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// pairs are the keys and values of a mapping.
func pairs(n *Node) func(yield func(key, value *Node) bool) {
	return func(yield func(key, value *Node) bool) {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], whole(n.Content[i+1])) {
				return
			}
		}
	}
}

// Names are the keys of a mapping as they stand there; of anything else there are none.
func Names(n *Node) (names []string) {
	if n = whole(n); n.Kind != yaml.MappingNode {
		return nil
	}
	for key := range pairs(n) {
		names = append(names, key.Value)
	}
	return names
}

// Each hands the entries of a list on. No node at all is an empty list.
func (r Reader) Each(n *Node, one Value) error {
	if n == nil {
		return nil
	}
	if n = whole(n); n.Kind != yaml.SequenceNode {
		return r.Errorf(n, "want a list: each entry begins with -")
	}
	for _, e := range n.Content {
		if err := one(whole(e)); err != nil {
			return err
		}
	}
	return nil
}

// List reads the entries of a list, each by itself.
func (r Reader) List(one Value) Value { return func(n *Node) error { return r.Each(n, one) } }

// IsText tells a text from lists and mappings.
func IsText(n *Node) bool { return n.Kind == yaml.ScalarNode }

// Text reads a text.
func (r Reader) Text(to *string) Value {
	return func(n *Node) error {
		if !IsText(n) {
			return r.Errorf(n, "want a text")
		}
		*to = n.Value
		return nil
	}
}

// Texts reads one text or several.
func (r Reader) Texts(to *[]string) Value {
	return func(n *Node) error {
		if IsText(n) {
			*to = []string{n.Value}
			return nil
		}
		*to = nil
		return r.Each(n, func(n *Node) error {
			one := ""
			if err := r.Text(&one)(n); err != nil {
				return err
			}
			*to = append(*to, one)
			return nil
		})
	}
}

// Map reads a mapping of any keys to texts.
func (r Reader) Map(to *map[string]string) Value {
	return func(n *Node) error {
		known, out := Keys{}, map[string]string{}
		for _, name := range Names(n) {
			known[name] = func(n *Node) error {
				one := ""
				err := r.Text(&one)(n)
				out[name] = one
				return err
			}
		}
		*to = out
		return r.Fields(n, known)
	}
}

// Duration reads a time above 0.
func (r Reader) Duration(to *time.Duration) Value {
	return func(n *Node) error {
		d, err := unit.ParseDuration(n.Value)
		if err != nil || d <= 0 {
			return r.Errorf(n, "want a time such as 2m, not %q", n.Value)
		}
		*to = d
		return nil
	}
}

// Bool reads true or false.
func (r Reader) Bool(to *bool) Value {
	return func(n *Node) (err error) {
		if *to, err = strconv.ParseBool(n.Value); err != nil {
			return r.Errorf(n, "want true or false, not %q", n.Value)
		}
		return nil
	}
}

// Int reads a whole number of at least some value.
func (r Reader) Int(to *int, least int) Value {
	return func(n *Node) error {
		v, err := strconv.Atoi(n.Value)
		if err != nil || v < least {
			return r.Errorf(n, "want a number of at least %d, not %q", least, n.Value)
		}
		*to = v
		return nil
	}
}

// Word reads one of some words.
func (r Reader) Word(key string, known []string, set func(string)) Value {
	return func(n *Node) error {
		if !slices.Contains(known, n.Value) {
			return r.Errorf(n, "%s: want %s, not %q", key, strings.Join(known, ", "), n.Value)
		}
		set(n.Value)
		return nil
	}
}
