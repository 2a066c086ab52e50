package main

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"sync"
)

type compressor struct {
	level  int
	pooled bool
	pool   sync.Pool
}

type gzipWriter struct {
	http.ResponseWriter
	gz *gzip.Writer
}

func (w *gzipWriter) Write(p []byte) (int, error) { return w.gz.Write(p) }

func (c *compressor) writer(w io.Writer) *gzip.Writer {
	if gz, ok := c.pool.Get().(*gzip.Writer); ok {
		gz.Reset(w)
		return gz
	}
	gz, err := gzip.NewWriterLevel(w, c.level)
	if err != nil {
		panic(err)
	}
	return gz
}

func (c *compressor) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			next.ServeHTTP(w, r)
			return
		}
		gz := c.writer(w)
		w.Header().Set("Content-Encoding", "gzip")
		next.ServeHTTP(&gzipWriter{w, gz}, r)
		gz.Close()
		if c.pooled {
			c.pool.Put(gz)
		}
	})
}
