package profile_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	google "github.com/google/pprof/profile"

	"loupe/format/profile"
)

// within decodes input from anywhere and holds the decoders to their promises:
// no panic, memory in proportion to the input, errors that fit on a screen,
// and a profile that can be walked and encoded.
func within(t *testing.T, data []byte, opt profile.Options) *profile.Profile {
	const most = 1 << 20
	opt.MaxBytes = most
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	p, err := profile.Decode(data, opt)
	runtime.ReadMemStats(&after)
	raw := uint64(max(len(data), 1))
	if len(data) > 2 && data[0] == 0x1f {
		raw = most
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<22+200*raw {
		t.Errorf("decoding %d bytes has allocated %d", len(data), used)
	}
	if err != nil {
		if len(err.Error()) > 1000 {
			t.Errorf("error of %d bytes: %v", len(err.Error()), err)
		}
		return nil
	}
	for i := range p.Len() {
		sample(p, i)
	}
	if err := p.Encode(io.Discard); err != nil {
		t.Errorf("cannot encode what was decoded: %v", err)
	}
	return p
}

// sameWherePossible compares with google/pprof when both read the input.
func sameWherePossible(t *testing.T, data []byte) {
	if len(data) > 1<<16 {
		return // many lines that it cannot hold
	}
	got := within(t, data, profile.Options{Compat: true})
	if got == nil {
		return
	}
	want, err := google.ParseData(data)
	if err != nil || len(data) > 1 && data[0] == 0x1f {
		return
	}
	sameAsGoogle(t, got, want)
}

// addTexts seeds a fuzz target with files of testdata/text.
func addTexts(f *testing.F, pattern string) {
	files, _ := filepath.Glob("testdata/text/" + pattern)
	if len(files) == 0 {
		f.Fatalf("there are no files %s", pattern)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
}

func FuzzLegacy(f *testing.F) {
	for _, data := range googleTestdata() {
		if len(data) < 1<<14 {
			f.Add(data)
		}
	}
	for _, data := range legacyVariants() {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		sameWherePossible(t, data)
		within(t, data, profile.Options{})
	})
}

func FuzzDebug1(f *testing.F) {
	addTexts(f, "go*1.txt")
	f.Fuzz(func(t *testing.T, data []byte) {
		sameWherePossible(t, data)
		named, plain := within(t, data, profile.Options{}), within(t, data, profile.Options{Compat: true})
		if named == nil || plain == nil {
			return // labels and MemStats may be wrong, which pprof does not see
		}
		if named.Len() != plain.Len() {
			t.Fatalf("%d samples with names, %d without", named.Len(), plain.Len())
		}
		for i := range plain.Values {
			for row, v := range plain.Values[i] {
				if named.Values[i][row] != v {
					t.Fatalf("sample %d has value %d with names, %d without", row, named.Values[i][row], v)
				}
			}
		}
	})
}

func FuzzDump(f *testing.F) {
	addTexts(f, "go*2.txt")
	addTexts(f, "go1.26.[ls]*.txt")
	f.Add([]byte("goroutine 7 [a (leaked), 5 minutes, locked to thread labels:{\"a\": \"b\"}]:\nmain.f(...)\n\t/a.go:1\n...9 frames elided...\nnon-Go function at pc=1\n"))
	f.Fuzz(func(t *testing.T, data []byte) { within(t, data, profile.Options{}) })
}

func FuzzFolded(f *testing.F) {
	f.Add([]byte("main;f;g 3\nmain;f 1.6\n\nsh;do_it;inl_[i];inl2_[i];sys_[k] 4\n;a b;;c\t7\r\n"))
	f.Add([]byte("# comment\na_[j] -5\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p := within(t, data, profile.Options{})
		if p == nil || len(p.SampleTypes) != 1 || bytes.ContainsFunc(data, func(r rune) bool {
			return r != '\n' && (r < ' ' || r > '~') || r == '#'
		}) {
			return
		}
		var b bytes.Buffer
		if err := p.WriteFolded(&b, 0); err != nil || b.Len() == 0 {
			return
		}
		again := within(t, b.Bytes(), profile.Options{})
		if again == nil {
			t.Fatalf("cannot read what was written:\n%s", b.Bytes())
		}
		if got, want := sum(again), sum(p); got != want {
			t.Errorf("the sum is %d, and %d after writing:\n%s", want, got, b.Bytes())
		}
	})
}

func sum(p *profile.Profile) (n int64) {
	for _, v := range p.Values[0] {
		n += v
	}
	return n
}

func FuzzPerf(f *testing.F) {
	addTexts(f, "perf*.txt")
	f.Add([]byte("Web Content 42/43 [007] 100.000000001: 250000 cycles:u: \n\t 7f10 foo(int)+0x5 (/tmp/a b (deleted))\n\t 7f11 bar (inlined)\n  b.c:7\n\t 7f11 main (/bin/x)\n"))
	f.Fuzz(func(t *testing.T, data []byte) { within(t, data, profile.Options{}) })
}

func FuzzSpeedscope(f *testing.F) {
	f.Add([]byte(`{"shared":{"frames":[{"name":"main","file":"a.c","line":3,"col":4},{"name":"f"}]},"profiles":[{"type":"evented","name":"one","unit":"milliseconds","events":[{"type":"O","frame":0,"at":0},{"type":"O","frame":1,"at":1},{"type":"C","frame":1,"at":3},{"type":"C","frame":0,"at":10}]},{"type":"sampled","unit":"bytes","samples":[[0,1],[]],"weights":[2,1]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p := within(t, data, profile.Options{})
		if p == nil || !strings.HasPrefix(string(bytes.TrimSpace(data)), "{") {
			return
		}
		for i := range p.SampleTypes {
			var b bytes.Buffer
			if p.WriteSpeedscope(&b, i) == nil && within(t, b.Bytes(), profile.Options{}) == nil && b.Len() < 1<<20 {
				t.Errorf("cannot read what was written: %s", b.Bytes())
			}
		}
	})
}
