package session_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"loupe/format/compiler"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
)

// said encodes what the compiler has said about a package.
func said(t *testing.T, a compiler.Answer) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := a.Encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestCompiler(t *testing.T) {
	r := recordingtest.New("title x\n-- calls.txt calls --\n0x1000 runtime.newobject\n0x2000 runtime.makeslice\n0x30")
	r.Put(recording.Entry{Path: "compiler/main.gz", Kind: recording.Compiler}, said(t, compiler.Answer{
		Package: "main", Dir: "/src", Text: []byte("./main.go:7:9: make([]byte, n) does not escape\n"),
	}))
	r.Put(recording.Entry{Path: "compiler/shop.gz", Kind: recording.Compiler}, []byte("garbage"))
	s := session.New(r.Open())
	set, err := s.Compiler()
	if set == nil || len(set.At("/src/main.go", 7)) != 1 || !set.Packages["main"] {
		t.Errorf("Compiler = %+v, want what is said of main.go:7", set)
	}
	if err == nil || errors.Is(err, session.ErrNone) || !strings.Contains(err.Error(), "compiler/shop.gz") {
		t.Errorf("the damaged file is %v", err)
	}
	if again, _ := s.Compiler(); again != set {
		t.Error("it is read twice")
	}
	calls, err := s.Calls()
	if err != nil || len(calls) != 2 || calls[0x2000] != "runtime.makeslice" {
		t.Errorf("Calls = %v, %v", calls, err)
	}
	none := session.New(recordingtest.New("title x").Open())
	if set, err := none.Compiler(); set != nil || !errors.Is(err, session.ErrNone) {
		t.Errorf("Compiler of nothing = %v, %v", set, err)
	}
	if _, err := none.Calls(); !errors.Is(err, session.ErrNone) {
		t.Errorf("Calls of nothing: %v", err)
	}
}

// TestCompilerLog: the relative names in what the compiler has printed are those that
// a profile beside it has, and so is the package of a command.
func TestCompilerLog(t *testing.T) {
	fsys := fstest.MapFS{
		"cpu.json": {Data: []byte(`{"nodes":[{"id":1,"callFrame":{"functionName":"main.makeT","url":"/home/u/p/main.go","lineNumber":2},"hitCount":3}]}`)},
		"m2.txt":   {Data: []byte("# example.com/p\n./main.go:3:5: can inline makeT with cost 4 as: func() { }\n./main.go:3:9: &T{} escapes to heap\n")},
	}
	s, files, err := session.Loose(fsys, []string{"cpu.json", "m2.txt"})
	if err != nil || len(files) != 2 || files[1].Kind != recording.Compiler || files[1].Diagnostics != 2 {
		t.Fatalf("%+v, %v", files, err)
	}
	set, err := s.Compiler()
	if err != nil || len(set.At("/home/u/p/main.go", 3)) != 2 || !set.Packages["main"] {
		t.Errorf("%+v, %v", set, err)
	}
}
