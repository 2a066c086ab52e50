package main

import (
	"bufio"
	"os"
	"sync"
	"time"
)

type sink struct {
	apart bool
	mu    sync.Mutex
	file  *os.File
	buf   *bufio.Writer
	lines int
}

func newSink(name string, apart bool) (*sink, error) {
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	s := &sink{apart: apart, file: f, buf: bufio.NewWriterSize(f, 256<<10)}
	go s.daemon(20 * time.Millisecond)
	return s, nil
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
	s.buf.Flush()
	s.file.Sync()
}

func (s *sink) flushApart() {
	s.mu.Lock()
	s.buf.Flush()
	s.mu.Unlock()
	s.file.Sync()
}
