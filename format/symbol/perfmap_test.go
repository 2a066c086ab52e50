package symbol_test

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"loupe/format/symbol"
)

func TestPerfMap(t *testing.T) {
	const text = `7f0000001000 20 LazyCompile:*main /app/main.js:1
7f0000001100 100 Builtin:old
nonsense
7f0000001110 10 Function:~f g
0x7f0000002000 0x10 prefixed
7f0000003000 0 empty
ffffffffffffffff 20 wraps
7f0000001000 20 Again:main
7f0000004000 10 cut`
	m, err := symbol.ReadPerfMap(iotest.OneByteReader(strings.NewReader(text)))
	if err != nil {
		t.Fatal(err)
	}
	f := func(pc uint64, want string) {
		t.Helper()
		if name, ok := m.Name(pc); name != want || ok != (want != "") {
			t.Errorf("%#x is %q, want %q", pc, name, want)
		}
	}
	f(0x7f0000000fff, "")
	f(0x7f0000001000, "Again:main")
	f(0x7f000000101f, "Again:main")
	f(0x7f0000001020, "")
	f(0x7f0000001100, "Builtin:old")
	f(0x7f0000001110, "Function:~f g")
	f(0x7f0000001120, "Builtin:old")
	f(0x7f0000002000, "prefixed")
	f(0x7f0000003000, "")
	f(0x7f0000004000, "") // the line may go on
	if _, err := symbol.ReadPerfMap(strings.NewReader("nothing\n")); !errors.Is(err, symbol.ErrNoPerfMap) {
		t.Error(err)
	}
	if _, err := symbol.ReadPerfMap(iotest.ErrReader(errors.New("torn"))); err == nil {
		t.Error("the error of the reader was lost")
	}
	long := "10 10 " + strings.Repeat("x", 100<<10) + "\n20 10 f\n"
	if m, err := symbol.ReadPerfMap(strings.NewReader(long)); err != nil {
		t.Error(err)
	} else if name, _ := m.Name(0x20); name != "f" {
		t.Errorf("behind a long line: %q", name)
	} else if name, ok := m.Name(0x10); ok {
		t.Errorf("of a line that is too long: %.20q", name)
	}
}

func FuzzPerfMap(f *testing.F) {
	f.Add([]byte("7f0000001000 20 a b\n7f0000001010 20 c\n"), uint64(0x7f0000001010))
	f.Fuzz(func(t *testing.T, data []byte, pc uint64) {
		m, err := symbol.ReadPerfMap(strings.NewReader(string(data)))
		if err != nil {
			return
		}
		if name, ok := m.Name(pc); ok && !strings.Contains(string(data), name) {
			t.Errorf("%q is not in %q", name, data)
		}
	})
}
