package web

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestEdit: the editor is opened by the pages of the server alone, with POST.
func TestEdit(t *testing.T) {
	opened := 0
	s, err := New(t.Context(), "127.0.0.1:1", Options{Edit: func(file string, line int) error {
		if file != "/src/main.go" || line != 7 {
			return errors.New(file + " is no source file of this machine")
		}
		opened++
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	f := func(method, origin, question string, want, times int) {
		t.Helper()
		r := httptest.NewRequestWithContext(context.Background(), method, s.Address()+"api/edit?"+question, nil)
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != want || opened != times {
			t.Errorf("%s from %q, %s: %d %s, opened %d times; want %d and %d", method, origin, question, w.Code, w.Body, opened, want, times)
		}
	}
	const ok = "file=/src/main.go&line=7"
	f(http.MethodGet, "", ok, http.StatusMethodNotAllowed, 0)
	f(http.MethodPost, "", ok, http.StatusForbidden, 0)
	f(http.MethodPost, "http://evil.example", ok, http.StatusForbidden, 0)
	f(http.MethodPost, "http://127.0.0.1:1", "file=/etc/passwd&line=7", http.StatusInternalServerError, 0)
	f(http.MethodPost, "http://127.0.0.1:1", "file=/src/main.go&line=x", http.StatusBadRequest, 0)
	f(http.MethodPost, "http://127.0.0.1:1", ok, http.StatusOK, 1)
}
