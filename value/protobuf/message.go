package protobuf

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// Enum is a number that has names in JSON: entry i is the name of i.
type Enum interface{ Names() []string }

// A message is a Go struct whose fields have a tag such as `pb:"3,period_type"`: the
// number of the field and its name in the .proto file, and after it the options
//
//	fixed   a number of eight bytes (fixed64) instead of a varint
//	hex     bytes that JSON has in hexadecimal, as OTLP has its ids
//
// Numbers, strings, bools and []byte are implicit fields of proto3: their zero value is
// not written. A pointer to one of them is an optional field or one of a oneof, a pointer
// to a struct a message; a slice is a repeated field, and numbers in it are packed.
type message struct {
	byNumber map[int]*field
	byName   map[string]*field
	fields   []*field
}

// field is one field of a message.
type field struct {
	number     int
	name, json string
	index      int
	kind       kind
	repeated   bool
	optional   bool // a pointer to a scalar
	fixed, hex bool
	names      []string     // of an enum
	elem       reflect.Type // of one value
	sub        func() *message
}

// kind is how a value is encoded.
type kind uint8

const (
	kindInt kind = iota // int32, int64, enum
	kindUint
	kindBool
	kindDouble
	kindString
	kindBytes
	kindMessage
)

var messages sync.Map // of reflect.Type, a *message

// describe returns the fields of a struct.
func describe(t reflect.Type) *message {
	if m, ok := messages.Load(t); ok {
		return m.(*message)
	}
	m := &message{byNumber: map[int]*field{}, byName: map[string]*field{}}
	for i := range t.NumField() {
		tag, ok := t.Field(i).Tag.Lookup("pb")
		if !ok {
			continue
		}
		f := newField(t.Field(i).Type, strings.Split(tag, ","))
		f.index = i
		m.fields = append(m.fields, f)
		m.byNumber[f.number], m.byName[f.name], m.byName[f.json] = f, f, f
	}
	was, _ := messages.LoadOrStore(t, m)
	return was.(*message)
}

func newField(t reflect.Type, tag []string) *field {
	number, err := strconv.Atoi(tag[0])
	if err != nil || len(tag) < 2 {
		panic(fmt.Sprintf("BUG: %s has the tag %q", t, tag))
	}
	f := &field{number: number, name: tag[1], json: lowerCamel(tag[1])}
	for _, o := range tag[2:] {
		f.fixed = f.fixed || o == "fixed"
		f.hex = f.hex || o == "hex"
	}
	if t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8 {
		f.repeated, t = true, t.Elem()
	} else if t.Kind() == reflect.Pointer {
		t = t.Elem()
		f.optional = t.Kind() != reflect.Struct
	}
	f.elem, f.kind = t, kindOf(t)
	if e, ok := reflect.Zero(t).Interface().(Enum); ok {
		f.names = e.Names()
	}
	f.sub = sync.OnceValue(func() *message { return describe(t) })
	return f
}

func kindOf(t reflect.Type) kind {
	switch t.Kind() {
	case reflect.Int32, reflect.Int64:
		return kindInt
	case reflect.Uint32, reflect.Uint64:
		return kindUint
	case reflect.Bool:
		return kindBool
	case reflect.Float64:
		return kindDouble
	case reflect.String:
		return kindString
	case reflect.Slice:
		return kindBytes
	case reflect.Struct:
		return kindMessage
	}
	panic(fmt.Sprintf("BUG: no field of a message has the type %s", t))
}

// lowerCamel is the name that JSON has for a field: the underscores go, and the letters
// after them become capitals.
func lowerCamel(name string) string {
	var b strings.Builder
	up := false
	for _, r := range name {
		if r == '_' {
			up = true
			continue
		}
		if up && 'a' <= r && r <= 'z' {
			r += 'A' - 'a'
		}
		up = false
		b.WriteRune(r)
	}
	return b.String()
}

// wireType is the type that a single value has on the wire.
func (f *field) wireType() int {
	switch {
	case f.kind == kindString || f.kind == kindBytes || f.kind == kindMessage:
		return Bytes
	case f.kind == kindDouble || f.fixed:
		return Fixed64
	default:
		return Varint
	}
}
