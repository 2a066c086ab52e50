//go:build unix

package bench

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestFindPanics: package testing may print a figure of a benchmark that is just panicking, and
// then it is none; what ran before it is.
func TestFindPanics(t *testing.T) {
	script := filepath.Join(t.TempDir(), "bench.test")
	text := `#!/bin/sh
for arg; do
	case $arg in
	'-test.bench=^BenchmarkA$/^good$') echo 'BenchmarkA/good-2	1	2 ns/op'; exit 0 ;;
	'-test.bench=^BenchmarkA$/^bad$') echo 'panic: no' >&2; exit 2 ;;
	esac
done
echo 'BenchmarkA/good-2	1	2 ns/op'
if [ -e "$0.both" ]; then echo "BenchmarkA/bad-2	1	9 ns/op"; fi
echo 'panic: no' >&2
exit 2
`
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	pattern, err := ParsePattern("BenchmarkA")
	if err != nil {
		t.Fatal(err)
	}
	f := func() {
		t.Helper()
		r := &Runner{Bench: pattern, Timeout: time.Minute, Progress: func(string, ...any) {}}
		defer r.Close()
		all, err := r.find(context.Background(), &Package{Binary: script, Dir: filepath.Dir(script)}, "BenchmarkA")
		if err == nil || len(all) != 1 || all[0].name != "BenchmarkA/good" {
			t.Errorf("%+v, %v; want BenchmarkA/good and an error", all, err)
		}
	}
	f()
	if err := os.WriteFile(script+".both", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f()
}

// TestFindEndsWell: a process whose panic did not end it has failed, and was not skipped.
func TestFindEndsWell(t *testing.T) {
	script := filepath.Join(t.TempDir(), "bench.test")
	text := "#!/bin/sh\necho 'BenchmarkA-2\t0\tNaN ns/op\t0 B/op'\necho 'panic: no' >&2\n"
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	pattern, err := ParsePattern("BenchmarkA")
	if err != nil {
		t.Fatal(err)
	}
	r := &Runner{Bench: pattern, Timeout: time.Minute, Progress: func(string, ...any) {}}
	defer r.Close()
	all, err := r.find(context.Background(), &Package{Binary: script, Dir: filepath.Dir(script)}, "BenchmarkA")
	if err == nil || !strings.Contains(err.Error(), "panic: no") || len(all) > 0 {
		t.Errorf("%+v, %v; want the panic", all, err)
	}
}
