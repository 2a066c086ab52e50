package main

import (
	"encoding/binary"
	"io"
	"math"
)

type record struct {
	Frame   uint64
	Channel uint16
	Trigger uint16
	Average float64
	Peak    float64
	Rise    uint32
	Flags   uint32
}

type encoder struct {
	w   io.Writer
	raw bool
	buf []byte
}

func (e *encoder) write(r *record) error {
	if e.raw {
		return e.writeRaw(r)
	}
	return binary.Write(e.w, binary.LittleEndian, r)
}

func (e *encoder) writeRaw(r *record) error {
	b := binary.LittleEndian.AppendUint64(e.buf[:0], r.Frame)
	b = binary.LittleEndian.AppendUint16(b, r.Channel)
	b = binary.LittleEndian.AppendUint16(b, r.Trigger)
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(r.Average))
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(r.Peak))
	b = binary.LittleEndian.AppendUint32(b, r.Rise)
	b = binary.LittleEndian.AppendUint32(b, r.Flags)
	e.buf = b
	_, err := e.w.Write(b)
	return err
}
