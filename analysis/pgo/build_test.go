package pgo_test

import (
	"bytes"
	"debug/elf"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"loupe/analysis/pgo"
	"loupe/format/compiler"
	"loupe/format/profile"
	"loupe/internal/long"
)

const guidedProgram = `package main

import (
	"os"
	"runtime/pprof"
	"strings"
)

type word string

func (w word) size() int { return len(w) }

type sized interface{ size() int }

func count(all []sized) (n int) {
	for _, one := range all {
		n += one.size()
		n += mix(n)
	}
	return n
}

func mix(n int) int {
	for i := range 7 {
		n ^= n << 13
		n ^= n >> 7
		n ^= n << 17
		n += n*31 ^ i
		if n%1000003 == i {
			n += strings.Count("banana", "a")
		}
	}
	return n
}

func main() {
	f, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		panic(err)
	}
	all, n := []sized{word("a"), word("bb")}, 0
	for range 20_000_000 {
		n += count(all)
	}
	pprof.StopCPUProfile()
	if err := f.Close(); err != nil {
		panic(err)
	}
	println(n)
}
`

// TestSameBinary: the compiler makes the same program by a trimmed profile as by the whole one. And
// a profile that was just taken matches the source that it is of, by what the compiler says when it
// is asked, which changes nothing of the code.
func TestSameBinary(t *testing.T) {
	long.Only(t, "it compiles the standard library by a new profile")
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, data, 0o666); err != nil {
			t.Fatal(err)
		}
		return name
	}
	run := func(words ...string) []byte {
		t.Helper()
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", words, err, out)
		}
		return out
	}
	read := func(name string) []byte {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	write("go.mod", []byte("module example.com/guided\n\ngo 1.26\n"))
	write("main.go", []byte(guidedProgram))
	run("go", "build", "-pgo=off", "-o", "plain", ".")
	run(filepath.Join(dir, "plain"), "cpu.pb.gz")
	p, err := profile.Decode(read("cpu.pb.gz"), profile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	q, err := pgo.Trim(p)
	if err != nil {
		t.Fatal(err)
	}
	whole, trimmed := write("whole/default.pgo", read("cpu.pb.gz")), write("trimmed/default.pgo", encoded(t, q))
	run("go", "build", "-trimpath", "-pgo="+whole, "-o", "by-whole", ".")
	run("go", "build", "-trimpath", "-pgo="+trimmed, "-o", "by-trimmed", ".")
	if !bytes.Equal(read("by-whole"), read("by-trimmed")) {
		t.Error("the trimmed profile makes another program")
	}
	calls, err := pgo.CallsOf(p)
	if err != nil {
		t.Fatal(err)
	}
	names := calls.Names()
	said := run("go", "build", "-trimpath", "-pgo="+trimmed, "-gcflags=all="+compiler.GuidedFlags, "-o", "asked", ".")
	g, err := compiler.ParseGuided(bytes.NewReader(said), func(name string) bool { return names[name] })
	if err != nil {
		t.Fatal(err)
	}
	if m := pgo.Against(calls, g); m.Share() != 1 || m.Weight[pgo.Found] == 0 || len(g.Devirtualized)+len(g.Hot) == 0 || g.Malformed != 0 {
		t.Errorf("a fresh profile: %+v; %d hot calls, %d made direct, %d malformed", m, len(g.Hot), len(g.Devirtualized), g.Malformed)
	}
	if runtime.GOOS == "linux" && !maps.Equal(code(t, filepath.Join(dir, "asked")), code(t, filepath.Join(dir, "by-whole"))) {
		t.Error("to ask the compiler changes the code")
	}
}

// code is which functions a program has, and how large they are: where they and their data lie
// depends on what the program says of how it was built.
func code(t *testing.T, name string) map[string]uint64 {
	t.Helper()
	f, err := elf.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]uint64{}
	for _, s := range all {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Name != "go:buildid" {
			out[s.Name] = s.Size
		}
	}
	return out
}
