package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"sync"
)

// modes lists the forms: each writes the metrics as gzipped text to out.
var modes = map[string]func(m *metrics, out io.Writer) error{
	"slow":  encodeNew,
	"fixed": encodePooled,
}

// encodeNew makes what it needs and throws it away.
func encodeNew(m *metrics, out io.Writer) error {
	buf := new(bytes.Buffer)
	return encode(m, gzip.NewWriter(buf), buf, out)
}

// The pools hold pointers, so that Put allocates nothing.
var (
	writers = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}
	buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}
)

// encodePooled takes writer and buffer from the pools. Only after a collection
// the pools may be empty.
func encodePooled(m *metrics, out io.Writer) error {
	buf := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(buf)
	z := writers.Get().(*gzip.Writer)
	defer writers.Put(z)
	buf.Reset()
	z.Reset(buf)
	return encode(m, z, buf, out)
}

// encode compresses into buf, which z writes to, and sends it in one piece: a
// server wants to know the length first.
func encode(m *metrics, z *gzip.Writer, buf *bytes.Buffer, out io.Writer) error {
	if err := m.writeTo(z); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	_, err := out.Write(buf.Bytes())
	return err
}
