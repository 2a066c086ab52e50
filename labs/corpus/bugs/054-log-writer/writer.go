package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"sync"
	"time"
)

type part struct {
	Number  int    `json:"number"`
	Content string `json:"content"`
}

type logWriter struct {
	swap  bool
	mu    sync.Mutex
	parts []part
	next  int
	sent  int
	gz    *gzip.Writer
	out   bytes.Buffer
}

func newLogWriter(swap bool) *logWriter {
	w := &logWriter{swap: swap, gz: gzip.NewWriter(nil)}
	go w.run(100 * time.Millisecond)
	return w
}

func (w *logWriter) run(every time.Duration) {
	for range time.Tick(every) {
		if w.swap {
			w.flushSwapped()
		} else {
			w.flush()
		}
	}
}

func (w *logWriter) write(text string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next++
	w.parts = append(w.parts, part{Number: w.next, Content: text})
	return w.next
}

func (w *logWriter) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n, err := w.encode(w.parts); err == nil {
		w.sent += n
		w.parts = w.parts[:0]
	}
}

func (w *logWriter) flushSwapped() {
	w.mu.Lock()
	parts := w.parts
	w.parts = nil
	w.mu.Unlock()
	if n, err := w.encode(parts); err == nil {
		w.sent += n
	}
}

func (w *logWriter) encode(parts []part) (int, error) {
	w.out.Reset()
	w.gz.Reset(&w.out)
	if err := json.NewEncoder(w.gz).Encode(parts); err != nil {
		return 0, err
	}
	err := w.gz.Close()
	return w.out.Len(), err
}
