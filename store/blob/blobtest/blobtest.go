// Package blobtest has buckets for tests: one in memory, a server that speaks enough of S3 for
// a client, and what every bucket must do.
package blobtest

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"loupe/store/blob"
)

// Memory is a bucket in memory.
type Memory struct {
	mu    sync.Mutex
	blobs map[string][]byte
	// Fail is asked before everything, if it is not nil: an error is what the call returns.
	Fail func(verb, name string) error
}

// NewMemory returns an empty bucket.
func NewMemory() *Memory { return &Memory{blobs: map[string][]byte{}} }

// String names the bucket.
func (m *Memory) String() string { return "a bucket in memory" }

func (m *Memory) begin(ctx context.Context, verb, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if m.Fail != nil {
		return m.Fail(verb, name)
	}
	return nil
}

// Put is that of [blob.Bucket].
func (m *Memory) Put(ctx context.Context, name string, r io.ReadSeeker, size int64) error {
	if err := m.begin(ctx, "put", name); err != nil {
		return err
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if int64(len(data)) != size {
		return fmt.Errorf("%s has %d bytes, not %d", name, len(data), size)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.blobs[name]; ok {
		return blob.ErrExists
	}
	m.blobs[name] = data
	return nil
}

// Get is that of [blob.Bucket].
func (m *Memory) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	if err := m.begin(ctx, "get", name); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	data, ok := m.blobs[name]
	if !ok {
		return nil, blob.ErrNotFound
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

// List is that of [blob.Bucket].
func (m *Memory) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if err := m.begin(ctx, "list", prefix); err != nil {
			yield("", err)
			return
		}
		for _, name := range m.Names() {
			if strings.HasPrefix(name, prefix) && !yield(name, nil) {
				return
			}
		}
	}
}

// Delete is that of [blob.Bucket].
func (m *Memory) Delete(ctx context.Context, name string) error {
	if err := m.begin(ctx, "delete", name); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.blobs, name)
	return nil
}

// Names returns what there is, sorted.
func (m *Memory) Names() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.blobs))
}

// Change replaces a blob, which no Bucket does.
func (m *Memory) Change(name string, change func(data []byte) []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.blobs[name] = change(slices.Clone(m.blobs[name]))
}

// Handler answers as a server of S3 with one bucket does. It asks nobody who it is. Without
// Conditional it ignores If-None-Match, as old servers do.
type Handler struct {
	*Memory
	Bucket      string
	Conditional bool
}

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, ok := strings.CutPrefix(r.URL.Path, "/"+h.Bucket)
	if !ok {
		failed(w, http.StatusNotFound, "NoSuchBucket")
		return
	}
	name = strings.TrimPrefix(name, "/")
	switch {
	case r.Method == http.MethodGet && name == "":
		h.list(w, r)
	case r.Method == http.MethodHead && name == "": // the bucket itself
	case r.Method == http.MethodPut:
		data, err := io.ReadAll(r.Body)
		if err == nil && strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") {
			data, err = unchunked(data)
		}
		if err != nil {
			failed(w, http.StatusBadRequest, "InvalidRequest")
			return
		}
		if !(h.Conditional && r.Header.Get("If-None-Match") == "*") {
			h.Memory.Delete(r.Context(), name)
		}
		if err := h.Put(r.Context(), name, bytes.NewReader(data), int64(len(data))); errors.Is(err, blob.ErrExists) {
			failed(w, http.StatusPreconditionFailed, "PreconditionFailed")
		} else if err != nil {
			failed(w, http.StatusServiceUnavailable, "SlowDown")
		} else {
			w.Header().Set("ETag", tag(data))
		}
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		f, err := h.Get(r.Context(), name)
		if err != nil {
			failed(w, http.StatusNotFound, "NoSuchKey")
			return
		}
		data, _ := io.ReadAll(f)
		w.Header().Set("ETag", tag(data))
		w.Header().Set("Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT")
		w.Header().Set("Content-Length", fmt.Sprint(len(data)))
		if r.Method == http.MethodGet {
			w.Write(data)
		}
	case r.Method == http.MethodDelete:
		h.Memory.Delete(r.Context(), name)
		w.WriteHeader(http.StatusNoContent)
	default:
		failed(w, http.StatusMethodNotAllowed, "MethodNotAllowed")
	}
}

func tag(data []byte) string {
	sum := md5.Sum(data)
	return `"` + hex.EncodeToString(sum[:]) + `"`
}

// unchunked takes the signatures out of a body that is signed piece by piece.
func unchunked(b []byte) (out []byte, err error) {
	for {
		line, rest, ok := bytes.Cut(b, []byte("\r\n"))
		size := 0
		if _, err := fmt.Sscanf(string(line), "%x", &size); !ok || err != nil || size > len(rest) {
			return nil, errors.New("the pieces are wrong")
		}
		if size == 0 {
			return out, nil
		}
		out, b = append(out, rest[:size]...), bytes.TrimPrefix(rest[size:], []byte("\r\n"))
	}
}

func failed(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>no</Message></Error>", code)
}

// listed is the answer to a question for names.
type listed struct {
	XMLName  xml.Name `xml:"ListBucketResult"`
	Name     string
	Contents []struct{ Key string }
}

func (h *Handler) list(w http.ResponseWriter, r *http.Request) {
	out := listed{Name: h.Bucket}
	for name, err := range h.Memory.List(r.Context(), r.URL.Query().Get("prefix")) {
		if err != nil {
			failed(w, http.StatusServiceUnavailable, "SlowDown")
			return
		}
		out.Contents = append(out.Contents, struct{ Key string }{name})
	}
	w.Header().Set("Content-Type", "application/xml")
	xml.NewEncoder(w).Encode(out)
}

// Run holds an empty bucket to what [blob.Bucket] says.
func Run(t *testing.T, b blob.Bucket) {
	t.Helper()
	ctx := t.Context()
	put := func(name, text string) error { return b.Put(ctx, name, strings.NewReader(text), int64(len(text))) }
	get := func(name string) string {
		r, err := b.Get(ctx, name)
		if errors.Is(err, blob.ErrNotFound) {
			return "none"
		}
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	list := func(prefix string) (out []string) {
		for name, err := range b.List(ctx, prefix) {
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, name)
		}
		return out
	}
	large := strings.Repeat("0123456789abcdef", 1<<18) // 4 MiB
	for name, text := range map[string]string{"a/1": "one", "a/2": large, "b/empty": "", "b/x y+z": "odd name"} {
		if err := put(name, text); err != nil {
			t.Fatalf("put %s: %v", name, err)
		}
		if got := get(name); got != text {
			t.Errorf("%s has %d bytes, want %d", name, len(got), len(text))
		}
	}
	if err := put("a/1", "another"); !errors.Is(err, blob.ErrExists) {
		t.Errorf("a name is used twice: %v", err)
	}
	if got := get("a/1"); got != "one" {
		t.Errorf("a blob has become %q", got)
	}
	if got := get("a/3"); got != "none" {
		t.Errorf("what was never put is %q", got)
	}
	if got := fmt.Sprint(list("a/"), list("b/"), list("c/")); got != "[a/1 a/2] [b/empty b/x y+z] []" {
		t.Errorf("the lists are %s", got)
	}
	for _, name := range []string{"a/1", "a/1", "never"} {
		if err := b.Delete(ctx, name); err != nil {
			t.Errorf("delete %s: %v", name, err)
		}
	}
	if got := get("a/1"); got != "none" {
		t.Errorf("what was deleted is %q", got)
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := b.Get(gone, "a/2"); err == nil {
		t.Error("a blob is got when nobody waits")
	}
}
