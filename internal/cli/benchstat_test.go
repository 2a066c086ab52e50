package cli

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// benchstatRun has the program benchstat and runs command lines with it and with ours.
type benchstatRun struct {
	program string
	source  string // of the program
	scratch string // for what is printed
}

// newBenchstatRun builds benchstat, and goes into a folder with the files that it ships
// for its tests.
func newBenchstatRun(t *testing.T) *benchstatRun {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/perf").Output()
	if err != nil {
		t.Fatalf("no golang.org/x/perf: %v", err)
	}
	b := &benchstatRun{source: filepath.Join(strings.TrimSpace(string(dir)), "cmd", "benchstat"), scratch: t.TempDir()}
	b.program = filepath.Join(b.scratch, "benchstat")
	if out, err := exec.Command("go", "build", "-o", b.program, "golang.org/x/perf/cmd/benchstat").CombinedOutput(); err != nil {
		t.Fatalf("cannot build benchstat: %v\n%s", err, out)
	}
	files, err := filepath.Glob(filepath.Join(b.source, "testdata", "*"))
	if err != nil || len(files) < 10 {
		t.Fatalf("benchstat has no files to test with: %v", err)
	}
	t.Chdir(t.TempDir())
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		writeHere(t, filepath.Base(name), string(data))
	}
	return b
}

func writeHere(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// printedBy is what a command line came to.
type printedBy struct {
	code           int
	stdout, stderr string
}

// run runs a command line; a last word "<name" is standard input.
func (b *benchstatRun) run(t *testing.T, words []string, ours bool) (p printedBy) {
	t.Helper()
	stdin := os.DevNull
	if name, ok := strings.CutPrefix(words[len(words)-1], "<"); ok {
		stdin, words = name, words[:len(words)-1]
	}
	in, err := os.Open(stdin)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var files [2]*os.File
	for i, name := range []string{"stdout", "stderr"} {
		if files[i], err = os.Create(filepath.Join(b.scratch, name)); err != nil {
			t.Fatal(err)
		}
		defer files[i].Close()
	}
	if ours {
		p.code = Main(append([]string{"benchstat"}, words...), in, files[0], files[1])
	} else {
		cmd := exec.Command(b.program, words...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = in, files[0], files[1]
		if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
			t.Fatal(err)
		}
		p.code = cmd.ProcessState.ExitCode()
	}
	for i, to := range []*string{&p.stdout, &p.stderr} {
		if _, err := files[i].Seek(0, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(files[i])
		if err != nil {
			t.Fatal(err)
		}
		*to = string(data)
	}
	return p
}

// compare runs a command line with both. Of wrong usage the first line is the message;
// how to use a program each says in its own words.
func (b *benchstatRun) compare(t *testing.T, words []string) {
	t.Helper()
	want, got := b.run(t, words, false), b.run(t, words, true)
	if want.code == 2 {
		want.stderr, _, _ = strings.Cut(want.stderr, "\n")
		got.stderr, _, _ = strings.Cut(got.stderr, "\n")
	}
	if want != got {
		t.Errorf("benchstat %q\nexits with %d, ours with %d\n%s%s", words, want.code, got.code, lineDifference(want.stdout, got.stdout), lineDifference(want.stderr, got.stderr))
	}
}

// lineDifference has the first line in which texts differ, "" when there is none.
func lineDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		var x, y string
		if i < len(w) {
			x = w[i]
		}
		if i < len(g) {
			y = g[i]
		}
		if x != y {
			return fmt.Sprintf("line %d\nwant %s\ngot  %s\n", i+1, x, y)
		}
	}
	return ""
}

// quotedWords splits a line at blanks outside of quotes, which go away.
func quotedWords(line string) (words []string) {
	var word strings.Builder
	quote, inside := rune(0), false
	for _, r := range line {
		switch {
		case r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, inside = r, true
		case quote == 0 && r == ' ':
			if inside {
				words = append(words, word.String())
			}
			word.Reset()
			inside = false
		default:
			word.WriteRune(r)
			inside = true
		}
	}
	if inside {
		words = append(words, word.String())
	}
	return words
}

// benchstatGoldens are the golden files that benchstat ships, with their command lines.
var benchstatGoldens = map[string]string{
	"csvOldNew":     "-format csv old.txt new.txt",
	"csvErrors":     "-format csv -row .name new.txt",
	"crcOldNew":     "crc-old.txt crc-new.txt",
	"crcIgnore":     "-ignore note crc-old.txt crc-new.txt",
	"crcSizeVsPoly": "-filter /align:0 -row /size -col /poly crc-new.txt",
	"units":         "-col note units.txt",
	"zero":          "-col note zero.txt",
	"smallSample":   "-col note smallSample.txt",
	"issue19565":    "-col note issue19565.txt",
	"issue19634":    "-col note issue19634.txt",
}

// TestBenchstatGoldens: what benchstat's own tests want, and what its documentation
// shows, is what loupe benchstat prints.
func TestBenchstatGoldens(t *testing.T) {
	b := newBenchstatRun(t)
	shipped, err := filepath.Glob("*.stdout")
	if err != nil || len(shipped) != len(benchstatGoldens) {
		t.Errorf("benchstat ships %d goldens, and %d are tested: %v", len(shipped), len(benchstatGoldens), err)
	}
	for name, line := range benchstatGoldens {
		want, err := os.ReadFile(name + ".stdout")
		if err != nil {
			t.Error(err)
			continue
		}
		notes, _ := os.ReadFile(name + ".stderr") // there where something is said
		if got := b.run(t, quotedWords(line), true); got != (printedBy{0, string(want), string(notes)}) {
			t.Errorf("%s exits with %d\n%s%s", name, got.code, lineDifference(string(want), got.stdout), lineDifference(string(notes), got.stderr))
		}
	}
	examples := documentedExamples(t, b.source)
	if len(examples) < 8 {
		t.Errorf("the documentation of benchstat has %d examples, there should be 8 at least", len(examples))
	}
	for line, want := range examples {
		if got := b.run(t, quotedWords(line), true); got != (printedBy{stdout: want}) {
			t.Errorf("benchstat %s exits with %d\n%s%s", line, got.code, lineDifference(want, got.stdout), got.stderr)
		}
	}
}

// documentedExamples are the command lines in the documentation of benchstat, with the
// text below each.
func documentedExamples(t *testing.T, source string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(source, "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	examples, line := map[string]string{}, ""
	for row := range strings.SplitSeq(string(text), "\n") {
		code, ok := strings.CutPrefix(row, "//\t")
		if !ok {
			line = ""
			continue
		}
		if command, ok := strings.CutPrefix(code, "$ benchstat "); ok {
			line = command
		} else if line != "" {
			examples[line] += code + "\n"
		}
	}
	return examples
}

// benchstatInputs are files in which something is odd. Those above are of ordinary runs.
var benchstatInputs = map[string]string{
	"two-keys.txt": `alpha: a name that is wider than the columns it stands above, by far
beta: x
BenchmarkA/k=1 1 3 ns/op
BenchmarkA/k=1 1 4 ns/op
BenchmarkB/k=1 1 0 ns/op -3 u
BenchmarkB/k=2 1 5 ns/op -4 u
beta: y
BenchmarkA/k=1 1 300000000 ns/op
BenchmarkB/k=1 1 0 ns/op 3 u
alpha:
BenchmarkB/k=1 1 0 ns/op 3 u
gamma: é日本, "quoted"
BenchmarkÉ日本/k=1 1 17 ns/op 3 u
BenchmarkE 1 17 ns/op 3 u
BenchmarkE/long 1 18 ns/op 3 u
`,
	"exact.txt":    "Unit u assume=exact\nBenchmarkA 1 0 u\nBenchmarkB 1 1 u\n",
	"exact2.txt":   "Unit u assume=exact\nBenchmarkA 1 5 u\nBenchmarkB 1 20 u\n",
	"negative.txt": "Unit u assume=exact\nBenchmarkA 1 -5 u\nBenchmarkC 1 20 u\n",
	"varies.txt":   "Unit u assume=exact\nBenchmarkA/k=1 1 5 u\nBenchmarkA/k=2 1 20 u\nBenchmarkD/k=1 1 2 u\nBenchmarkD/k=2 1 2 u\n",
	"apart.txt":    "Unit u assume=exact\nBenchmarkX 1 5 u\nBenchmarkY 1 20 u\n",
	"spread.txt":   "Unit u assume=exact\n" + spread("Benchmark%d 1 1 u\nBenchmark%d 1 %d u\n", 8),
	"spread2.txt":  "Unit u assume=exact\n" + spread("BenchmarkZ%d 1 1 u\nBenchmarkZ%d 1 %d u\n", 8),
	"unit.txt":     "Unit u assume=nothing garbage\nUnit u assume=exact\nUnit\nUnit v better=higher\nBenchmarkA 1 2 u 3 v\n",
	"long.txt":     "BenchmarkA 1 3 a-unit-with-quite-a-long-name\nBenchmarkB 1 30000000000 a-unit-with-quite-a-long-name\n",
	"huge.txt":     "BenchmarkA 1 1e300 ns/op\nBenchmarkB 1 1e-300 ns/op\nBenchmarkC 1 Inf ns/op\nBenchmarkD 1 -Inf ns/op\nBenchmarkE 1 1e999 ns/op\n",
	"crlf.txt":     "goos: linux\r\nBenchmarkA 1 3 ns/op\r\nBenchmarkA 1 4 ns/op\r\nPASS\r\n",
	"cut.txt":      "BenchmarkA 1 3 ns/op\nBenchmarkA 1 4 ns/",
	"empty.txt":    "",
	"garbage.txt":  "\x00\xff\xfe\nBenchmark\nBenchmarkA\nBenchmarkA x\nBenchmarkA 1\nBenchmarkA 1 2\nBenchmarkA 1 x ns/op\nBenchmarkA 99999999999999999999 1 ns/op\nBenchmark 1 2 ns/op\n\xff: x\nBenchmark\xff 1 2 ns/op\n",
	"between.txt":  "goos: linux\n=== RUN   TestX\n    x_test.go:1: hello: world\n--- PASS: TestX (0.00s)\nBenchmarkA-2 \t 100\t 12.5 ns/op\nBenchmarkB-2\n2026/11/20 log: of a program\nBenchmarkB-2 \t 100\t 12.5 ns/op\t 3 B/op\n--- BENCH: BenchmarkB-2\n    x_test.go:3: N=100\nPASS\nok  \texample.com/p0\t0.1s\n",
	"toolong.txt":  "BenchmarkA 1 3 ns/op\nBenchmarkA 1 " + strings.Repeat("1", 70_000) + " ns/op\n",
	"many.txt":     many(),
	"ties.txt":     strings.Repeat("BenchmarkA 1 3 ns/op\nBenchmarkA 1 4 ns/op\nBenchmarkB 1 3 ns/op\n", 30),
}

// spread has pairs of lines of benchmarks whose values lie further and further apart.
func spread(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i, i, i+2)
	}
	return b.String()
}

// many has more columns than there are pairs of letters.
func many() string {
	var b strings.Builder
	for i := range 190 {
		fmt.Fprintf(&b, "BenchmarkA/k=%d 1 %d ns/op\nBenchmarkB/k=%d 1 %d ns/op\n", i, i, i, 3*i+1)
	}
	return b.String()
}

// benchstatLines are command lines for both.
const benchstatLines = `
old.txt new.txt
new.txt old.txt new.txt
before=old.txt after=new.txt
a=b=old.txt =new.txt
x=old.txt x=new.txt
old.txt x=old.txt old.txt
a-label-that-is-wider-than-the-column=old.txt another-label-that-is-wider-than-the-whole-column-below-it=new.txt
- <old.txt
old.txt - <new.txt
new=- new.txt <old.txt
- - <old.txt
-- old.txt
-alpha 0 old.txt new.txt
-alpha 0.5 -confidence 0.5 old.txt new.txt
-alpha 1 old.txt new.txt
-alpha NaN old.txt new.txt
-confidence 0 old.txt new.txt
-confidence 1 old.txt new.txt
-confidence 0.9999999 old.txt new.txt
-alpha 2 old.txt
-alpha -1 old.txt
-confidence 2 old.txt
-alpha x old.txt
-nosuch old.txt
-format
-format json old.txt
-format=csv old.txt
old.txt -format csv
absent.txt
old.txt absent.txt
.
-filter ( old.txt
-filter x old.txt
-filter '' old.txt
-filter '.name:/(/' old.txt
-filter .config:x old.txt
-filter '*' old.txt
-filter '-*' old.txt
-filter '/format:json' old.txt new.txt
-filter '-/format:json' old.txt new.txt
-filter '/format:json goos:linux .unit:(ns/op OR B/op)' old.txt new.txt
-filter '/size:(15 OR 1kB) AND -.unit:MB/s' crc-old.txt crc-new.txt
-filter '.fullname:/IEEE.*align=0/ .file:crc-new.txt' crc-old.txt crc-new.txt
-filter 'note:"hw acceleration enabled"' crc-old.txt crc-new.txt
-row .unit old.txt
-row 'a@b' old.txt
-row '.config@(a b)' old.txt
-col '.file@(x' old.txt
-table '"' old.txt
-ignore '/' old.txt
-row '' old.txt new.txt
-col '' old.txt new.txt
-table '' old.txt new.txt
-row '' -col '' -table '' old.txt new.txt
-row '' -col '' -format csv old.txt new.txt
-row .fullname -col note -ignore .file crc-old.txt crc-new.txt
-row .fullname@alpha crc-new.txt -ignore note
-row /size@num -col /poly,/align crc-new.txt
-row '/size@(32kB 15)' -col '/poly@(Koopman IEEE)' crc-new.txt
-row .name,/size -col /poly,/align crc-old.txt crc-new.txt
-row /size,/align -col .file,note -filter '/poly:IEEE .unit:sec/op' crc-old.txt crc-new.txt
-table note,/poly -row /size -col /align crc-old.txt crc-new.txt
-table /poly -row /size -col .file -ignore note,/align crc-old.txt crc-new.txt
-table .config,/poly -row /size crc-old.txt
-row /gomaxprocs -col .file old.txt new.txt
-row bogus -col goos old.txt
-col 'goos .file' -row '.name /format' old.txt new.txt
two-keys.txt
-col alpha,beta two-keys.txt
-col beta,alpha -row .name two-keys.txt
-col alpha,beta,gamma,.file -row .name two-keys.txt old.txt
-col gamma -row .name two-keys.txt two-keys.txt
-ignore alpha,beta,gamma two-keys.txt two-keys.txt
exact.txt exact2.txt
exact2.txt exact.txt
exact.txt exact.txt exact.txt
exact2.txt negative.txt
negative.txt exact2.txt
exact2.txt apart.txt
exact2.txt apart.txt apart.txt exact2.txt
exact2.txt a-label-that-is-wider-than-the-column=apart.txt
-row .name varies.txt varies.txt
-row .name exact2.txt varies.txt
-row '' varies.txt exact2.txt
spread.txt spread2.txt
spread.txt spread2.txt spread.txt
spread.txt exact.txt
unit.txt unit.txt
long.txt long.txt
long.txt two-keys.txt
huge.txt
crlf.txt crlf.txt
cut.txt
empty.txt
empty.txt empty.txt
empty.txt old.txt
garbage.txt garbage.txt
between.txt
between.txt between.txt
toolong.txt
between.txt toolong.txt
many.txt
-col /k many.txt
-col /k -row '' many.txt
-row /k -col .name many.txt
ties.txt ties.txt
-col .fullname -row .file ties.txt
units.txt zero.txt
issue19565.txt issue19634.txt smallSample.txt
`

// TestBenchstatOracle: benchstat and loupe benchstat print the same of the same command
// line, as text and as CSV, say the same, and exit with the same code.
func TestBenchstatOracle(t *testing.T) {
	b := newBenchstatRun(t)
	for name, text := range benchstatInputs {
		writeHere(t, name, text)
	}
	n := 0
	for line := range strings.Lines(strings.TrimSpace(benchstatLines)) {
		words := quotedWords(strings.TrimSuffix(line, "\n"))
		b.compare(t, words)
		b.compare(t, append([]string{"-format", "csv"}, words...))
		n += 2
	}
	t.Logf("%d command lines", n)
}

// TestBenchstatRandom is the same of files and flags that are drawn.
func TestBenchstatRandom(t *testing.T) {
	b := newBenchstatRun(t)
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 17))
		files := []string{"a.txt", "b.txt", "c.txt"}[:1+r.IntN(3)]
		for _, name := range files {
			writeHere(t, name, drawnBenchmarks(r))
		}
		words := drawnFlags(r)
		if words = append(words, files...); r.IntN(5) == 0 {
			words = append(words, files[r.IntN(len(files))])
		}
		if b.compare(t, words); t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func drawn[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// drawnFlags draws projections, filters and the rest.
func drawnFlags(r *rand.Rand) (words []string) {
	for _, name := range []string{"-row", "-col", "-table", "-ignore"} {
		if r.IntN(3) > 0 {
			continue
		}
		keys := []string{
			".name", ".fullname", ".file", ".config", "/k", "/l", "/gomaxprocs", "goos", "note", "note@alpha", "/k@num", ".file@(a.txt b.txt)", "/k@(2 1)",
		}
		r.Shuffle(len(keys), func(i, k int) { keys[i], keys[k] = keys[k], keys[i] })
		words = append(words, name, strings.Join(keys[:r.IntN(4)], drawn(r, ",", " ")))
	}
	if r.IntN(5) == 0 {
		words = append(words, "-filter", drawn(r, "/k:1", "goos:linux", ".unit:ns/op", "-/k:1", ".name:(A OR B)", "-.unit:B/op", "note:x OR note:y", ".file:a.txt"))
	}
	if r.IntN(8) == 0 {
		words = append(words, "-alpha", drawn(r, "0", "0.01", "0.5", "1"))
	}
	if r.IntN(8) == 0 {
		words = append(words, "-confidence", drawn(r, "0", "0.5", "0.99", "1"))
	}
	if r.IntN(3) == 0 {
		words = append(words, "-format", "csv")
	}
	return words
}

// drawnBenchmarks draws an output of go test -bench, with what may go wrong in one.
func drawnBenchmarks(r *rand.Rand) string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	units := []string{"ns/op", "B/op", "allocs/op", "MB/s", "u", "x-ns", "a-unit-with-a-long-name", "é/op"}
	r.Shuffle(len(units), func(i, k int) { units[i], units[k] = units[k], units[i] })
	units = units[:1+r.IntN(3)]
	if r.IntN(2) == 0 {
		add("Unit %s assume=exact", drawn(r, units...))
	}
	names := []string{"A", "B", "C/k=1", "C/k=2", "D/k=1/l=2-8", "D/k=2/l=2-8", "Long/name/with/many=1", "É", "F/k=1k", "F/k=2Ki-4"}
	values := drawn(r,
		func() string { return fmt.Sprint(90 + r.IntN(20)) },
		func() string { return fmt.Sprint(r.IntN(3)) },
		func() string { return fmt.Sprintf("%.3f", 1000+300*r.NormFloat64()) },
		func() string { return drawn(r, "0", "-1", "1e-9", "1e12", "3.5", "-7e5", "Inf", "1e308") },
	)
	for range 1 + r.IntN(3) {
		for _, key := range []string{"goos", "note", "pkg"} {
			if r.IntN(3) == 0 {
				add("%s: %s", key, drawn(r, "linux", "x", "y", `a b, "c"`, "", "日本語", "a value that is wider than what stands below it"))
			}
		}
		for _, name := range names[r.IntN(5) : 5+r.IntN(5)] {
			for i := range drawn(r, 1, 2, 3, 6, 7, 10) {
				line := fmt.Sprintf("Benchmark%s %d", name, i+1)
				for _, unit := range units {
					line += " " + values() + " " + unit
				}
				add("%s", line)
			}
		}
		if r.IntN(3) == 0 {
			add("%s", drawn(r, "PASS", "ok  \tx\t0.1s", "garbage text: here", "BenchmarkBad", "BenchmarkBad x", "BenchmarkBad 1 2", "", "key:novalue", "\xff"))
		}
	}
	return strings.Join(lines, drawn(r, "\n", "\n", "\n", "\r\n"))
}

// TestBenchstatNotANumber: benchstat does not end on samples with NaN that are to be
// compared. Ours says that they cannot be, and so does loupe compare.
func TestBenchstatNotANumber(t *testing.T) {
	b := &benchstatRun{scratch: t.TempDir()}
	t.Chdir(t.TempDir())
	writeHere(t, "nan.txt", "BenchmarkA 1 NaN u\nBenchmarkB 1 2 u\n")
	for _, words := range [][]string{{"nan.txt", "nan.txt"}, {"-format", "csv", "nan.txt", "nan.txt"}} {
		got := b.run(t, words, true)
		if got.code != 0 || !strings.Contains(got.stdout+got.stderr, "a value is NaN: samples with such values cannot be compared") {
			t.Errorf("%q: %+v", words, got)
		}
	}
	var out bytes.Buffer
	if code := runForm(t, "compare", []string{"compare", "nan.txt", "nan.txt"}, &out, &out); code != 0 || !strings.Contains(out.String(), "cannot be compared") {
		t.Errorf("loupe compare exits with %d: %s", code, &out)
	}
}

// TestQuotedWords tests what splits the lines above.
func TestQuotedWords(t *testing.T) {
	f := func(line string, want ...string) {
		t.Helper()
		if got := quotedWords(line); !slices.Equal(got, want) {
			t.Errorf("%q: %q", line, got)
		}
	}
	f(`a  'b c' "d" '' e=x'y z'`, "a", "b c", "d", "", "e=xy z")
}
