package main

import (
	"encoding/json"
	"io"
	"maps"
	"sync"
	"time"
)

type fields map[string]any

type logger struct {
	early bool
	mu    sync.Mutex
	out   io.Writer
}

func (l *logger) log(level, msg string, f fields) error {
	if l.early {
		return l.logEarly(level, msg, f)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	line, err := l.format(level, msg, f)
	if err != nil {
		return err
	}
	_, err = l.out.Write(line)
	return err
}

func (l *logger) logEarly(level, msg string, f fields) error {
	line, err := l.format(level, msg, f)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err = l.out.Write(line)
	return err
}

func (l *logger) format(level, msg string, f fields) ([]byte, error) {
	data := maps.Clone(f)
	data["level"], data["msg"], data["time"] = level, msg, time.Now()
	line, err := json.Marshal(data)
	return append(line, '\n'), err
}
