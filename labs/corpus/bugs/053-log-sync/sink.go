package main

import (
	"bytes"
	"sync"
	"time"
)

type syncWriter interface {
	Write(p []byte) (int, error)
	Sync() error
}

type sink struct {
	apart bool
	mu    sync.Mutex
	buf   bytes.Buffer
	file  syncWriter
	lines int
}

func newSink(file syncWriter, apart bool) *sink {
	s := &sink{apart: apart, file: file}
	go s.daemon(5 * time.Millisecond)
	return s
}

func (s *sink) emit(line []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buf.Write(line)
	s.lines++
}

func (s *sink) daemon(every time.Duration) {
	for range time.Tick(every) {
		if s.apart {
			s.flushApart()
		} else {
			s.flush()
		}
	}
}

func (s *sink) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buf.WriteTo(s.file)
	s.file.Sync()
}

func (s *sink) flushApart() {
	s.mu.Lock()
	s.buf.WriteTo(s.file)
	s.mu.Unlock()
	s.file.Sync()
}
