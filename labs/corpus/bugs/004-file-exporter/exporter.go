package main

import (
	"bufio"
	"io"
	"os"
	"strconv"
)

type exporter struct {
	file *os.File
	w    io.Writer
	line []byte
}

func newExporter(name string, buffered bool) (*exporter, error) {
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	e := &exporter{file: f, w: f}
	if buffered {
		e.w = bufio.NewWriterSize(f, 64<<10)
	}
	return e, nil
}

func (e *exporter) export(s span) error {
	e.line = append(e.line[:0], `{"trace":`...)
	e.line = strconv.AppendUint(e.line, s.trace, 16)
	e.line = append(e.line, `,"name":`...)
	e.line = strconv.AppendQuote(e.line, s.name)
	e.line = append(e.line, `,"ns":`...)
	e.line = strconv.AppendInt(e.line, s.nanos, 10)
	e.line = append(e.line, "}\n"...)
	_, err := e.w.Write(e.line)
	return err
}

func (e *exporter) close() error {
	if b, ok := e.w.(*bufio.Writer); ok {
		if err := b.Flush(); err != nil {
			return err
		}
	}
	return e.file.Close()
}
