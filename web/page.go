package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"html"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"time"
)

// page sends a file of the pages.
func (s *Server) page(w http.ResponseWriter, r *http.Request, name string) {
	if name == "" {
		name = "index.html"
	}
	data, err := fs.ReadFile(s.pages, name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) || strings.Contains(name, "/") {
		http.Error(w, "there is no such page", http.StatusNotFound)
		return
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	kind := mime.TypeByExtension(path.Ext(name))
	if packed := s.packed(r, name, data); packed != nil {
		h := w.Header()
		h.Set("Content-Type", kind)
		h.Set("Content-Encoding", "gzip")
		h.Set("Vary", "Accept-Encoding")
		_, _ = w.Write(packed) // the browser may be gone
		return
	}
	if name == "index.html" {
		data = s.firstAnswers(r.Context(), data)
	}
	_ = writeBytes(w, &query{Request: r}, kind, data) // the browser may be gone
}

// packed returns a file of the program's own pages packed, nil where that is not
// wanted. They do not change: one is packed once.
func (s *Server) packed(r *http.Request, name string, data []byte) []byte {
	if s.opts.Pages != nil || len(data) < packFrom || !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		return nil
	}
	pack, _ := s.pack.LoadOrStore(name, sync.OnceValue(func() []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write(data) // a buffer takes all
		_ = z.Close()
		return b.Bytes()
	}))
	return pack.(func() []byte)()
}

// firstPatience is how long the page waits for what it is about: who opens a
// large file sees a frame at once.
const firstPatience = 40 * time.Millisecond

// firstAnswers puts into the page what its scripts would ask first: the sources,
// and of a single one what it is. To the browser that is data, which it does not
// run; the marks of HTML are escaped in it.
func (s *Server) firstAnswers(ctx context.Context, page []byte) []byte {
	var first struct {
		Sources *sourceList `json:"sources"`
		Source  *sourceInfo `json:"source,omitempty"`
	}
	first.Sources = s.list()
	title := ""
	if len(first.Sources.Sources) == 1 {
		title = path.Base(filepath.ToSlash(first.Sources.Sources[0].Name))
		if first.Source = s.described(ctx, first.Sources.Sources[0].ID); first.Source != nil && first.Source.Title != first.Source.Name {
			title = first.Source.Title
		}
	}
	data, err := json.Marshal(first)
	if err != nil || len(data) > packFrom {
		data = []byte("{}") // the scripts ask
	}
	page = bytes.Replace(page, []byte("<!--title-->"), []byte(html.EscapeString(shownTitle(title))), 1)
	return bytes.Replace(page, []byte("<!--first-->"), data, 1)
}

// described describes a source if that does not take long. It goes on when it
// does: the page will ask.
func (s *Server) described(ctx context.Context, id string) *sourceInfo {
	sub, err := s.sources.find(id)
	if err != nil {
		return nil
	}
	done := make(chan *sourceInfo, 1)
	go func() {
		debug.SetPanicOnFault(true) // see api
		ctx, cancel := context.WithTimeout(sub.ctx, patience)
		defer cancel()
		ctx, release := holding(ctx, ctx)
		defer func() { _ = release() }() // read only
		defer func() { _ = recover() }() // of a damaged file: the page asks, and is told
		if info, err := describeSource(ctx, sub, nil); err == nil {
			done <- info
		}
	}()
	late := time.NewTimer(firstPatience)
	defer late.Stop()
	select {
	case info := <-done:
		return info
	case <-late.C:
	case <-ctx.Done():
	}
	return nil
}

// packFrom is the size from which an answer is worth packing.
const packFrom = 16 << 10

// writeBytes sends an answer.
func writeBytes(w http.ResponseWriter, q *query, kind string, data []byte) error {
	h := w.Header()
	h.Set("Content-Type", kind)
	if len(data) < packFrom || q.Request == nil || !strings.Contains(q.Header.Get("Accept-Encoding"), "gzip") {
		_, err := w.Write(data)
		return err
	}
	h.Set("Content-Encoding", "gzip")
	h.Set("Vary", "Accept-Encoding")
	z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return err
	}
	if _, err := z.Write(data); err != nil {
		return err
	}
	return z.Close()
}
