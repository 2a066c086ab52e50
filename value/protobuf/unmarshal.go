package protobuf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
)

// ErrMemory is wrapped by the error of a message that would need more memory than it may.
var ErrMemory = errors.New("the message needs more memory than allowed")

// maxDepth is how deep messages may lie in each other.
const maxDepth = 64

// Unmarshal reads a message into the struct that into points to. Fields that it does not
// know are skipped. Byte fields share memory with data. Of what the message says no more
// is kept than the given number of bytes: a message of two bytes may stand for a struct
// of hundreds.
//
// The error says at which byte and in which field something is wrong.
func Unmarshal(data []byte, into any, memory int64) error {
	d := &decoder{left: memory}
	v := reflect.ValueOf(into).Elem()
	return d.message(data, describe(v.Type()), v, 0)
}

// decoder is one call of Unmarshal or UnmarshalJSON.
type decoder struct{ left int64 }

// take says that n bytes of memory are needed.
func (d *decoder) take(n int64) error {
	if d.left -= n; d.left < 0 {
		return ErrMemory
	}
	return nil
}

func (d *decoder) message(data []byte, m *message, v reflect.Value, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("messages lie more than %d deep in each other", maxDepth)
	}
	c := Cursor{Buf: data}
	for c.Step() {
		f := m.byNumber[c.Number]
		if f == nil {
			if c.Number == 0 {
				return fmt.Errorf("byte %d: no field has the number 0", c.At)
			}
			continue
		}
		if err := d.field(&c, f, v.Field(f.index), depth); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	if c.Bad() {
		return fmt.Errorf("byte %d of %d: the field is cut or malformed", c.At, len(data))
	}
	return nil
}

func (d *decoder) field(c *Cursor, f *field, v reflect.Value, depth int) error {
	if f.repeated && c.Type == Bytes && f.wireType() != Bytes {
		return d.packed(c.Chunk(), f, v)
	}
	if c.Type != f.wireType() {
		return fmt.Errorf("byte %d: the wire type is %d, not %d", c.At, c.Type, f.wireType())
	}
	one, err := d.place(f, v)
	if err != nil {
		return err
	}
	switch f.kind {
	case kindMessage:
		return d.message(c.Chunk(), f.sub(), one, depth+1)
	case kindString:
		if err := d.take(int64(len(c.Chunk()))); err != nil {
			return err
		}
		one.SetString(string(c.Chunk()))
	case kindBytes:
		one.SetBytes(c.Chunk())
	default:
		setNumber(f, one, c.Value)
	}
	return nil
}

// place returns where the next value of a field goes.
func (d *decoder) place(f *field, v reflect.Value) (reflect.Value, error) {
	switch {
	case f.repeated:
		return d.grow(v, 1)
	case v.Kind() == reflect.Pointer:
		if v.IsNil() {
			if err := d.take(int64(f.elem.Size())); err != nil {
				return v, err
			}
			v.Set(reflect.New(f.elem))
		}
		return v.Elem(), nil
	default:
		return v, nil
	}
}

// grow makes room for more values of a slice and returns the first. The room that append
// makes is what counts, and for a moment the old one beside it.
func (d *decoder) grow(v reflect.Value, n int) (reflect.Value, error) {
	at := v.Len()
	if at+n > v.Cap() {
		room := max(at+n, 2*v.Cap())
		if err := d.take(int64(room) * int64(v.Type().Elem().Size())); err != nil {
			return v, err
		}
		bigger := reflect.MakeSlice(v.Type(), at, room)
		reflect.Copy(bigger, v)
		v.Set(bigger)
	}
	v.SetLen(at + n)
	return v.Index(at), nil
}

// packed reads a list of numbers in one chunk.
func (d *decoder) packed(list []byte, f *field, v reflect.Value) error {
	n := countVarints(list)
	if f.wireType() == Fixed64 {
		if len(list)%8 != 0 {
			return fmt.Errorf("a list of numbers of 8 bytes has %d bytes", len(list))
		}
		n = len(list) / 8
	}
	if n == 0 && len(list) == 0 {
		return nil
	}
	at := v.Len()
	if n > 0 {
		if _, err := d.grow(v, n); err != nil {
			return err
		}
	}
	i := 0
	for k := range n {
		var x uint64
		if f.wireType() == Fixed64 {
			x, i = binary.LittleEndian.Uint64(list[i:]), i+8
		} else if x, i = Uvarint(list, i); i > len(list) {
			break
		}
		setNumber(f, v.Index(at+k), x)
	}
	if i != len(list) {
		return errors.New("a number in the list is cut or malformed")
	}
	return nil
}

// countVarints counts the numbers of a list by their last bytes.
func countVarints(list []byte) (n int) {
	for _, b := range list {
		if b < 0x80 {
			n++
		}
	}
	return n
}

func setNumber(f *field, v reflect.Value, x uint64) {
	switch f.kind {
	case kindInt:
		if f.elem.Kind() == reflect.Int32 {
			x = uint64(int64(int32(x)))
		}
		v.SetInt(int64(x))
	case kindUint:
		if f.elem.Kind() == reflect.Uint32 {
			x = uint64(uint32(x))
		}
		v.SetUint(x)
	case kindBool:
		v.SetBool(x != 0)
	case kindDouble:
		v.SetFloat(math.Float64frombits(x))
	}
}
