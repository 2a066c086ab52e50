package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"loupe/value/unit"
)

// object is a JSON object whose keys keep their order, which is that in which a command
// shows them.
type object struct {
	keys   []string
	values map[string]any
}

// maxDepth bounds how deep values may be nested.
const maxDepth = 64

// decode reads the JSON that a command has printed.
func decode(text []byte) (*object, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	v, err := value(d, 0)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one value")
	}
	o, ok := v.(*object)
	if !ok {
		return nil, errors.New("no object")
	}
	return o, nil
}

// value reads the next value: an *object, a []any, a json.Number, a string, a bool or nil.
func value(d *json.Decoder, depth int) (any, error) {
	if depth > maxDepth {
		return nil, errors.New("nested too deep")
	}
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('{'):
		o := &object{values: map[string]any{}}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			name := key.(string)
			v, err := value(d, depth+1)
			if err != nil {
				return nil, err
			}
			o.set(name, v)
		}
		_, err := d.Token()
		return o, err
	case json.Delim('['):
		all := []any{}
		for d.More() {
			v, err := value(d, depth+1)
			if err != nil {
				return nil, err
			}
			all = append(all, v)
		}
		_, err := d.Token()
		return all, err
	}
	return t, nil
}

func (o *object) set(key string, v any) {
	if _, ok := o.values[key]; !ok {
		o.keys = append(o.keys, key)
	}
	o.values[key] = v
}

// at is the value at a path of keys with dots between them; nil where there is none.
func (o *object) at(path string) any {
	var v any = o
	for key := range strings.SplitSeq(path, ".") {
		in, ok := v.(*object)
		if !ok {
			return nil
		}
		v = in.values[key]
	}
	return v
}

// text is the string at a path.
func (o *object) text(path string) string {
	s, _ := o.at(path).(string)
	return s
}

// list are the objects in the array at a path.
func (o *object) list(path string) (all []*object) {
	some, _ := o.at(path).([]any)
	for _, v := range some {
		if one, ok := v.(*object); ok {
			all = append(all, one)
		}
	}
	return all
}

// column is one column of a table that is made of objects: what it is called and where its
// value is.
type column struct{ name, path string }

// weigh puts the values of some keys, wherever they are, into a unit of profiles.
func weigh(v any, of string, keys []string) {
	switch v := v.(type) {
	case *object:
		for key, one := range v.values {
			if _, number := one.(json.Number); number && slices.Contains(keys, key) {
				v.values[key] = weight(of, one)
			} else {
				weigh(one, of, keys)
			}
		}
	case []any:
		for _, one := range v {
			weigh(one, of, keys)
		}
	}
}

// columns reads "name=path" or a path that is also the name, one a word.
func columns(text string) (all []column) {
	for word := range strings.FieldsSeq(text) {
		name, path, ok := strings.Cut(word, "=")
		if !ok {
			path = name
		}
		all = append(all, column{name, path})
	}
	return all
}

// tabulate makes a table of objects. Columns that are empty in all rows are left out.
func tabulate(name string, all []*object, cols []column) table {
	t := table{name: name}
	for _, c := range cols {
		if slices.ContainsFunc(all, func(o *object) bool { return !empty(cell(c.path, o.at(c.path))) }) {
			t.columns = append(t.columns, c.name)
		}
	}
	for _, o := range all {
		row := make([]any, 0, len(t.columns))
		for _, c := range cols {
			if slices.Contains(t.columns, c.name) {
				row = append(row, cell(c.path, o.at(c.path)))
			}
		}
		t.rows = append(t.rows, row)
	}
	return t
}

func empty(v any) bool { return v == nil || v == "" || v == false }

// whole makes tables of an object, as far as one can read them: what is single becomes facts,
// what is a list of objects a table, and what is a list of numbers is left out, as a
// picture of it would be needed. Keys in skip are left out, wherever they are.
func (a *answer) whole(o *object, skip ...string) {
	single := table{name: "facts", columns: []string{"what", "value"}}
	var more []table
	var walk func(prefix string, o *object)
	walk = func(prefix string, o *object) {
		for _, key := range o.keys {
			v, name := o.values[key], prefix+key
			if slices.Contains(skip, key) || slices.Contains(skip, name) {
				continue
			}
			switch v := v.(type) {
			case *object:
				walk(name+".", v)
			case []any:
				if some := o.list(key); len(some) > 0 {
					more = append(more, tabulate(name, some, keysOf(some, skip)))
				} else if _, ok := first(v).(string); ok {
					t := table{name: name, columns: []string{key}}
					for _, one := range v {
						t.rows = append(t.rows, []any{cell("", one)})
					}
					more = append(more, t)
				} else if c := cell(key, v); !empty(c) {
					single.rows = append(single.rows, []any{name, c})
				}
			default:
				if c := cell(key, v); !empty(c) {
					single.rows = append(single.rows, []any{name, c})
				}
			}
		}
	}
	walk("", o)
	a.add(single)
	for _, t := range more {
		a.add(t)
	}
}

func first(all []any) any {
	if len(all) == 0 {
		return nil
	}
	return all[0]
}

// maxColumns bounds the columns of a table that nobody has chosen.
const maxColumns = 14

// keysOf are the columns of objects: their keys, in their order.
func keysOf(all []*object, skip []string) (cols []column) {
	for _, o := range all {
		for _, key := range o.keys {
			known := slices.ContainsFunc(cols, func(c column) bool { return c.path == key })
			if !known && !slices.Contains(skip, key) && len(cols) < maxColumns {
				cols = append(cols, column{key, key})
			}
		}
	}
	return cols
}

// cell is a value as people read it. The key says the unit, as all JSON of loupe has it.
func cell(key string, v any) any {
	switch v := v.(type) {
	case json.Number:
		return figure(key, v)
	case *object:
		return inline(v)
	case []any:
		return inlineList(key, v)
	case nil:
		return nil
	}
	return v
}

// figure is a number with the unit that its key has.
func figure(key string, n json.Number) any {
	f, err := n.Float64()
	if err != nil {
		return n.String()
	}
	key = key[strings.LastIndexByte(key, '.')+1:]
	switch {
	case strings.HasSuffix(key, "_ns"):
		return unit.Duration(time.Duration(f))
	case strings.HasSuffix(key, "share") || strings.HasPrefix(key, "share"):
		return unit.Percent(f)
	case (strings.HasSuffix(key, "bytes") || key == "memory_limit") && f == math.Trunc(f):
		return unit.BytesOf(f)
	}
	if i, err := n.Int64(); err == nil {
		return i
	}
	if r, err := strconv.ParseFloat(strconv.FormatFloat(f, 'g', 4, 64), 64); err == nil {
		return r
	}
	return n.String()
}

// maxInline bounds how many parts of a list stand in one value.
const maxInline = 12

// inline writes an object as one value: a place as function file:line, anything else as
// name=value.
func inline(o *object) any {
	name := o.text("function")
	if name == "" {
		name = o.text("name")
	}
	if file := o.text("file"); file != "" {
		if line, ok := o.at("line").(json.Number); ok {
			file += ":" + line.String()
		}
		if o.at("created") == true {
			name = "created by " + name
		}
		return strings.TrimSpace(name + " " + base(file))
	}
	if e := cell("", o.at("estimate")); e != nil && len(o.keys) <= 4 {
		return fmt.Sprintf("%v (%v to %v)", e, cell("", o.at("low")), cell("", o.at("high")))
	}
	var parts []string
	for _, key := range o.keys {
		if c := cell(key, o.values[key]); !empty(c) {
			parts = append(parts, fmt.Sprintf("%s=%v", key, c))
		}
	}
	return strings.Join(parts, " ")
}

// inlineList writes a list as one value. Stacks are such: each frame was called by the one
// behind the arrow.
func inlineList(key string, all []any) any {
	if len(all) > maxInline && !slices.ContainsFunc(all, func(v any) bool { _, number := v.(json.Number); return !number }) {
		return nil // a course over time, of which one would want a picture
	}
	var parts []string
	between := ", "
	if key == "stack" || key == "path" { // of functions alone
		between = " ← "
	}
	for i, v := range all {
		if i == maxInline {
			parts = append(parts, fmt.Sprintf("(%d more)", len(all)-i))
			break
		}
		c := cell("", v)
		if s, ok := c.(string); ok && frame(s) {
			at := strings.LastIndexByte(s, ' ')
			c, between = s[:at+1]+base(s[at+1:]), " ← "
		}
		if !empty(c) {
			parts = append(parts, fmt.Sprint(c))
		}
	}
	return strings.Join(parts, between)
}

// frame tells of a text whether it is one of a stack: a function, a blank, and file:line.
func frame(s string) bool {
	at, colon := strings.LastIndexByte(s, ' '), strings.LastIndexByte(s, ':')
	if at <= 0 || colon < at {
		return false
	}
	_, err := strconv.Atoi(s[colon+1:])
	return err == nil
}

// base is a file without its folders: with the function beside it, that tells which it is.
func base(file string) string {
	return file[strings.LastIndexAny(file, `/\`)+1:]
}

// shortPath is the end of a long path, which tells files apart.
func shortPath(file string) string {
	parts := strings.Split(file, "/")
	if len(parts) <= 4 {
		return file
	}
	return "…/" + strings.Join(parts[len(parts)-3:], "/")
}
