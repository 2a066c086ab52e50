package main

import (
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPaint(t *testing.T) {
	f := func(mode string, workers, width, height int, fails string) {
		t.Helper()
		_, err := paint(mode, workers, width, height)
		if err == nil || !strings.Contains(err.Error(), fails) {
			t.Errorf("paint = %v, want an error with %q", err, fails)
		}
	}
	f("fast", 1, 8, 8, `unknown -mode "fast": there are batched, buffered, px, row, seq, workers`)
	f("workers", 0, 8, 8, "-workers 0")
	f("seq", 1, -1, 8, "-width -1")
	f("seq", 1, 8, 0, "-height 0")
}

// TestSave: what is in the file is the picture.
func TestSave(t *testing.T) {
	picture, err := paint("row", 1, 40, 30)
	if err != nil {
		t.Fatal(err)
	}
	if err := save(picture, ""); err != nil {
		t.Errorf("to nowhere: %v", err)
	}
	name := filepath.Join(t.TempDir(), "out.png")
	if err := save(picture, name); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	got, err := png.Decode(file)
	if err != nil || got.Bounds() != picture.Bounds() {
		t.Fatalf("%v, %v", got, err)
	}
	for y := range 30 {
		for x := range 40 {
			if got.At(x, y) != picture.At(x, y) {
				t.Fatalf("pixel %d,%d is %v, was %v", x, y, got.At(x, y), picture.At(x, y))
			}
		}
	}
	if err := save(picture, filepath.Join(name, "none.png")); err == nil {
		t.Error("saved below a file")
	}
}
