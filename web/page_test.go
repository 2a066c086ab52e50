package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"loupe/session"
)

const bare = `<title>loupe</title><span><!--title--></span><script type="application/json" id="first"><!--first--></script>`

// firstPage returns the page that a browser gets, and what is in it.
func firstPage(t *testing.T, s *Server) (page string, first map[string]json.RawMessage) {
	t.Helper()
	r := httptest.NewRequest("GET", "/token/", nil)
	r.Host = "127.0.0.1:1"
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	page = w.Body.String()
	_, data, ok := strings.Cut(page, `id="first">`)
	data, _, closed := strings.Cut(data, "</script>")
	if !ok || !closed {
		t.Fatalf("the page is %s", page)
	}
	if err := json.Unmarshal([]byte(data), &first); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	return page, first
}

// TestFirstAnswers: what the page is sent with is what its scripts would be
// told, and nothing of it is HTML.
func TestFirstAnswers(t *testing.T) {
	const hostile = "</script><script>alert(1)</script><!--<b>"
	rec := recordingOf(busy())
	src := Source{Name: hostile, Kind: "recording", Open: func(context.Context) (*Opened, error) {
		r := rec.Open()
		return &Opened{Session: session.New(r), Close: r.Close}, nil
	}}
	serve := func(sources ...Source) *Server {
		s, err := New(t.Context(), "127.0.0.1:1", Options{Sources: sources, Token: "token", Pages: fstest.MapFS{"index.html": {Data: []byte(bare)}}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	s := serve(src)
	page, first := firstPage(t, s)
	if strings.Count(page, "<script") != 1 || strings.Contains(page, "<b>") {
		t.Errorf("a name is HTML: %s", page)
	}
	for name, question := range map[string]string{"sources": "sources", "source": "source?s=1"} {
		if got := first[name]; got != nil { // unless the machine is slow today
			if want := (&pages{s, t}).ask(t.Context(), question, nil).Body.String(); string(got) != want {
				t.Errorf("%s is sent as %s, want %s", question, got, want)
			}
		} else if name == "sources" {
			t.Error("the page does not know the sources")
		}
	}

	// Of several none is opened; one that takes a while is not waited for.
	never := Source{Name: "slow", Kind: "files", Open: func(ctx context.Context) (*Opened, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	for _, s := range []*Server{serve(never, never), serve(never)} {
		if _, first := firstPage(t, s); first["source"] != nil || first["sources"] == nil {
			t.Errorf("first answers %s", first)
		}
	}
}

// TestPacked: the program's own pages are packed, and what comes out of that is
// the file.
func TestPacked(t *testing.T) {
	s, err := New(t.Context(), "127.0.0.1:1", Options{Token: "token"})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r := httptest.NewRequest("GET", "/token/app.js", nil)
		r.Host = "127.0.0.1:1"
		r.Header.Set("Accept-Encoding", "gzip, br")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		z, err := gzip.NewReader(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		if want, _ := dist.ReadFile("dist/app.js"); !bytes.Equal(got, want) || !strings.Contains(w.Header().Get("Content-Type"), "javascript") {
			t.Errorf("app.js comes as %d bytes of %s, want %d", len(got), w.Header().Get("Content-Type"), len(want))
		}
	}
}
