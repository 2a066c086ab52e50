package cli

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"loupe/format/kind"
	"loupe/format/profile/profiletest"
	"loupe/internal/cli/command"
	"loupe/report/reporttest"
)

// forms are the commands that show a file of each kind, in all their forms, by
// their kind. FILE is the file, OUT a file to write.
var forms = map[kind.Kind][]string{
	kind.Dump: {
		"stacks FILE", "stacks -full FILE", "stacks -json FILE", "stacks -full -json FILE", "stacks -dump all FILE", "stacks -n 0 FILE",
		"stacks -filter func~main FILE", "stacks FILE FILE", "stacks -json FILE FILE", "stacks -flame OUT FILE", "stacks -svg OUT FILE",
		"stacks -proto OUT FILE", "pprof -top FILE", "pprof -traces FILE",
	},
	kind.Profile: {
		"pprof -top FILE", "pprof -top -cum FILE", "pprof -tree FILE", "pprof -peek . FILE", "pprof -traces FILE", "pprof -raw FILE", "pprof -dot FILE",
		"pprof -callgrind FILE", "pprof -tags FILE", "pprof -comments FILE", "pprof -list . FILE", "pprof -disasm . FILE", "pprof -svg FILE",
		"pprof -png FILE", "pprof -proto FILE", "pprof -topproto FILE", "pprof -weblist . -output OUT FILE", "pprof -json FILE", "pprof -json -tree FILE",
		"pprof -totals FILE", "pprof -totals -json FILE", "pprof -table FILE", "pprof -csv FILE", "pprof -table -format md FILE", "pprof -table -json FILE",
		"pprof -categories FILE", "pprof -categories -format csv FILE", "pprof -flame -output OUT FILE", "pprof -flame -output OUT.svg FILE",
		"pprof -folded FILE", "pprof -speedscope FILE", "pprof -pgo -output OUT FILE", "pprof -top -diff_base FILE FILE", "pprof -lines -top FILE", "pprof -addresses -top FILE",
		"compare FILE FILE",
	},
	kind.Trace: {
		"trace summary -json FILE", "trace goroutines -json FILE", "trace goroutines -by creator -json FILE", "trace blocked -json FILE", "trace tasks -json FILE",
		"trace regions -json FILE", "trace stw -json FILE", "trace mmu -json FILE", "trace mmu -sweep -json FILE", "trace profile -json FILE",
		"trace compare -json FILE FILE", "trace sched -json -filter state=runnable FILE", "trace goroutines -json -filter dur>10us FILE",
		"trace summary FILE", "trace goroutines FILE", "trace goroutines -by creator -format csv FILE", "trace goroutine 1 FILE", "trace blocked FILE",
		"trace blocked -format md FILE", "trace sched -json FILE", "trace sched FILE", "trace tasks FILE", "trace regions FILE", "trace stw FILE",
		"trace mmu FILE", "trace mmu -sweep -per-proc FILE", "trace profile FILE", "trace profile -kind sched -format csv FILE", "trace profile -o OUT FILE",
		"trace events FILE", "trace events -raw FILE", "trace events -json FILE", "trace export FILE", "trace export -format perfetto FILE",
		"trace export -format json FILE", "trace cut -to 1ms -o OUT FILE", "trace compare FILE FILE", "trace summary -filter dur>1us -json FILE",
	},
	kind.GCTrace:    {"gc FILE", "gc -cycles FILE", "gc -json FILE", "gc -what-if all FILE", "gc -what-if all -json FILE", "gc -container 1GiB FILE", "sched FILE", "sched -json FILE"},
	kind.SchedTrace: {"sched FILE", "sched -json FILE", "gc FILE"},
	kind.Load: {
		"compare FILE FILE", "compare -format md FILE FILE", "compare -format json FILE FILE",
	},
	kind.Benchmarks: {"benchstat FILE", "benchstat FILE FILE", "benchstat -format csv -col .name FILE FILE", "benchstat -row .name -table goos FILE", "compare FILE FILE", "compare -format csv FILE FILE", "compare -format json FILE FILE"},
	kind.Unknown: {
		"open -text FILE", "report -fail never FILE", "report -fail never -format json FILE", "report -fail never -format md FILE",
		"report -fail never -format svg FILE", "report -fail never -format html FILE",
	},
}

// printAll shows a file in all forms, on terminals of several widths. Whatever is in it,
// a command says something and ends with a code of its own.
func printAll(t *testing.T, name string) {
	t.Helper()
	for i, line := range formsOf(name) {
		printForm(t, name, line, i)
	}
}

// formsOf are all forms of a file.
func formsOf(name string) []string {
	what := kind.Unknown
	if f, err := os.Open(name); err == nil {
		what, _, _ = kind.Of(f)
		f.Close()
	}
	lines := forms[what]
	if what != kind.Unknown {
		lines = append(lines[:len(lines):len(lines)], forms[kind.Unknown]...)
	}
	return lines
}

// printForm shows a file in one form, with the i-th width.
func printForm(t *testing.T, name, line string, i int) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	args := strings.Fields(line)
	for i := range args {
		args[i] = strings.NewReplacer("FILE", name, "OUT", out).Replace(args[i])
	}
	t.Setenv("COLUMNS", []string{"40", "80", "200"}[i%3])
	var stdout, stderr bytes.Buffer
	code := runForm(t, line, args, &stdout, &stderr)
	program := code == command.ExitUsage && strings.Contains(stderr.String(), "is a program") // and says what to name besides
	if code < command.ExitOK || code > command.ExitNothing || code == command.ExitUsage && !program {
		t.Errorf("loupe %s: exit code %d: %s", line, code, stderr.String())
	}
	if code == command.ExitFailed && stderr.Len() == 0 {
		t.Errorf("loupe %s fails and does not say why", line)
	}
	possible(t, line, stdout.Bytes())
}

// possible checks that nothing is printed that cannot be. What is in the file is not
// loupe's, where it is printed as it stands.
func possible(t *testing.T, line string, printed []byte) {
	t.Helper()
	for _, verbatim := range []string{"-raw", "-traces", "-full", "-comments", "-list", "-disasm", "-proto", "-png", "-dump"} {
		if strings.Contains(line, verbatim) {
			return
		}
	}
	for _, wrong := range reporttest.CheckOutput(printed) {
		t.Errorf("loupe %s prints what cannot be: %s", line, wrong)
	}
}

// runForm runs a command and says which one it was when it panics.
func runForm(t *testing.T, line string, args []string, stdout, stderr io.Writer) int {
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("loupe %s panics: %v", line, r)
			panic(r)
		}
	}()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	e := &command.Env{Stdin: null, Stdout: stdout, Stderr: stderr, Ctx: t.Context(), Quiet: true}
	e.Call = func(args []string) int { return call(e, args) }
	return call(e, args)
}

// seeds are small files of every kind.
func seeds(t testing.TB) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	root := filepath.Join("..", "..")
	for _, pattern := range []string{
		"format/dump/testdata/*.txt", "format/godebug/testdata/go1.26*", "format/exectrace/testdata/old/*.trace", "format/exectrace/testdata/recorded/size*.trace",
		"internal/cli/testdata/goldens/*.pb.gz", "format/loadlog/testdata/*.load",
	} {
		names, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil || len(names) == 0 {
			t.Fatalf("nothing is %s: %v", pattern, err)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if len(data) < 64<<10 {
				all[filepath.Base(name)] = data
			}
		}
	}
	all["elided.txt"] = []byte(elided)
	all["hostile.pb.gz"] = profiletest.Profile(fmt.Sprintf("main main\n%s %s", hostile, hostile), "cpu/nanoseconds")
	all["nothing.pb.gz"] = profiletest.Profile("", "cpu/nanoseconds")
	all["bench.txt"] = []byte("goos: linux\npkg: x\nBenchmarkA-2 100 12.5 ns/op 3 B/op\nBenchmarkA-2 100 12.7 ns/op 3 B/op\nPASS\n")
	all["folded"] = []byte("main;parse 10\nmain;write 3\n")
	return all
}

// hostile is a name that a terminal would obey.
const hostile = "main.\x1b[2J\u202eevil"

// elided is what Go up to 1.20 printed of a deep stack, with frames that are
// too long for any terminal and others that have no file.
var elided = `panic: deep

goroutine 1 [running]:
main.` + strings.Repeat("recurse", 30) + `(0x1)
	/home/user/` + strings.Repeat("long/", 30) + `main.go:7 +0x1d
...additional frames elided...
created by main.main
	/home/user/main.go:3 +0x20

goroutine 2 [running]:
	goroutine running on other thread; stack unavailable

goroutine 3 [syscall]:
non-Go function
	pc=0x7f0000001234
runtime.cgocall(0x1, 0x2)
	/usr/local/go/src/runtime/cgocall.go:157 +0x4b
`

// TestForms shows files of every kind in all forms.
func TestForms(t *testing.T) {
	for name, data := range seeds(t) {
		t.Run(name, func(t *testing.T) { printAll(t, written(t, name, data)) })
	}
}

// written writes a file.
func written(t *testing.T, name string, data []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// FuzzForms prints whatever a parser accepts in any of the forms.
func FuzzForms(f *testing.F) {
	for _, data := range seeds(f) {
		if len(data) < 16<<10 {
			f.Add(data, uint(0))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, form uint) {
		name := written(t, "input", data)
		lines := formsOf(name)
		printForm(t, name, lines[form%uint(len(lines))], int(form%3))
	})
}

// peers are modules of other tools that read the same files, whose samples are
// read where the go command keeps them. testdata/peers has their checksums.
var peers = map[string]int{ // the least number of samples
	"github.com/DataDog/gostackparse": 12,
	"github.com/google/pprof":         20,
	"github.com/maruel/panicparse/v2": 1,
	"honnef.co/go/gotraceui":          1,
}

// TestPeers shows the samples of other tools in all forms.
func TestPeers(t *testing.T) {
	for module, least := range peers {
		t.Run(module, func(t *testing.T) {
			samples := peerSamples(t, module)
			if len(samples) < least {
				t.Fatalf("%d samples, there should be %d at least", len(samples), least)
			}
			for name, data := range samples {
				t.Run(name, func(t *testing.T) { printAll(t, written(t, "sample", data)) })
			}
		})
	}
}

// unquoted is the input in a file of a fuzzer's corpus, and any other file as it is.
func unquoted(data []byte) []byte {
	text, ok := strings.CutPrefix(string(data), "go test fuzz v1\n[]byte(")
	if !ok {
		return data
	}
	if input, err := strconv.Unquote(strings.TrimSuffix(strings.TrimSpace(text), ")")); err == nil {
		return []byte(input)
	}
	return data
}

// peerSamples are the files that a module has to test with, and, where it keeps them in
// its tests, the texts of these.
func peerSamples(t *testing.T, module string) map[string][]byte {
	t.Helper()
	list := exec.Command("go", "mod", "download", "-json", module)
	list.Dir = filepath.Join("testdata", "peers")
	list.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go mod download %s: %v\n%s", module, err, out)
	}
	_, dir, _ := strings.Cut(string(out), `"Dir": "`)
	dir, _, _ = strings.Cut(dir, `"`)
	all := map[string][]byte{}
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		inside := strings.Contains(rel, "testdata") || strings.Contains(rel, "fixture")
		if !inside && !strings.HasSuffix(name, "_test.go") {
			return nil
		}
		data, err := os.ReadFile(name)
		if err == nil && len(data) < 1<<20 {
			all[filepath.ToSlash(rel)] = unquoted(data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
