package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"text/template"
)

type simulation struct {
	path string
	body string
}

type renderer struct {
	funcs  template.FuncMap
	keep   bool
	mu     sync.Mutex
	parsed map[string]*template.Template
}

func newRenderer(keep bool) *renderer {
	return &renderer{
		keep:   keep,
		parsed: map[string]*template.Template{},
		funcs: template.FuncMap{
			"upper":   strings.ToUpper,
			"iso8601": func(day int) string { return fmt.Sprintf("2026-01-%02dT00:00:00Z", day) },
			"join":    func(sep string, s []string) string { return strings.Join(s, sep) },
		},
	}
}

func (r *renderer) render(w io.Writer, s simulation, data any) error {
	if r.keep {
		return r.renderKept(w, s, data)
	}
	t, err := template.New("response").Funcs(r.funcs).
		Parse(s.body)
	if err != nil {
		return err
	}
	return t.Execute(w, data)
}

func (r *renderer) renderKept(w io.Writer, s simulation, data any) error {
	r.mu.Lock()
	t := r.parsed[s.path]
	if t == nil {
		t = template.Must(template.New(s.path).Funcs(r.funcs).Parse(s.body))
		r.parsed[s.path] = t
	}
	r.mu.Unlock()
	return t.Execute(w, data)
}
