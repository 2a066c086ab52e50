package collect

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	sources "loupe/source/bounded"
)

// counter counts what is written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// TestEndlessAnswer: a service that does not stop answering is cut off, and what
// came is there with the reason.
func TestEndlessAnswer(t *testing.T) {
	zeros := make([]byte, 1<<20)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for {
			if _, err := w.Write(zeros); err != nil {
				return
			}
		}
	}))
	t.Cleanup(s.Close)
	base, err := url.Parse(s.URL + "/debug/pprof/")
	if err != nil {
		t.Fatal(err)
	}
	var got counter
	if err := newHTTPSource(base, Access{}).capture(t.Context(), "heap", 0, &got); !errors.Is(err, sources.ErrTooLong) || got != sources.MaxAnswer {
		t.Errorf("%d bytes and %v", got, err)
	}
	if _, err := newHTTPSource(base, Access{}).page(t.Context(), base.String()); !errors.Is(err, sources.ErrTooLong) {
		t.Errorf("a page without an end: %v", err)
	}
}
