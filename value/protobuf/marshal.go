package protobuf

import (
	"encoding/binary"
	"math"
	"reflect"
	"strings"
)

// Marshal writes the message that a struct or a pointer to one describes. In strings,
// bytes that are no UTF-8 are replaced: readers refuse a message with them.
func Marshal(from any) []byte {
	v := reflect.Indirect(reflect.ValueOf(from))
	return appendMessage(nil, describe(v.Type()), v)
}

func appendMessage(b []byte, m *message, v reflect.Value) []byte {
	for _, f := range m.fields {
		b = f.append(b, v.Field(f.index))
	}
	return b
}

// append appends a field, unless it has the value that readers assume.
func (f *field) append(b []byte, v reflect.Value) []byte {
	switch {
	case f.repeated && f.wireType() != Bytes:
		if v.Len() == 0 {
			return b
		}
		var list []byte
		for i := range v.Len() {
			list = f.appendNumber(list, v.Index(i))
		}
		return AppendField(b, f.number, list)
	case f.repeated:
		for i := range v.Len() {
			b = f.appendOne(b, v.Index(i))
		}
		return b
	case v.Kind() == reflect.Pointer:
		if v.IsNil() {
			return b
		}
		return f.appendOne(b, v.Elem())
	case isZero(v):
		return b
	default:
		return f.appendOne(b, v)
	}
}

// isZero tells whether a field is left out: -0 is not the zero of proto3.
func isZero(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice:
		return v.Len() == 0
	case reflect.Float64:
		return math.Float64bits(v.Float()) == 0
	}
	return v.IsZero()
}

func (f *field) appendOne(b []byte, v reflect.Value) []byte {
	switch f.kind {
	case kindMessage:
		return AppendField(b, f.number, appendMessage(nil, f.sub(), v))
	case kindString:
		s := strings.ToValidUTF8(v.String(), "\uFFFD")
		b = binary.AppendUvarint(appendTag(b, f.number, Bytes), uint64(len(s)))
		return append(b, s...)
	case kindBytes:
		return AppendField(b, f.number, v.Bytes())
	default:
		return f.appendNumber(appendTag(b, f.number, f.wireType()), v)
	}
}

func (f *field) appendNumber(b []byte, v reflect.Value) []byte {
	x := uint64(0)
	switch f.kind {
	case kindInt:
		x = uint64(v.Int())
	case kindUint:
		x = v.Uint()
	case kindBool:
		if v.Bool() {
			x = 1
		}
	case kindDouble:
		x = math.Float64bits(v.Float())
	}
	if f.wireType() == Fixed64 {
		return binary.LittleEndian.AppendUint64(b, x)
	}
	return binary.AppendUvarint(b, x)
}
