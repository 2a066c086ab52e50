package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBenchmarks opens two outputs of go test -bench.
func TestBenchmarks(t *testing.T) {
	var names []string
	for n, name := range []string{"old.txt", "new.txt"} {
		var text strings.Builder
		text.WriteString("goos: linux\ngoarch: amd64\npkg: example.com/<b>x</b>\n")
		for i := range 10 {
			fmt.Fprintf(&text, "BenchmarkEncode/format=json-8 1000 %d ns/op 48 B/op 2 allocs/op\nBenchmarkEncode/format=gob-8 1000 %d ns/op 64 B/op 3 allocs/op\n", 5000-n*900+i*23, 7000+i*31)
		}
		file := filepath.Join(folder, name)
		if err := os.WriteFile(file, []byte(text.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		names = append(names, file)
	}
	address := serve(t, names...)
	for _, look := range []struct {
		scheme string
		width  int64
	}{{"light", 1280}, {"dark", 1280}, {"light", 360}} {
		b := open(t, address+"#/1/benchmarks", look.width, 900, look.scheme)
		b.settled()
		b.until("document.querySelectorAll('svg.dots circle').length >= 20 && document.body.innerText.includes('-17.63%')")
		b.accessible()
		b.picture(fmt.Sprintf("benchmarks-%s-%d", look.scheme, look.width))
	}
	b := open(t, address+"#/1/benchmarks?unit=sec/op&q=gob", 1280, 900, "light")
	b.settled()
	b.until("document.querySelectorAll('.benchdots tbody tr').length === 1")
	b = open(t, address+"#/1/compare?a=1/new.txt&b=1/old.txt", 1280, 900, "dark")
	b.settled()
	b.until("document.querySelector('.verdict.worse')")
	b.accessible()
	b.picture("compare-benchmarks")
}
