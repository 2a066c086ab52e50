package web

import (
	"compress/gzip"
	"errors"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
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
	_ = writeBytes(w, &query{Request: r}, mime.TypeByExtension(path.Ext(name)), data) // the browser may be gone
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
