package main

import (
	"fmt"
	"io"
	"sync"
	"time"
)

type handler interface {
	log(level, msg string, args ...any)
}

func format(level, msg string, args ...any) []byte {
	line := fmt.Appendf(nil, "%s %-5s %s", time.Now().Format(time.RFC3339Nano), level, msg)
	for i := 0; i+1 < len(args); i += 2 {
		line = fmt.Appendf(line, " %v=%v", args[i], args[i+1])
	}
	return append(line, '\n')
}

type syncHandler struct {
	mu  sync.Mutex
	out io.Writer
}

func (h *syncHandler) log(level, msg string, args ...any) {
	line := format(level, msg, args...)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.out.Write(line)
}

type asyncHandler struct {
	lines chan []byte
}

func newAsync(out io.Writer) *asyncHandler {
	h := &asyncHandler{lines: make(chan []byte, 4096)}
	go h.drain(out)
	return h
}

func (h *asyncHandler) log(level, msg string, args ...any) {
	select {
	case h.lines <- format(level, msg, args...):
	default:
	}
}

func (h *asyncHandler) drain(out io.Writer) {
	for line := range h.lines {
		for range min(len(h.lines), 500) {
			line = append(line, <-h.lines...)
		}
		out.Write(line)
	}
}
