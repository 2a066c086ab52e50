package protobuf

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// UnmarshalJSON reads the JSON form of a message into the struct that into points to.
// It takes fields by either name, numbers as strings, enums by name or number, and bytes
// in any base64; fields that it does not know are skipped. Memory is bounded as in
// [Unmarshal].
func UnmarshalJSON(data []byte, into any, memory int64) error {
	d := &jsonDecoder{decoder: decoder{left: memory}, json: json.NewDecoder(bytes.NewReader(data))}
	d.json.UseNumber()
	v := reflect.ValueOf(into).Elem()
	first, err := d.token()
	if err != nil {
		return err
	}
	if err := d.object(first, describe(v.Type()), v, 0); err != nil {
		return err
	}
	if _, err := d.json.Token(); err != io.EOF {
		return fmt.Errorf("byte %d: there is more behind the message", d.json.InputOffset())
	}
	return nil
}

type jsonDecoder struct {
	decoder
	json *json.Decoder
}

func (d *jsonDecoder) token() (json.Token, error) {
	t, err := d.json.Token()
	if err == io.EOF {
		return nil, errors.New("the JSON ends too early")
	}
	if err != nil {
		return nil, fmt.Errorf("byte %d: %w", d.json.InputOffset(), err)
	}
	return t, nil
}

func (d *jsonDecoder) object(first json.Token, m *message, v reflect.Value, depth int) error {
	if first != json.Delim('{') {
		return fmt.Errorf("byte %d: expected an object", d.json.InputOffset())
	}
	if depth > maxDepth {
		return fmt.Errorf("messages lie more than %d deep in each other", maxDepth)
	}
	for {
		t, err := d.token()
		if err != nil || t == json.Delim('}') {
			return err
		}
		f := m.byName[t.(string)] // the decoder takes nothing but strings here
		if t, err = d.token(); err != nil {
			return err
		}
		if f == nil {
			if err := d.skip(t); err != nil {
				return err
			}
			continue
		}
		if err := d.field(t, f, v.Field(f.index), depth); err != nil {
			return fmt.Errorf("%s: %w", f.json, err)
		}
	}
}

// skip reads the rest of a value that begins with the token.
func (d *jsonDecoder) skip(t json.Token) (err error) {
	for open := 0; ; {
		switch t {
		case json.Delim('{'), json.Delim('['):
			open++
		case json.Delim('}'), json.Delim(']'):
			open--
		}
		if open == 0 {
			return nil
		}
		if t, err = d.token(); err != nil {
			return err
		}
	}
}

func (d *jsonDecoder) field(t json.Token, f *field, v reflect.Value, depth int) error {
	if t == nil { // null is no value
		return nil
	}
	if !f.repeated {
		one, err := d.place(f, v)
		if err != nil {
			return err
		}
		return d.value(t, f, one, depth)
	}
	if t != json.Delim('[') {
		return fmt.Errorf("byte %d: expected a list", d.json.InputOffset())
	}
	for {
		t, err := d.token()
		if err != nil || t == json.Delim(']') {
			return err
		}
		one, err := d.place(f, v)
		if err != nil {
			return err
		}
		if err := d.value(t, f, one, depth); err != nil {
			return err
		}
	}
}

func (d *jsonDecoder) value(t json.Token, f *field, v reflect.Value, depth int) error {
	switch f.kind {
	case kindMessage:
		return d.object(t, f.sub(), v, depth+1)
	case kindBool:
		b, ok := t.(bool)
		if !ok {
			return fmt.Errorf("%v is not true or false", t)
		}
		v.SetBool(b)
		return nil
	case kindString, kindBytes:
		s, ok := t.(string)
		if !ok {
			return fmt.Errorf("%v is not a string", t)
		}
		if err := d.take(int64(len(s))); err != nil {
			return err
		}
		if f.kind == kindString {
			v.SetString(s)
			return nil
		}
		b, err := decodeBytes(s, f.hex)
		v.SetBytes(b)
		return err
	default:
		return numberFromJSON(t, f, v)
	}
}

func decodeBytes(s string, isHex bool) ([]byte, error) {
	if isHex {
		b, err := hex.DecodeString(s)
		if err != nil {
			return nil, fmt.Errorf("not in hexadecimal: %w", err)
		}
		return b, nil
	}
	enc := base64.StdEncoding
	if strings.ContainsAny(s, "-_") {
		enc = base64.URLEncoding
	}
	if len(s)%4 != 0 {
		enc = enc.WithPadding(base64.NoPadding)
	}
	b, err := enc.DecodeString(s)
	if err != nil {
		return nil, fmt.Errorf("not in base64: %w", err)
	}
	return b, nil
}

// numberFromJSON takes a number, a string with one, or the name of an enum.
func numberFromJSON(t json.Token, f *field, v reflect.Value) error {
	var s string
	switch t := t.(type) {
	case json.Number:
		s = t.String()
	case string:
		s = t
	default:
		return fmt.Errorf("%v is not a number", t)
	}
	if i := slices.Index(f.names, s); i >= 0 {
		v.SetInt(int64(i))
		return nil
	}
	if f.kind == kindDouble {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return fmt.Errorf("%q is not a number", s)
		}
		v.SetFloat(x)
		return nil
	}
	return setInteger(s, f, v)
}

func setInteger(s string, f *field, v reflect.Value) error {
	bits := f.elem.Bits()
	if f.kind == kindUint {
		x, err := strconv.ParseUint(s, 10, bits)
		if err != nil {
			return fmt.Errorf("%q is not a number of %d bits from 0 up", s, bits)
		}
		v.SetUint(x)
		return nil
	}
	x, err := strconv.ParseInt(s, 10, bits)
	if err != nil { // 1e3 and 1.0 are whole numbers too
		y, bad := strconv.ParseFloat(s, 64)
		if bad != nil || y != math.Trunc(y) || math.Abs(y) >= 1<<53 || v.OverflowInt(int64(y)) {
			return fmt.Errorf("%q is not a whole number of %d bits", s, bits)
		}
		x = int64(y)
	}
	v.SetInt(x)
	return nil
}

// MarshalJSON writes the JSON form of the message that a struct or a pointer to one
// describes, as Connect and OTLP have it: numbers of 64 bits are strings, names are in
// lowerCamelCase, and what has the value that readers assume is left out.
func MarshalJSON(from any) []byte {
	v := reflect.Indirect(reflect.ValueOf(from))
	return appendObject(nil, describe(v.Type()), v)
}

func appendObject(b []byte, m *message, v reflect.Value) []byte {
	b = append(b, '{')
	first := true
	for _, f := range m.fields {
		one := v.Field(f.index)
		if f.repeated && one.Len() == 0 || !f.repeated && isZero(one) {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(strconv.AppendQuote(b, f.json), ':')
		b = f.appendJSON(b, one)
	}
	return append(b, '}')
}

func (f *field) appendJSON(b []byte, v reflect.Value) []byte {
	if !f.repeated {
		return f.appendJSONValue(b, reflect.Indirect(v))
	}
	b = append(b, '[')
	for i := range v.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		b = f.appendJSONValue(b, v.Index(i))
	}
	return append(b, ']')
}

func (f *field) appendJSONValue(b []byte, v reflect.Value) []byte {
	switch f.kind {
	case kindMessage:
		return appendObject(b, f.sub(), v)
	case kindString:
		s, _ := json.Marshal(v.String()) // a string has always a form
		return append(b, s...)
	case kindBytes:
		if f.hex {
			return strconv.AppendQuote(b, hex.EncodeToString(v.Bytes()))
		}
		b = append(b, '"')
		b = base64.StdEncoding.AppendEncode(b, v.Bytes())
		return append(b, '"')
	case kindBool:
		return strconv.AppendBool(b, v.Bool())
	case kindDouble:
		return appendDouble(b, v.Float())
	default:
		return f.appendJSONNumber(b, v)
	}
}

func (f *field) appendJSONNumber(b []byte, v reflect.Value) []byte {
	if f.names != nil && v.Int() >= 0 && v.Int() < int64(len(f.names)) {
		return strconv.AppendQuote(b, f.names[v.Int()])
	}
	long := f.elem.Bits() == 64
	if long {
		b = append(b, '"')
	}
	if f.kind == kindUint {
		b = strconv.AppendUint(b, v.Uint(), 10)
	} else {
		b = strconv.AppendInt(b, v.Int(), 10)
	}
	if long {
		b = append(b, '"')
	}
	return b
}

func appendDouble(b []byte, x float64) []byte {
	switch {
	case math.IsNaN(x):
		return append(b, `"NaN"`...)
	case math.IsInf(x, 1):
		return append(b, `"Infinity"`...)
	case math.IsInf(x, -1):
		return append(b, `"-Infinity"`...)
	}
	return strconv.AppendFloat(b, x, 'g', -1, 64)
}
