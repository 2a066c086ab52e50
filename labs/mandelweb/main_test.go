package main

import (
	"image/png"
	"net/http"
	"net/http/httptest"
	"testing"

	"loupe/labs/mandelbrot/fractal"
)

// TestPainter: a request gets the whole picture, whatever the mode.
func TestPainter(t *testing.T) {
	want := fractal.New(40, 40)
	fractal.Modes["seq"](want, 1)
	for name, fill := range fractal.Modes {
		answer := httptest.NewRecorder()
		painter{fill, 2, 40}.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/mandelbrot", nil))
		if kind := answer.Header().Get("Content-Type"); answer.Code != http.StatusOK || kind != "image/png" {
			t.Errorf("%s: status %d, %s", name, answer.Code, kind)
		}
		got, err := png.Decode(answer.Body)
		if err != nil || got.Bounds() != want.Bounds() {
			t.Fatalf("%s: %v, %v", name, got, err)
		}
		for y := range 40 {
			for x := range 40 {
				if got.At(x, y) != want.At(x, y) {
					t.Fatalf("%s: pixel %d,%d is %v, want %v", name, x, y, got.At(x, y), want.At(x, y))
				}
			}
		}
	}
}
