package benchmark

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestOracle holds the tables against those that benchstat prints of the same
// files: as CSV, which has every figure in full, and as text, which has their
// prefixes.
func TestOracle(t *testing.T) {
	if testing.Short() {
		t.Skip("builds benchstat")
	}
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/perf").Output()
	if err != nil {
		t.Fatalf("no golang.org/x/perf: %v", err)
	}
	data := filepath.Join(strings.TrimSpace(string(dir)), "cmd", "benchstat", "testdata")
	own := t.TempDir()
	program := filepath.Join(own, "benchstat")
	if out, err := exec.Command("go", "build", "-o", program, "golang.org/x/perf/cmd/benchstat").CombinedOutput(); err != nil {
		t.Fatalf("cannot build benchstat: %v\n%s", err, out)
	}
	// What go test prints of allocations, with a benchmark that one file lacks,
	// zeros, and a line that is none.
	write := func(name, text string) string {
		file := filepath.Join(own, name)
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return file
	}
	var before, after strings.Builder
	for i := range 7 {
		fmt.Fprintf(&before, "pkg: example.com/x\nBenchmarkA-8 %d %d ns/op 48 B/op 2 allocs/op\nBenchmarkZero-8 10 3%d ns/op 0 B/op 0 allocs/op\nBenchmarkGone-8 10 3%d ns/op 0 B/op\n", 1000+i, 5000+i*17, i, i)
		fmt.Fprintf(&after, "pkg: example.com/x\nBenchmarkA-8 %d %d ns/op 32 B/op 1 allocs/op\nBenchmarkZero-8 10 3%d ns/op 0 B/op 0 allocs/op\nBenchmarkCame-8 10 3%d ns/op 16 B/op\nBenchmarkBad-8 1x\n", 1000+i, 4000+i*13, i, i)
	}
	one, two := write("one.txt", before.String()), write("two.txt", after.String())
	for _, names := range [][]string{
		{"old.txt", "new.txt"}, {"crc-old.txt"}, {"crc-old.txt", "crc-new.txt"}, {"smallSample.txt"}, {"units.txt"}, {"zero.txt"},
		{"issue19565.txt", "issue19634.txt"}, {"new.txt", "old.txt", "new.txt"}, {one, two}, {two, one, one},
	} {
		t.Run(filepath.Base(strings.Join(names, " ")), func(t *testing.T) {
			var files []File
			for _, name := range names {
				text, err := os.ReadFile(rooted(data, name))
				if err != nil {
					t.Fatal(err)
				}
				files = append(files, File{name, text})
			}
			run := func(format string) []byte {
				cmd := exec.Command(program, append([]string{"-format", format}, names...)...)
				cmd.Dir = data
				var complaints bytes.Buffer
				cmd.Stderr = &complaints
				out, err := cmd.Output()
				if err != nil {
					t.Fatalf("benchstat: %v\n%s", err, &complaints)
				}
				return out
			}
			r, err := Tabulate(files, Everything())
			if err != nil {
				t.Fatal(err)
			}
			if got, want := rounded(asCSV(r)), rounded(string(run("csv"))); got != want {
				t.Errorf("got\n%s\nbenchstat prints\n%s", got, want)
			}
			text := string(run("text"))
			for _, table := range r.Tables {
				for _, row := range table.Rows {
					for _, c := range row.Cells {
						if c != nil && !strings.Contains(strings.Join(strings.Fields(text), " "), c.Shown+" ± "+c.Range) {
							t.Errorf("%s: %q is not in\n%s", row.Name, c.Shown+" ± "+c.Range, text)
						}
					}
				}
			}
		})
	}
}

// rounded leaves the last digits of means out, which depend on the order of the
// sum.
func rounded(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if !strings.HasPrefix(line, "geomean,") {
			continue
		}
		fields := strings.Split(line, ",")
		for k, f := range fields {
			if v, err := strconv.ParseFloat(f, 64); err == nil && !strings.HasSuffix(f, "%") {
				fields[k] = fmt.Sprintf("%.12g", v)
			}
		}
		lines[i] = strings.Join(fields, ",")
	}
	return strings.Join(lines, "\n")
}

func rooted(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// asCSV prints tables as benchstat -format csv does.
func asCSV(r *Result) string {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	before := map[string]string{}
	for n, t := range r.Tables {
		if n > 0 {
			w.Write([]string{""})
		}
		now := map[string]string{}
		for _, p := range t.Config {
			if now[p.Key] = p.Value; before[p.Key] != p.Value || n == 0 {
				w.Write([]string{p.Key + ": " + p.Value})
			}
		}
		before = now
		columns := 1 + 2 + 4*(len(t.Files)-1)
		start := func(i int) int {
			if i == 0 {
				return 1
			}
			return 3 + 4*(i-1)
		}
		row := func() []string { return make([]string, columns) }
		names, units := row(), row()
		for i, f := range t.Files {
			names[start(i)], units[start(i)], units[start(i)+1] = f, t.Unit, "CI"
			if i > 0 {
				units[start(i)+2], units[start(i)+3] = "vs base", "P"
			}
		}
		w.Write(names)
		w.Write(units)
		for _, r := range t.Rows {
			out, used := row(), 1
			out[0] = r.Name
			for i, c := range r.Cells {
				if c == nil {
					continue
				}
				at := start(i)
				out[at], out[at+1], used = fmt.Sprint(c.Center), c.Range, at+2
				if c.Against != nil {
					out[at+2], out[at+3], used = c.Against.Delta, c.Against.Test, at+4
				}
			}
			w.Write(out[:used])
		}
		mean := row()
		mean[0] = "geomean"
		for i, m := range t.Means {
			if m.Shown != "" {
				mean[start(i)] = fmt.Sprint(m.Center)
			}
			if i > 0 {
				mean[start(i)+2] = m.Delta
			}
		}
		w.Write(mean)
	}
	w.Flush()
	return b.String()
}
