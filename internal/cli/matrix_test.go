package cli

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"

	"loupe/internal/cli/command"
	"loupe/recording"
)

// contents are what the matrix knows: a file of each kind, and the commands that show
// it. X is where the name of it stands.
var contents = []struct {
	name, file string
	shown      []string
}{
	{"trace", "../../format/exectrace/testdata/recorded/medium.trace", []string{"report X", "open -text X", "trace summary X", "trace X", "trace mmu X", "compare X X"}},
	{"profile", "testdata/goldens/cpu.pb.gz", []string{"report X", "open -text X", "pprof -top X", "compare X X"}},
	{"goprofile", "../../cmd/loupe/default.pgo", []string{"report X", "open -text X", "pprof -top X", "compare X X", "pgo trim -o - X", "pgo merge -whole -o - X"}},
	{"cpuprofile", "testdata/kinds/app.cpuprofile", []string{"report X", "open -text X", "pprof -top X", "compare X X"}},
	{"chromechunks", "testdata/kinds/chunks.trace.json", []string{"report X", "open -text X", "pprof -top X", "compare X X"}},
	{"chromespans", "testdata/kinds/spans.trace.json", []string{"report X", "open -text X", "pprof -top X", "compare X X"}},
	{"jemalloc", "testdata/kinds/jemalloc.heap", []string{"report X", "open -text X", "pprof -top X", "compare X X"}},
	{"compiler", "../../format/compiler/testdata/go1.26/m2.txt", []string{"report X", "open -text X"}},
	{"checks", "../../format/compiler/testdata/go1.26/bce.txt", []string{"report X", "open -text X"}},
	{"diagnostics", "../../format/compiler/testdata/go1.26/json/sample.json", []string{"report X", "open -text X"}},
	{"dump", "../../format/dump/testdata/go1.26.deadlock.txt", []string{"report X", "open -text X", "stacks X", "pprof -top X", "compare X X"}},
	{"gctrace", "../../analysis/gc/testdata/go1.26.0-gogc25.log", []string{"report X", "open -text X", "gc X", "gc -what-if GOGC=200 X", "compare X X"}},
	{"schedtrace", "../../format/godebug/testdata/go1.26.schedtrace.txt", []string{"report X", "open -text X", "sched X", "compare X X"}},
	{"pacer", "../../format/godebug/testdata/go1.26.gcpacertrace.txt", []string{"report X", "open -text X", "gc X", "gc -cycles X", "compare X X"}},
	{"inits", "testdata/kinds/inittrace.txt", []string{"report X", "open -text X", "gc X", "compare X X"}},
	{"scavenger", "testdata/kinds/scavtrace.txt", []string{"report X", "open -text X", "gc X", "compare X X"}},
	{"load", "../../format/loadlog/testdata/closed1.load", []string{"report X", "open -text X", "compare X X"}},
	{"recording", "../../insight/testdata/loads/ld02.slow.zip", []string{"report X", "open -text X", "trace summary X", "compare X X"}},
	{"vegeta", "../../format/loadlog/testdata/foreign/vegeta.gob", []string{"report X", "open -text X", "compare X X"}},
	{"heycsv", "../../format/loadlog/testdata/foreign/hey.csv", []string{"report X", "open -text X", "compare X X"}},
	{"wrk", "../../format/loadlog/testdata/foreign/wrk.txt", []string{"report X", "open -text X", "compare X X"}},
	{"hey", "../../format/loadlog/testdata/foreign/hey.txt", []string{"report X", "open -text X", "compare X X"}},
	{"events", "testdata/benchmarks.json", []string{"report X", "open -text X", "compare X X"}},
	{"benchmarks", "", []string{"report X", "open -text X", "compare X X"}},
}

// commandsOfMatrix are all commands that take an input. What they do not show they
// refuse, and name the one that does.
var commandsOfMatrix = []string{"report X", "trace summary X", "gc X", "sched X", "stacks X", "pprof -top X"}

const benchmarkText = "\ngoos: linux\npkg: m\nBenchmarkSum-2 \t 1000000\t 101.5 ns/op\nBenchmarkSum-2 \t 1000000\t 102.5 ns/op\nPASS\n"

// packedAs are the ways in which a file may be named.
func packedAs(t *testing.T, name string, data []byte, server *httptest.Server) map[string]string {
	t.Helper()
	dir := t.TempDir()
	put := func(name string, data []byte) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	var gz, zst, zipped bytes.Buffer
	z := gzip.NewWriter(&gz)
	z.Write(data)
	z.Close()
	s, err := zstd.NewWriter(&zst)
	if err != nil {
		t.Fatal(err)
	}
	s.Write(data)
	s.Close()
	a := zip.NewWriter(&zipped)
	w, err := a.Create("inside/" + name)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(data)
	a.Close()
	var archive, tgz bytes.Buffer
	b := tar.NewWriter(&archive)
	if err := b.WriteHeader(&tar.Header{Name: "inside/" + name, Typeflag: tar.TypeReg, Mode: 0o600, Size: int64(len(data))}); err != nil {
		t.Fatal(err)
	}
	b.Write(data)
	b.Close()
	z = gzip.NewWriter(&tgz)
	z.Write(archive.Bytes())
	z.Close()
	return map[string]string{
		"file": put(name, data), "gzip": put(name+".gz", gz.Bytes()), "zstd": put(name+".zst", zst.Bytes()), "zip": put("in.zip", zipped.Bytes()),
		"tar": put("in.tar", archive.Bytes()), "tgz": put("in.tar.gz", tgz.Bytes()), "member": filepath.Join(dir, "in.tar.gz", "inside", name), "utf16": put(name+".utf16", inUTF16(data)),
		"entry": filepath.Join(dir, "in.zip", name), "pattern": filepath.Join(dir, name[:len(name)-1]+"[a-z]"), "stdin": "-", "address": server.URL + "/files/" + name,
	}
}

// inUTF16 is a text as PowerShell writes what it redirects.
func inUTF16(text []byte) []byte {
	out := []byte{0xff, 0xfe}
	for _, w := range utf16.Encode([]rune(string(text))) {
		out = binary.LittleEndian.AppendUint16(out, w)
	}
	return out
}

// TestMatrix: the same content meets the same door however it is named: every command
// that shows it shows the same, and every other one says which does.
func TestMatrix(t *testing.T) {
	files := map[string][]byte{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write(files[filepath.Base(r.URL.Path)])
	}))
	defer server.Close()
	cells := 0
	for _, c := range contents {
		data := []byte(benchmarkText)
		if c.file != "" {
			var err error
			if data, err = os.ReadFile(c.file); err != nil {
				t.Fatal(err)
			}
		}
		files[c.name+".content"] = data
		base := c.name + ".content"
		names := packedAs(t, base, data, server)
		for _, line := range c.shown {
			want := ""
			for _, way := range []string{"file", "gzip", "zstd", "zip", "tar", "tgz", "member", "utf16", "entry", "pattern", "stdin", "address", "pipe"} {
				if way == "zip" && c.name == "recording" || (way == "stdin" || way == "pipe") && strings.Count(line, "X") > 1 {
					continue // a recording in a zip file is a recording; a stream is read once
				}
				if way == "utf16" && (!utf8.Valid(data) || bytes.HasPrefix(data, []byte("{"))) {
					continue // what is no text; and nobody redirects JSON by hand
				}
				cells++
				if way == "pipe" {
					names[way] = pipe(t, data)
				}
				text, said, code := shown(t, line, names[way], data)
				if code != command.ExitOK && code != command.ExitFound {
					t.Errorf("loupe %s, as %s: exit code %d: %s", line, way, code, said)
					continue
				}
				text = sizeOfFile.ReplaceAllString(withoutNames(text, names, base), "$1")
				if want == "" {
					want = text
				}
				if text != want {
					t.Errorf("loupe %s, as %s: differs from that of the file: %s", strings.ReplaceAll(line, "X", c.name), way, whereDifferent(want, text))
				}
			}
		}
		for _, line := range commandsOfMatrix {
			if slices.Contains(c.shown, line) || c.name == "recording" {
				continue
			}
			cells++
			_, said, code := shown(t, line, names["file"], data)
			if code != command.ExitFailed && code != command.ExitNothing || !strings.Contains(said, ": loupe ") {
				t.Errorf("loupe %s of a %s: exit code %d and no command that shows it: %s", line, c.name, code, said)
			}
		}
	}
	if cells < 450 {
		t.Errorf("%d cells were looked at", cells)
	}
}

// TestMatrixEntries: what lies in a recording is named by it, in a folder and in a zip
// file.
func TestMatrixEntries(t *testing.T) {
	const file = "../../insight/testdata/loads/ld02.slow.zip"
	rec, err := recording.OpenFile(file)
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "rec"), rec.FS()); err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	if err := w.AddFS(os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	w.Close()
	tarFile := filepath.Join(dir, "rec.tar")
	if err := os.WriteFile(tarFile, packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"report X", "open -text X"} {
		a, _, code := shown(t, line, filepath.Join(dir, "rec"), nil)
		b, said, tarCode := shown(t, line, tarFile, nil)
		a, b = withoutNames(a, map[string]string{"file": filepath.Join(dir, "rec")}, "rec"), withoutNames(b, map[string]string{"file": tarFile}, "rec.tar")
		if code != tarCode || a != b {
			t.Errorf("loupe %s: exit codes %d and of the tar file %d: %s %s", line, code, tarCode, said, whereDifferent(a, b))
		}
	}
	seen := map[recording.Kind]bool{}
	for _, e := range rec.Entries {
		lines := map[recording.Kind][]string{recording.CPU: {"pprof -top X", "pgo trim -o - X"}, recording.ExecTrace: {"trace summary X"}, recording.Stderr: {"gc X"}, recording.Load: {"report X"}}[e.Kind]
		if len(lines) == 0 {
			continue
		}
		seen[e.Kind] = true
		for _, line := range lines {
			a, _, code := shown(t, line, filepath.Join(dir, "rec", filepath.FromSlash(e.Path)), nil)
			b, said, zipCode := shown(t, line, file+"/"+e.Path, nil)
			if c, said, tarCode := shown(t, line, tarFile+"/rec/"+e.Path, nil); tarCode != zipCode || len(c) == 0 {
				t.Errorf("loupe %s of %s in a tar file: exit code %d: %s", line, e.Path, tarCode, said)
			}
			if code != zipCode || code != command.ExitOK && code != command.ExitFound {
				t.Errorf("loupe %s of %s: exit codes %d and %d: %s", line, e.Path, code, zipCode, said)
			}
			clean := strings.NewReplacer(filepath.Join(dir, "rec"), "R", file, "R")
			if clean.Replace(a) != clean.Replace(b) {
				t.Errorf("loupe %s of %s: %s", line, e.Path, whereDifferent(clean.Replace(a), clean.Replace(b)))
			}
		}
	}
	if len(seen) < 2 {
		t.Errorf("the recording has only %v", seen)
	}
}

// TestMatrixCompilerFolder: the folder that -gcflags=-json=0,DIR writes is one output of
// the compiler, with or without the folders of its packages; one with other files stays
// a folder.
func TestMatrixCompilerFolder(t *testing.T) {
	const inside = "../../format/compiler/testdata/go1.26/json"
	all := t.TempDir()
	if err := os.CopyFS(filepath.Join(all, "example.com%2Fsample"), os.DirFS(inside)); err != nil {
		t.Fatal(err)
	}
	var want string
	for i, dir := range []string{inside, all} {
		text, said, code := shown(t, "report X", dir, nil)
		text = strings.ReplaceAll(text, dir, "DIR")
		if code != command.ExitOK || !strings.Contains(text, "Compiler: what escapes to the heap") || !strings.Contains(text, "sample.go:69") || !strings.Contains(text, "errors.go:65:9") {
			t.Errorf("report %s: exit code %d: %s%s", dir, code, text, said)
		}
		if text = strings.Join(strings.Fields(text[strings.Index(text, "Compiler"):]), " "); i == 0 {
			want = text
		}
		if text != want {
			t.Errorf("with folders of packages: %s", whereDifferent(want, text))
		}
	}
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "a.json"), []byte(`{"some":"thing"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, said, code := shown(t, "report X", other, nil); code != command.ExitFailed || !strings.Contains(said, "is a folder but not a recording") {
		t.Errorf("another folder: exit code %d: %s", code, said)
	}
	_, said, code := shown(t, "compare X X", inside, nil)
	if code != command.ExitFailed || !strings.Contains(said, "have no figures to compare") {
		t.Errorf("compare: exit code %d: %s", code, said)
	}
}

// shown runs a command and returns what it shows, and what it says besides.
func shown(t *testing.T, line, name string, stdin []byte) (string, string, int) {
	t.Helper()
	args := strings.Fields(line)
	for i := range args {
		if args[i] == "X" {
			args[i] = name
		}
	}
	in, err := os.CreateTemp(t.TempDir(), "stdin")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	in.Write(stdin)
	in.Seek(0, 0)
	t.Setenv("COLUMNS", "300")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	var out, said bytes.Buffer
	e := &command.Env{Stdin: in, Stdout: &out, Stderr: &said, Ctx: t.Context(), Quiet: true}
	e.Call = func(args []string) int { return call(e, args) }
	code := call(e, args)
	return out.String(), said.String(), code
}

// sizeOfFile is what a report says of a file: of a profile in a gzip file, which is not
// unpacked, it is that of the gzip file.
var sizeOfFile = regexp.MustCompile(`, [0-9.]+ [KM]?i?B( taken| loupe)`)

// withoutNames takes the names out of what a command says.
func withoutNames(text string, names map[string]string, base string) string {
	for _, name := range []string{
		names["zip"] + "/inside/" + base, names["tgz"] + "/inside/" + base, names["tar"] + "/inside/" + base, names["member"], names["tgz"], names["tar"], names["utf16"], names["entry"], names["zip"], names["gzip"], names["zstd"], names["file"], names["address"], names["pipe"], names["pattern"],
		"'standard input'", "standard input", base + ".gz", base + ".zst", base + ".utf16", base, "pipe",
	} {
		if name != "" {
			text = strings.ReplaceAll(text, name, "NAME")
		}
	}
	// Columns are as wide as names, and lines begin anew behind them.
	return strings.Join(strings.Fields(text), " ")
}

func whereDifferent(a, b string) string {
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	from := max(0, at-60)
	return fmt.Sprintf("…%q instead of …%q", b[from:min(len(b), at+60)], a[from:min(len(a), at+60)])
}
